"""Stepping: uniform preferences until t*, then rho_env at once, as when a guideline is introduced."""

from typing import Any

import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.declare import decisions_model, follow, numbers_of_decisions, true_preferences, uniform_preferences


def stepping(decisions: xr.Dataset, *, step_at: Any = 0.5, alpha: Any = 20.0, sigma: Any = 0.10) -> pm.Model:
    """rho_t = -1/k for t <= t* and rho_t = rho_env for t > t*, where t* = `step_at` T."""
    with decisions_model(decisions) as model:
        t = numbers_of_decisions()[:, None]
        rho = pt.where(t <= step_at * len(t), uniform_preferences(), true_preferences())
        follow(rho, alpha=alpha, sigma=sigma)
    return model
