"""Regressing: acquires rho_env until t*, then loses all of it but a share gamma."""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.declare import decision_numbers, decisions_model, follow, true_preferences, uniform_preferences
from icb_pymc.errors import InputError


def regressing(
    decisions: xr.Dataset,
    *,
    gamma: float = 0.0,
    turn_at: float = 0.5,
    alpha: Any = 20.0,
    sigma: Any = 0.10,
) -> pm.Model:
    """rho_t goes from -1/k to rho_env at t* = `turn_at` T, then to gamma rho_env + (1 - gamma) (-1/k) at T.

    Parameters
    ----------
    decisions : Dataset
        Arrivals to simulate, or decisions.
    gamma : number
        Share of rho_env that is left at the end, from 0 to 1.
    turn_at : number
        t*/T, strictly between 0 and 1.
    alpha : number
        Inverse temperature of the softmax.
    sigma : number
        Standard deviation of a reward.

    Returns
    -------
    pm.Model

    Raises
    ------
    InputError
        If gamma or `turn_at` is out of range.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> icb_pymc.models.agents.regressing(decisions).free_RVs
    [rho_env]
    """
    if not 0 <= gamma <= 1 or not 0 < turn_at < 1:
        raise InputError(f"gamma={gamma} must lie in [0, 1] and turn_at={turn_at} strictly between 0 and 1.")
    with decisions_model(decisions) as model:
        t = decision_numbers()[:, None]
        turn = turn_at * len(t)
        retained = 1 - (1 - gamma) * (t - turn) / (len(t) - turn)
        learnt = np.where(t <= turn, t / turn, retained)
        rho = learnt * true_preferences() + (1 - learnt) * uniform_preferences()
        follow(rho, alpha=alpha, sigma=sigma)
    return model
