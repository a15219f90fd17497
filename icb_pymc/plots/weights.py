"""Signed weights of features over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from icb_pymc.assess.weights import feature_sd, log_odds_weights, stored_alpha, weight_band
from icb_pymc.data.standardisation import in_user_units
from icb_pymc.plots.common import AnyFigure, label_times
from icb_pymc.plots.paths import draw_paths, paths_caption
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import at_kept_times, checked_ci_prob


def weights_over_time(
    trace: InferenceData,
    *,
    features: Sequence[str] | None = None,
    events: Mapping[Any, str] | None = None,
    unit: str = "sd",
    ci_prob: float | None = None,
    figure: AnyFigure | None = None,
) -> AnyFigure:
    """Draw the signed weight of each feature over time in log-odds, with credible bands and a line at zero.

    Above zero a higher value of the feature speaks for a candidate, below zero against it. The truth is dotted where it
    is known. Up to four features share one panel; more get a panel each.

    Sessions begin at faint lines. Lines are interrupted in gaps: where no decision was made for more than a twentieth
    of the log and more than ten times as long as is typical.

    Parameters
    ----------
    trace : InferenceData
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
        If the trace has no beliefs or no such feature, or an event lies outside the decisions.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> figure = icb_pymc.plots.weights_over_time(trace, features=["age", "inr"], events={250: "halfway"})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['age', 'inr']
    """
    weights = log_odds_weights(trace, unit)
    truth = true_weights(trace, weights, unit)
    bands = weight_band(trace, weights, unit, checked_ci_prob(ci_prob))
    figure, grid, panels = draw_paths(trace, weights, truth, features, events, ci_prob, figure, bands)
    for ax in grid.flat:
        ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    label_times(figure, grid, panels, weights["time"].values, paths_caption(trace, ci_prob, truth))
    figure.supylabel(f"weight, {weights.attrs['unit']}", fontsize=10)
    return figure


def true_weights(
    trace: InferenceData, weights: xr.DataArray, unit: str, name: str = "true_belief"
) -> xr.DataArray | None:
    """The agent's alpha times its true beliefs, or the true trend, in the same unit, where they are known."""
    data = group(trace, "constant_data")
    alpha = stored_alpha(data.attrs)
    # An agent that weighs other features than those recorded has no truth on the same axes.
    if name not in data or "reward_context" in data or alpha is None:
        return None
    truth = alpha * at_kept_times(data[name], weights)
    return truth * feature_sd(data) if unit == "sd" else in_user_units(truth, data)
