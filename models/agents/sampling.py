"""Sampling: a Bayesian learner that acts on a draw from its belief (Thompson sampling)."""

from functools import partial

import pymc as pm
import xarray as xr

from icb_pymc.beliefs import GaussianBelief, bayesian_update
from icb_pymc.interaction import arrivals_model, learn_by_acting, starting_belief


def sampling(
    arrivals: xr.Dataset, *, alpha: float = 20.0, sigma: float = 0.10, strength: float | None = None
) -> pm.Model:
    """rho_t ~ N(mu_t, Sigma_t), a_t ~ softmax(alpha <rho_t, x_t[a]>), belief updated by equation 1."""
    with arrivals_model(arrivals) as model:
        learn_by_acting(
            starting_belief(model, sigma, strength),
            act_on=GaussianBelief.draw,
            update=partial(bayesian_update, sigma=sigma),
            alpha=alpha,
            sigma=sigma,
        )
    return model
