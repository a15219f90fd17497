"""Several agents: the importance of each feature for each of them, and for all of them together."""

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr
from matplotlib.axes import Axes

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.data.deciders import agents_of, position_of
from icb_pymc.errors import InputError
from icb_pymc.plots.common import (
    COLOURS,
    AnyFigure,
    caption,
    draw_events,
    events_within,
    known_features,
    label_importance,
    label_of,
    note_on_bands,
    panel_grid,
    tidy,
    true_importance,
)
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import at_kept_times, central_band, checked_ci_prob, draws_of

# Black is for the trend, and grey is too similar to it.
AGENT_COLOURS = COLOURS[:6]
TREND_COLOUR = "black"
MOST_AGENTS = len(AGENT_COLOURS)


def importance_by_agent(
    trace: InferenceData,
    *,
    agents: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    events: Mapping[Any, str] | None = None,
    ci_prob: float | None = None,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw the relative importance of each feature over time, for several agents and for the trend they share.

    There is one panel for each feature. An agent's line runs from one of its decisions to the next; the truth is dotted
    where it is known. The trend is drawn if the model has one.

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
        If the decisions do not say who decided, there is no such agent or feature, more than six agents are named, or
        an event lies outside the decisions.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> contexts, chosen = rng.normal(size=(20, 2, 3)), rng.integers(2, size=20)
    >>> decisions = icb_pymc.from_arrays(contexts, chosen, agent=["Bari", "Turin"] * 10)
    >>> trace = icb_pymc.fit("nb_icb", decisions, method="laplace", draws=20, random_seed=0, progressbar=False)
    >>> figure = icb_pymc.plots.importance_by_agent(trace)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['Bari', 'Turin']
    """
    data, posterior = group(trace, "constant_data"), group(trace, "posterior")
    shown = list(agents or agents_of(data)[:MOST_AGENTS])
    positions = [position_of(data, name) for name in shown]
    if len(shown) > MOST_AGENTS:
        raise InputError(f"{len(shown)} agents are too many for one figure; name {MOST_AGENTS} at most.")
    importance = relative_importance(draws_of(trace, "belief"))
    decider, truth = at_kept_times(data["decider"], importance).values, true_importance(trace, importance)
    time = importance["time"].values
    kept = known_features(importance, features)
    event_times = events_within(time, events)
    ci_prob = checked_ci_prob(ci_prob)
    columns = min(len(kept), 2 if len(kept) in (2, 4) else 3)
    rows = -(-len(kept) // columns)
    size = (max(4.2 * columns, 6), 2.8 * rows + 1.0)
    figure, grid = panel_grid(figure, rows, columns, size, sharex=True, sharey=True)
    for ax, feature in zip(grid.flat, kept, strict=False):
        for name, position, colour in zip(shown, positions, AGENT_COLOURS, strict=False):
            own = decider == position
            _draw_band(ax, importance.isel(time=own).sel(feature=feature), colour, label_of(name), ci_prob)
            if truth is not None:
                ax.plot(time[own], truth.isel(time=own).sel(feature=feature), color=colour, ls=":", lw=1.4)
        if "trend" in posterior:
            common = relative_importance(posterior["trend"]).sel(feature=feature)
            _draw_band(ax, common, TREND_COLOUR, "trend", ci_prob)
            if "true_trend" in data:
                true = relative_importance(at_kept_times(data["true_trend"], importance)).sel(feature=feature)
                ax.plot(time, true, color=TREND_COLOUR, ls=":", lw=1.4)
        draw_events(ax, event_times, labelled=ax is grid.flat[0])
        tidy(ax)
        ax.set_title(label_of(feature), fontsize=9)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 4), frameon=False, fontsize=9)
    label_importance(figure, grid, len(kept), time, caption(trace, note_on_bands(ci_prob, truth)))
    return figure


def _draw_band(ax: Axes, draws: xr.DataArray, colour: str, label: str, ci_prob: float) -> None:
    time = draws["time"].values
    low, median, high = central_band(draws, ci_prob)
    ax.fill_between(time, low, high, color=colour, alpha=0.15, linewidth=0)
    ax.plot(time, median, color=colour, label=label, linewidth=2.0 if colour == TREND_COLOUR else 1.4)
