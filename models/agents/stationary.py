"""Stationary: knows rho_env and acts on it throughout."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import constant_within, decisions_model, follow, true_preferences
from icb_pymc.declare.folds import one_fold


def stationary(decisions: xr.Dataset, *, alpha: Any = 20.0, sigma: Any = 0.10) -> pm.Model:
    """rho_t = rho_env for all t."""
    with decisions_model(decisions) as model:
        rho = constant_within(true_preferences()[None], one_fold(decisions.sizes["time"]))
        follow(rho, alpha=alpha, sigma=sigma)
    return model
