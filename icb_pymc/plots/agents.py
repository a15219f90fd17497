"""Several agents: the weight or the importance of each feature for each of them, and for all of them together."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.assess.weights import log_odds_weights
from icb_pymc.data.deciders import agents_of, position_of
from icb_pymc.errors import InputError
from icb_pymc.plots.common import (
    COLOURS,
    AnyFigure,
    caption,
    draw_band,
    draw_events,
    draw_line,
    draw_sessions,
    events_within,
    known_features,
    label_importance,
    label_of,
    label_times,
    note_on_bands,
    panel_grid,
    tidy,
    true_importance,
)
from icb_pymc.plots.weights import true_weights
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import at_kept_times, boundary_times, central_band, checked_ci_prob, draws_of

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

    There is one panel for each feature. An agent's line runs from one of its decisions to the next, and is interrupted
    in gaps as in `importance_over_time`; the truth is dotted where it is known. The trend is drawn if the model has
    one, and the beginnings of sessions if all agents share them.

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
    importance = relative_importance(draws_of(trace, "belief"))
    truth = true_importance(trace, importance)
    trend, true_trend = None, None
    if "trend" in group(trace, "posterior"):
        trend, data = relative_importance(draws_of(trace, "trend")), group(trace, "constant_data")
        if "true_trend" in data:
            true_trend = relative_importance(at_kept_times(data["true_trend"], importance))
    paths = (importance, truth, trend, true_trend)
    figure, grid, panels, note = _draw_by_agent(trace, paths, agents, features, events, ci_prob, figure)
    label_importance(figure, grid, panels, importance["time"].values, note)
    return figure


def weights_by_agent(
    trace: InferenceData,
    *,
    agents: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    events: Mapping[Any, str] | None = None,
    unit: str = "sd",
    ci_prob: float | None = None,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw the signed weight of each feature over time in log-odds, for several agents and for the trend they share.

    Lines are those of `importance_by_agent`, with a line at zero.

    Parameters
    ----------
    trace : InferenceData
        Of decisions that say who decided.
    agents : sequence of str, optional
        Those to draw, six at most; by default the first six.
    features : sequence of str, optional
        Those to draw; all by default.
    events : mapping, optional
        Times or dates and what happened then, drawn as labelled lines.
    unit : {"sd", "user"}
        Log-odds per standard deviation of the feature, or per unit of the user's features.
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
    >>> options = {"method": "laplace", "draws": 20, "random_seed": 0, "progressbar": False}
    >>> trace = icb_pymc.fit("hierarchical_nb_icb", decisions, **options)
    >>> figure = icb_pymc.plots.weights_by_agent(trace)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['Bari', 'Turin']
    """
    weights = log_odds_weights(trace, unit)
    trend = log_odds_weights(trace, unit, of="trend") if "trend" in group(trace, "posterior") else None
    true_trend = None if trend is None else true_weights(trace, weights, unit, "true_trend")
    paths = (weights, true_weights(trace, weights, unit), trend, true_trend)
    figure, grid, panels, note = _draw_by_agent(trace, paths, agents, features, events, ci_prob, figure)
    for ax in grid.flat:
        ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    label_times(figure, grid, panels, weights["time"].values, note)
    figure.supylabel(f"weight, {weights.attrs['unit']}", fontsize=10)
    return figure


def have_own_beliefs(trace: InferenceData) -> bool:
    """Whether the agents in a trace have beliefs of their own; a model may also give all of them the same belief."""
    posterior = group(trace, "posterior")
    if "decider" not in group(trace, "constant_data"):
        return False
    return "deviation" in posterior or any("agent" in values.dims for values in posterior.data_vars.values())


def _draw_by_agent(
    trace: InferenceData,
    paths: tuple[xr.DataArray, xr.DataArray | None, xr.DataArray | None, xr.DataArray | None],
    agents: Sequence[str] | None,
    features: Sequence[str] | None,
    events: Mapping[Any, str] | None,
    ci_prob: float | None,
    figure: AnyFigure | None,
) -> tuple[AnyFigure, np.ndarray, int, str]:
    """Draw the agents' paths, their truth, the trend and its truth, where known.

    Returns the figure, the grid of axes, how many of them are used, and what lines and bands show.
    """
    draws, truth, trend, true_trend = paths
    data = group(trace, "constant_data")
    shown = list(agents or agents_of(data)[:MOST_AGENTS])
    positions = [position_of(data, name) for name in shown]
    if len(shown) > MOST_AGENTS:
        raise InputError(f"{len(shown)} agents are too many for one figure; name {MOST_AGENTS} at most.")
    decider, time = at_kept_times(data["decider"], draws).values, draws["time"].values
    kept = known_features(draws, features)
    event_times, boundaries = events_within(time, events), boundary_times(trace)
    ci_prob = checked_ci_prob(ci_prob)
    columns = min(len(kept), 2 if len(kept) in (2, 4) else 3)
    rows = -(-len(kept) // columns)
    size = (max(4.2 * columns, 6), 2.8 * rows + 1.0)
    figure, grid = panel_grid(figure, rows, columns, size, sharex=True, sharey=True)
    for ax, feature in zip(grid.flat, kept, strict=False):
        for name, position, colour in zip(shown, positions, AGENT_COLOURS, strict=False):
            own = np.flatnonzero(decider == position)
            # A trace that keeps few times may keep none of this agent.
            if len(own):
                _draw_agent(ax, draws.isel(time=own).sel(feature=feature), colour, label_of(name), ci_prob)
            if truth is not None and len(own):
                draw_line(ax, time[own], truth.isel(time=own).sel(feature=feature), color=colour, ls=":", lw=1.4)
        if trend is not None:
            _draw_agent(ax, trend.sel(feature=feature), TREND_COLOUR, "trend", ci_prob)
        if true_trend is not None:
            draw_line(ax, time, true_trend.sel(feature=feature), color=TREND_COLOUR, ls=":", lw=1.4)
        draw_sessions(ax, boundaries)
        draw_events(ax, event_times, labelled=ax is grid.flat[0])
        tidy(ax)
        ax.set_title(label_of(feature), fontsize=9)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 4), frameon=False, fontsize=9)
    return figure, grid, len(kept), caption(trace, note_on_bands(ci_prob, truth, boundaries))


def _draw_agent(ax: Axes, draws: xr.DataArray, colour: str, label: str, ci_prob: float) -> None:
    time = draws["time"].values
    low, median, high = central_band(draws, ci_prob)
    draw_band(ax, time, low, high, color=colour, alpha=0.15)
    draw_line(ax, time, median, color=colour, label=label, linewidth=2.0 if colour == TREND_COLOUR else 1.4)
