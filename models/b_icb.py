"""B-ICB: a Bayesian learner whose rewards were not observed (Algorithm 1)."""

from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.data.standardisation import contrast_spread, mean_square
from icb_pymc.declare import (
    GaussianBelief,
    Preset,
    as_covariance,
    bayesian_update,
    decisions_model,
    hyperparameter,
    learn,
    specify,
    true_preferences,
    warn_of_unused_sessions,
)
from icb_pymc.errors import InputError

# Median of the scale tau of rho_env, in log-odds per typical difference between two candidates, and the standard
# deviation of its logarithm.
SCALE = (1.6, 0.5)
# The same of sigma, the standard deviation of a reward, in log-odds.
SIGMA = (1.0, 1.0)
# Scale of the half-normal prior of s, as a share of the information in the log. This and SCALE were chosen on simulated
# logs; examples/reward_and_strength.py measures errors and coverage on others.
STRENGTH_SHARE = 0.15
# What the model assumes about the boundaries between sessions.
ONLY_LEARNING = "beliefs change only by what the agent learns from rewards"


def b_icb(
    decisions: xr.Dataset,
    *,
    alpha: Any = 1.0,
    sigma: Any = None,
    rho_env_mean: Any = 0.0,
    rho_env_scale: Any = None,
    rho_env_covariance: Any = None,
    start_mean: Any = 0.0,
    strength: Any = None,
    information: Any = None,
    start_covariance: Any = None,
) -> pm.Model:
    r"""r_t ~ N(<rho_env, x_t[a_t]>, sigma^2), beta_{t+1} by equation 1, rho_t ~ N(mu_t, Sigma_t), a_t by softmax.

    Any number may also be given as a distribution, such as ``pm.HalfNormal.dist(1)``, or as an expression of variables
    of the model in whose context this is called.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals to simulate.
    alpha : number
        Inverse temperature of the softmax; with alpha = 1 weights are log-odds per unit of the feature.
    sigma : number, optional
        Standard deviation of a reward, and of what the agent draws from its belief. Learnt by default: alpha sigma is
        log-normal with median 1 log-odds, and a factor of 2.7 either way at one standard deviation.
    rho_env_mean : number or vector
        Centre of the Gaussian prior of rho_env.
    rho_env_scale : number, optional
        tau, how far rho_env is from its centre, in log-odds per typical difference between two candidates: the standard
        deviation of rho_env_i is tau / (alpha d_i), with d_i from `icb_pymc.data.standardisation.contrast_spread`.
        Learnt by default, log-normal with median 1.6 and a factor of 1.6 either way at one standard deviation.
    rho_env_covariance : number, vector or matrix, optional
        Covariance of rho_env itself, instead of a scale.
    start_mean : number or vector
        mu_1.
    strength : number, optional
        s in Sigma_1 = sigma^2 / s diag(1 / m_i): the agent begins as certain as after s typical decisions. Half-normal
        by default, with scale 0.15 T. See Notes.
    information : number or vector, optional
        m_i, what a typical decision tells about the weight of feature i: by default its mean square over all available
        candidates. One: Sigma_1 = sigma^2 / s I, as in the paper.
    start_covariance : number, vector or matrix, optional
        Sigma_1 itself, instead of a strength.

    Returns
    -------
    pm.Model

    Warns
    -----
    InputWarning
        If the decisions have sessions, whose boundaries are not used.

    Notes
    -----
    Choices show how beliefs move, not where they would arrive. An agent that learns slowly (large s) about a distant
    rho_env makes much the same choices as one that learns quickly about a near one: after T decisions it has come the
    share w_T = T / (T + s) of the way from mu_1 to rho_env. The prior of s is therefore a statement about that share,
    and does not depend on the length of the log or the units of its features: w_T is above 0.77 with probability 0.95.
    tau is learnt since under a fixed wide prior most of the volume is far from the centre, which drags s along. On
    simulated learners whose s is 1, 10 or 100 and whose rho_env is 0.5, 1 or 2 times as far from its centre as the
    paper's, 90% intervals cover 89% of the weights where T = 500, from 80% to 98% by kind; where s is half of the log
    (T = 200) they cover 74%, as they are too narrow for distant rho_env, and where rho_env is two to five times as far
    as the median of tau (T = 150), 77%. No prior of s is best for everything: for an agent that does not learn by
    equation 1 but changes at once, a narrower prior brings rho_env closer to where it arrives, and a wider one follows
    its path better (examples/reward_and_strength.py). `fit` adds two variables: ``share_learnt``, w_T averaged over
    directions, below about 0.8 of which rho_env is
    extrapolated; and ``final_belief``, the mean mu_{T+1} of the belief after the reward of the last decision (which no
    choice depends on, so that it is drawn from its prior).

    If all features are multiplied by a constant, rho_env is divided by it and nothing else changes.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> icb_pymc.models.b_icb(decisions).free_RVs
    [sigma, strength, rho_env_scale, rho_env, reward, rho]
    >>> icb_pymc.models.b_icb(decisions, sigma=2.0, strength=10.0, rho_env_covariance=1.0).free_RVs
    [rho_env, reward, rho]
    """
    warn_of_unused_sessions(decisions, "b_icb", ONLY_LEARNING)
    features = decisions.sizes["feature"]
    with decisions_model(decisions) as model:
        alpha = hyperparameter("alpha", alpha)
        sigma = hyperparameter("sigma", _log_normal(SIGMA, 1 / alpha) if sigma is None else sigma)
        mean = hyperparameter("start_mean", start_mean)
        if start_covariance is None:
            prior = pm.HalfNormal.dist(STRENGTH_SHARE * decisions.sizes["time"]) if strength is None else strength
            typical = mean_square(decisions) if information is None else information
            root = pt.diag(sigma / pt.sqrt(hyperparameter("strength", prior) * typical * np.ones(features)))
        else:
            root = pt.linalg.cholesky(as_covariance(start_covariance, features))
        if rho_env_covariance is None:
            scale = hyperparameter("rho_env_scale", _log_normal(SCALE) if rho_env_scale is None else rho_env_scale)
            rho_env_covariance = (scale / (alpha * contrast_spread(decisions))) ** 2
        learn(
            GaussianBelief(mean * pt.ones(features), root),
            update=partial(bayesian_update, sigma=sigma),
            act_on=GaussianBelief.draw,
            alpha=alpha,
            sigma=sigma,
            rho_env=true_preferences(rho_env_mean, rho_env_covariance),
        )
    return model


def em_settings(decisions: xr.Dataset, hyperparameters: dict[str, Any], *, as_published: bool) -> dict[str, Any]:
    """Settings of Algorithm 1: gradient steps under the priors above, or as published, least squares without priors."""
    for name in ("strength", "start_covariance", "rho_env_covariance"):
        if hyperparameters.get(name) is not None:
            raise InputError(f"'{name}' cannot be set for EM, which estimates the strength itself; use method 'mcmc'.")
    warn_of_unused_sessions(decisions, "b_icb", ONLY_LEARNING)
    given = {"alpha": 1.0, "start_mean": 0.0, "rho_env_mean": 0.0} | hyperparameters
    scale, information = given.pop("rho_env_scale", None), given.pop("information", None)
    if not isinstance(given.get("sigma"), (int, float)):
        raise InputError("EM does not estimate 'sigma': set it to a number, or use preset 'paper'.")
    for name in ("alpha", "sigma"):
        if not (isinstance(given[name], (int, float)) and given[name] > 0):
            raise InputError(f"{name}={given[name]}: EM needs a positive number.")
    given["information"] = mean_square(decisions) if information is None else information
    if as_published:
        return given | {"least_squares": True, "as_printed": True}
    return given | {
        "rho_env_sd": (SCALE[0] if scale is None else scale) / (given["alpha"] * contrast_spread(decisions)),
        "strength_scale": STRENGTH_SHARE * decisions.sizes["time"],
    }


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: 100 iterations of EM, each with 1,000 draws after 1,000 of burn-in."""
    centre = -1.0 / decisions.sizes["feature"]
    hyperparameters = {"alpha": 20.0, "sigma": 0.10, "rho_env_mean": centre, "start_mean": centre, "information": 1.0}
    sampling = {"method": "em", "iterations": 100, "draws": 1000, "tune": 1000, "kernel": "paper"}
    return Preset(hyperparameters, sampling)


def _log_normal(prior: tuple[float, float], unit: Any = 1.0) -> Any:
    """A log-normal distribution from its median, in these units, and the standard deviation of its logarithm."""
    median, log_sd = prior
    return pm.LogNormal.dist(pt.log(median * unit), log_sd)


specify(b_icb, paper=paper, em=em_settings)
