"""A feature around an event, and the posterior of its change."""

from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.dates import ConciseDateFormatter

from icb_pymc.assess.impact import Impact
from icb_pymc.assess.impact import impact as estimate_impact
from icb_pymc.assess.metrics import relative_importance
from icb_pymc.data.times import format_time
from icb_pymc.plots.common import AnyFigure, caption, feature_style, label_of, panel_grid, tidy, true_importance
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import central_band, draws_of


def impact(
    trace: InferenceData,
    feature: str,
    event: Any,
    *,
    before: Any,
    after: Any,
    ci_prob: float | None = None,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw the importance of a feature around an event, and the posterior of its change.

    On the left the importance over time with its credible band, the two windows shaded, and the mean importance in each
    as a horizontal line; on the right the draws of the change with their central interval.

    Parameters
    ----------
    trace : InferenceData
    feature : str
    event : date or int
        As in `icb_pymc.impact`.
    before, after : str or int
        Lengths of the windows, as in `icb_pymc.impact`.
    ci_prob : float, optional
        Probability of the central credible band and interval; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
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
    >>> figure = icb_pymc.plots.impact(trace, "age", 250, before=200, after=200)
    >>> figure.axes[0].get_title()
    'age around t = 250'
    """
    result = estimate_impact(trace, feature, event, before=before, after=after, ci_prob=ci_prob)
    belief = draws_of(trace, "belief")
    truth = true_importance(trace, belief)
    colour, dashes = feature_style(belief, result.feature)
    figure, grid = panel_grid(figure, 1, 2, (9, 3.6), width_ratios=[2.2, 1])
    course, posterior = grid[0]
    _draw_course(course, belief, truth, result, colour, dashes)
    _draw_change(posterior, result, colour)
    for ax in (course, posterior):
        tidy(ax)
    posterior.spines["left"].set_visible(False)
    note = f"median and {result.ci_prob:.0%} credible band; shaded: windows, lines across them: mean importance"
    figure.supxlabel(caption(trace, note + ("; dotted: truth" if truth is not None else "")), fontsize=8)
    return figure


def _draw_course(
    ax: Axes, belief: xr.DataArray, truth: xr.DataArray | None, result: Impact, colour: str, dashes: Any
) -> None:
    """The importance over time, from one window's length before the windows to one after them."""
    start, end = result.windows
    time = belief["time"].values
    low_end, high_end = max(time[0], start - (result.event - start)), min(time[-1], end + (end - result.event))
    shown = (time >= low_end) & (time <= high_end)
    near = relative_importance(belief.isel(time=shown)).sel(feature=result.feature)
    low, median, high = central_band(near, result.ci_prob)
    ax.fill_between(time[shown], low, high, color=colour, alpha=0.2, linewidth=0)
    ax.plot(time[shown], median, color=colour, linestyle=dashes)
    if truth is not None:
        true_share = truth.isel(time=shown).sel(feature=result.feature)
        ax.plot(time[shown], true_share, color="black", linestyle=":", linewidth=1.4)
    for name, left, right, draws in (
        ("before", max(start, time[0]), result.event, result.before),
        ("after", result.event, min(end, time[-1]), result.after),
    ):
        ax.axvspan(left, right, color="0.5", alpha=0.12, linewidth=0)
        ax.plot([left, right], [draws.mean()] * 2, color=colour, linewidth=2.5, solid_capstyle="butt")
        middle_of_window, above = left + (right - left) / 2, ax.get_xaxis_transform()
        label = f"{name}: {draws.mean():.1%}"
        ax.text(middle_of_window, 0.97, label, ha="center", va="top", fontsize=8, color="0.25", transform=above)
    ax.axvline(result.event, color="0.4", linewidth=0.8)
    ax.set_xlim(low_end, high_end)
    # Room above the band for the names of the windows.
    ax.set_ylim(0, 1.15 * ax.get_ylim()[1])
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_ylabel("relative importance", fontsize=10)
    ax.set_title(f"{label_of(result.feature)} around {format_time(result.event)}", fontsize=10)
    if time.dtype.kind == "M":
        ax.xaxis.set_major_formatter(ConciseDateFormatter(ax.xaxis.get_major_locator()))
    else:
        ax.set_xlabel("decision", fontsize=8)


def _draw_change(ax: Axes, result: Impact, colour: str) -> None:
    """The posterior of the change in percentage points, with zero marked."""
    points = 100 * result.change
    ax.hist(points, bins=min(40, max(5, len(points) // 20)), color=colour, alpha=0.5)
    low, high = (100 * edge for edge in result.interval)
    ax.plot(
        [low, high], [0.02, 0.02], color=colour, linewidth=5, solid_capstyle="butt", transform=ax.get_xaxis_transform()
    )
    ax.axvline(0, color="0.4", linewidth=0.8)
    ax.set_yticks([])
    ax.set_xlabel("change in percentage points", fontsize=8)
    ax.set_title(
        f"{points.mean():+.1f} ({result.ci_prob:.0%}: {low:+.1f} to {high:+.1f})\n{result.verdict}", fontsize=9
    )
