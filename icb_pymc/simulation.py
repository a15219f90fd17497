"""Simulate an agent: its graph, drawn once by PyMC, gives decisions that carry the truth."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc import __version__
from icb_pymc.catalogue import described, find, name_of, settings
from icb_pymc.decisions import validate
from icb_pymc.environments.scenario import scenario
from icb_pymc.errors import InputError

TRUTH = {"belief": ("time", "feature"), "rho": ("time", "feature"), "reward": ("time",)}


def simulate(
    agent: str | Callable[..., pm.Model],
    *,
    steps: int | None = None,
    actions: int = 2,
    seed: int = 0,
    arrivals: xr.Dataset | None = None,
    **hyperparameters: Any,
) -> xr.Dataset:
    """Decisions of an agent, with `true_belief`, `true_rho`, `true_reward` and `true_rho_env` where it has them.

    Parameters
    ----------
    agent : str or callable
        Name in the catalogue, or a function ``arrivals -> pm.Model``.
    steps, actions : int
        Number of decisions (default: as in the paper) and of candidates in each, when `arrivals` are not given.
    seed : int
        Same seed, same decisions.
    arrivals : Dataset, optional
        What the agent chooses from. By default the semi-synthetic liver environment; the `switching` agent
        gets the sudden-change scenario.
    **hyperparameters
        Handed to the agent.
    """
    declare = find(agent, "agent") if isinstance(agent, str) else agent
    chosen_settings = settings(declare, hyperparameters)
    if arrivals is None:
        arrivals = scenario(name_of(declare), steps=steps, actions=actions, seed=seed)
    elif steps is not None:
        raise InputError("steps and arrivals were both given; the arrivals already say how many steps there are.")
    model = declare(arrivals, **hyperparameters)
    names = [name for name in (*TRUTH, "chosen") if name in model.named_vars]
    drawn = dict(zip(names, pm.draw([model[name] for name in names], random_seed=seed), strict=True))
    decisions = arrivals.assign(chosen=("time", drawn.pop("chosen").astype(np.int64)))
    for name, values in drawn.items():
        decisions[f"true_{name}"] = (TRUTH[name], values)
    decisions.attrs |= {
        "agent": name_of(declare),
        "hyperparameters": described(chosen_settings),
        "seed": seed,
        "icb_pymc": __version__,
    }
    return validate(decisions)
