"""Linear: moves from uniform preferences to rho_env in a straight line."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import decision_numbers, decisions_model, follow, true_preferences, uniform_preferences


def linear(decisions: xr.Dataset, *, alpha: Any = 20.0, sigma: Any = 0.10) -> pm.Model:
    """rho_t = t/T rho_env + (1 - t/T) (-1/k).

    Parameters
    ----------
    decisions : Dataset
        Arrivals to simulate, or decisions.
    alpha : number
        Inverse temperature of the softmax.
    sigma : number
        Standard deviation of a reward.

    Returns
    -------
    pm.Model

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> icb_pymc.models.agents.linear(decisions).free_RVs
    [rho_env]
    """
    with decisions_model(decisions) as model:
        t = decision_numbers()[:, None]
        learnt = t / len(t)
        rho = learnt * true_preferences() + (1 - learnt) * uniform_preferences()
        follow(rho, alpha=alpha, sigma=sigma)
    return model
