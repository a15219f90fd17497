"""b_icb_greedy: B-ICB for an agent that acts on the mean of its belief and never explores."""

from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.declare import bayesian_update, decisions_model, hyperparameter, learn, starting_belief


def b_icb_greedy(decisions: xr.Dataset, *, alpha: Any = 20.0, sigma: Any = 0.10, strength: Any = None) -> pm.Model:
    """rho_t = mu_t, a_t ~ softmax(alpha <mu_t, x_t[a]>), belief by equation 1.

    Parameters
    ----------
    decisions : Dataset
    alpha, sigma, strength : number
        As in `b_icb`, with the paper's values; by default the strength is log-normal with median 10.
    """
    with decisions_model(decisions) as model:
        prior = pm.LogNormal.dist(np.log(10), 1.5) if strength is None else strength
        learn(
            starting_belief(sigma, hyperparameter("strength", prior)),
            update=partial(bayesian_update, sigma=sigma),
            alpha=alpha,
            sigma=sigma,
        )
    return model
