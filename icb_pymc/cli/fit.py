"""`icb fit`: fit a model to decisions."""

import argparse
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from icb_pymc.cli.each import SCALED, add_each, check_each, fit_subjects
from icb_pymc.cli.options import (
    add_json,
    add_scaling,
    add_settings,
    add_table_columns,
    add_verb,
    check_output,
    given_settings,
    non_negative_integer,
    positive_integer,
    read_given_decisions,
    refuse_scaling,
    say,
    say_json,
)
from icb_pymc.errors import InputError


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "fit",
        "Fit a model to decisions and write the posterior as a trace.",
        "icb fit nb_icb decisions.nc --seed 0 -o trace.nc",
    )
    parser.add_argument("model", help="name of a model (`icb models` lists them), or path of a file with a model")
    parser.add_argument(
        "decisions",
        nargs="+",
        help="netCDF file, or a table as CSV or Parquet (whose features are standardised first); several with "
        "--each file",
    )
    parser.add_argument(
        "-o", "--output", help="trace to write (default: trace.nc), or with --each the folder (default: fits)"
    )
    parser.add_argument("--draws", type=positive_integer, help="draws kept per chain (default: 1000)")
    parser.add_argument(
        "--tune",
        type=non_negative_integer,
        help="tuning draws, which are discarded (default: 500 for the engine, else 1000)",
    )
    parser.add_argument("--chains", type=positive_integer, help="independent chains (default: 4)")
    parser.add_argument("--cores", type=positive_integer, help="chains to run at a time (default: one per core)")
    parser.add_argument(
        "--sweeps", type=positive_integer, help="sweeps per draw, for the kernels gibbs and paper (default: 10)"
    )
    parser.add_argument(
        "--seed", type=non_negative_integer, help="the same seed gives the same trace, for any number of cores"
    )
    parser.add_argument("--preset", choices=["paper"], help="settings of the published experiments")
    parser.add_argument(
        "--kernel",
        choices=["auto", "engine", "gibbs", "paper", "nuts", "nutpie"],
        help="the exact engine, alternating steps (corrected, or as printed in the paper), or NUTS (default: auto, "
        "which takes the engine where it applies)",
    )
    parser.add_argument(
        "--method",
        choices=["mcmc", "laplace", "em"],
        help="sample the posterior, approximate it by a Gaussian at its mode, or B-ICB's EM (default: mcmc)",
    )
    parser.add_argument("--iterations", type=positive_integer, help="number of iterations of EM (default: 100)")
    parser.add_argument(
        "--learn",
        action="append",
        default=[],
        metavar="NAME",
        help="learn this hyperparameter, with a log-normal prior around its value (a factor of 2.7 either way at one "
        "standard deviation); may be repeated",
    )
    parser.add_argument(
        "--prior",
        action="append",
        default=[],
        metavar="NAME=FAMILY(NUMBERS)",
        help="learn this hyperparameter with this prior, like 'alpha=Gamma(2, 0.5)', with a family and arguments of "
        "PyMC; 'innovation_covariance=HalfFlat(each)' gives each feature a variance of its own with a flat prior, "
        "which --method laplace takes; may be repeated",
    )
    parser.add_argument("--keep-latents", action="store_true", help="keep the draws of rho and of the rewards")
    parser.add_argument(
        "--no-log-likelihood",
        action="store_const",
        const=False,
        dest="log_likelihood",
        help="do not store the log-likelihood of each choice, which `icb compare` needs (stored by default if it takes "
        "less than 200 MB)",
    )
    parser.add_argument(
        "--every",
        type=positive_integer,
        metavar="N",
        help="keep every N-th time; 1 keeps all (default: all, or of a long log as many as take 64 MB)",
    )
    parser.add_argument(
        "--dtype",
        choices=["float64", "float32"],
        help="precision of the stored draws (default: float32; sampling is in float64 either way)",
    )
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="keep the chains here while they are sampled: the same command, given again after an interruption or a "
        "crash, goes on from there, with the same result; removed when the trace is written",
    )
    parser.add_argument("--as-is", action="store_true", help="do not standardise the features of a table")
    add_scaling(parser)
    parser.add_argument(
        "--unit",
        choices=["sd", "user"],
        default="sd",
        help="print weights per standard deviation of a feature, or per unit of it (default: sd)",
    )
    add_each(parser)
    add_settings(parser)
    add_table_columns(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the decisions, fit the model, write the trace, and print a summary."""
    from icb_pymc.io.late_modules import import_pymc

    import_pymc()
    import pytensor

    # By default PyTensor notes of every operation which lines made it, a tenth of the time without the draws.
    pytensor.config.traceback__limit = 0
    from icb_pymc.catalogue.lookup import check_names, find, settings

    check_each(options)
    refuse_scaling(options.decisions[0], options)
    if options.each is None:
        options.output = "trace.nc" if options.output is None else options.output
        check_output(options.output, ".nc")
    declare = find(options.model)
    given = given_settings(options, declare)
    complete = settings(declare, given)
    check_names(declare, options.learn)
    if options.each is not None:
        if options.prior:
            raise InputError("--prior cannot be used with --each; --learn NAME can.")
        if options.checkpoint:
            raise InputError("--checkpoint is for one fit; with --each finished fits are kept anyway. Leave it out.")
        return fit_subjects(options, given, _fit_options(options))
    (file,) = options.decisions
    decisions = read_given_decisions(file, options)
    if Path(file).suffix != ".nc" and not options.as_is:
        from icb_pymc.data.standardisation import standardise

        if not options.json:
            say(SCALED)
        decisions = standardise(decisions, binary=options.scale_binary)

    given |= given_priors(options, declare, decisions)

    # Of models that measure time, unless the user has said how.
    if not options.json and complete.get("unit_of_time", "") is None:
        from icb_pymc.data.understanding import describe_time

        say(f"time: {describe_time(decisions)}")
    from icb_pymc.results.checkpoint import remove_checkpoint
    from icb_pymc.results.inference_data import group
    from icb_pymc.results.traces import write_trace
    from icb_pymc.sample.fitting import fit

    # Results go to the standard output, PyMC's progress beside them.
    try:
        with redirect_stdout(sys.stderr):
            trace = fit(
                options.model,
                decisions,
                cores=options.cores,
                checkpoint=options.checkpoint,
                **_fit_options(options),
                hyperparameters=given,
            )
        if trace.attrs["interrupted"]:
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        if options.checkpoint:
            print(f"to go on, give the same command again: {options.checkpoint} has the chains so far", file=sys.stderr)
        raise
    write_trace(trace, options.output)
    if options.checkpoint:
        remove_checkpoint(options.checkpoint)
    if options.json:
        say_json(as_json(trace, options.output, options.unit))
        return 0
    say(summary(trace, options.unit))
    has_beliefs = "belief" in group(trace, "posterior")
    say(f"\nwritten to {options.output}")
    if has_beliefs:
        say(f"plot it: icb plot weights {options.output} -o weights.png")
    if trace.attrs["method"] == "mcmc":
        say(f"check convergence: icb diagnose {options.output}")
    return 0


def _fit_options(options: argparse.Namespace) -> dict[str, Any]:
    """Options of `icb_pymc.fit` that are passed on as they are."""
    names = [
        *("draws", "tune", "chains", "sweeps", "seed", "preset", "kernel", "method", "iterations", "learn"),
        *("keep_latents", "every", "dtype", "log_likelihood"),
    ]
    return {name: getattr(options, name) for name in names}


def given_priors(options: argparse.Namespace, declare: Any, decisions: Any) -> dict[str, Any]:
    """The distributions given by ``--prior``."""
    from icb_pymc.catalogue.lookup import check_names
    from icb_pymc.sample.named_priors import prior_from_text

    priors: dict[str, Any] = {}
    settled = {*(text.partition("=")[0] for text in options.set), *options.learn}
    for text in options.prior:
        name, equals, prior = text.partition("=")
        if not equals:
            raise InputError(f"--prior {text}: write it as NAME=FAMILY(NUMBERS), like alpha=Gamma(2, 0.5).")
        check_names(declare, [name])
        if name in settled or name in priors:
            raise InputError(f"--prior {text}: '{name}' is given twice; leave one out.")
        priors[name] = prior_from_text(name, prior, decisions.sizes["feature"])
    return priors


def summary(trace: Any, unit: str = "sd") -> str:
    """Weights of the features at the first and at the last decision, and whether the chains have converged."""
    from icb_pymc.assess.extrapolation import extrapolation
    from icb_pymc.assess.laplace_bias import laplace_remarks
    from icb_pymc.assess.unchanging import against_unchanging
    from icb_pymc.results.inference_data import group

    posterior, table = group(trace, "posterior"), first_and_last(trace, unit)
    if "belief" not in posterior:
        return "the model has no beliefs over time; its reward parameter is\n" + table.to_string(
            float_format=lambda weight: f"{weight:+.3f}"
        )
    # A unit of the user's may be small: an effect per euro has many digits.
    weight = "{:+.2f}" if unit == "sd" else "{:+.3g}"
    formats = {name: "{:.1%}" if name.startswith("importance") else weight for name in table}
    formats |= dict.fromkeys(("final_belief", "rho_env"), "{:+.3f}")
    shown = table.to_string(formatters={name: formats[name].format for name in table})
    per = "standard deviation" if unit == "sd" else "unit of the feature"
    lines = [f"weights in log-odds per {per}, and relative importance", shown]
    diagnosis = None
    if trace.attrs["method"] == "mcmc":
        from icb_pymc.assess.diagnosis import diagnose

        diagnosis = diagnose(trace)
    # A diagnosis includes the comparison.
    if said := movement(trace, against_unchanging(trace) if diagnosis is None else diagnosis.unchanging):
        lines.append(f"\n{said}")
    if "session_movement" in posterior and posterior["session_movement"].ndim == 2:
        lines.append(f"\nat the boundaries between sessions, by about {_scale(trace, 'session_movement', 'in all')}")
    if "share_learnt" in posterior:
        lines.append(f"\nby the end the agent had learnt {float(posterior['share_learnt'].median()):.0%} of rho_env")
    if "log_evidence" in trace.attrs:
        lines.append(
            f"\nLaplace approximation: the Gaussian around the mode, not the posterior itself; log evidence "
            f"{trace.attrs['log_evidence']:.2f}"
        )
        lines += [f"- {line}" for line in [*laplace_remarks(trace), extrapolation(trace)] if line]
    elif diagnosis is not None:
        lines.append(f"\n{diagnosis.label}: {diagnosis.verdict}")
        lines += [f"- {line}" for line in diagnosis.advice]
    return "\n".join(lines)


def movement(trace: Any, unchanging: Any) -> str:
    """How far the weights moved over the whole log, and whether they moved at all, which the scale alone cannot say."""
    from icb_pymc.results.inference_data import group

    posterior = group(trace, "posterior")
    if unchanging is not None and unchanging.is_worse:
        return f"WARNING: {unchanging}"
    if "total_movement" not in posterior or posterior["total_movement"].ndim != 2:
        return "" if unchanging is None else str(unchanging)
    typical = "log-odds per typical difference between two candidates over the whole log"
    size = f"by about {_scale(trace, 'total_movement', typical)}"
    if unchanging is None:
        return f"if weights moved, then {size}"
    if unchanging.is_better:
        return f"weights moved {size}; {unchanging}"
    return f"weights may never have moved: {unchanging}; if they moved, then {size}"


def _scale(trace: Any, name: str, unit: str) -> str:
    """A learnt scale with its interval, or how it was set where it has none."""
    from icb_pymc.results.inference_data import group

    low, middle, high = group(trace, "posterior")[name].quantile([0.05, 0.5, 0.95]).values
    if trace.attrs.get("method") == "laplace":
        return f"{middle:.2f} {unit} (the most probable value)"
    return f"{middle:.2f} {unit} (90% interval {low:.2f} to {high:.2f})"


def first_and_last(trace: Any, unit: str = "sd") -> Any:
    """Posterior means by feature: weights and importance at the first and the last time kept, and rho_env."""
    import pandas as pd

    from icb_pymc.assess.metrics import relative_importance
    from icb_pymc.assess.weights import log_odds_weights, weight_gaussian
    from icb_pymc.results.inference_data import from_groups, group

    posterior = group(trace, "posterior")
    table = pd.DataFrame(index=pd.Index(posterior["feature"].values, name="feature"))
    if "belief" in posterior:
        groups = {"posterior": posterior.isel(time=[0, -1]), "constant_data": group(trace, "constant_data")}
        ends = from_groups(groups, trace.attrs)
        gaussian = weight_gaussian(trace, unit)
        weight = log_odds_weights(ends, unit).mean(("chain", "draw")) if gaussian is None else gaussian[0]
        importance = relative_importance(ends).mean(("chain", "draw"))
        for name, means in {"weight": weight.isel(time=[0, -1]), "importance": importance}.items():
            for time, values in zip(means["time"].values, means.values, strict=True):
                table[f"{name} at {str(time).partition('T')[0]}"] = values
    for name in ("final_belief", "rho_env"):
        if name in posterior:
            table[name] = posterior[name].mean(("chain", "draw")).values
    return table


def as_json(trace: Any, output: str, unit: str = "sd") -> dict[str, Any]:
    """What `icb fit --json` prints."""
    from icb_pymc.assess.diagnosis import diagnose
    from icb_pymc.assess.unchanging import against_unchanging

    fields = ("model", "method", "kernel", "preset", "seed", "draws", "chains", "seconds", "log_evidence")
    result = {"output": output} | {name: trace.attrs[name] for name in fields if name in trace.attrs}
    result |= {"unit": unit, "features": first_and_last(trace, unit)}
    if trace.attrs["method"] == "mcmc":
        diagnosis = diagnose(trace)
        result |= {"converged": diagnosis.converged, "verdict": diagnosis.verdict, "advice": diagnosis.advice}
        unchanging = diagnosis.unchanging
    else:
        unchanging = against_unchanging(trace)
    if unchanging is not None:
        result["better_than_unchanging"] = unchanging.difference
        result |= {"standard_error": unchanging.standard_error, "worse_than_unchanging": unchanging.is_worse}
    return result
