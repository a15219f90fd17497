"""Pictures of what counted, and when. All take a trace and nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.dates import ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from icb_pymc.errors import InputError
from icb_pymc.impact import Impact
from icb_pymc.impact import impact as find_impact
from icb_pymc.inference_data import InferenceData, group
from icb_pymc.metrics import at_times_of, estimated, relative_importance
from icb_pymc.moments import in_words, moment_within

# Okabe and Ito (2008): colours that people with any common colour vision tell apart; their yellow, too faint for a line
# on white, is grey here.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#999999")
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)))
SHARED_PANEL = 4


def importance_over_time(
    trace: InferenceData,
    *,
    features: Sequence[str] | None = None,
    events: Mapping[Any, str] | None = None,
    probability: float = 0.9,
) -> Figure:
    """Relative importance of each feature over time, with credible bands; the truth dotted where it is known.

    Up to four features share one panel; more get a panel each, since bands on bands cannot be read.

    Parameters
    ----------
    trace : InferenceData
    features : sequence of str, optional
        Those to draw; all by default. Importance is relative to all.
    events : mapping, optional
        Times or dates and what happened then, drawn as labelled lines.
    probability : float
        Of the central credible band.
    """
    importance = relative_importance(estimated(trace, "belief"))
    shown = chosen_features(importance, features)
    tail = (1 - probability) / 2
    low, middle, high = importance.quantile([tail, 0.5, 1 - tail], ("chain", "draw"))
    truth = true_importance(trace, importance)
    time = importance["time"].values
    moments = {moment_within(time, moment): label for moment, label in (events or {}).items()}
    panels = [shown] if len(shown) <= SHARED_PANEL else [[name] for name in shown]
    # As few empty places as may be.
    columns = min(len(panels), min((4, 3), key=lambda width: -len(panels) % width))
    rows = -(-len(panels) // columns)
    size = (8, 4.5) if len(panels) == 1 else (2.6 * columns, 2.3 * rows + 0.4)
    figure, grid = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for ax, names in zip(grid.flat, panels, strict=False):
        for name in names:
            colour, dashes = _style(importance, name)
            ax.fill_between(time, low.sel(feature=name), high.sel(feature=name), color=colour, alpha=0.2, linewidth=0)
            # Alone in its panel a line needs no dashes to be told apart.
            style = dashes if len(names) > 1 else "-"
            ax.plot(time, middle.sel(feature=name), color=colour, linestyle=style, label=words(name))
            if truth is not None:
                line = colour if len(names) > 1 else "black"
                ax.plot(time, truth.sel(feature=name), color=line, linestyle=":", linewidth=1.4)
        draw_events(ax, moments, labelled=ax is grid.flat[0])
        ax.spines[["top", "right"]].set_visible(False)
        if len(panels) > 1:
            ax.set_title(words(names[0]), fontsize=9)
            ax.tick_params(labelsize=8)
    if len(panels) == 1:
        grid.flat[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.01), ncols=4, frameon=False, fontsize=9)
    note = f"median and {probability:.0%} credible band" + ("; dotted: truth" if truth is not None else "")
    label_importance(figure, grid, len(panels), time, source(trace, note))
    return figure


def radar(
    trace: InferenceData, *, at: Sequence[Any], features: Sequence[str] | None = None, probability: float = 0.9
) -> Figure:
    """Relative importance of all features at chosen times, one radar each on one scale.

    Parameters
    ----------
    trace : InferenceData
    at : sequence
        Times or dates; the decision nearest to each is shown.
    features : sequence of str, optional
        Those to draw; all by default.
    probability : float
        Of the central credible band.
    """
    importance = relative_importance(estimated(trace, "belief"))
    shown = chosen_features(importance, features)
    if len(shown) < 3:
        raise InputError("a radar needs at least three features; draw importance over time instead.")
    tail = (1 - probability) / 2
    truth = true_importance(trace, importance)
    angles = np.linspace(0, 2 * np.pi, len(shown), endpoint=False)
    around = np.append(angles, angles[0])
    figure, axes = plt.subplots(
        1, len(at), figsize=(4.6 * len(at), 4.2), subplot_kw={"projection": "polar"}, squeeze=False, sharey=True
    )
    steps = [_nearest(importance["time"].values, moment) for moment in at]
    bands = importance.isel(time=steps).sel(feature=shown).quantile([tail, 0.5, 1 - tail], ("chain", "draw"))
    highest = float(bands.max())
    if truth is not None:
        highest = max(highest, float(truth.isel(time=steps).sel(feature=shown).max()))
    for i, (ax, step) in enumerate(zip(axes[0], steps, strict=True)):
        low, middle, high = bands.isel(time=i)
        ax.fill_between(around, *(_closed(edge) for edge in (low, high)), color=COLOURS[0], alpha=0.2, linewidth=0)
        ax.plot(around, _closed(middle), color=COLOURS[0], label="estimate")
        if truth is not None:
            values = _closed(truth.isel(time=step).sel(feature=shown))
            ax.plot(around, values, color=COLOURS[6], linestyle=":", label="truth")
        ax.set_xticks(angles, [words(name) for name in shown], fontsize=8)
        for label, angle in zip(ax.get_xticklabels(), angles, strict=True):
            # Labels grow away from the circle, not across it.
            label.set_horizontalalignment(
                "center" if abs(np.cos(angle)) < 0.1 else "left" if np.cos(angle) > 0 else "right"
            )
        ax.set_rlabel_position(np.degrees(angles[1]) / 2)
        ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        ax.tick_params(axis="y", labelsize=7)
        ax.yaxis.set_major_locator(MaxNLocator(4))
        ax.set_ylim(0, 1.05 * highest)
        ax.set_title(f"at {in_words(importance['time'].values[step])}", fontsize=10, pad=14)
    note = f"relative importance; band: {probability:.0%} credible" + ("; dotted: truth" if truth is not None else "")
    figure.supxlabel(source(trace, note), fontsize=7, color="0.35")
    figure.tight_layout()
    return figure


def impact(
    trace: InferenceData, feature: str, event: Any, *, before: Any, after: Any, probability: float = 0.9
) -> Figure:
    """Importance of a feature around an event, and the posterior of its change; see `icb_pymc.impact.impact`.

    On the left the importance over time with its credible band, the two windows shaded, and the mean importance in each
    as a level; on the right the draws of the change with their central interval.

    Parameters
    ----------
    trace : InferenceData
    feature, event, before, after
        As in `icb_pymc.impact.impact`.
    probability : float
        Of the central credible band and interval.
    """
    found = find_impact(trace, feature, event, before=before, after=after, credibility=probability)
    belief = estimated(trace, "belief")
    colour, dashes = _style(belief, found.feature)
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
    ax.set_title(f"{words(found.feature)} around {in_words(found.event)}", fontsize=10)
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


def chosen_features(importance: xr.DataArray, features: Sequence[str] | None) -> list[str]:
    known = [str(name) for name in importance["feature"].values]
    for name in features or ():
        if name not in known:
            raise InputError(f"there is no feature '{name}' in the trace; there are {', '.join(known)}.")
    return list(features or known)


def _style(importance: xr.DataArray, name: str) -> tuple[str, Any]:
    """A feature keeps its colour whichever others are drawn; beyond eight, dashes tell them apart."""
    position = list(importance["feature"].values).index(name)
    return COLOURS[position % len(COLOURS)], DASHES[position // len(COLOURS) % len(DASHES)]


def true_importance(trace: InferenceData, importance: xr.DataArray) -> xr.DataArray | None:
    data = group(trace, "constant_data")
    # An agent that weighs other features than those recorded has no truth on the same axes.
    if "true_belief" not in data or "reward_context" in data:
        return None
    return at_times_of(relative_importance(data["true_belief"]), importance)


def draw_events(ax: Axes, moments: Mapping[Any, str], labelled: bool) -> None:
    for at, label in moments.items():
        ax.axvline(at, color="0.4", linewidth=0.8, zorder=4)
        if labelled:
            above = ax.get_xaxis_transform()
            words: dict[str, Any] = {"rotation": 90, "ha": "right", "va": "top", "fontsize": 8, "color": "0.25"}
            # Lines that pass below the words must not make them illegible.
            behind = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5}
            ax.text(at, 0.98, f"{label} ", transform=above, bbox=behind, **words)


def label_importance(figure: Figure, grid: np.ndarray, panels: int, time: np.ndarray, note: str) -> None:
    """Axes of the first `panels` of a grid, which show relative importance over time; the others are hidden."""
    for ax in list(grid.flat)[panels:]:
        ax.set_visible(False)
    first = grid.flat[0]
    first.set_xlim(time[0], time[-1])
    first.set_ylim(bottom=0)
    first.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    if time.dtype.kind == "M":
        figure.autofmt_xdate(rotation=30)
    figure.supylabel("relative importance", fontsize=10)
    axis = "date" if time.dtype.kind == "M" else "decision"
    figure.supxlabel(f"{axis}\n{note}", fontsize=8)


def _nearest(time: np.ndarray, moment: Any) -> int:
    return int(np.argmin(np.abs(time - moment_within(time, moment))))


def _closed(values: xr.DataArray) -> np.ndarray:
    return np.append(values.values, values.values[0])


def words(name: str) -> str:
    return str(name).replace("_", " ")


def source(trace: InferenceData, note: str) -> str:
    synthetic = group(trace, "constant_data").attrs.get("synthetic")
    made_up = "; synthetic patients, none of them real" if synthetic else ""
    return f"{trace.attrs.get('model', 'model')}: {note}{made_up}"
