"""Signed weights over time as a table, for other programs."""

import numpy as np
import pandas as pd
from scipy.special import ndtr

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.assess.weights import log_odds_weights, weight_band, weight_gaussian
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import at_kept_times, checked_ci_prob, draws_of

# Variables of decisions that say more of each time than its date.
OF_TIMES = ("session", "missed")


def weight_table(
    trace: InferenceData, *, unit: str = "sd", ci_prob: float | None = None, every: int = 1
) -> pd.DataFrame:
    """Weights of all features over time with their credible intervals, one row for each time and feature.

    Parameters
    ----------
    trace : InferenceData
    unit : {"sd", "user"}
        Log-odds per standard deviation of the feature, or per unit of the user's feature.
    ci_prob : float, optional
        Probability of the central credible intervals; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
    every : int
        Keep every N-th of the times that the trace has; the last is always kept.

    Returns
    -------
    DataFrame
        Columns ``time``, where the decisions have them ``agent``, ``session`` and ``missed``, then ``feature``,
        ``weight`` (the median), ``lower``, ``upper``, ``probability_above_zero``, and ``importance``, the mean share of
        the feature in all weights.

    Raises
    ------
    InputError
        If the trace has no beliefs, there is no such unit, or a number is out of range.

    Examples
    --------
    >>> import icb_pymc
    >>> table = icb_pymc.weight_table(icb_pymc.open_trace("nb-icb-stepping"), every=100)
    >>> table.columns.tolist()[:5]
    ['time', 'feature', 'weight', 'lower', 'upper']
    >>> table["time"].unique().tolist()
    [1, 499]
    """
    if every < 1:
        raise InputError(f"every={every}: give at least one.")
    probability = checked_ci_prob(ci_prob)
    weights = log_odds_weights(trace, unit)
    steps = np.unique(np.append(np.arange(0, weights.sizes["time"], every), weights.sizes["time"] - 1))
    bands = weight_band(trace, weights, unit, probability).isel(time=steps)
    weights = weights.isel(time=steps)
    importance = relative_importance(draws_of(trace, "belief").isel(time=steps)).mean(("chain", "draw"))
    low, median, high = (band.transpose("time", "feature").values for band in bands)
    features = weights["feature"].values.astype(str)
    columns = {"time": np.repeat(weights["time"].values, len(features))}
    for name, values in _of_times(trace).items():
        columns[name] = np.repeat(values[steps], len(features))
    columns["feature"] = np.tile(features, len(steps))
    gaussian = weight_gaussian(trace, unit)
    if gaussian is None:
        above = (weights > 0).mean(("chain", "draw")).transpose("time", "feature").values
    else:
        mode, sd = (part.isel(time=steps).values for part in gaussian)
        above = ndtr(np.divide(mode, sd, out=np.zeros_like(mode), where=sd > 0))
    shares = importance.transpose("time", "feature").values
    for name, values in (("weight", median), ("lower", low), ("upper", high), ("probability_above_zero", above)):
        columns[name] = values.ravel()
    return pd.DataFrame(columns | {"importance": shares.ravel()})


def _of_times(trace: InferenceData) -> dict[str, np.ndarray]:
    """What the decisions of a trace say of each time that it keeps."""
    decisions, belief = group(trace, "constant_data"), draws_of(trace, "belief")
    found = {}
    if "decider" in decisions:
        decider = at_kept_times(decisions["decider"], belief).values
        found["agent"] = decisions["agent"].values.astype(str)[decider]
    for name in OF_TIMES:
        if name in decisions:
            found[name] = at_kept_times(decisions[name], belief).values
    return found
