"""The weights around an event, and the change of each with its interval."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import ConciseDateFormatter

from icb_pymc.assess.event_windows import Event
from icb_pymc.assess.impact import Impact
from icb_pymc.assess.impact import impact as estimate_impact
from icb_pymc.assess.weights import log_odds_weights
from icb_pymc.io.text import for_picture
from icb_pymc.plots.common import AnyFigure, caption, feature_style, label_of, panel_grid, tidy
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import central_band

# Weights over time are drawn for so many features: those whose change is most probable.
DRAWN_PATHS = 4


def impact(
    trace: InferenceData,
    events: Any,
    *,
    features: Sequence[str] | None = None,
    before: Any = None,
    after: Any = None,
    matters: float | None = None,
    ci_prob: float | None = None,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw the weights around each event, and the change of every weight with its credible interval.

    One row for each event: on the left the weights of up to four features over time, those whose change is most
    probable, with the windows shaded and the mean in each window as a horizontal line; on the right the change of all
    features, filled where it is clear or probable.

    Parameters
    ----------
    trace : InferenceData
    events : date, int, sequence of them, or mapping to labels
        As in `icb_pymc.impact`.
    features : sequence of str, optional
        Those to ask about; all by default.
    before, after : str or int, optional
        Lengths of the windows, as in `icb_pymc.impact`.
    matters : float, optional
        Changes of less than this are not relevant; the band is shaded.
    ci_prob : float, optional
        Probability of the central credible bands and intervals; by default that of ArviZ's
        ``rcParams["stats.ci_prob"]``.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        As `icb_pymc.impact`.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> figure = icb_pymc.plots.impact(trace, {250: "guideline"}, before=200, after=200)
    >>> figure.axes[0].get_title()
    'guideline (t = 250)'
    """
    result = estimate_impact(
        trace, events, features=features, before=before, after=after, matters=matters, ci_prob=ci_prob
    )
    rows, names = len(result.events), [str(name) for name in result.draws["feature"].values]
    height = max(3.4, 0.28 * len(names) + 1.4)
    figure, grid = panel_grid(figure, rows, 2, (10, height * rows), width_ratios=[1.7, 1])
    for position, event in enumerate(result.events):
        course, changes = grid[position]
        _draw_course(course, trace, result, position, event, names)
        _draw_changes(changes, trace, result, position, names)
        for ax in (course, changes):
            tidy(ax)
    note = f"median and {result.ci_prob:.0%} credible band; shaded: windows, lines across them: mean weight"
    figure.supxlabel(caption(trace, note), fontsize=8)
    return figure


def _draw_course(
    ax: Axes, trace: InferenceData, result: Impact, position: int, event: Event, names: Sequence[str]
) -> None:
    """Weights over time, from one window's length before the windows to one after them."""
    weights = log_odds_weights(trace, "sd")
    time = weights["time"].values
    low_end = max(time[0], event.start - (event.time - event.start))
    high_end = min(time[-1], event.end + (event.end - event.time))
    inside = np.flatnonzero((time >= low_end) & (time <= high_end))
    near = weights.isel(time=inside)
    rows = result.rows_of(position)
    drawn = rows["probability"].sort_values(ascending=False, kind="stable").index[:DRAWN_PATHS]
    low, median, high = central_band(near.sel(feature=list(drawn)), result.ci_prob)
    for name in [name for name in names if name in set(drawn)]:
        colour, dashes = feature_style(weights, name)
        ax.fill_between(
            time[inside], low.sel(feature=name), high.sel(feature=name), color=colour, alpha=0.18, linewidth=0
        )
        ax.plot(time[inside], median.sel(feature=name), color=colour, linestyle=dashes, label=label_of(name))
        for left, right, mean in (
            (max(event.start, time[0]), event.time, rows["before"][name]),
            (event.time, min(event.end, time[-1]), rows["after"][name]),
        ):
            ax.plot([left, right], [mean, mean], color=colour, linewidth=2.5, solid_capstyle="butt", alpha=0.7)
    for left, right in ((max(event.start, time[0]), event.time), (event.time, min(event.end, time[-1]))):
        ax.axvspan(left, right, color="0.5", alpha=0.08, linewidth=0)
    ax.axvline(event.time, color="0.4", linewidth=0.8)
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    ax.set_xlim(low_end, high_end)
    ax.set_ylabel("weight, log-odds per sd", fontsize=9)
    ax.set_title(for_picture(event.name), fontsize=10)
    ax.legend(fontsize=8, frameon=False, ncols=2, loc="best")
    if time.dtype.kind == "M":
        ax.xaxis.set_major_formatter(ConciseDateFormatter(ax.xaxis.get_major_locator()))
    else:
        ax.set_xlabel("decision", fontsize=8)


def _draw_changes(ax: Axes, trace: InferenceData, result: Impact, position: int, names: Sequence[str]) -> None:
    """The change of every weight with its interval, zero marked, and the verdict in words."""
    rows = result.rows_of(position)
    weights = log_odds_weights(trace, "sd")
    for height, name in enumerate(reversed(list(names))):
        row, (colour, _) = rows.loc[name], feature_style(weights, name)
        claimed = row["verdict"] in ("clear", "probable")
        ax.plot([row["lower"], row["upper"]], [height, height], color=colour, linewidth=2.5 if claimed else 1.2)
        ax.plot(row["change"], height, "o", color=colour, markerfacecolor=colour if claimed else "white", markersize=6)
    if result.matters is not None:
        ax.axvspan(-result.matters, result.matters, color="0.5", alpha=0.15, linewidth=0)
    ax.axvline(0, color="0.4", linewidth=0.8)
    labels = [f"{label_of(name)}: {rows['verdict'][name]}" for name in reversed(list(names))]
    ax.set_yticks(range(len(names)), labels)
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.set_xlabel("change in log-odds per sd", fontsize=8)
    ax.set_title(f"change, {result.ci_prob:.0%} interval", fontsize=9)
