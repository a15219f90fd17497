"""Pictures of several agents: what counted for each, and for all of them. All take a trace and nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.data.deciders import agents_of, position_of
from icb_pymc.data.times import time_within
from icb_pymc.errors import InputError
from icb_pymc.plots.common import (
    COLOURS,
    chosen_features,
    draw_events,
    label_importance,
    source,
    true_importance,
    words,
)
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import at_kept_times, estimated

# Black is for the trend, and grey is too near to it.
AGENT_COLOURS = COLOURS[:6]
TREND_COLOUR = "black"
MOST_AGENTS = len(AGENT_COLOURS)


def importance_by_agent(
    trace: InferenceData,
    *,
    agents: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    events: Mapping[Any, str] | None = None,
    probability: float = 0.9,
) -> Figure:
    """Relative importance of each feature over time, for several agents and for the trend they share.

    One panel for each feature. An agent's line runs from one of its decisions to the next; the truth is dotted where it
    is known. The trend is there if the model has one.

    Parameters
    ----------
    trace : InferenceData
        Of decisions that say who decided.
    agents : sequence of str, optional
        Those to draw, six at most; by default the first six.
    features : sequence of str, optional
        Those to draw; all by default. Importance is relative to all.
    events : mapping, optional
        Times or dates and what happened then, drawn as labelled lines.
    probability : float
        Of the central credible bands.
    """
    data = group(trace, "constant_data")
    shown = list(agents or agents_of(data)[:MOST_AGENTS])
    positions = [position_of(data, name) for name in shown]
    if len(shown) > MOST_AGENTS:
        raise InputError(f"{len(shown)} agents are too many for one picture; name {MOST_AGENTS} at most.")
    importance = relative_importance(estimated(trace, "belief"))
    decider, truth = at_kept_times(data["decider"], importance).values, true_importance(trace, importance)
    time = importance["time"].values
    kept = chosen_features(importance, features)
    moments = {time_within(time, moment): label for moment, label in (events or {}).items()}
    columns = min(len(kept), 2 if len(kept) in (2, 4) else 3)
    rows = -(-len(kept) // columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(max(4.2 * columns, 6), 2.8 * rows + 1.0),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, feature in zip(grid.flat, kept, strict=False):
        for name, position, colour in zip(shown, positions, AGENT_COLOURS, strict=False):
            own = decider == position
            _band(ax, importance.isel(time=own).sel(feature=feature), colour, words(name), probability)
            if truth is not None:
                ax.plot(time[own], truth.isel(time=own).sel(feature=feature), color=colour, ls=":", lw=1.4)
        if "trend" in group(trace, "posterior"):
            common = relative_importance(estimated(trace, "trend")).sel(feature=feature)
            _band(ax, common, TREND_COLOUR, "trend", probability)
            if "true_trend" in data:
                true = relative_importance(at_kept_times(data["true_trend"], importance)).sel(feature=feature)
                ax.plot(time, true, color=TREND_COLOUR, ls=":", lw=1.4)
        draw_events(ax, moments, labelled=ax is grid.flat[0])
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_title(words(feature), fontsize=9)
        ax.tick_params(labelsize=8)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 4), frameon=False, fontsize=9)
    note = f"median and {probability:.0%} credible band" + ("; dotted: truth" if truth is not None else "")
    label_importance(figure, grid, len(kept), time, source(trace, note))
    return figure


def _band(ax: Axes, draws: xr.DataArray, colour: str, label: str, probability: float) -> None:
    tail = (1 - probability) / 2
    time = draws["time"].values
    low, middle, high = (np.asarray(edge) for edge in draws.quantile([tail, 0.5, 1 - tail], ("chain", "draw")))
    ax.fill_between(time, low, high, color=colour, alpha=0.15, linewidth=0)
    ax.plot(time, middle, color=colour, label=label, linewidth=2.0 if colour == TREND_COLOUR else 1.4)
