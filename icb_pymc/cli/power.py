"""`icb power`: which change a log could have shown."""

import argparse
import sys

from icb_pymc.cli.options import (
    add_json,
    add_table_columns,
    add_verb,
    non_negative_integer,
    positive_integer,
    read_decisions_or_trace,
    say,
    say_json,
)


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "power",
        "Tell which change at an event this log could have shown: how often a step of a given size would be called "
        "clear, in choices simulated among the log's own candidates.",
        "icb power decisions.nc --event 2002-02-27 --feature inr --size 0.2 --size 0.5",
    )
    parser.add_argument("log", help="decisions (netCDF, or a table as CSV or Parquet), or a trace written by `icb fit`")
    parser.add_argument(
        "--event",
        required=True,
        metavar="TIME",
        help="when the step happens: a date such as 2002-02-27, or a number if the decisions are numbered",
    )
    parser.add_argument(
        "--feature",
        action="append",
        default=[],
        metavar="NAME",
        help="ask about this feature only; may be repeated (default: all)",
    )
    parser.add_argument(
        "--size",
        action="append",
        type=float,
        default=[],
        metavar="STEP",
        help="size of the step in log-odds per standard deviation; may be repeated (default: 0.2, 0.4 and 0.8)",
    )
    parser.add_argument("--before", metavar="LENGTH", help="window before the event, like 2y, 24M, 8W or a number")
    parser.add_argument("--after", metavar="LENGTH", help="window after the event")
    parser.add_argument(
        "--replicates", type=positive_integer, default=20, help="simulated logs per feature and size (default: 20)"
    )
    parser.add_argument(
        "--seed", type=non_negative_integer, default=0, help="seed of the simulated choices (default: 0)"
    )
    add_json(parser)
    add_table_columns(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the log, simulate, and print how often each step would be found."""
    from icb_pymc.assess.power import SIZES, power

    result = power(
        read_decisions_or_trace(options.log, options),
        options.event,
        features=options.feature or None,
        sizes=options.size or SIZES,
        before=options.before,
        after=options.after,
        replicates=options.replicates,
        random_seed=options.seed,
        progressbar=sys.stderr.isatty(),
    )
    if options.json:
        say_json(result.records())
    else:
        say(str(result))
    return 0
