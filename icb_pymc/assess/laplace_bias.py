"""How far Laplace's method puts weights from where the posterior's means are, to the first order."""

import json
from typing import NamedTuple

import numpy as np
import xarray as xr

from icb_pymc.assess.weights import alpha_of, lapse_of
from icb_pymc.data.separation import separating_features
from icb_pymc.data.sessions import seen
from icb_pymc.data.times import format_time
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import decisions_in

# A shift of less than this, in posterior standard deviations, or than so many Monte-Carlo errors of it is not told.
LEAST_SHIFT, LEAST_ERRORS = 0.25, 3.0
# Draws and times of this many numbers are used at most.
MOST_NUMBERS = 20_000_000


class Shift(NamedTuple):
    """The weight that Laplace's method probably misplaces most.

    Attributes
    ----------
    feature : str
    at : str
        The time.
    size : float
        How far the posterior's mean lies from the mode, in posterior standard deviations.
    mean : float
        The weight at the mode.
    """

    feature: str
    at: str
    size: float
    mean: float


def laplace_remarks(trace: InferenceData) -> list[str]:
    """What a reader of a fit by Laplace's method must know: separable features, and weights that it misplaces.

    Parameters
    ----------
    trace : InferenceData

    Returns
    -------
    list of str
        Empty if the trace is of another method, or there is nothing to say.
    """
    if trace.attrs.get("approximation") != "laplace" or "chosen" not in group(trace, "observed_data"):
        return []
    remarks = []
    decisions = decisions_in(trace)
    if separable := separating_features(decisions):
        names = ", ".join(f"'{name}'" for name in separable)
        remarks.append(
            f"{names} alone explain every choice: how large their weights are is decided by the prior, and their "
            "posterior is skewed; use method 'mcmc'"
        )
    shift = worst_shift(trace, decisions)
    if shift is not None:
        side = "zero" if shift.size * shift.mean < 0 else "the extremes"
        remarks.append(
            f"the posterior is skewed: the mean of '{shift.feature}' at {shift.at} is about {abs(shift.size):.1f} "
            f"standard deviations nearer to {side} than the mode, where Laplace's method puts it; use method 'mcmc'"
        )
    return remarks


def worst_shift(trace: InferenceData, decisions: xr.Dataset) -> Shift | None:
    r"""The largest difference between the posterior's mean and its mode, if it is large enough to matter.

    To the first order (Tierney and Kadane, 1986) the mean of a weight lies :math:`\frac12 \sum_t Cov(\theta, \beta_t)'
    \nabla^3 \ell_t : Cov(\beta_t)` from the mode, where :math:`\ell_t` is the log-likelihood of choice t. The
    covariances are those of the draws.

    Parameters
    ----------
    trace : InferenceData
        Of a fit by Laplace's method.
    decisions : Dataset
        Its decisions.

    Returns
    -------
    Shift or None
        None also where the trace does not keep all times, or choices are not a softmax of the beliefs themselves.
    """
    posterior = group(trace, "posterior")
    stored = json.loads(trace.attrs.get("hyperparameters", "{}"))
    is_logit = "sampling_covariance" in stored and np.all(np.asarray(stored["sampling_covariance"]) == 0)
    is_softmax = stored.get("mean_reward") is None and not np.any(lapse_of(trace))
    if "belief" not in posterior or not is_logit or not is_softmax:
        return None
    paths = posterior["belief"].transpose("chain", "draw", "time", "feature")
    if paths.sizes["time"] != decisions.sizes["time"]:
        return None
    alpha = np.asarray(alpha_of(trace), float).mean()
    draws = paths.values.reshape(-1, *paths.shape[2:])[: max(MOST_NUMBERS // int(np.prod(paths.shape[2:])), 2)]
    centre = draws.mean(axis=0)
    draws = draws - centre
    away = alpha * decisions["context"].values
    utility = np.where(seen(decisions), (away * centre[:, None]).sum(-1), -np.inf)
    probability = np.exp(utility - np.logaddexp.reduce(utility, axis=1, keepdims=True))
    away = away - (probability[:, :, None] * away).sum(axis=1, keepdims=True)
    spread = np.einsum("sti,stj->tij", draws, draws) / len(draws)
    variance = np.einsum("tai,tij,taj->ta", away, spread, away)
    # Minus the third derivative of the log-sum of the utilities, contracted with the covariance.
    slope = -np.einsum("ta,ta,tai->ti", probability, variance, away)
    pull = np.einsum("sti,ti->s", draws, slope)
    shift = np.einsum("sti,s->ti", draws, pull) / (2 * len(draws))
    sd = np.sqrt(np.einsum("tii->ti", spread))
    relative = np.divide(shift, sd, out=np.zeros_like(shift), where=sd > 0)
    error = pull.std() / (2 * np.sqrt(len(draws)))
    t, i = np.unravel_index(int(np.argmax(np.abs(relative))), relative.shape)
    size = float(relative[t, i])
    if abs(size) < max(LEAST_SHIFT, LEAST_ERRORS * error):
        return None
    time = format_time(decisions["time"].values[t])
    return Shift(str(decisions["feature"].values[i]), time, size, float(centre[t, i]))
