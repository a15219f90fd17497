"""Optimistic: a Bayesian learner that adds a bonus for what it does not know yet (LinUCB)."""

from functools import partial

import pymc as pm
import xarray as xr

from icb_pymc.beliefs import bayesian_update
from icb_pymc.interaction import arrivals_model, learn_by_acting, starting_belief


def optimistic(
    arrivals: xr.Dataset,
    *,
    alpha: float = 20.0,
    sigma: float = 0.10,
    strength: float | None = None,
    scaled_bonus: bool = True,
) -> pm.Model:
    """rho_t = mu_t, a_t ~ softmax(alpha (<mu_t, x_t[a]> + x_t[a]' Sigma_t x_t[a])), belief by equation 1.

    The published experiments added the bonus after scaling by alpha (``scaled_bonus=False``); there it is so small
    that the agent acts like Greedy.
    """
    bonus_scale = alpha if scaled_bonus else 1.0
    with arrivals_model(arrivals) as model:
        learn_by_acting(
            starting_belief(model, sigma, strength),
            act_on=lambda belief, noise: belief.mean,
            bonus=lambda belief, context: bonus_scale * belief.variance(context),
            update=partial(bayesian_update, sigma=sigma),
            alpha=alpha,
            sigma=sigma,
        )
    return model
