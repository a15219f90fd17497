"""A feature around an event, and the posterior of its change."""

from typing import Any

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.dates import ConciseDateFormatter
from matplotlib.figure import Figure

from icb_pymc.assess.impact import Impact
from icb_pymc.assess.impact import impact as find_impact
from icb_pymc.assess.metrics import relative_importance
from icb_pymc.data.times import format_time
from icb_pymc.plots.common import feature_style, source, true_importance, words
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import estimated


def impact(
    trace: InferenceData, feature: str, event: Any, *, before: Any, after: Any, probability: float = 0.9
) -> Figure:
    """Importance of a feature around an event, and the posterior of its change; see `icb_pymc.assess.impact.impact`.

    On the left the importance over time with its credible band, the two windows shaded, and the mean importance in each
    as a level; on the right the draws of the change with their central interval.

    Parameters
    ----------
    trace : InferenceData
    feature, event, before, after
        As in `icb_pymc.assess.impact.impact`.
    probability : float
        Of the central credible band and interval.
    """
    found = find_impact(trace, feature, event, before=before, after=after, credibility=probability)
    belief = estimated(trace, "belief")
    colour, dashes = feature_style(belief, found.feature)
    figure, (course, posterior) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[2.2, 1], layout="constrained")
    _draw_course(course, trace, belief, found, colour, dashes)
    _draw_change(posterior, found, colour)
    for ax in (course, posterior):
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
    posterior.spines["left"].set_visible(False)
    told = f"median and {probability:.0%} credible band; shaded: windows, lines across them: mean importance"
    truth = "; dotted: truth" if true_importance(trace, belief) is not None else ""
    figure.supxlabel(source(trace, told + truth), fontsize=8)
    return figure


def _draw_course(ax: Axes, trace: InferenceData, belief: xr.DataArray, found: Impact, colour: str, dashes: Any) -> None:
    """The importance over time, from one window's length before the windows to one after them."""
    start, end = found.windows
    time = belief["time"].values
    low_end, high_end = max(time[0], start - (found.event - start)), min(time[-1], end + (end - found.event))
    shown = (time >= low_end) & (time <= high_end)
    near = relative_importance(belief.isel(time=shown)).sel(feature=found.feature)
    tail = (1 - found.credibility) / 2
    low, middle, high = near.quantile([tail, 0.5, 1 - tail], ("chain", "draw"))
    ax.fill_between(time[shown], low, high, color=colour, alpha=0.2, linewidth=0)
    ax.plot(time[shown], middle, color=colour, linestyle=dashes)
    truth = true_importance(trace, belief)
    if truth is not None:
        ax.plot(
            time[shown], truth.isel(time=shown).sel(feature=found.feature), color="black", linestyle=":", linewidth=1.4
        )
    for name, left, right, draws in (
        ("before", max(start, time[0]), found.event, found.before),
        ("after", found.event, min(end, time[-1]), found.after),
    ):
        ax.axvspan(left, right, color="0.5", alpha=0.12, linewidth=0)
        ax.plot([left, right], [draws.mean()] * 2, color=colour, linewidth=2.5, solid_capstyle="butt")
        middle_of_window, above = left + (right - left) / 2, ax.get_xaxis_transform()
        label = f"{name}: {draws.mean():.1%}"
        ax.text(middle_of_window, 0.97, label, ha="center", va="top", fontsize=8, color="0.25", transform=above)
    ax.axvline(found.event, color="0.4", linewidth=0.8)
    ax.set_xlim(low_end, high_end)
    # Room above the band for the names of the windows.
    ax.set_ylim(0, 1.15 * ax.get_ylim()[1])
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_ylabel("relative importance", fontsize=10)
    ax.set_title(f"{words(found.feature)} around {format_time(found.event)}", fontsize=10)
    if time.dtype.kind == "M":
        ax.xaxis.set_major_formatter(ConciseDateFormatter(ax.xaxis.get_major_locator()))
    else:
        ax.set_xlabel("decision", fontsize=8)


def _draw_change(ax: Axes, found: Impact, colour: str) -> None:
    """The posterior of the change in points, with zero marked."""
    points = 100 * found.change
    ax.hist(points, bins=min(40, max(5, len(points) // 20)), color=colour, alpha=0.5)
    low, high = (100 * edge for edge in found.interval)
    ax.plot(
        [low, high], [0.02, 0.02], color=colour, linewidth=5, solid_capstyle="butt", transform=ax.get_xaxis_transform()
    )
    ax.axvline(0, color="0.4", linewidth=0.8)
    ax.set_yticks([])
    ax.set_xlabel("change in percentage points", fontsize=8)
    ax.set_title(
        f"{points.mean():+.1f} ({found.credibility:.0%}: {low:+.1f} to {high:+.1f})\n{found.verdict}", fontsize=9
    )
