"""Stepping: uniform preferences until t*, then rho_env at once, as when a guideline is introduced."""

import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.interaction import arrivals_model, follow_script, rho_env_of, steps, uniform_preferences


def stepping(arrivals: xr.Dataset, *, step_at: float = 0.5, alpha: float = 20.0, sigma: float = 0.10) -> pm.Model:
    """rho_t = -1/k for t <= t* and rho_t = rho_env for t > t*, where t* = `step_at` T."""
    with arrivals_model(arrivals) as model:
        t = steps(model)[:, None]
        before = t <= step_at * len(t)
        rho = pt.where(before, uniform_preferences(model), rho_env_of(model))
        follow_script(rho, alpha=alpha, sigma=sigma)
    return model
