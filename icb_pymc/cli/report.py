"""`icb report`: the page that a decision-maker reads."""

import argparse
import sys

from icb_pymc.cli.options import (
    add_events,
    add_question,
    add_verb,
    check_output,
    given_events,
    is_store,
    named_traces,
    say,
)


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "report",
        "Write one page that answers whether events changed what counted, why to believe it, and what it cannot tell. "
        "The HTML form needs no network and no JavaScript; .md and .json have the same content.",
        'icb report trace.nc --event 2002-02-27="MELD introduced" --matters 0.1 -o report.html',
    )
    parser.add_argument("trace", help="netCDF file written by `icb fit`, or the folder of `icb fit --each`")
    parser.add_argument("others", nargs="*", metavar="more.nc", help="fits of other models to the same decisions")
    add_events(parser, "the event: a date such as 2002-02-27, or a number if the decisions are numbered")
    add_question(parser)
    parser.add_argument(
        "--example",
        action="append",
        default=[],
        metavar="TIME",
        help="a decision of the log to show as an example; may be repeated (default: three that the change alters "
        "much, somewhat and little)",
    )
    parser.add_argument("--title", help="heading of the page")
    parser.add_argument(
        "--quick", action="store_true", help="leave out the checks that need new computations (placebo dates, priors)"
    )
    parser.add_argument("-o", "--output", required=True, help="file to write: .html, .md or .json")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the traces, gather the answers, write the page, and print the answers."""
    check_output(options.output, ".html", ".md", ".json")
    if is_store(options.trace):
        from icb_pymc.cli.fits import report_of_fits

        return report_of_fits(options)
    from icb_pymc.reports.report import report

    trace, *others = named_traces([options.trace, *options.others]).items()
    made = report(
        trace[1],
        given_events(options) or None,
        others=dict(others),
        features=options.feature or None,
        before=options.before,
        after=options.after,
        matters=options.matters,
        examples=options.example or None,
        quick=options.quick,
        title=options.title,
        source=options.trace,
        progressbar=sys.stderr.isatty(),
    )
    made.write(options.output)
    say(f"{made}\n\nwritten to {options.output}")
    return 0
