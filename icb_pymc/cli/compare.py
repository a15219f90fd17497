"""`icb compare`: which model predicts the same decisions better."""

import argparse
from pathlib import Path

from icb_pymc.cli.options import add_verb, say, zero_or_more
from icb_pymc.errors import InputError


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "compare",
        "Compare fits of the same decisions by how well they predict choices left out, or choices to come (--ahead).",
        "icb compare nb_icb.nc b_icb.nc --ahead",
    )
    parser.add_argument("traces", nargs="+", help="netCDF files written by `icb fit`, of the same decisions")
    parser.add_argument(
        "--ahead", action="store_true", help="forecast each choice from those before it, by the models of the traces"
    )
    parser.add_argument(
        "--start",
        type=zero_or_more,
        metavar="N",
        help="with --ahead: decisions to learn from before forecasts count (default: a tenth)",
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="FILE",
        help="with --ahead: the file of a model of your own that a trace is of; may be repeated",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, compare, and say."""
    if options.start is not None and not options.ahead:
        raise InputError("--start goes with --ahead.")
    if options.model and not options.ahead:
        raise InputError("--model goes with --ahead.")
    from icb_pymc.assess.comparison import CAUTION, compare, compare_ahead
    from icb_pymc.catalogue.lookup import register
    from icb_pymc.results.traces import read_trace

    # By their names if these differ, else by their paths.
    stems = [Path(path).stem for path in options.traces]
    names = stems if len(set(stems)) == len(stems) else options.traces
    if len(set(names)) < len(names):
        raise InputError("the same trace is given twice.")
    traces = {name: read_trace(path) for name, path in zip(names, options.traces, strict=True)}
    if options.ahead:
        for path in options.model:
            register(path)
        table = compare_ahead(traces, start=options.start, progressbar=True)
        say("log probability of each choice given those before it, summed\n")
    else:
        table = compare(traces)
        say("expected log probability of choices left out one at a time (PSIS-LOO)\n")
    cautions = table.pop("caution").to_dict() if "caution" in table else {}
    digits = {"probability": "{:.3f}".format}
    say(table.to_string(float_format="{:.1f}".format, formatters=digits))
    said = [f"{name}: {words}" for name, words in cautions.items() if words]
    if not options.ahead:
        said.append(CAUTION)
    if said:
        say("\n" + "\n".join(f"- {line}" for line in said))
    return 0
