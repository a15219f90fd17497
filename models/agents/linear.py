"""Linear: moves from uniform preferences to rho_env in a straight line."""

import pymc as pm
import xarray as xr

from icb_pymc.interaction import arrivals_model, follow_script, rho_env_of, steps, uniform_preferences


def linear(arrivals: xr.Dataset, *, alpha: float = 20.0, sigma: float = 0.10) -> pm.Model:
    """rho_t = t/T rho_env + (1 - t/T) (-1/k)."""
    with arrivals_model(arrivals) as model:
        t = steps(model)[:, None]
        learnt = t / len(t)
        rho = learnt * rho_env_of(model) + (1 - learnt) * uniform_preferences(model)
        follow_script(rho, alpha=alpha, sigma=sigma)
    return model
