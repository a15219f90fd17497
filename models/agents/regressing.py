"""Regressing: acquires rho_env until t*, then loses it again but for a share gamma."""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.declare import decisions_model, follow, numbers_of_decisions, true_preferences, uniform_preferences
from icb_pymc.errors import InputError


def regressing(
    decisions: xr.Dataset,
    *,
    gamma: float = 0.0,
    turn_at: float = 0.5,
    alpha: Any = 20.0,
    sigma: Any = 0.10,
) -> pm.Model:
    """rho_t goes from -1/k to rho_env at t* = `turn_at` T, then to gamma rho_env + (1 - gamma) (-1/k) at T."""
    if not 0 <= gamma <= 1 or not 0 < turn_at < 1:
        raise InputError(f"gamma={gamma} must lie in [0, 1] and turn_at={turn_at} strictly between 0 and 1.")
    with decisions_model(decisions) as model:
        t = numbers_of_decisions()[:, None]
        turn = turn_at * len(t)
        retained = 1 - (1 - gamma) * (t - turn) / (len(t) - turn)
        learnt = np.where(t <= turn, t / turn, retained)
        rho = learnt * true_preferences() + (1 - learnt) * uniform_preferences()
        follow(rho, alpha=alpha, sigma=sigma)
    return model
