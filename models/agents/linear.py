"""Linear: moves from uniform preferences to rho_env in a straight line."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import decisions_model, follow, numbers_of_decisions, true_preferences, uniform_preferences


def linear(decisions: xr.Dataset, *, alpha: Any = 20.0, sigma: Any = 0.10) -> pm.Model:
    """rho_t = t/T rho_env + (1 - t/T) (-1/k)."""
    with decisions_model(decisions) as model:
        t = numbers_of_decisions()[:, None]
        learnt = t / len(t)
        rho = learnt * true_preferences() + (1 - learnt) * uniform_preferences()
        follow(rho, alpha=alpha, sigma=sigma)
    return model
