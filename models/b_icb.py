"""B-ICB: a Bayesian learner whose rewards were not observed (Algorithm 1)."""

from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.declare import (
    GaussianBelief,
    Preset,
    as_covariance,
    bayesian_update,
    decisions_model,
    hyperparameter,
    learn,
    specify,
    starting_belief,
    true_preferences,
)
from icb_pymc.errors import InputError

# Prior mean and standard deviation of log s.
STRENGTH = (float(np.log(10)), 1.5)


def b_icb(
    decisions: xr.Dataset,
    *,
    sigma: Any = 0.10,
    alpha: Any = 20.0,
    rho_env_mean: Any = None,
    rho_env_covariance: Any = None,
    start_mean: Any = None,
    strength: Any = None,
    start_covariance: Any = None,
) -> pm.Model:
    """r_t ~ N(<rho_env, x_t[a_t]>, sigma^2), beta_{t+1} by equation 1, rho_t ~ N(mu_t, Sigma_t), a_t by softmax.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals to simulate.
    sigma : number
        Standard deviation of a reward. Like alpha, `start_mean` and `strength` it may be a distribution, such as
        ``pm.HalfNormal.dist(1)``, or an expression of variables of the model in whose context this is called.
    alpha : number
        Inverse temperature of the softmax.
    rho_env_mean : number or vector, optional
        Mean of the Gaussian prior of rho_env; -1/k by default.
    rho_env_covariance : number, vector or matrix, optional
        Covariance of that prior; (2/k)^2 I by default, wide for weights that sum to one.
    start_mean : number or vector, optional
        mu_1; -1/k by default.
    strength : number, optional
        s in Sigma_1 = sigma^2 / s I: the agent begins as certain as after s observations of unit length. Log-normal by
        default, with median 10 and a factor of 4.5 either way at one standard deviation.
    start_covariance : number, vector or matrix, optional
        Sigma_1 itself, instead of a strength.

    Returns
    -------
    pm.Model

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> icb_pymc.models.b_icb(decisions).free_RVs
    [strength, rho_env, reward, rho]
    >>> icb_pymc.models.b_icb(decisions, strength=10.0).free_RVs
    [rho_env, reward, rho]
    """
    features = decisions.sizes["feature"]
    with decisions_model(decisions) as model:
        alpha, sigma = hyperparameter("alpha", alpha), hyperparameter("sigma", sigma)
        mean = hyperparameter("start_mean", -1 / features if start_mean is None else start_mean)
        if start_covariance is None:
            prior = pm.LogNormal.dist(*STRENGTH) if strength is None else strength
            initial = starting_belief(sigma, hyperparameter("strength", prior), mean)
        else:
            root = pt.linalg.cholesky(as_covariance(start_covariance, features))
            initial = GaussianBelief(mean * pt.ones(features), root)
        learn(
            initial,
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
    if as_published:
        return hyperparameters | {"least_squares": True, "as_printed": True}
    return hyperparameters | {
        "rho_env_variance": (2 / decisions.sizes["feature"]) ** 2,
        "log_strength_mean": STRENGTH[0],
        "log_strength_variance": STRENGTH[1] ** 2,
    }


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: 100 iterations of EM, each with 1,000 draws after 1,000 of burn-in."""
    sampling = {"method": "em", "iterations": 100, "draws": 1000, "tune": 1000, "kernel": "paper"}
    return Preset({"sigma": 0.10, "alpha": 20.0}, sampling)


specify(b_icb, paper=paper, em=em_settings)
