"""Switching: follows dated policies exactly, as in the sudden-change scenario (waiting time, MELD, waiting time)."""

import pymc as pm
import xarray as xr

from icb_pymc.errors import InputError
from icb_pymc.interaction import arrivals_model, follow_script


def switching(arrivals: xr.Dataset, *, alpha: float = 20.0, sigma: float = 0.10) -> pm.Model:
    """rho_t is the policy in force at t: the `true_belief` that the scenario comes with."""
    if "true_belief" not in arrivals:
        raise InputError("the switching agent needs a scenario with dated policies, such as sudden_change().")
    with arrivals_model(arrivals) as model:
        policy = pm.Data("policy", arrivals["true_belief"].values, dims=("time", "feature"))
        follow_script(policy, alpha=alpha, sigma=sigma)
    return model
