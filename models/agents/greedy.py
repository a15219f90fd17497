"""Greedy: a Bayesian learner that acts on the mean of its belief and never explores."""

from functools import partial

import pymc as pm
import xarray as xr

from icb_pymc.beliefs import bayesian_update
from icb_pymc.interaction import arrivals_model, learn_by_acting, starting_belief


def greedy(
    arrivals: xr.Dataset, *, alpha: float = 20.0, sigma: float = 0.10, strength: float | None = None
) -> pm.Model:
    """rho_t = mu_t, a_t ~ softmax(alpha <mu_t, x_t[a]>), belief updated by equation 1."""
    with arrivals_model(arrivals) as model:
        learn_by_acting(
            starting_belief(model, sigma, strength),
            act_on=lambda belief, noise: belief.mean,
            update=partial(bayesian_update, sigma=sigma),
            alpha=alpha,
            sigma=sigma,
        )
    return model
