"""Stationary: knows rho_env and acts on it throughout."""

import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.interaction import arrivals_model, follow_script, rho_env_of, steps


def stationary(arrivals: xr.Dataset, *, alpha: float = 20.0, sigma: float = 0.10) -> pm.Model:
    """rho_t = rho_env for all t."""
    with arrivals_model(arrivals) as model:
        rho = rho_env_of(model) * pt.ones((len(steps(model)), 1))
        follow_script(rho, alpha=alpha, sigma=sigma)
    return model
