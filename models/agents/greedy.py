"""Greedy: a Bayesian learner that acts on the mean of its belief and never explores."""

from functools import partial
from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import bayesian_update, decisions_model, hyperparameter, learn, starting_belief


def greedy(decisions: xr.Dataset, *, alpha: Any = 20.0, sigma: Any = 0.10, strength: Any = None) -> pm.Model:
    """rho_t = mu_t, a_t ~ softmax(alpha <mu_t, x_t[a]>), belief updated by equation 1."""
    with decisions_model(decisions) as model:
        initial = starting_belief(sigma, hyperparameter("strength", strength))
        learn(initial, update=partial(bayesian_update, sigma=sigma), alpha=alpha, sigma=sigma)
    return model
