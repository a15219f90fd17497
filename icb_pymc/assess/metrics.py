"""What is read from a trace, and how far it is from the truth that simulated decisions carry.

All take a trace. The decisions are inside if `fit` made it; to a trace of `pm.sample` they are given. The posterior
may keep fewer times than there were decisions; errors are then means over the times kept.
"""

import json

import numpy as np
import xarray as xr
from scipy.special import log_softmax

from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import at_kept_times, estimated


def relative_importance(weights: xr.DataArray | InferenceData) -> xr.DataArray:
    """|beta_t(i)| / sum_j |beta_t(j)|: the share of each feature in the decision at t, of a trace in every draw."""
    size = abs(weights if isinstance(weights, xr.DataArray) else estimated(weights, "belief"))
    return size / size.sum("feature")


def unit_weights(weights: xr.DataArray) -> xr.DataArray:
    """Weights scaled to unit L1 norm at each time, as estimates and truth are before errors are taken."""
    return weights / abs(weights).sum("feature")


def belief_error(trace: InferenceData, decisions: xr.Dataset | None = None) -> float:
    """Mean over t of || E[rho | beta_t] - E[rho | estimate of beta_t] ||_1 (Table 2 of the paper).

    The estimate is the posterior mean, taken first; then estimate and truth are each scaled to unit L1 norm at each t,
    so that only the direction of the weights counts, not their size, which trades off with alpha.
    """
    estimate = _estimate(trace, "belief")
    difference = unit_weights(estimate) - unit_weights(at_kept_times(_truth(trace, "true_belief", decisions), estimate))
    return float(abs(difference).sum("feature").mean("time"))


def reward_error(trace: InferenceData, decisions: xr.Dataset | None = None) -> float:
    """|| rho_env - estimate ||_1 (Table 3 of the paper).

    The estimate is the posterior mean, taken first; then estimate and truth are each scaled to unit L1 norm.
    """
    estimate = _estimate(trace, "rho_env")
    truth = _truth(trace, "true_rho_env", decisions)
    return float(abs(unit_weights(estimate) - unit_weights(truth)).sum("feature"))


def action_divergence(trace: InferenceData, decisions: xr.Dataset | None = None, *, scaled: bool = False) -> float:
    r"""Mean over t of KL(true choice probabilities || estimated ones), in nats (the paper's table on action matching).

    .. math:: \frac{1}{T} \sum_t \sum_{a \in A_t} \pi_t[a] \log(\pi_t[a] / \hat\pi_t[a])

    with :math:`\pi_t = \mathrm{softmax}(\alpha \langle E[\rho | \beta_t], x_t[a] \rangle)` and the same for the
    estimate at its posterior mean belief. By default neither is scaled to unit norm, for the size of the weights is
    part of a policy. Each has its own alpha: the truth that of the agent, the estimate its posterior mean, or the
    number with which the model was fitted, or else the agent's. Of an agent that draws rho_t or adds a bonus, this is
    the policy at its mean belief. One with rewards of other features (``reward_context``) is judged by those.

    Parameters
    ----------
    trace : InferenceData
    decisions : Dataset, optional
        If they are not inside.
    scaled : bool
        Scale both to unit L1 norm at each t first, as for the other errors; evidently the paper did.

    Notes
    -----
    The paper names neither the order nor the plug-in nor the scale. Of the Baseline it reports 0.55 to 0.56 for all
    agents, which is near KL(true || all candidates alike) of simulated agents (0.57), far from the reverse (4.1) and
    from the policy of weights -1/k (0.1 to 0.3). Of 10-fold and T-fold IRL on Sampling it reports 0.068 and 0.354: a
    run with its settings gave 0.055 and 0.49 if scaled, 0.20 and 2.0 if not.
    """
    estimate = _estimate(trace, "belief")
    truth = at_kept_times(_truth(trace, "true_belief", decisions), estimate)
    if scaled:
        estimate, truth = unit_weights(estimate), unit_weights(truth)
    data = _decisions(trace, decisions)
    context, available = (at_kept_times(data[name], estimate) for name in ("context", "available"))
    weighed = at_kept_times(data["reward_context"], estimate) if "reward_context" in data else context
    true_alpha = _told_alpha(data.attrs)
    if true_alpha is None:
        raise InputError("the decisions of this trace do not tell the alpha of their agent; simulate them anew.")
    true_log = _log_choice(true_alpha, truth, weighed, available)
    estimated_log = _log_choice(_fitted_alpha(trace, true_alpha), estimate, context, available)
    divergence = xr.apply_ufunc(np.exp, true_log) * (true_log - estimated_log)
    return float(divergence.sum("action").mean("time"))


def coverage(
    trace: InferenceData, variable: str = "belief", probability: float = 0.9, decisions: xr.Dataset | None = None
) -> float:
    """Share of true values that lie within their central credible interval; nothing is scaled."""
    tail = (1 - probability) / 2
    low, high = estimated(trace, variable).quantile([tail, 1 - tail], ("chain", "draw"))
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
    told = _told_alpha(trace.attrs)
    return otherwise if told is None else told


def _told_alpha(attrs: dict[str, str]) -> float | None:
    alpha = json.loads(attrs.get("hyperparameters", "{}")).get("alpha")
    return float(alpha) if isinstance(alpha, (int, float)) else None


def _estimate(trace: InferenceData, name: str) -> xr.DataArray:
    return estimated(trace, name).mean(("chain", "draw"))


def _decisions(trace: InferenceData, given: xr.Dataset | None) -> xr.Dataset:
    return group(trace, "constant_data") if given is None else given


def _truth(trace: InferenceData, name: str, given: xr.Dataset | None) -> xr.DataArray:
    data = _decisions(trace, given)
    if name not in data:
        holder = "the decisions of this trace have" if given is None else "these decisions have"
        raise InputError(f"{holder} no '{name}'; only simulated ones carry the truth.")
    return data[name]
