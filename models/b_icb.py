"""B-ICB: a Bayesian learner, whose rewards were never seen (Algorithm 1)."""

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
    sigma : number
        Standard deviation of a reward. It, alpha, the start mean and the strength may be distributions, such as
        ``pm.HalfNormal.dist(1)``, or expressions of variables of the model in whose context this is called.
    alpha : number
        Inverse temperature of the softmax.
    rho_env_mean, rho_env_covariance : number, vector or matrix
        Gaussian prior of rho_env; by default N(-1/k, (2/k)^2 I), wide for weights that sum to one.
    start_mean : number or vector
        mu_1; by default -1/k.
    strength : number
        s in Sigma_1 = sigma^2 / s I: the agent begins as sure as after s observations of unit length; by default
        log-normal around 10, with a factor of 4.5 either way at one standard deviation.
    start_covariance : matrix, optional
        Sigma_1 in full, in place of a strength.
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


def em_settings(decisions: xr.Dataset, given: dict[str, Any], *, as_published: bool) -> dict[str, Any]:
    """Settings of Algorithm 1: the priors above as gradients, or as published flat ones and a least-squares step."""
    for name in ("strength", "start_covariance", "rho_env_covariance"):
        if given.get(name) is not None:
            raise InputError(f"'{name}' is not for EM, which learns the strength itself; use method 'mcmc'.")
    if as_published:
        return given | {"least_squares": True, "as_printed": True}
    return given | {
        "rho_env_variance": (2 / decisions.sizes["feature"]) ** 2,
        "log_strength_mean": STRENGTH[0],
        "log_strength_variance": STRENGTH[1] ** 2,
    }


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: 100 iterations of EM, each with 1,000 draws after 1,000 of burn-in."""
    sampling = {"method": "em", "iterations": 100, "draws": 1000, "tune": 1000, "kernel": "paper"}
    return Preset({"sigma": 0.10, "alpha": 20.0}, sampling)


specify(b_icb, paper=paper, em=em_settings)
