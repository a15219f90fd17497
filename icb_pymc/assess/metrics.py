"""Relative importance, and how far the estimates of a trace are from the truth that simulated decisions carry.

All functions take a trace. The decisions are inside if `fit` made it; for a trace of `pm.sample` give them. The
posterior may keep fewer times than there were decisions; errors are then means over the times kept.
"""

import numpy as np
import xarray as xr
from scipy.special import log_softmax

from icb_pymc.assess.weights import stored_alpha
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import at_kept_times, central_band, checked_ci_prob, draws_of


def relative_importance(weights: xr.DataArray | InferenceData) -> xr.DataArray:
    r"""Share of each feature in the decision at each time.

    .. math:: |\beta_t(i)| / \sum_j |\beta_t(j)|

    Parameters
    ----------
    weights : DataArray (..., feature), or InferenceData
        Weights, or a trace with draws of `belief`.

    Returns
    -------
    DataArray
        With the dimensions of the weights: for a trace (chain, draw, time, feature).

    Raises
    ------
    InputError
        If a trace has no `belief`.

    Examples
    --------
    >>> import icb_pymc, xarray as xr
    >>> weights = xr.DataArray([[1.0, -3.0], [-2.0, 2.0]], dims=("time", "feature"))
    >>> icb_pymc.metrics.relative_importance(weights).values.tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> icb_pymc.metrics.relative_importance(trace).dims
    ('chain', 'draw', 'time', 'feature')
    """
    size = abs(weights if isinstance(weights, xr.DataArray) else draws_of(weights, "belief"))
    # Leaving out missing weights takes a copy of all the others, and hardly any trace has any.
    total = size.sum("feature", skipna=False)
    return size / (size.sum("feature") if total.isnull().any() else total)


def unit_weights(weights: xr.DataArray) -> xr.DataArray:
    """Scale weights to unit L1 norm at each time, as the errors scale estimates and truth.

    Parameters
    ----------
    weights : DataArray (..., feature)

    Returns
    -------
    DataArray
        With the same dimensions.

    Examples
    --------
    >>> import icb_pymc, xarray as xr
    >>> icb_pymc.metrics.unit_weights(xr.DataArray([1.0, -3.0], dims="feature")).values.tolist()
    [0.25, -0.75]
    """
    return weights / abs(weights).sum("feature")


def belief_error(trace: InferenceData, decisions: xr.Dataset | None = None) -> float:
    """Mean L1 distance of the estimated beliefs from the true ones (Table 2 of the paper).

    It is the mean over t of || E[rho | beta_t] - E[rho | estimate of beta_t] ||_1. The estimate is the posterior mean,
    computed first; then estimate and truth are each scaled to unit L1 norm at each t, so that only the direction of the
    weights counts, not their size, which trades off with alpha.

    Parameters
    ----------
    trace : InferenceData
    decisions : Dataset, optional
        Simulated decisions with `true_belief`, if they are not in the trace.

    Returns
    -------
    float
        From 0 to 2.

    Raises
    ------
    InputError
        If the trace has no `belief`, or the true beliefs are not known.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> round(icb_pymc.metrics.belief_error(trace), 3)
    0.141
    """
    estimate = _estimate(trace, "belief")
    truth = at_kept_times(_truth(trace, "true_belief", decisions), estimate)
    difference = unit_weights(estimate) - unit_weights(truth)
    return float(abs(difference).sum("feature").mean("time"))


def reward_error(trace: InferenceData, decisions: xr.Dataset | None = None, *, variable: str = "rho_env") -> float:
    """L1 distance of the estimated reward parameter from the true one (Table 3 of the paper).

    It is || rho_env - estimate ||_1. The estimate is the posterior mean, computed first; then estimate and truth are
    each scaled to unit L1 norm.

    Parameters
    ----------
    trace : InferenceData
    decisions : Dataset, optional
        Simulated decisions with `true_rho_env`, if they are not in the trace.
    variable : {"rho_env", "final_belief"}
        What estimates it: rho_env itself or, of a learner that `fit` has sampled, its belief after the last decision,
        which is no extrapolation and holds up better where the agent does not learn by equation 1.

    Returns
    -------
    float
        From 0 to 2.

    Raises
    ------
    InputError
        If the trace has no such variable, or the true value is not known.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("b-icb-sampling")
    >>> round(icb_pymc.metrics.reward_error(trace), 3)
    0.323
    """
    estimate = _estimate(trace, variable)
    truth = _truth(trace, "true_rho_env", decisions)
    return float(abs(unit_weights(estimate) - unit_weights(truth)).sum("feature"))


def action_divergence(trace: InferenceData, decisions: xr.Dataset | None = None, *, scaled: bool = False) -> float:
    r"""Mean KL divergence of the estimated choice probabilities from the true ones, in nats.

    It is that of the paper's table on action matching,

    .. math:: \frac{1}{T} \sum_t \sum_{a \in A_t} \pi_t[a] \log(\pi_t[a] / \hat\pi_t[a])

    with :math:`\pi_t = \mathrm{softmax}(\alpha \langle E[\rho | \beta_t], x_t[a] \rangle)` and the same for the
    estimate at its posterior mean belief. By default neither is scaled to unit norm, because the size of the weights is
    part of a policy. Each has its own alpha: the truth that of the agent; the estimate its posterior mean, or the
    number with which the model was fitted, or else the agent's. For an agent that draws rho_t or adds a bonus, this is
    the policy at its mean belief, and lapses are not counted on either side. An agent with rewards of other features
    (``reward_context``) is judged by those.

    Parameters
    ----------
    trace : InferenceData
    decisions : Dataset, optional
        Simulated decisions with `true_belief`, if they are not in the trace.
    scaled : bool
        Scale both to unit L1 norm at each t first, as for the other errors; evidently the paper did.

    Returns
    -------
    float
        Zero or more.

    Raises
    ------
    InputError
        If the trace has no `belief`, or the true beliefs or the agent's alpha are not known.

    Notes
    -----
    The paper gives neither the order nor the plug-in nor the scale. For the Baseline it reports 0.55 to 0.56 for all
    agents, which is near KL(true || all candidates equally) of simulated agents (0.57), far from the reverse (4.1) and
    from the policy of weights -1/k (0.1 to 0.3). For 10-fold and T-fold IRL on Sampling it reports 0.068 and 0.354: a
    run with its settings gave 0.055 and 0.49 if scaled, 0.20 and 2.0 if not.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> round(icb_pymc.metrics.action_divergence(trace), 3)
    0.054
    """
    estimate = _estimate(trace, "belief")
    truth = at_kept_times(_truth(trace, "true_belief", decisions), estimate)
    if scaled:
        estimate, truth = unit_weights(estimate), unit_weights(truth)
    data = _decisions(trace, decisions)
    context, available = (at_kept_times(data[name], estimate) for name in ("context", "available"))
    true_context = at_kept_times(data["reward_context"], estimate) if "reward_context" in data else context
    true_alpha = stored_alpha(data.attrs)
    if true_alpha is None:
        raise InputError("the decisions of this trace do not store the alpha of their agent; simulate them again.")
    true_log = _log_choice(true_alpha, truth, true_context, available)
    estimated_log = _log_choice(_fitted_alpha(trace, true_alpha), estimate, context, available)
    divergence = xr.apply_ufunc(np.exp, true_log) * (true_log - estimated_log)
    return float(divergence.sum("action").mean("time"))


def coverage(
    trace: InferenceData,
    variable: str = "belief",
    ci_prob: float | None = None,
    decisions: xr.Dataset | None = None,
) -> float:
    """Share of true values that lie within their central credible interval; nothing is scaled.

    Parameters
    ----------
    trace : InferenceData
    variable : {"belief", "rho_env"}
    ci_prob : float, optional
        Probability of the intervals; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
    decisions : Dataset, optional
        Simulated decisions with the true values, if they are not in the trace.

    Returns
    -------
    float
        From 0 to 1; near `ci_prob` on average, if the model and its prior are those that generated the decisions.

    Raises
    ------
    InputError
        If the trace has no such variable, or its true values are not known.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> round(icb_pymc.metrics.coverage(trace, "belief", ci_prob=0.9), 3)
    0.973
    """
    low, _, high = central_band(draws_of(trace, variable), checked_ci_prob(ci_prob))
    truth = at_kept_times(_truth(trace, f"true_{variable}", decisions), low)
    return float(np.mean((low <= truth) & (truth <= high)))


def _log_choice(alpha: float, weights: xr.DataArray, context: xr.DataArray, available: xr.DataArray) -> xr.DataArray:
    """log softmax(alpha <weights, x_t[a]>) of the available candidates; of empty slots 0, so that they cancel."""
    utility = (alpha * (context * weights).sum("feature")).where(available, -np.inf)
    action = [["action"]]
    logs = xr.apply_ufunc(log_softmax, utility, input_core_dims=action, output_core_dims=action, kwargs={"axis": -1})
    return logs.where(available, 0.0)


def _fitted_alpha(trace: InferenceData, otherwise: float) -> float:
    posterior = group(trace, "posterior")
    if "alpha" in posterior:
        return float(posterior["alpha"].mean())
    stored = stored_alpha(trace.attrs)
    return otherwise if stored is None else stored


def _estimate(trace: InferenceData, name: str) -> xr.DataArray:
    return draws_of(trace, name).mean(("chain", "draw"))


def _decisions(trace: InferenceData, given: xr.Dataset | None) -> xr.Dataset:
    return group(trace, "constant_data") if given is None else given


def _truth(trace: InferenceData, name: str, given: xr.Dataset | None) -> xr.DataArray:
    data = _decisions(trace, given)
    if name not in data:
        source = "the decisions of this trace have" if given is None else "these decisions have"
        raise InputError(f"{source} no '{name}'; only simulated ones carry the truth.")
    return data[name]
