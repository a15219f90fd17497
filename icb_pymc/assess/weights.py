"""Signed weights in units that a reader can check: log-odds per unit, or per standard deviation, of a feature."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import expit, ndtri

from icb_pymc.data.standardisation import deviation_within, in_user_units, scaled_features
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import central_band, draws_of

UNITS = ("sd", "user")
# A Gaussian has no bounds: intervals of probability one are those of this probability.
MOST_PROBABLE = 1 - 1e-6
# Of the Gauss-Hermite rule over the noise of sampling: exact to three digits for noise of up to three log-odds.
_NOISE_NODES = 9


def log_odds_weights(trace: InferenceData, unit: str = "sd", *, of: str = "belief") -> xr.DataArray:
    """Weights alpha beta_t in log-odds.

    A candidate whose feature is one unit higher than that of an otherwise equal one has odds of being chosen that are
    exp(weight) to one.

    Parameters
    ----------
    trace : InferenceData
    unit : {"sd", "user"}
        Per standard deviation of the feature among the candidates of a decision (per unit where its values are 0 and
        1), or per unit of the user's features (before they were standardised).
    of : str
        The path in the posterior: the belief, or the ``"trend"`` that several agents share.

    Returns
    -------
    DataArray (chain, draw, time, feature)

    Raises
    ------
    InputError
        If the trace has no beliefs, or there is no such unit.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> weights = icb_pymc.log_odds_weights(trace)
    >>> weights.dims
    ('chain', 'draw', 'time', 'feature')
    >>> weights.attrs["unit"]
    'log-odds per standard deviation'
    """
    if unit not in UNITS:
        raise InputError(f"unit={unit!r}: it must be {' or '.join(repr(word) for word in UNITS)}.")
    words = "log-odds per standard deviation" if unit == "sd" else "log-odds per unit"
    weights = _in_log_odds(trace, draws_of(trace, of), unit)
    return weights.transpose("chain", "draw", "time", "feature").assign_attrs(unit=words)


def weight_gaussian(trace: InferenceData, unit: str = "sd") -> tuple[xr.DataArray, xr.DataArray] | None:
    """Mode and standard deviation (time, feature) of the weights in log-odds, of a trace of Laplace's method.

    They are those of the Gaussian itself, so they do not depend on the number of draws. None for other traces.

    Parameters
    ----------
    trace : InferenceData
    unit : {"sd", "user"}
        As in `log_odds_weights`.
    """
    gaussian, draws = group(trace, "gaussian"), draws_of(trace, "belief")
    labels = {dim: draws[dim].values for dim in ("time", "feature")}
    for name in ("belief", "belief_sd"):
        part = gaussian.get(name)
        # A group of that name may come from elsewhere, or the times of the draws have been selected since.
        if part is None or part.dims != ("time", "feature") or part.dtype.kind != "f":
            return None
        if not all(np.array_equal(part[dim].values, values) for dim, values in labels.items()):
            return None
    # Weights are proportional to beliefs, and hyperparameters are the same in all draws.
    mode, sd = (_in_log_odds(trace, gaussian[name], unit) for name in ("belief", "belief_sd"))
    one = {dim: 0 for dim in ("chain", "draw") if dim in mode.dims}
    return mode.isel(one, drop=True).transpose("time", "feature"), sd.isel(one, drop=True).transpose("time", "feature")


def weight_band(trace: InferenceData, weights: xr.DataArray, unit: str, ci_prob: float) -> xr.DataArray:
    """Lower end, median and upper end (quantile, time, feature) of the central credible interval of each weight.

    Parameters
    ----------
    trace : InferenceData
    weights : DataArray (chain, draw, time, feature)
        From `log_odds_weights`.
    unit : {"sd", "user"}
        That of the weights.
    ci_prob : float
        Probability of the interval.
    """
    gaussian = weight_gaussian(trace, unit)
    if gaussian is None:
        return central_band(weights, ci_prob)
    mode, sd = gaussian
    reach = sd * float(ndtri((1 + min(ci_prob, MOST_PROBABLE)) / 2))
    return xr.concat([mode - reach, mode, mode + reach], "quantile")


def _in_log_odds(trace: InferenceData, belief: xr.DataArray, unit: str) -> xr.DataArray:
    """Beliefs as weights of log-odds, which they are proportional to."""
    decisions, weights = group(trace, "constant_data"), alpha_of(trace) * belief
    return weights * feature_sd(decisions) if unit == "sd" else in_user_units(weights, decisions)


def chosen_if_higher(trace: InferenceData, weights: xr.DataArray) -> xr.DataArray:
    """How often a candidate one standard deviation higher in a feature is chosen over an otherwise equal one.

    An agent that samples rho_t ~ N(beta_t, Sigma_P) follows its weights less closely than one that acts on beta_t, so
    expit is averaged over the noise of sampling, and half of the lapses choose it. Only the Sigma_P of `nb_icb` and its
    kin is known to a trace; the spread of the beliefs of B-ICB, which shrinks as the agent learns, is not counted.

    Parameters
    ----------
    trace : InferenceData
    weights : DataArray (chain, draw, time, feature)
        From `log_odds_weights`, per standard deviation.

    Returns
    -------
    DataArray (chain, draw, time, feature)

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.assess.weights import chosen_if_higher
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> often = chosen_if_higher(trace, icb_pymc.log_odds_weights(trace))
    >>> bool((often > 0).all() and (often < 1).all())
    True
    """
    noise = alpha_of(trace) * feature_sd(group(trace, "constant_data")) * _sampling_sd(trace, weights.sizes["feature"])
    lapse = lapse_of(trace)
    if float(noise.max()) == 0:
        return ((1 - lapse) * xr.apply_ufunc(expit, weights) + lapse / 2).transpose(*weights.dims)
    nodes, shares = np.polynomial.hermite_e.hermegauss(_NOISE_NODES)
    often = sum(
        share * xr.apply_ufunc(expit, weights + node * noise)
        for node, share in zip(nodes, shares / shares.sum(), strict=True)
    )
    return xr.DataArray((1 - lapse) * often + lapse / 2).transpose(*weights.dims)


def _sampling_sd(trace: InferenceData, features: int) -> xr.DataArray:
    """Standard deviations of rho_t around the belief: of each feature, and of each draw where Sigma_P was learnt."""
    stored: Any = group(trace, "posterior").get("sampling_covariance")
    if stored is None:
        stored = json.loads(trace.attrs.get("hyperparameters", "{}")).get("sampling_covariance")
        # Anything else stands for a distribution or an expression, whose draws are elsewhere.
        stored = stored if isinstance(stored, (int, float, list)) else 0.0
    values, lead = np.asarray(stored, dtype=float), ("chain", "draw") if isinstance(stored, xr.DataArray) else ()
    sizes = values.ndim - len(lead)
    if sizes == 2:
        values = np.diagonal(values, axis1=-2, axis2=-1)
    elif sizes == 0:
        values = np.repeat(values[..., None], features, axis=-1)
    return xr.DataArray(np.sqrt(values), dims=(*lead, "feature"))


def feature_sd(decisions: xr.Dataset) -> xr.DataArray:
    """What counts as one standard deviation of each feature, in the units of the model (feature,).

    That of a number is its spread among the candidates of a decision. A feature with the values 0 and 1 counts per
    unit, and one in which candidates never differ has none.
    """
    if "context" not in decisions:
        raise InputError("this trace does not contain its decisions, so a standard deviation of features is not known.")
    deviation = deviation_within(decisions)
    sd = np.where(scaled_features(decisions), deviation, (deviation > 0).astype(float))
    return xr.DataArray(sd, coords={"feature": decisions["feature"].values}, dims="feature")


def within_decision_covariance(decisions: xr.Dataset) -> xr.DataArray:
    """Mean over decisions of the covariance of features among the candidates (feature, other), in model units."""
    context = decisions["context"].where(decisions["available"].astype(bool))
    away = (context - context.mean("action")).fillna(0.0)
    # A decision of one candidate has no spread and does not count.
    counted = decisions["available"].sum("action") > 1
    products = (away * away.rename(feature="other")).sum("action") / decisions["available"].sum("action")
    return products.where(counted).mean("time").fillna(0.0)


def alpha_of(trace: InferenceData) -> Any:
    """Draws of the inverse temperature, or the number that the model was fitted with; 1 if there is none."""
    posterior = group(trace, "posterior")
    if "alpha" in posterior and posterior["alpha"].dims == ("chain", "draw"):
        return posterior["alpha"]
    alpha = stored_alpha(trace.attrs)
    return 1.0 if alpha is None else alpha


def lapse_of(trace: InferenceData) -> Any:
    """Draws of the probability of a lapse, or the number that the model was fitted with; 0 if there is none."""
    posterior = group(trace, "posterior")
    if "lapse" in posterior and posterior["lapse"].dims == ("chain", "draw"):
        return posterior["lapse"]
    lapse = json.loads(trace.attrs.get("hyperparameters", "{}")).get("lapse")
    if isinstance(lapse, (int, float)) and not 0 <= lapse < 1:
        raise InputError(
            f"the hyperparameter lapse={lapse} of this file is no probability: it must be from 0 to less than 1."
        )
    return float(lapse) if isinstance(lapse, (int, float)) else 0.0


def mean_lapse(trace: InferenceData) -> float:
    """Probability of a lapse, on average over the draws."""
    lapse = float(np.mean(lapse_of(trace)))
    if not 0 <= lapse < 1:
        raise InputError(f"the draws of 'lapse' in this file have a mean of {lapse:g}: they are no probabilities.")
    return lapse


def stored_alpha(attrs: Mapping[str, Any]) -> float | None:
    """The alpha that the attributes of a trace or of simulated decisions store as a number, if they do."""
    alpha = json.loads(attrs.get("hyperparameters", "{}")).get("alpha")
    if isinstance(alpha, (int, float)) and not 0 <= alpha < np.inf:
        raise InputError(
            f"the hyperparameter alpha={alpha} of this file is not an inverse temperature: it must not be negative."
        )
    return float(alpha) if isinstance(alpha, (int, float)) else None
