"""`icb compare`: compare how well models predict the same decisions."""

import argparse

from icb_pymc.cli.options import add_json, add_verb, is_store, named_traces, non_negative_integer, say, say_json
from icb_pymc.errors import InputError


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "compare",
        "Compare fits of the same decisions by how well they predict choices that were left out, or the next choice "
        "(--ahead).",
        "icb compare nb_icb.nc b_icb.nc --ahead",
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
        help="with --ahead: the file of a user-defined model that a trace was fitted with; may be repeated",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the traces, compare them, and print the table."""
    if options.start is not None and not options.ahead:
        raise InputError("--start can only be used with --ahead.")
    if options.model and not options.ahead:
        raise InputError("--model can only be used with --ahead.")
    if any(is_store(path) for path in options.traces):
        from icb_pymc.cli.fits import compare_fits

        return compare_fits(options)
    from icb_pymc.assess.comparison import CAUTION, compare, compare_ahead

    traces = named_traces(options.traces)
    if options.ahead:
        from icb_pymc.catalogue.lookup import register

        for path in options.model:
            register(path)
        table = compare_ahead(traces, start=options.start, progressbar=not options.json)
        title = "sum of the log probabilities of each choice given the choices before it"
    else:
        table = compare(traces)
        title = "expected log probability of choices left out one at a time (PSIS-LOO)"
    if options.json:
        say_json({"score": "one_step_ahead" if options.ahead else "psis_loo", "models": table})
        return 0
    say(f"{title}\n")
    cautions = table.pop("caution").to_dict() if "caution" in table else {}
    digits = {"probability": "{:.3f}".format}
    say(table.to_string(float_format="{:.1f}".format, formatters=digits))
    remarks = [f"{name}: {caution}" for name, caution in cautions.items() if caution]
    if not options.ahead:
        remarks.append(CAUTION)
    if remarks:
        say("\n" + "\n".join(f"- {remark}" for remark in remarks))
    return 0
