"""Stepping: uniform preferences until t*, then rho_env at once, as when a guideline is introduced."""

from typing import Any

import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.declare import decision_numbers, decisions_model, follow, true_preferences, uniform_preferences


def stepping(decisions: xr.Dataset, *, step_at: Any = 0.5, alpha: Any = 20.0, sigma: Any = 0.10) -> pm.Model:
    """rho_t = -1/k for t <= t* and rho_t = rho_env for t > t*, where t* = `step_at` T.

    Parameters
    ----------
    decisions : Dataset
        Arrivals to simulate, or decisions.
    step_at : number
        t*/T, the share of decisions before the step.
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
    >>> icb_pymc.models.agents.stepping(decisions).free_RVs
    [rho_env]
    """
    with decisions_model(decisions) as model:
        t = decision_numbers()[:, None]
        rho = pt.where(t <= step_at * len(t), uniform_preferences(), true_preferences())
        follow(rho, alpha=alpha, sigma=sigma)
    return model
