"""`icb impact`: whether an event changed what counted."""

import argparse
import warnings

from icb_pymc.cli.options import add_verb, check_output, say
from icb_pymc.errors import InputWarning


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "impact",
        "Tell whether a feature's importance changed around a date that was fixed beforehand.",
        "icb impact trace.nc inr 2002-02-27 --before 730D --after 730D -o impact.png",
    )
    parser.add_argument("trace", help="netCDF file written by `icb fit`")
    parser.add_argument("feature", help="whose importance")
    parser.add_argument("event", help="a date such as 2002-02-27, or a number where decisions are numbered")
    parser.add_argument("--before", required=True, metavar="LENGTH", help="window before it, such as 730D, or a number")
    parser.add_argument("--after", required=True, metavar="LENGTH", help="window after it, such as 730D, or a number")
    parser.add_argument("-o", "--output", help="picture to write: .png, .pdf or .svg")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, judge, and perhaps draw."""
    if options.output:
        check_output(options.output, ".png", ".pdf", ".svg")
    from icb_pymc.assess.impact import impact
    from icb_pymc.results.traces import read_trace

    trace = read_trace(options.trace)
    windows = {"before": options.before, "after": options.after}
    say(str(impact(trace, options.feature, options.event, **windows)))
    if options.output:
        import matplotlib as mpl

        # No screen is needed to write a file.
        mpl.use("Agg")
        from icb_pymc import plots
        from icb_pymc.io.files import replacing

        with warnings.catch_warnings():
            # Said above already.
            warnings.simplefilter("ignore", InputWarning)
            figure = plots.impact(trace, options.feature, options.event, **windows)
        with replacing(options.output) as temporary:
            figure.savefig(temporary, dpi=150, bbox_inches="tight")
        say(f"\nwritten to {options.output}")
    return 0
