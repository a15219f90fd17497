"""What the figures share: panels, colours, styles of features, events, labels of axes."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.data.times import time_within
from icb_pymc.errors import InputError
from icb_pymc.io.text import for_picture
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import at_kept_times

AnyFigure = Any
"""`matplotlib.figure.Figure` or `matplotlib.figure.SubFigure`."""

# Okabe and Ito (2008): colours that people with any common colour vision can distinguish; their yellow, too faint for a
# line on white, is grey here.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#999999")
# Intervals longer than both this share of the log and this many typical intervals are drawn as gaps.
LONG_GAP_SHARE, LONG_GAP_INTERVALS = 0.05, 10
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)))


def panel_grid(
    figure: AnyFigure | None, rows: int, columns: int, size: tuple[float, float], **options: Any
) -> tuple[AnyFigure, np.ndarray]:
    """A figure, or the one given, with a grid of axes (row, column); options are those of `Figure.subplots`."""
    if figure is None:
        figure = plt.figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def label_of(name: Any) -> str:
    """The name of a feature or an agent as a label."""
    return for_picture(str(name).replace("_", " "))


def caption(trace: InferenceData, note: str) -> str:
    """The model of a trace with a note on what is drawn, and a warning if the patients are synthetic."""
    synthetic = group(trace, "constant_data").attrs.get("synthetic")
    warning = "; synthetic patients, none of them real" if synthetic else ""
    return f"{model_of(trace)}: {note}{warning}"


def model_of(trace: InferenceData) -> str:
    """The name of the model of a trace, as text for a figure."""
    return for_picture(trace.attrs.get("model", "model"))


def known_features(importance: xr.DataArray, features: Sequence[str] | None) -> list[str]:
    """The features to draw, all by default, or an `InputError` if there is no such feature."""
    known = [str(name) for name in importance["feature"].values]
    for name in features or ():
        if name not in known:
            raise InputError(f"there is no feature '{name}' in the trace; there are {', '.join(known)}.")
    return list(features or known)


def feature_style(importance: xr.DataArray, name: str) -> tuple[str, Any]:
    """Colour and dashes: a feature keeps its colour whichever others are drawn; beyond eight, dashes differ."""
    position = list(importance["feature"].values).index(name)
    return COLOURS[position % len(COLOURS)], DASHES[position // len(COLOURS) % len(DASHES)]


def true_importance(trace: InferenceData, importance: xr.DataArray) -> xr.DataArray | None:
    """The true relative importance at the times of `importance`, where it is known."""
    data = group(trace, "constant_data")
    # An agent that weighs other features than those recorded has no truth on the same axes.
    if "true_belief" not in data or "reward_context" in data:
        return None
    return at_kept_times(relative_importance(data["true_belief"]), importance)


def note_on_bands(ci_prob: float, truth: xr.DataArray | None, sessions: np.ndarray | None = None) -> str:
    """What lines and bands show, and the faint lines at the beginnings of sessions if there are any."""
    notes = [f"median and {ci_prob:.0%} credible band"]
    notes += ["dotted: truth"] if truth is not None else []
    notes += ["vertical lines: sessions"] if sessions is not None and len(sessions) else []
    return "; ".join(notes)


def events_within(time: np.ndarray, events: Mapping[Any, str] | None) -> dict[Any, str]:
    """Events by their times as the decisions have them, or an `InputError` if one lies outside."""
    return {time_within(time, moment): label for moment, label in (events or {}).items()}


def draw_events(ax: Axes, events: Mapping[Any, str], labelled: bool) -> None:
    """A vertical line for each event, with its label at the top if `labelled`."""
    for at, label in events.items():
        ax.axvline(at, color="0.4", linewidth=0.8, zorder=4)
        if labelled:
            above = ax.get_xaxis_transform()
            style: dict[str, Any] = {"rotation": 90, "ha": "right", "va": "top", "fontsize": 8, "color": "0.25"}
            # Lines that pass behind the label must not make it illegible.
            behind = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5}
            ax.text(at, 0.98, f"{for_picture(label)} ", transform=above, bbox=behind, **style)


def gap_positions(time: np.ndarray) -> np.ndarray:
    """Positions before which a gap in time ends: longer than a twentieth of the log, and than ten typical intervals.

    The typical interval is the median of those between different times.

    Examples
    --------
    >>> gap_positions(np.array([1, 2, 3, 4, 5, 95, 96, 97, 98]))
    array([5])
    >>> gap_positions(np.arange(100))
    array([], dtype=int64)
    """
    intervals = np.diff(time).astype(np.float64)
    later = intervals[intervals > 0]
    if not len(later):
        return np.zeros(0, np.int64)
    limit = max(LONG_GAP_SHARE * later.sum(), LONG_GAP_INTERVALS * float(np.median(later)))
    return np.flatnonzero(intervals > limit) + 1


def draw_line(ax: Axes, time: np.ndarray, values: Any, **style: Any) -> None:
    """A line over time that is interrupted where there is a gap; a time alone between two gaps is a dot."""
    begins = np.concatenate([[0], gap_positions(time)])
    alone = begins[np.diff(np.append(begins, len(time))) == 1]
    # A missing value in each gap interrupts the line.
    at, path = np.insert(time, begins[1:], time[begins[1:]]), np.insert(np.asarray(values, float), begins[1:], np.nan)
    dots = alone + np.searchsorted(begins[1:], alone, side="right")
    ax.plot(at, path, **({"marker": ".", "markevery": dots.tolist()} if len(dots) else {}), **style)


def draw_band(ax: Axes, time: np.ndarray, low: Any, high: Any, **style: Any) -> None:
    """A band over time that is interrupted where there is a gap."""
    edges = [0, *gap_positions(time), len(time)]
    low, high = np.asarray(low), np.asarray(high)
    for begin, end in itertools.pairwise(edges):
        ax.fill_between(time[begin:end], low[begin:end], high[begin:end], linewidth=0, **style)


def draw_sessions(ax: Axes, times: np.ndarray) -> None:
    """A faint vertical line where each session begins."""
    for at in times:
        ax.axvline(at, color="0.85", linewidth=0.6, zorder=0, gid="session")


def label_importance(figure: AnyFigure, grid: np.ndarray, panels: int, time: np.ndarray, note: str) -> None:
    """Axes of the first `panels` of a grid, which show relative importance over time; the others are hidden."""
    label_times(figure, grid, panels, time, note)
    first = grid.flat[0]
    first.set_ylim(bottom=0)
    first.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    figure.supylabel("relative importance", fontsize=10)


def label_times(figure: AnyFigure, grid: np.ndarray, panels: int, time: np.ndarray, note: str) -> None:
    """The time axis of the first `panels` of a grid, with a note below; the other panels are hidden."""
    for ax in list(grid.flat)[panels:]:
        ax.set_visible(False)
    dated = time.dtype.kind == "M"
    grid.flat[0].set_xlim(time[0], time[-1])
    if dated:
        for ax in grid[-1]:
            # Not autofmt_xdate, which would change every other axes of the figure too.
            for label in ax.get_xticklabels():
                label.set(rotation=30, horizontalalignment="right")
    figure.supxlabel(f"{'date' if dated else 'decision'}\n{note}", fontsize=8)


def tidy(ax: Axes) -> None:
    """Small tick labels, and no frame on top and on the right."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)
