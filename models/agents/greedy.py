"""Greedy: a Bayesian learner that acts on the mean of its belief and never explores."""

from functools import partial
from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import bayesian_update, decisions_model, hyperparameter, learn, starting_belief


def greedy(decisions: xr.Dataset, *, alpha: Any = 20.0, sigma: Any = 0.10, strength: Any = None) -> pm.Model:
    """rho_t = mu_t, a_t ~ softmax(alpha <mu_t, x_t[a]>), belief updated by equation 1.

    Parameters
    ----------
    decisions : Dataset
        Arrivals to simulate, or decisions.
    alpha : number
        Inverse temperature of the softmax.
    sigma : number
        Standard deviation of a reward.
    strength : number, optional
        s in Sigma_1 = sigma^2 / s I; it may be a distribution. T/50 by default.

    Returns
    -------
    pm.Model

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> icb_pymc.models.agents.greedy(decisions).free_RVs
    [rho_env, reward]
    """
    with decisions_model(decisions) as model:
        initial = starting_belief(sigma, hyperparameter("strength", strength))
        learn(initial, update=partial(bayesian_update, sigma=sigma), alpha=alpha, sigma=sigma)
    return model
