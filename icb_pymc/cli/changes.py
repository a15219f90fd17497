"""`icb changes`: when preferences changed."""

import argparse
import sys

from icb_pymc.cli.options import (
    PICTURES,
    add_json,
    add_table_columns,
    add_verb,
    check_output,
    non_negative_integer,
    positive_integer,
    read_decisions_or_trace,
    say,
    say_json,
    write_picture,
)


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "changes",
        "Estimate how often preferences changed and when, with credible intervals of the dates.",
        "icb changes decisions.nc -o changes.png",
    )
    parser.add_argument("log", help="decisions (netCDF, or a table as CSV or Parquet), or a trace written by `icb fit`")
    parser.add_argument("-o", "--output", help="picture to write: .png, .pdf or .svg")
    add_json(parser)
    parser.add_argument(
        "--seed",
        type=non_negative_integer,
        default=0,
        help="of the draws of weights; dates do not depend on it (default: 0)",
    )
    parser.add_argument(
        "--expected", type=float, default=1.0, metavar="N", help="changes expected a priori (default: 1)"
    )
    parser.add_argument("--length", type=positive_integer, metavar="N", help="decisions per block of the first grid")
    parser.add_argument("--draws", type=positive_integer, default=500, help="draws of the weights (default: 500)")
    add_table_columns(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the log, estimate the dates, print them, and draw them if asked to."""
    if options.output:
        check_output(options.output, *PICTURES)
    from icb_pymc.assess.changes import changes

    result = changes(
        read_decisions_or_trace(options.log, options),
        expected_changes=options.expected,
        length=options.length,
        draws=options.draws,
        random_seed=options.seed,
        # The bar would leave an empty line in a file or a pipe.
        progressbar=sys.stdout.isatty(),
    )
    if options.json:
        say_json(result.as_dict())
    else:
        say(str(result))
    if options.output:
        from icb_pymc import plots

        write_picture(lambda: plots.changes(result), options.output)
        if not options.json:
            say(f"\nwritten to {options.output}")
    return 0
