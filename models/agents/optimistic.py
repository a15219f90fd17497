"""Optimistic: a Bayesian learner that adds a bonus for uncertainty (LinUCB)."""

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

    The published experiments added the bonus after scaling by alpha (``scaled_bonus=False``); it is then so small that
    the agent acts like Greedy.

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
    scaled_bonus : bool
        Whether alpha scales the bonus x_t[a]' Sigma_t x_t[a] too, as in the text of the paper.

    Returns
    -------
    pm.Model

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> icb_pymc.models.agents.optimistic(decisions).free_RVs
    [rho_env, reward]
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
