"""Switching: follows dated policies exactly, as in the sudden-change scenario (waiting time, MELD, waiting time)."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import decisions_model, follow, specify
from icb_pymc.environments.scenarios import sudden_change_scenario
from icb_pymc.errors import InputError


def switching(decisions: xr.Dataset, *, alpha: Any = 20.0, sigma: Any = 0.10) -> pm.Model:
    """rho_t is the policy in force at t: the `true_belief` of the scenario.

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

    Raises
    ------
    InputError
        If the decisions do not contain `true_belief`.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.environments.scenarios import sudden_change_scenario
    >>> arrivals = sudden_change_scenario(steps=6, actions=2, seed=0)
    >>> icb_pymc.models.agents.switching(arrivals).free_RVs
    [chosen]
    """
    if "true_belief" not in decisions:
        raise InputError(
            "the switching agent needs `true_belief`, the policy in force at each decision: use a scenario such as "
            "sudden_change()."
        )
    with decisions_model(decisions) as model:
        policy = pm.Data("policy", decisions["true_belief"].values, dims=("time", "feature"))
        follow(policy, alpha=alpha, sigma=sigma)
    return model


specify(switching, scenario=sudden_change_scenario)
