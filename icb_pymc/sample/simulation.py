"""Simulate a declared model: its graph, drawn once by PyMC, gives decisions that carry the truth."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc import __version__
from icb_pymc.catalogue.lookup import find, name_of, settings
from icb_pymc.data.decisions import validate
from icb_pymc.environments.scenario import scenario
from icb_pymc.errors import InputError
from icb_pymc.io.attributes import as_json

# What is drawn first, in this order: it determines which generator draws what.
TRUTH = ("belief", "rho", "reward", "chosen")


def simulate(
    agent: str | Path | Callable[..., pm.Model],
    *,
    steps: int | None = None,
    actions: int = 2,
    seed: int = 0,
    arrivals: xr.Dataset | None = None,
    **hyperparameters: Any,
) -> xr.Dataset:
    """Decisions of an agent, with `true_belief`, `true_rho`, `true_reward` and `true_rho_env` where it has them.

    Any model can be simulated that says how choices are made. What it leaves open, such as a learning rate, is drawn
    from its prior and told in the same way, as `true_learning_rate`.

    Parameters
    ----------
    agent : str or callable
        Name in the catalogue, path of a file with a model, or a function ``decisions -> pm.Model``.
    steps, actions : int
        Number of decisions (default: as in the paper) and of candidates in each, when `arrivals` are not given.
    seed : int
        Same seed, same decisions.
    arrivals : Dataset, optional
        What the agent chooses from; rewards are those of their `true_rho_env`, if they tell it. By default the
        semi-synthetic liver environment; the `switching` agent gets the sudden-change scenario.
    **hyperparameters
        Handed to the agent.
    """
    declare = find(agent)
    chosen_settings = settings(declare, hyperparameters)
    if arrivals is None:
        arrivals = scenario(name_of(declare), steps=steps, actions=actions, seed=seed)
    elif steps is not None:
        raise InputError("steps and arrivals were both given; the arrivals already say how many steps there are.")
    model = declare(arrivals.drop_vars("chosen", errors="ignore"), **hyperparameters)
    drawn = draw_decisions(model, name_of(declare), 1, seed)
    decisions = arrivals.assign(chosen=("time", drawn.pop("chosen")[0].astype(np.int64)))
    for name, values in drawn.items():
        decisions[f"true_{name}"] = (dims_of(model, name, values.ndim - 1), values[0])
    decisions.attrs |= {
        "agent": name_of(declare),
        "hyperparameters": as_json(chosen_settings),
        "seed": seed,
        "icb_pymc": __version__,
    }
    return validate(decisions)


def draw_decisions(model: pm.Model, name: str, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Draws (draw, ...) of the choices of a model declared for arrivals, and of all but the noise behind them."""
    if "chosen" not in model.named_vars or model.potentials:
        raise InputError(f"'{name}' cannot be simulated: it does not say how choices are made.")
    others = [variable.name for variable in (*model.free_RVs, *model.deterministics)]
    names = [told for told in TRUTH if told in model.named_vars]
    names += [other for other in others if other not in TRUTH and not other.endswith("_noise")]
    try:
        values = pm.draw([model[told] for told in names], draws=draws, random_seed=seed)
    except NotImplementedError:
        raise InputError(
            f"'{name}' cannot be simulated: a flat prior cannot be drawn from; give a proper one."
        ) from None
    return {
        told: np.asarray(value).reshape(draws, *np.shape(value)[draws > 1 :])
        for told, value in zip(names, values, strict=True)
    }


def dims_of(model: pm.Model, name: str, ndim: int) -> tuple[str, ...]:
    """Dimensions of a variable; those without a name are called as ArviZ calls them."""
    return tuple(model.named_vars_to_dims.get(name) or [f"{name}_dim_{i}" for i in range(ndim)])
