"""Relative importance of features at chosen times, as radars."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.data.times import format_time, time_within
from icb_pymc.errors import InputError
from icb_pymc.plots.common import COLOURS, chosen_features, source, true_importance, words
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import estimated


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
        ax.set_title(f"at {format_time(importance['time'].values[step])}", fontsize=10, pad=14)
    note = f"relative importance; band: {probability:.0%} credible" + ("; dotted: truth" if truth is not None else "")
    figure.supxlabel(source(trace, note), fontsize=7, color="0.35")
    figure.tight_layout()
    return figure


def _nearest(time: np.ndarray, moment: Any) -> int:
    return int(np.argmin(np.abs(time - time_within(time, moment))))


def _closed(values: xr.DataArray) -> np.ndarray:
    return np.append(values.values, values.values[0])
