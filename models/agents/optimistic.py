"""Optimistic: a Bayesian learner that adds a bonus for what it does not know yet (LinUCB)."""

from functools import partial
from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import bayesian_update, decisions_model, hyperparameter, learn, starting_belief


def optimistic(
    decisions: xr.Dataset,
    *,
    alpha: Any = 20.0,
    sigma: Any = 0.10,
    strength: Any = None,
    scaled_bonus: bool = True,
) -> pm.Model:
    """rho_t = mu_t, a_t ~ softmax(alpha (<mu_t, x_t[a]> + x_t[a]' Sigma_t x_t[a])), belief by equation 1.

    The published experiments added the bonus after scaling by alpha (``scaled_bonus=False``); there it is so small
    that the agent acts like Greedy.
    """
    bonus_scale = alpha if scaled_bonus else 1.0
    with decisions_model(decisions) as model:
        learn(
            starting_belief(sigma, hyperparameter("strength", strength)),
            update=partial(bayesian_update, sigma=sigma),
            bonus=lambda belief, context: bonus_scale * belief.variance(context),
            alpha=alpha,
            sigma=sigma,
        )
    return model
