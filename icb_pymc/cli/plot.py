"""`icb plot`: pictures of a trace."""

import argparse

from icb_pymc.cli.options import add_verb, check_output, say
from icb_pymc.errors import InputError


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "plot",
        "Draw a trace: importance of the features over time, a radar of them at chosen times, or whether choices are "
        "as the model says.",
        "icb plot importance trace.nc --event 2002-02-27=MELD -o importance.png",
    )
    parser.add_argument("picture", choices=["importance", "radar", "choices"], help="what to draw")
    parser.add_argument("trace", help="netCDF file written by `icb fit`")
    parser.add_argument("-o", "--output", required=True, help="picture to write: .png, .pdf or .svg")
    parser.add_argument("--features", metavar="A,B,C", help="draw these only")
    parser.add_argument(
        "--event",
        action="append",
        default=[],
        metavar="TIME=WHAT",
        help="a labelled line; may be repeated",
    )
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME",
        help="importance for this agent; may be repeated (default where there are several: the first six)",
    )
    parser.add_argument("--at", nargs="+", metavar="TIME", help="times of the radars (default: first and last)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, draw, and write."""
    check_output(options.output, ".png", ".pdf", ".svg")
    if options.event and options.picture != "importance":
        raise InputError("--event goes with the importance picture; radars take --at.")
    if options.agent and options.picture != "importance":
        raise InputError("--agent goes with the importance picture; radars take --at.")
    if options.at and options.picture != "radar":
        raise InputError("--at goes with radars; the importance picture takes --event.")
    if options.features and options.picture == "choices":
        raise InputError("--features goes with the importance picture and with radars.")
    events = dict(_event(text) for text in options.event)

    import matplotlib as mpl

    # No screen is needed to write a file.
    mpl.use("Agg")
    from icb_pymc.io.files import replacing
    from icb_pymc.plots.importance import importance_over_time
    from icb_pymc.plots.radars import radar
    from icb_pymc.results.inference_data import group
    from icb_pymc.results.traces import read_trace

    trace = read_trace(options.trace)
    features = options.features.split(",") if options.features else None
    if options.picture == "importance" and (options.agent or "decider" in group(trace, "constant_data")):
        from icb_pymc.plots.agents import importance_by_agent

        figure = importance_by_agent(trace, agents=options.agent or None, features=features, events=events)
    elif options.picture == "importance":
        figure = importance_over_time(trace, features=features, events=events)
    elif options.picture == "choices":
        from icb_pymc.plots.diagnosis import choices_picture

        figure = choices_picture(trace)
    else:
        time = group(trace, "constant_data")["time"].values
        figure = radar(trace, at=options.at or [time[0], time[-1]], features=features)
    with replacing(options.output) as temporary:
        figure.savefig(temporary, dpi=150, bbox_inches="tight")
    say(f"written to {options.output}")
    return 0


def _event(text: str) -> tuple[str, str]:
    when, equals, what = text.partition("=")
    if not equals:
        raise InputError(f"--event {text}: write it as time=what, e.g. 2002-02-27=MELD.")
    return when, what
