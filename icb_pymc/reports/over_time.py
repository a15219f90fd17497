"""What counted, when: the charts and tables of weights and of relative importance over time."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from icb_pymc.reports import charts
from icb_pymc.reports import wording as say
from icb_pymc.reports.findings import Findings
from icb_pymc.reports.parts import Figure, Names, Table, marks_of
from icb_pymc.results.posterior import boundary_times

# Lines in one chart; more cannot be told apart.
MOST_LINES = 4
# Panels of single features or agents, and areas of shares; what is left out is said and stands in the JSON form.
MOST_PANELS, MOST_AGENTS, MOST_AREAS = 24, 12, 6
# Rows and columns of a table of numbers over time.
MOST_TIMES, MOST_COLUMNS = 16, 12
MOST_SESSIONS = 60
WIDE, NARROW, PANEL, TALL = (748, 330), (336, 290), (236, 150), (748, 250)


def over_time(findings: Findings, names: Names) -> dict[str, Any]:
    """The charts of the section, and what was left out of them."""
    weights = findings.weights
    time, marks = weights["time"].values, marks_of(findings, names)
    low, middle, high = (weights.isel(quantile=i) for i in range(3))

    def path(name: str, colour: int, of: xr.DataArray | None = None) -> charts.Path:
        bands = (low, middle, high) if of is None else [of.isel(quantile=i) for i in range(3)]
        least, median, most = (band.sel(feature=name).values for band in bands)
        return charts.Path(names.feature(name), least, median, most, colour)

    main = [path(name, position) for position, name in enumerate(findings.features[:MOST_LINES])]
    band = f"median and {findings.ci_prob:.0%} credible band"
    events = ", ".join(mark.label for mark in marks)
    description = _describe_paths(main, time)
    whose = "the common trend of all decision-makers" if findings.agents else "the decision-maker"
    title = f"Weights of {say.say_list([each.name for each in main])} over time"
    shown_limits = charts.limits_of(main)
    common: dict[str, Any] = {
        "limits": shown_limits,
        "title": title,
        "description": description,
        "sessions": sessions_of(findings),
    }
    weight_figure = Figure(
        charts.paths_chart(time, main, marks, size=WIDE, key="weights-wide", **common),
        charts.paths_chart(time, main, marks, size=NARROW, key="weights-narrow", **common),
        f"Weight of the {say.say_count(len(main), 'feature')} that moved most, {whose}: {band}. Above zero, a higher "
        "value speaks for a candidate, below zero against it. In log-odds per standard deviation of the feature."
        + (f" Vertical lines: {events}." if events else ""),
        _path_table(findings, names, time),
    )
    panels = []
    if len(findings.features) > 1:
        every = [path(name, min(position, MOST_AREAS)) for position, name in enumerate(findings.features[:MOST_PANELS])]
        limits = charts.limits_of(every)
        panels = [
            (
                each.name,
                charts.paths_chart(
                    time,
                    [each],
                    marks,
                    size=PANEL,
                    limits=limits,
                    title=f"Weight of {each.name} over time",
                    description=_describe_paths([each], time),
                    key=f"panel-{position}",
                    labelled=False,
                ),
            )
            for position, each in enumerate(every)
        ]
    left_out = max(len(findings.features) - MOST_PANELS, 0)
    return {
        "weights": weight_figure,
        "panels": panels,
        "panels_left_out": left_out,
        "shares": _shares(findings, names, marks),
        "agents": _agents(findings, names, path, marks),
        "agents_left_out": max(len(findings.agents) - MOST_AGENTS, 0),
        "legend": [(each.name, each.colour) for each in main],
    }


def _describe_paths(paths: Sequence[charts.Path], time: np.ndarray) -> str:
    start, end = say.say_moment(time[0]), say.say_moment(time[-1])
    each = [
        f"{path.name} from {say.say_signed(float(path.middle[0]))} to {say.say_signed(float(path.middle[-1]))}, "
        f"between {say.say_signed(float(path.middle.min()))} and {say.say_signed(float(path.middle.max()))}"
        for path in paths
    ]
    return f"Medians from {start} to {end}: {'; '.join(each)}."


def sessions_of(findings: Findings) -> list[Any]:
    """Times at which a new session begins, if the log has sessions and few enough to draw."""
    starts = boundary_times(findings.trace)
    return list(starts) if len(starts) <= MOST_SESSIONS else []


def _some(number: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, number - 1, min(number, most)).round().astype(int))


def _path_table(findings: Findings, names: Names, time: np.ndarray) -> Table:
    shown = findings.features[:MOST_COLUMNS]
    rows = []
    for i in _some(len(time), MOST_TIMES):
        cells = []
        for name in shown:
            low, middle, high = (float(value) for value in findings.weights.isel(time=i).sel(feature=name).values)
            cells.append(f"{say.say_signed(middle)} ({say.say_signed(low)} to {say.say_signed(high)})")
        rows.append([say.say_moment(time[i]), *cells])
    caption = f"Weights, log-odds per standard deviation: median ({findings.ci_prob:.0%} credible interval)"
    return Table(caption, ["", *(names.feature(name) for name in shown)], rows)


def _shares(findings: Findings, names: Names, marks: Sequence[charts.Mark]) -> Figure | None:
    shares, time = findings.shares, findings.shares["time"].values
    known = [str(name) for name in shares["feature"].values]
    if len(known) < 2:
        return None
    # The page's order, so that a feature keeps its colour; those not asked about are among the others.
    shown = [name for name in findings.features if name in known][:MOST_AREAS]
    areas = [(names.feature(name), shares.sel(feature=name).values, position) for position, name in enumerate(shown)]
    if len(shown) < len(known):
        rest = 1 - np.sum([area for _, area, _ in areas], axis=0)
        areas.append(("all others", rest, MOST_AREAS))
    description = "; ".join(
        f"{name} {say.say_share(float(area[0]))} at the start, {say.say_share(float(area[-1]))} at the end"
        for name, area, _ in areas
    )
    title = "Relative importance over time"
    options: dict[str, Any] = {"title": title, "description": f"{description}."}
    rows = [
        [say.say_moment(time[i]), *(say.say_share(float(area[i])) for _, area, _ in areas)]
        for i in _some(len(time), MOST_TIMES)
    ]
    return Figure(
        charts.shares_chart(time, areas, marks, size=TALL, key="shares-wide", **options),
        charts.shares_chart(time, areas, marks, size=NARROW, key="shares-narrow", **options),
        "Relative importance: the share of each feature in the sum of all absolute weights, posterior mean. It does "
        "not show signs: look at the weights first.",
        Table("Relative importance", ["", *(name for name, _, _ in areas)], rows),
    )


def _agents(
    findings: Findings, names: Names, path: Callable[..., charts.Path], marks: Sequence[charts.Mark]
) -> list[tuple[str, Any]]:
    """A panel for each agent, with the features of the main chart on common axes."""
    shown = list(findings.agents.items())[:MOST_AGENTS]
    lines = {
        agent: [path(name, position, weights) for position, name in enumerate(findings.features[:MOST_LINES])]
        for agent, weights in shown
    }
    limits = charts.limits_of([each for paths in lines.values() for each in paths]) if lines else (0.0, 1.0)
    span = (findings.weights["time"].values[0], findings.weights["time"].values[-1])
    return [
        (
            names.text(agent),
            charts.paths_chart(
                weights["time"].values,
                lines[agent],
                marks,
                size=PANEL,
                limits=limits,
                title=f"Weights of {names.text(agent)} over time",
                description=_describe_paths(lines[agent], weights["time"].values),
                key=f"agent-{position}",
                labelled=False,
                span=span,
            ),
        )
        for position, (agent, weights) in enumerate(shown)
    ]
