"""`icb fit`: the posterior of a model."""

import argparse
from pathlib import Path

from icb_pymc.cli.options import (
    add_settings,
    add_table_columns,
    add_verb,
    check_output,
    given_settings,
    read_given_decisions,
    say,
    whole_number,
    zero_or_more,
)


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "fit",
        "Fit a model to decisions and write the posterior as a trace.",
        "icb fit nb_icb decisions.nc --seed 0 -o trace.nc",
    )
    parser.add_argument("model", help="name of a model (`icb models` lists them), or path of a file with one")
    parser.add_argument("decisions", help="netCDF file, or a table as CSV or Parquet (which is standardised first)")
    parser.add_argument("-o", "--output", default="trace.nc", help="trace to write (default: trace.nc)")
    parser.add_argument("--draws", type=whole_number, help="draws kept per chain (default: 1000)")
    parser.add_argument(
        "--tune", type=zero_or_more, help="draws thrown away first (default: 500 by the engine, else 1000)"
    )
    parser.add_argument("--chains", type=whole_number, help="independent chains (default: 4)")
    parser.add_argument("--cores", type=whole_number, help="chains at a time (default: as many as the machine can)")
    parser.add_argument(
        "--sweeps", type=whole_number, help="sweeps per draw of the kernels gibbs and paper (default: 10)"
    )
    parser.add_argument("--seed", type=zero_or_more, help="same seed, same trace, whatever the cores")
    parser.add_argument("--preset", choices=["paper"], help="settings of the published experiments")
    parser.add_argument(
        "--kernel",
        choices=["auto", "engine", "gibbs", "paper", "nuts", "nutpie"],
        help="the exact engine, alternating steps (corrected, or as printed in the paper), or NUTS (default: auto, "
        "the engine where it applies)",
    )
    parser.add_argument(
        "--method",
        choices=["mcmc", "laplace", "em"],
        help="posterior, the Gaussian around its mode, or B-ICB's EM (default: mcmc)",
    )
    parser.add_argument("--iterations", type=whole_number, help="iterations of EM (default: 100)")
    parser.add_argument(
        "--learn",
        action="append",
        default=[],
        metavar="NAME",
        help="learn this hyperparameter, with a log-normal prior around its value (a factor of 2.7 either way at one "
        "standard deviation); may be repeated",
    )
    parser.add_argument("--keep-latents", action="store_true", help="keep rho and rewards")
    parser.add_argument(
        "--no-log-likelihood",
        action="store_const",
        const=False,
        dest="log_likelihood",
        help="do not keep that of each choice, which `icb compare` needs (it is kept where it takes below 200 MB)",
    )
    parser.add_argument(
        "--every", type=whole_number, default=1, metavar="N", help="keep every N-th time (default: all)"
    )
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float64", help="of the draws that are kept")
    parser.add_argument("--as-is", action="store_true", help="do not standardise the features of a table")
    add_settings(parser)
    add_table_columns(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, fit, write, and say what was found."""
    from icb_pymc.catalogue.lookup import find, settings

    check_output(options.output, ".nc")
    given = given_settings(options)
    settings(find(options.model), given | dict.fromkeys(options.learn))
    decisions = read_given_decisions(options.decisions, options)
    if Path(options.decisions).suffix != ".nc" and not options.as_is:
        from icb_pymc.data.standardisation import standardise

        say("features are standardised; importances are per standard deviation (--as-is to leave them)")
        decisions = standardise(decisions)

    from icb_pymc.results.inference_data import group
    from icb_pymc.results.traces import write_trace
    from icb_pymc.sample.fitting import fit

    trace = fit(
        options.model,
        decisions,
        draws=options.draws,
        tune=options.tune,
        chains=options.chains,
        cores=options.cores,
        sweeps=options.sweeps,
        seed=options.seed,
        preset=options.preset,
        kernel=options.kernel,
        method=options.method,
        iterations=options.iterations,
        learn=options.learn,
        keep_latents=options.keep_latents,
        every=options.every,
        dtype=options.dtype,
        log_likelihood=options.log_likelihood,
        hyperparameters=given,
    )
    if trace.attrs["interrupted"]:
        raise KeyboardInterrupt
    write_trace(trace, options.output)
    say(summary(trace))
    has_beliefs = "belief" in group(trace, "posterior")
    hint = f"; draw it: icb plot importance {options.output} -o importance.png" if has_beliefs else ""
    if trace.attrs["method"] == "mcmc":
        hint += f"\nbelieve it? icb diagnose {options.output}"
    say(f"\nwritten to {options.output}{hint}")
    return 0


def summary(trace: object) -> str:
    """What counted at the beginning and at the end, and whether to believe it."""
    import pandas as pd

    from icb_pymc.assess.diagnosis import diagnose
    from icb_pymc.assess.metrics import relative_importance
    from icb_pymc.results.inference_data import group

    posterior = group(trace, "posterior")
    if "belief" not in posterior:
        weights = posterior["rho_env"].mean(("chain", "draw")).to_series().to_frame("rho_env")
        return "no beliefs over time, but\n" + weights.to_string(float_format=lambda weight: f"{weight:+.3f}")
    belief = posterior["belief"]
    importance = relative_importance(belief).isel(time=[0, -1]).mean(("chain", "draw"))
    first, last = (str(time).partition("T")[0] for time in importance["time"].values)
    columns = {f"at {first}": importance.values[0], f"at {last}": importance.values[1]}
    table = pd.DataFrame(columns, index=pd.Index(importance["feature"].values, name="feature"))
    if "rho_env" in posterior:
        table["rho_env"] = [f"{weight:+.3f}" for weight in posterior["rho_env"].mean(("chain", "draw")).values]
    lines = ["relative importance", table.to_string(float_format=lambda share: f"{share:.1%}")]
    if "log_evidence" in trace.attrs:  # type: ignore[attr-defined]
        lines.append(f"\nan approximation (Laplace); log evidence {trace.attrs['log_evidence']:.2f}")  # type: ignore[attr-defined]
    elif trace.attrs["method"] == "mcmc":  # type: ignore[attr-defined]
        found = diagnose(trace)
        lines.append(f"\n{'converged' if found.converged else 'NOT converged'}: {found.verdict}")
        lines += [f"- {line}" for line in found.advice]
    return "\n".join(lines)
