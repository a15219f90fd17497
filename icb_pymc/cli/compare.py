"""`icb compare`: compare how well models predict the same decisions."""

import argparse

from icb_pymc.cli.options import (
    add_json,
    add_verb,
    is_store,
    named_traces,
    non_negative_integer,
    positive_integer,
    say,
    say_json,
)
from icb_pymc.errors import InputError


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "compare",
        "Compare fits of the same decisions by how well they predict choices that were left out one at a time, the "
        "next choice (--ahead), or a part of the choices from all others (--folds).",
        "icb compare nb_icb.nc b_icb.nc --folds 10",
    )
    parser.add_argument(
        "traces", nargs="+", help="netCDF files, or folders, written by `icb fit` for the same decisions"
    )
    parser.add_argument(
        "--ahead", action="store_true", help="forecast each choice from the choices before it, with the traces' models"
    )
    parser.add_argument(
        "--start",
        type=non_negative_integer,
        metavar="N",
        help="with --ahead: number of decisions before the first forecast that counts (default: a tenth)",
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="FILE",
        help="with --ahead or --folds: the file of a user-defined model that a trace was fitted with; may be repeated",
    )
    parser.add_argument(
        "--folds",
        type=positive_integer,
        metavar="N",
        help="divide the choices into N parts, and fit the traces' models N times, each time without one part",
    )
    parser.add_argument(
        "--blocks",
        action="store_true",
        help="with --folds: parts are stretches of successive choices (default: choices at random)",
    )
    parser.add_argument(
        "--method", choices=["laplace", "mcmc"], help="with --folds: how to fit (default: as the traces were)"
    )
    parser.add_argument(
        "--cores", type=positive_integer, help="with --folds: fits at a time; the numbers do not depend on it"
    )
    parser.add_argument(
        "--seed", type=non_negative_integer, help="with --folds: of the parts and the fits (default: 0)"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the traces, compare them, and print the table."""
    if options.start is not None and not options.ahead:
        raise InputError("--start can only be used with --ahead.")
    if options.model and not (options.ahead or options.folds):
        raise InputError("--model can only be used with --ahead or --folds.")
    if options.ahead and options.folds:
        raise InputError("give --ahead or --folds, not both.")
    for name in ("blocks", "method", "cores", "seed"):
        if getattr(options, name) not in (None, False) and not options.folds:
            raise InputError(f"--{name} can only be used with --folds.")
    if any(is_store(path) for path in options.traces):
        from icb_pymc.cli.fits import compare_fits

        return compare_fits(options)
    from icb_pymc.assess.comparison import CAUTION, compare, compare_ahead

    traces = named_traces(options.traces)
    if options.model:
        from icb_pymc.catalogue.lookup import register

        for path in options.model:
            register(path)
    if options.ahead:
        table = compare_ahead(traces, start=options.start, progressbar=not options.json)
        score, title = "one_step_ahead", "sum of the log probabilities of each choice given the choices before it"
    elif options.folds:
        from icb_pymc.assess.k_fold import compare_folds

        table = compare_folds(
            traces,
            folds=options.folds,
            blocks=options.blocks,
            method=options.method,
            random_seed=options.seed or 0,
            cores=options.cores,
            progressbar=not options.json,
        )
        parts = "stretches of choices" if options.blocks else "choices at random"
        score, title = "k_fold", f"sum of the log probabilities of {parts}, left out in {options.folds} parts"
    else:
        table = compare(traces)
        score, title = "psis_loo", "expected log probability of choices left out one at a time (PSIS-LOO)"
    if options.json:
        say_json({"score": score, "models": table})
        return 0
    say(f"{title}\n")
    cautions = table.pop("caution").to_dict() if "caution" in table else {}
    digits = {name: "{:.3f}".format for name in ("probability", "per_choice") if name in table}
    say(table.to_string(float_format="{:.1f}".format, formatters=digits))
    remarks = [f"{name}: {caution}" for name, caution in cautions.items() if caution]
    if score == "psis_loo":
        remarks.append(CAUTION)
    if remarks:
        say("\n" + "\n".join(f"- {remark}" for remark in remarks))
    return 0
