"""Stationary: knows rho_env and acts on it throughout."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import constant_within, decisions_model, follow, true_preferences
from icb_pymc.declare.folds import one_fold


def stationary(decisions: xr.Dataset, *, alpha: Any = 20.0, sigma: Any = 0.10) -> pm.Model:
    """rho_t = rho_env for all t.

    Parameters
    ----------
    decisions : Dataset
        Arrivals to simulate, or decisions.
    alpha : number
        Inverse temperature of the softmax.
    sigma : number
        Standard deviation of a reward.

    Returns
    -------
    pm.Model

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> icb_pymc.models.agents.stationary(decisions).free_RVs
    [rho_env]
    """
    with decisions_model(decisions) as model:
        rho = constant_within(true_preferences()[None], one_fold(decisions.sizes["time"]))
        follow(rho, alpha=alpha, sigma=sigma)
    return model
