"""`icb impact`: whether a feature's importance changed at an event."""

import argparse
import warnings
from typing import Any

from icb_pymc.cli.options import PICTURES, add_json, add_verb, check_output, say, say_json, write_picture
from icb_pymc.errors import InputWarning


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "impact",
        "Estimate how a feature's importance changed around a date that was fixed beforehand.",
        "icb impact trace.nc inr 2002-02-27 --before 730D --after 730D -o impact.png",
    )
    parser.add_argument("trace", help="netCDF file written by `icb fit`")
    parser.add_argument("feature", help="name of the feature")
    parser.add_argument("event", help="a date such as 2002-02-27, or a number if the decisions are numbered")
    parser.add_argument(
        "--before", required=True, metavar="LENGTH", help="length of the window before it: 730D, or a number"
    )
    parser.add_argument(
        "--after", required=True, metavar="LENGTH", help="length of the window after it: 730D, or a number"
    )
    parser.add_argument("-o", "--output", help="picture to write: .png, .pdf or .svg")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the trace, estimate the change, print it, and draw it if asked to."""
    if options.output:
        check_output(options.output, *PICTURES)
    from icb_pymc.assess.impact import impact
    from icb_pymc.results.traces import read_trace

    trace = read_trace(options.trace)
    windows = {"before": options.before, "after": options.after}
    change = impact(trace, options.feature, options.event, **windows)
    if options.json:
        say_json(_as_dict(change))
    else:
        say(str(change))
    if options.output:
        from icb_pymc import plots

        with warnings.catch_warnings():
            # The same warnings were shown above.
            warnings.simplefilter("ignore", InputWarning)
            write_picture(lambda: plots.impact(trace, options.feature, options.event, **windows), options.output)
        if not options.json:
            say(f"\nwritten to {options.output}")
    return 0


def _as_dict(change: Any) -> dict[str, Any]:
    """The estimated change; draws are summarised by their means."""
    given = {name: value.mean() if name in ("before", "after") else value for name, value in vars(change).items()}
    return given | {
        "change": change.change.mean(),
        "interval": change.interval,
        "direction": "rise" if change.rose else "fall",
        "probability": change.direction,
        "verdict": change.verdict,
    }
