"""Relative importance of features at chosen times, as radars."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.ticker import MaxNLocator

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.data.times import format_time, time_within
from icb_pymc.errors import InputError
from icb_pymc.plots.common import (
    COLOURS,
    AnyFigure,
    caption,
    known_features,
    label_of,
    panel_grid,
    true_importance,
)
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import central_band, checked_ci_prob, draws_of


def radar(
    trace: InferenceData,
    *,
    at: Sequence[Any],
    features: Sequence[str] | None = None,
    ci_prob: float | None = None,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw the relative importance of all features at chosen times, one radar each on one scale.

    Parameters
    ----------
    trace : InferenceData
    at : sequence
        Times or dates; the decision nearest to each is shown.
    features : sequence of str, optional
        Those to draw, three at least; all by default.
    ci_prob : float, optional
        Probability of the central credible band; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If the trace has no beliefs or no such feature, there are fewer than three features, or a time lies outside the
        decisions.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> figure = icb_pymc.plots.radar(trace, at=[1, 490])
    >>> [ax.get_title() for ax in figure.axes]
    ['at t = 1', 'at t = 487']
    """
    importance = relative_importance(draws_of(trace, "belief"))
    shown = known_features(importance, features)
    if len(shown) < 3:
        raise InputError("a radar needs at least three features; draw importance over time instead.")
    ci_prob = checked_ci_prob(ci_prob)
    truth = true_importance(trace, importance)
    steps = [_nearest(importance["time"].values, moment) for moment in at]
    angles = np.linspace(0, 2 * np.pi, len(shown), endpoint=False)
    around = np.append(angles, angles[0])
    figure, grid = panel_grid(figure, 1, len(at), (4.6 * len(at), 4.2), subplot_kw={"projection": "polar"}, sharey=True)
    bands = central_band(importance.isel(time=steps).sel(feature=shown), ci_prob)
    highest = float(bands.max())
    if truth is not None:
        highest = max(highest, float(truth.isel(time=steps).sel(feature=shown).max()))
    for i, (ax, step) in enumerate(zip(grid[0], steps, strict=True)):
        low, median, high = bands.isel(time=i)
        ax.fill_between(around, *(_closed(edge) for edge in (low, high)), color=COLOURS[0], alpha=0.2, linewidth=0)
        ax.plot(around, _closed(median), color=COLOURS[0], label="estimate")
        if truth is not None:
            values = _closed(truth.isel(time=step).sel(feature=shown))
            ax.plot(around, values, color=COLOURS[6], linestyle=":", label="truth")
        ax.set_xticks(angles, [label_of(name) for name in shown], fontsize=8)
        for label, angle in zip(ax.get_xticklabels(), angles, strict=True):
            # Labels extend away from the circle, not across it.
            label.set_horizontalalignment(
                "center" if abs(np.cos(angle)) < 0.1 else "left" if np.cos(angle) > 0 else "right"
            )
        ax.set_rlabel_position(np.degrees(angles[1]) / 2)
        ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        ax.tick_params(axis="y", labelsize=7)
        ax.yaxis.set_major_locator(MaxNLocator(4))
        ax.set_ylim(0, 1.05 * highest)
        ax.set_title(f"at {format_time(importance['time'].values[step])}", fontsize=10, pad=14)
    note = f"relative importance; band: {ci_prob:.0%} credible" + ("; dotted: truth" if truth is not None else "")
    figure.supxlabel(caption(trace, note), fontsize=7, color="0.35")
    return figure


def _nearest(time: np.ndarray, moment: Any) -> int:
    return int(np.argmin(np.abs(time - time_within(time, moment))))


def _closed(values: xr.DataArray) -> np.ndarray:
    return np.append(values.values, values.values[0])
