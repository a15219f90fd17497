"""Relative importance of features over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.data.times import time_within
from icb_pymc.plots.common import (
    chosen_features,
    draw_events,
    feature_style,
    label_importance,
    source,
    true_importance,
    words,
)
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import estimated

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
    moments = {time_within(time, moment): label for moment, label in (events or {}).items()}
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
            colour, dashes = feature_style(importance, name)
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
