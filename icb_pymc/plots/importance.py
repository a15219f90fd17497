"""Relative importance of features over time."""

from collections.abc import Mapping, Sequence
from typing import Any

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.plots.common import (
    AnyFigure,
    caption,
    draw_events,
    events_within,
    feature_style,
    known_features,
    label_importance,
    label_of,
    note_on_bands,
    panel_grid,
    true_importance,
)
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import central_band, checked_ci_prob, draws_of

SHARED_PANEL = 4


def importance_over_time(
    trace: InferenceData,
    *,
    features: Sequence[str] | None = None,
    events: Mapping[Any, str] | None = None,
    ci_prob: float | None = None,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw the relative importance of each feature over time, with credible bands.

    The truth is dotted where it is known. Up to four features share one panel; more get a panel each, since overlapping
    bands cannot be read.

    Parameters
    ----------
    trace : InferenceData
    features : sequence of str, optional
        Those to draw; all by default. Importance is relative to all.
    events : mapping, optional
        Times or dates and what happened then, drawn as labelled lines.
    ci_prob : float, optional
        Probability of the central credible bands; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
    figure : Figure or SubFigure, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Figure or SubFigure
        The one given, or the new one.

    Raises
    ------
    InputError
        If the trace has no beliefs or no such feature, or an event lies outside the decisions.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> figure = icb_pymc.plots.importance_over_time(trace, features=["age", "inr"], events={250: "halfway"})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['age', 'inr']
    """
    importance = relative_importance(draws_of(trace, "belief"))
    shown = known_features(importance, features)
    ci_prob = checked_ci_prob(ci_prob)
    low, median, high = central_band(importance, ci_prob)
    truth = true_importance(trace, importance)
    time = importance["time"].values
    event_times = events_within(time, events)
    panels = [shown] if len(shown) <= SHARED_PANEL else [[name] for name in shown]
    # The width that leaves the fewest panels empty.
    columns = min(len(panels), min((4, 3), key=lambda width: -len(panels) % width))
    rows = -(-len(panels) // columns)
    size = (8, 4.5) if len(panels) == 1 else (2.6 * columns, 2.3 * rows + 0.4)
    figure, grid = panel_grid(figure, rows, columns, size, sharex=True, sharey=True)
    for ax, names in zip(grid.flat, panels, strict=False):
        for name in names:
            colour, dashes = feature_style(importance, name)
            ax.fill_between(time, low.sel(feature=name), high.sel(feature=name), color=colour, alpha=0.2, linewidth=0)
            # A line that is alone in its panel needs no dashes.
            style = dashes if len(names) > 1 else "-"
            ax.plot(time, median.sel(feature=name), color=colour, linestyle=style, label=label_of(name))
            if truth is not None:
                line = colour if len(names) > 1 else "black"
                ax.plot(time, truth.sel(feature=name), color=line, linestyle=":", linewidth=1.4)
        draw_events(ax, event_times, labelled=ax is grid.flat[0])
        ax.spines[["top", "right"]].set_visible(False)
        if len(panels) > 1:
            ax.set_title(label_of(names[0]), fontsize=9)
            ax.tick_params(labelsize=8)
    if len(panels) == 1:
        grid.flat[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.01), ncols=4, frameon=False, fontsize=9)
    label_importance(figure, grid, len(panels), time, caption(trace, note_on_bands(ci_prob, truth)))
    return figure
