"""Pictures of what counted, and when. All take a trace and nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icb_pymc.errors import InputError
from icb_pymc.inference_data import InferenceData, group
from icb_pymc.metrics import estimated, relative_importance

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
    shown = _chosen_features(importance, features)
    tail = (1 - probability) / 2
    low, middle, high = importance.quantile([tail, 0.5, 1 - tail], ("chain", "draw"))
    truth = _true_importance(trace)
    time = importance["time"].values
    moments = {_inside(time, moment): label for moment, label in (events or {}).items()}
    panels = [shown] if len(shown) <= SHARED_PANEL else [[name] for name in shown]
    columns = min(len(panels), 4)
    rows = -(-len(panels) // columns)
    size = (8, 4.5) if len(panels) == 1 else (2.6 * columns, 2.3 * rows + 0.4)
    figure, grid = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for ax, names in zip(grid.flat, panels, strict=False):
        for name in names:
            colour, dashes = _style(importance, name)
            ax.fill_between(time, low.sel(feature=name), high.sel(feature=name), color=colour, alpha=0.2, linewidth=0)
            ax.plot(time, middle.sel(feature=name), color=colour, linestyle=dashes, label=_words(name))
            if truth is not None:
                line = colour if len(names) > 1 else "black"
                ax.plot(time, truth.sel(feature=name), color=line, linestyle=":", linewidth=1.4)
        _draw_events(ax, moments, labelled=ax is grid.flat[0])
        ax.spines[["top", "right"]].set_visible(False)
        if len(panels) > 1:
            ax.set_title(_words(names[0]), fontsize=9)
            ax.tick_params(labelsize=8)
    for ax in list(grid.flat)[len(panels) :]:
        ax.set_visible(False)
    grid.flat[0].set_xlim(time[0], time[-1])
    grid.flat[0].set_ylim(bottom=0)
    grid.flat[0].yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    if len(panels) == 1:
        grid.flat[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.01), ncols=4, frameon=False, fontsize=9)
    if time.dtype.kind == "M":
        figure.autofmt_xdate(rotation=30)
    figure.supylabel("relative importance", fontsize=10)
    note = f"median and {probability:.0%} credible band" + ("; dotted: truth" if truth is not None else "")
    axis = "date" if time.dtype.kind == "M" else "decision"
    figure.supxlabel(f"{axis}\n{_source(trace, note)}", fontsize=8)
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
    shown = _chosen_features(importance, features)
    if len(shown) < 3:
        raise InputError("a radar needs at least three features; draw importance over time instead.")
    tail = (1 - probability) / 2
    truth = _true_importance(trace)
    angles = np.linspace(0, 2 * np.pi, len(shown), endpoint=False)
    around = np.append(angles, angles[0])
    figure, axes = plt.subplots(
        1, len(at), figsize=(4.6 * len(at), 4.2), subplot_kw={"projection": "polar"}, squeeze=False, sharey=True
    )
    steps = [_nearest(importance["time"].values, moment) for moment in at]
    bands = importance.isel(time=steps).sel(feature=shown).quantile([tail, 0.5, 1 - tail], ("chain", "draw"))
    for i, (ax, step) in enumerate(zip(axes[0], steps, strict=True)):
        low, middle, high = bands.isel(time=i)
        ax.fill_between(around, *(_closed(edge) for edge in (low, high)), color=COLOURS[0], alpha=0.2, linewidth=0)
        ax.plot(around, _closed(middle), color=COLOURS[0], label="estimate")
        if truth is not None:
            values = _closed(truth.isel(time=step).sel(feature=shown))
            ax.plot(around, values, color=COLOURS[6], linestyle=":", label="truth")
        ax.set_xticks(angles, [_words(name) for name in shown], fontsize=8)
        for label, angle in zip(ax.get_xticklabels(), angles, strict=True):
            # Labels grow away from the circle, not across it.
            label.set_horizontalalignment(
                "center" if abs(np.cos(angle)) < 0.1 else "left" if np.cos(angle) > 0 else "right"
            )
        ax.set_rlabel_position(np.degrees(angles[1]) / 2)
        ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        ax.tick_params(axis="y", labelsize=7)
        ax.set_ylim(0, 1.05 * float(bands.max()))
        ax.set_title(f"at {_when(importance['time'].values[step])}", fontsize=10, pad=14)
    note = f"relative importance; band: {probability:.0%} credible" + ("; dotted: truth" if truth is not None else "")
    figure.supxlabel(_source(trace, note), fontsize=7, color="0.35")
    figure.tight_layout()
    return figure


def _chosen_features(importance: xr.DataArray, features: Sequence[str] | None) -> list[str]:
    known = [str(name) for name in importance["feature"].values]
    for name in features or ():
        if name not in known:
            raise InputError(f"there is no feature '{name}' in the trace; there are {', '.join(known)}.")
    return list(features or known)


def _style(importance: xr.DataArray, name: str) -> tuple[str, Any]:
    """A feature keeps its colour whichever others are drawn; beyond eight, dashes tell them apart."""
    position = list(importance["feature"].values).index(name)
    return COLOURS[position % len(COLOURS)], DASHES[position // len(COLOURS) % len(DASHES)]


def _true_importance(trace: InferenceData) -> xr.DataArray | None:
    data = group(trace, "constant_data")
    # An agent that weighs other features than those recorded has no truth on the same axes.
    if "true_belief" not in data or "reward_context" in data:
        return None
    return relative_importance(data["true_belief"])


def _draw_events(ax: Axes, moments: Mapping[Any, str], labelled: bool) -> None:
    for at, label in moments.items():
        ax.axvline(at, color="0.4", linewidth=0.8)
        if labelled:
            above = ax.get_xaxis_transform()
            ax.text(at, 0.98, f"{label} ", rotation=90, ha="right", va="top", fontsize=8, color="0.25", transform=above)


def _nearest(time: np.ndarray, moment: Any) -> int:
    return int(np.argmin(np.abs(time - _inside(time, moment))))


def _inside(time: np.ndarray, moment: Any) -> Any:
    at = _as_time(time, moment)
    if not time[0] <= at <= time[-1]:
        raise InputError(f"{moment} lies outside the decisions, {_when(time[0])} to {_when(time[-1])}.")
    return at


def _as_time(time: np.ndarray, moment: Any) -> Any:
    try:
        return pd.Timestamp(str(moment)).to_datetime64() if time.dtype.kind == "M" else int(moment)
    except ValueError:
        kind = "a date like 2002-02-27" if time.dtype.kind == "M" else "a whole number"
        raise InputError(f"time '{moment}': give {kind}, as in the decisions.") from None


def _when(moment: Any) -> str:
    return str(np.datetime_as_string(moment, unit="D")) if moment.dtype.kind == "M" else f"t = {moment}"


def _closed(values: xr.DataArray) -> np.ndarray:
    return np.append(values.values, values.values[0])


def _words(name: str) -> str:
    return str(name).replace("_", " ")


def _source(trace: InferenceData, note: str) -> str:
    synthetic = group(trace, "constant_data").attrs.get("synthetic")
    made_up = "; synthetic patients, none of them real" if synthetic else ""
    return f"{trace.attrs.get('model', 'model')}: {note}{made_up}"
