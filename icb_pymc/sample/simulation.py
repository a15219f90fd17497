"""Simulate a declared model: its graph, drawn once by PyMC, gives decisions that carry the truth."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc import __version__
from icb_pymc.catalogue.lookup import find, name_of, settings
from icb_pymc.data.contexts import contexts_of
from icb_pymc.data.decisions import validate
from icb_pymc.declare.spec import Declare, spec_of
from icb_pymc.environments.scenarios import paper_scenario
from icb_pymc.errors import InputError
from icb_pymc.io.attributes import as_json
from icb_pymc.io.machine import available_memory, format_bytes
from icb_pymc.sample.declared import not_a_model
from icb_pymc.sample.seeds import only_seed

# Eight features of a candidate, a few times while they are drawn: 543 bytes were measured for 100,000 steps of two.
BYTES_PER_CANDIDATE = 600
# What is drawn first, in this order: it determines which generator draws what.
DRAWN_FIRST = ("belief", "rho", "reward", "chosen")


def simulate(
    model: str | Path | Declare,
    hyperparameters: Mapping[str, Any] | None = None,
    *,
    steps: int | None = None,
    actions: int = 2,
    random_seed: int | None = None,
    arrivals: xr.Dataset | None = None,
    decisions: xr.Dataset | None = None,
    observed_rewards: float = 0.0,
    seed: int | None = None,
) -> xr.Dataset:
    """Simulate the decisions of an agent, or of any other model that says how choices are made.

    Parameters
    ----------
    model : str, path or callable
        Name in the catalogue, path of a file with a model, or a function ``decisions -> pm.Model``.
    hyperparameters : mapping, optional
        Keyword arguments of the model, such as ``{"alpha": 5.0}``. What the model leaves open, such as a learning rate,
        is drawn from its prior.
    steps, actions : int
        Number of decisions (default: as in the paper) and of candidates in each, when `arrivals` are not given.
    random_seed : int, optional
        Same seed, same decisions; 0 by default. `seed` is accepted too.
    arrivals : Dataset, optional
        What the agent chooses from; rewards are those of their `true_rho_env`, if they have it. By default the
        environment that the model's spec names, or the paper's semi-synthetic one.
    decisions : Dataset, optional
        Decisions of your own instead, to see whether a model would be recovered from such a log: what could be chosen,
        when, by whom and in which session stays as it is, and so does the coding of features, while choices, rewards
        and true values are replaced. Rewards are observed where they were.
    observed_rewards : float
        Share of the rewards that the log contains as `reward`: 0 for none (default), 1 for all, and otherwise a random
        subset, NaN elsewhere.
    seed : int, optional
        Another name of `random_seed`.

    Returns
    -------
    Dataset
        Decisions with the truth: `true_belief`, `true_rho`, `true_reward`, `true_rho_env` and every unknown of the
        model, such as `true_learning_rate`, where it has them.

    Raises
    ------
    InputError
        If the model is unknown or does not say how choices are made, a hyperparameter is unknown, a prior is flat, or
        several of `steps`, `arrivals` and `decisions` are given, or rewards are to be observed that the model does not
        have.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.simulate("stepping", {"alpha": 10.0}, steps=40, actions=3, random_seed=0)
    >>> dict(decisions.sizes)
    {'time': 40, 'action': 3, 'feature': 8}
    >>> decisions["true_belief"].dims
    ('time', 'feature')

    On a log of one's own:

    >>> again = icb_pymc.simulate("nb_icb", {"start_scale": 1.0}, decisions=decisions, random_seed=1)
    >>> bool((again["context"] == decisions["context"]).all())
    True
    """
    if not 0 <= observed_rewards <= 1:
        raise InputError(f"observed_rewards={observed_rewards}: give a share between 0 and 1.")
    declare = find(model)
    random_seed = only_seed(random_seed, seed) or 0
    given = dict(hyperparameters or {})
    complete = settings(declare, given)
    was_seen = None
    if decisions is not None:
        if arrivals is not None or steps is not None:
            raise InputError("decisions were given together with arrivals or steps; give only one of them.")
        was_seen = decisions["reward"].notnull().values if "reward" in decisions else None
        arrivals = contexts_of(decisions)
    if arrivals is None:
        arrivals = default_arrivals(declare, steps=steps, actions=actions, seed=random_seed)
    elif steps is not None:
        raise InputError("steps and arrivals were both given; the arrivals already say how many steps there are.")
    graph = declare(arrivals.drop_vars(["chosen", "reward"], errors="ignore"), **given)
    if not isinstance(graph, pm.Model):
        raise InputError(f"'{name_of(declare)}' cannot be simulated: {not_a_model(graph)}")
    drawn = draw_decisions(graph, name_of(declare), 1, random_seed)
    decisions = arrivals.drop_vars("reward", errors="ignore").assign(
        chosen=("time", drawn.pop("chosen")[0].astype(np.int64))
    )
    if observed_rewards == 0 and was_seen is not None and "reward" in drawn:
        decisions["reward"] = ("time", np.where(was_seen, drawn["reward"][0], np.nan))
    if observed_rewards > 0:
        if "reward" not in drawn:
            raise InputError(f"observed_rewards: '{name_of(declare)}' draws no rewards; leave observed_rewards out.")
        is_seen = np.random.default_rng(random_seed).random(decisions.sizes["time"]) < observed_rewards
        decisions["reward"] = ("time", np.where(is_seen, drawn["reward"][0], np.nan))
    for name, values in drawn.items():
        decisions[f"true_{name}"] = (dims_of(graph, name, values.ndim - 1), values[0])
    decisions.attrs |= {
        "agent": name_of(declare),
        "hyperparameters": as_json(complete),
        "seed": random_seed,
        "icb_pymc": __version__,
    }
    return validate(decisions)


def default_arrivals(model: str | Path | Declare, **options: Any) -> xr.Dataset:
    """Arrivals of the environment that a model is simulated in by default.

    Parameters
    ----------
    model : str, path or callable
    **options
        steps, actions, seed, transplants, quadratic: see `icb_pymc.environments.scenarios`.
    """
    steps, actions = options.get("steps") or 0, options.get("actions") or 1
    needed, free = BYTES_PER_CANDIDATE * steps * actions, available_memory()
    if free is not None and needed > free:
        raise InputError(
            f"steps={steps} with {actions} candidates each need about {format_bytes(needed)} of memory, but only "
            f"{format_bytes(free)} are free: give fewer steps."
        )
    return (spec_of(find(model)).scenario or paper_scenario)(**options)


def draw_decisions(model: pm.Model, name: str, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Draws (draw, ...) of the choices of a model declared for arrivals, and of its other variables except noise."""
    if "chosen" not in model.named_vars or model.potentials:
        raise InputError(f"'{name}' cannot be simulated: it does not say how choices are made, by a `chosen`.")
    others = [variable.name for variable in (*model.free_RVs, *model.deterministics)]
    names = [first for first in DRAWN_FIRST if first in model.named_vars]
    names += [other for other in others if other not in DRAWN_FIRST and not other.endswith("_noise")]
    try:
        values = pm.draw([model[variable] for variable in names], draws=draws, random_seed=seed)
    except NotImplementedError:
        raise InputError(
            f"'{name}' cannot be simulated: a flat prior cannot be drawn from; give a proper one."
        ) from None
    return {
        variable: np.asarray(value).reshape(draws, *np.shape(value)[draws > 1 :])
        for variable, value in zip(names, values, strict=True)
    }


def dims_of(model: pm.Model, name: str, ndim: int) -> tuple[str, ...]:
    """Dimensions of a variable; unnamed ones are named as ArviZ names them."""
    return tuple(model.named_vars_to_dims.get(name) or [f"{name}_dim_{i}" for i in range(ndim)])
