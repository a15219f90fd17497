"""Baseline: all features count the same, whatever was chosen."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.declare import choose, decisions_model, linear_utility


def uniform(decisions: xr.Dataset, *, alpha: Any = 20.0) -> pm.Model:
    """rho_t = rho_env = -1/k for all t: nothing is estimated.

    Parameters
    ----------
    decisions : Dataset
    alpha : number
        Inverse temperature of the softmax.
    """
    steps, features = decisions.sizes["time"], decisions.sizes["feature"]
    with decisions_model(decisions) as model:
        rho_env = pm.Deterministic("rho_env", pt.as_tensor(np.full(features, -1 / features)), dims="feature")
        belief = pm.Deterministic("belief", rho_env * np.ones((steps, 1)), dims=("time", "feature"))
        choose(linear_utility(belief, model["context"], alpha))
    return model
