"""`icb impact`: whether an event changed what counted."""

import argparse
import sys
import warnings

from icb_pymc.cli.options import (
    PICTURES,
    add_events,
    add_json,
    add_question,
    add_verb,
    check_output,
    given_events,
    is_store,
    non_negative_integer,
    say,
    say_json,
    write_picture,
)
from icb_pymc.errors import InputError, InputWarning


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "impact",
        "Estimate how the weight of each feature changed around events that were fixed beforehand: in log-odds per "
        "standard deviation of the feature, with interval, probability and verdict; and whether a step at the event, "
        "drift without a step, or no change is best supported.",
        "icb impact trace.nc --event 2002-02-27=MELD --before 2y --after 2y --placebos 19 -o impact.png",
    )
    parser.add_argument("trace", help="netCDF file written by `icb fit`, or the folder of `icb fit --each`")
    add_events(parser, "the event: a date such as 2002-02-27, or a number if the decisions are numbered")
    add_question(parser)
    parser.add_argument(
        "--placebos",
        type=non_negative_integer,
        default=0,
        metavar="N",
        help="ask at N dates where nothing happened, too, and say where the event lies among them (default: 0)",
    )
    parser.add_argument("-o", "--output", help="picture to write: .png, .pdf or .svg")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the trace, estimate the changes, print them, and draw them if asked to."""
    if options.output:
        check_output(options.output, *PICTURES)
    if not options.event:
        raise InputError("--event is missing: say when it happened, as in --event 2002-02-27=MELD.")
    if is_store(options.trace):
        from icb_pymc.cli.fits import impact_of_fits

        return impact_of_fits(options)
    from icb_pymc.assess.impact import impact
    from icb_pymc.results.traces import read_trace_as_tree

    trace, events = read_trace_as_tree(options.trace), given_events(options)
    question = {
        "features": options.feature or None,
        "before": options.before,
        "after": options.after,
        "matters": options.matters,
    }
    result = impact(trace, events, placebos=options.placebos, progressbar=sys.stderr.isatty(), **question)
    if options.json:
        say_json(result.records())
    else:
        say(str(result))
    if options.output:
        from icb_pymc import plots

        with warnings.catch_warnings():
            # The same warnings were shown above.
            warnings.simplefilter("ignore", InputWarning)
            write_picture(lambda: plots.impact(trace, events, **question), options.output)
        if not options.json:
            say(f"\nwritten to {options.output}")
    return 0
