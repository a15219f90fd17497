"""`icb plot`: draw a trace."""

import argparse
from typing import Any

from icb_pymc.cli.options import (
    PICTURES,
    add_events,
    add_verb,
    check_output,
    given_events,
    is_store,
    positive_integer,
    say,
    write_picture,
)
from icb_pymc.errors import InputError

PICTURES_OF_A_TRACE = (
    "weights",
    "importance",
    "radar",
    "agents",
    "choices",
    "performance",
    "bias",
    "psychometric",
)


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs,
        "plot",
        "Draw a trace: signed weights of the features over time, their relative importance over time, radars of it at "
        "given times, the parameters in which agents differ, or how well the model's probabilities agree with the "
        "choices. Of trials with two alternatives: the share of right answers (performance) and the bias over time, "
        "and the psychometric curve of a feature, against what the model predicts.",
        "icb plot weights trace.nc --event 2002-02-27=MELD -o weights.png",
    )
    parser.add_argument("picture", choices=PICTURES_OF_A_TRACE, help="what to draw")
    parser.add_argument("trace", help="netCDF file written by `icb fit`, or the folder of `icb fit --each`")
    parser.add_argument("-o", "--output", required=True, help="picture to write: .png, .pdf or .svg")
    parser.add_argument("--features", metavar="A,B,C", help="draw only these features")
    add_events(parser, "a vertical line with a label")
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME",
        help="draw weights or importance of this agent; may be repeated (default if agents have weights of their own: "
        "the first six)",
    )
    parser.add_argument(
        "--unit",
        choices=["sd", "user"],
        help="log-odds per standard deviation of the feature, or per unit of the user's feature (default: sd)",
    )
    parser.add_argument("--feature", metavar="NAME", help="the feature of the psychometric curve")
    parser.add_argument(
        "--window",
        type=positive_integer,
        metavar="N",
        help="performance and bias in running windows of N choices (default: by session, or in 20 parts)",
    )
    parser.add_argument("--at", nargs="+", metavar="TIME", help="times of the radars (default: first and last)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the trace and write the picture."""
    check_output(options.output, *PICTURES)
    if options.event and options.picture not in ("weights", "importance"):
        raise InputError("--event can only be used with weights and importance; radars take --at.")
    if options.unit and options.picture != "weights":
        raise InputError("--unit can only be used with weights.")
    if options.agent and options.picture not in ("weights", "importance"):
        raise InputError("--agent can only be used with weights and importance; radars take --at.")
    if options.at and options.picture != "radar":
        raise InputError("--at can only be used with radars; weights and importance take --event.")
    if options.features and options.picture not in ("weights", "importance", "radar"):
        raise InputError("--features can only be used with weights, importance and radars.")
    if options.window and options.picture not in ("performance", "bias"):
        raise InputError("--window can only be used with performance and bias.")
    if (options.feature is not None) != (options.picture == "psychometric"):
        raise InputError("--feature NAME belongs to the psychometric curve, which needs it.")
    if is_store(options.trace):
        from icb_pymc.cli.fits import plot_fits

        return plot_fits(options)
    events = given_events(options)

    from icb_pymc.results.traces import read_trace_as_tree

    trace = read_trace_as_tree(options.trace)
    write_picture(lambda: _draw(trace, events, options), options.output)
    say(f"written to {options.output}")
    return 0


def _draw(trace: Any, events: dict[str, str], options: argparse.Namespace) -> Any:
    """The figure of the chosen picture."""
    from icb_pymc.results.inference_data import group

    features = options.features.split(",") if options.features else None
    data = group(trace, "constant_data")
    if options.picture in ("weights", "importance"):
        return _draw_over_time(trace, events, features, options)
    if options.picture == "choices":
        from icb_pymc.plots.diagnosis import choices_picture

        return choices_picture(trace)
    if options.picture in ("performance", "bias", "psychometric"):
        from icb_pymc.plots.choice_shares import bias_over_time, performance_over_time, psychometric_curve

        if options.picture == "psychometric":
            return psychometric_curve(trace, options.feature)
        over_time = performance_over_time if options.picture == "performance" else bias_over_time
        return over_time(trace, window=options.window)
    if options.picture == "agents":
        from icb_pymc.plots.population import parameters_by_agent

        return parameters_by_agent(trace)
    from icb_pymc.plots.radars import radar

    time = data["time"].values
    return radar(trace, at=options.at or [time[0], time[-1]], features=features)


def _draw_over_time(trace: Any, events: dict[str, str], features: list[str] | None, options: argparse.Namespace) -> Any:
    """Weights or importance, of each agent where agents have beliefs of their own."""
    from icb_pymc.plots.agents import have_own_beliefs, importance_by_agent, weights_by_agent
    from icb_pymc.plots.importance import importance_over_time
    from icb_pymc.plots.weights import weights_over_time
    from icb_pymc.results.inference_data import group

    unit: dict[str, Any] = {"unit": options.unit or "sd"} if options.picture == "weights" else {}
    if have_own_beliefs(trace):
        draw: Any = weights_by_agent if options.picture == "weights" else importance_by_agent
        return draw(trace, agents=options.agent or None, features=features, events=events, **unit)
    if options.agent and "decider" in group(trace, "constant_data"):
        raise InputError(
            f"--agent {options.agent[0]}: all agents of this trace have the same weights, because "
            f"'{trace.attrs.get('model', 'its model')}' does not tell them apart; leave --agent out, or fit "
            "hierarchical_nb_icb."
        )
    if options.agent:
        raise InputError(f"--agent {options.agent[0]}: the decisions of this trace do not say who decided.")
    draw = weights_over_time if options.picture == "weights" else importance_over_time
    return draw(trace, features=features, events=events, **unit)
