"""Baseline: all features count the same, regardless of the choices."""

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
        Decisions, or arrivals to simulate.
    alpha : number
        Inverse temperature of the softmax.

    Returns
    -------
    pm.Model

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> icb_pymc.models.irl.uniform(decisions)["rho_env"].eval()
    array([-0.5, -0.5])
    """
    steps, features = decisions.sizes["time"], decisions.sizes["feature"]
    with decisions_model(decisions) as model:
        rho_env = pm.Deterministic("rho_env", pt.as_tensor(np.full(features, -1 / features)), dims="feature")
        belief = pm.Deterministic("belief", rho_env * np.ones((steps, 1)), dims=("time", "feature"))
        choose(linear_utility(belief, model["context"], alpha))
    return model
