"""Requirements of a declared model: names, dims, finite densities, and a simulation of the same unknowns."""

from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor
import xarray as xr
from pymc.pytensorf import compile as compile_graph
from pytensor.gradient import DisconnectedInputError, NullTypeGradError

from icb_pymc.data.deciders import with_agents
from icb_pymc.data.sessions import with_sessions
from icb_pymc.declare.spec import Declare
from icb_pymc.errors import InputError
from icb_pymc.sample.declared import not_a_model, shape_problems
from icb_pymc.sample.simulation import dims_of, draw_decisions

# Draws of the prior at which log-densities are evaluated.
TRIALS = 3


class Declared(NamedTuple):
    """A model declared both for arrivals and for decisions, and draws of the former.

    Attributes
    ----------
    simulated, inferred : pm.Model
    drawn : dict of arrays (draw, ...)
        Result of `draw_decisions`; `inferred` was declared for the choices of the first draw.
    decisions : Dataset
        Those choices.
    """

    simulated: pm.Model
    inferred: pm.Model
    drawn: dict[str, np.ndarray]
    decisions: xr.Dataset


def small_arrivals(
    steps: int, actions: int = 2, features: int = 3, seed: int = 0, agents: int = 0, sessions: int = 0
) -> xr.Dataset:
    """Arrivals with standard normal features and all candidates available; rho_env is left to the model's prior.

    With `agents` it is said who decides: each in turn. With `sessions` each has so many of them, about equally long.
    """
    rng = np.random.default_rng(seed)
    arrivals = xr.Dataset(
        {
            "context": (("time", "action", "feature"), rng.standard_normal((steps, actions, features))),
            "available": (("time", "action"), np.ones((steps, actions), dtype=bool)),
        },
        coords={
            "time": np.arange(1, steps + 1),
            "action": np.arange(actions),
            "feature": [f"feature_{i + 1}" for i in range(features)],
        },
    )
    if sessions:
        arrivals = with_sessions(arrivals, np.arange(steps) * sessions // steps)
    return with_agents(arrivals, np.arange(steps) % agents) if agents else arrivals


def simulated_log(arrivals: xr.Dataset, drawn: dict[str, np.ndarray], draw: int, observed_rewards: bool) -> xr.Dataset:
    """The decisions of one draw of `draw_decisions`, with its rewards if they are observed."""
    decisions = arrivals.assign(chosen=("time", drawn["chosen"][draw].astype(np.int64)))
    return decisions.assign(reward=("time", drawn["reward"][draw])) if observed_rewards else decisions


def declare_both(
    declare: Declare,
    name: str,
    arrivals: xr.Dataset,
    draws: int,
    seed: int,
    *,
    observed_rewards: bool = False,
    **hyperparameters: Any,
) -> tuple[Declared | None, list[str]]:
    """A model declared for arrivals and for the decisions that it simulates, or what is wrong with it."""
    simulated = _try("arrivals (a dataset without 'chosen')", declare, arrivals, hyperparameters)
    if not isinstance(simulated, pm.Model):
        return None, [simulated]
    problems = [f"in the simulation, {problem}" for problem in shape_problems(simulated)]
    if problems:
        return None, problems
    try:
        drawn = draw_decisions(simulated, name, draws, seed)
    except InputError as error:
        return None, [str(error)]
    if observed_rewards and "reward" not in drawn:
        return None, ["it draws no rewards that could be observed: check it without observed rewards."]
    decisions = simulated_log(arrivals, drawn, 0, observed_rewards)
    inferred = _try("decisions", declare, decisions, hyperparameters)
    if not isinstance(inferred, pm.Model):
        return None, [inferred]
    declared = Declared(simulated, inferred, drawn, decisions)
    return declared, shape_problems(inferred)


def requirement_problems(declared: Declared) -> list[str]:
    """Which requirements are not met, in sentences; empty if all are."""
    problems = _observation_problems(declared) or _agreement_problems(declared)
    return problems or _density_problems(declared.inferred)


def unknowns(model: pm.Model) -> list[str]:
    """Names of the variables to be inferred, without noise."""
    return [rv.name for rv in model.free_RVs if not rv.name.endswith("_noise") and rv.name not in ("rho", "reward")]


def _try(what: str, declare: Declare, data: xr.Dataset, hyperparameters: dict[str, Any]) -> Any:
    try:
        model = declare(data, **hyperparameters)
    except InputError as error:
        return f"it cannot be declared for {what}: {error}"
    except Exception as error:
        return f"it cannot be declared for {what}: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
    if not isinstance(model, pm.Model):
        return not_a_model(model)
    return model


def _observation_problems(declared: Declared) -> list[str]:
    model = declared.inferred
    chosen = [rv for rv in model.observed_RVs if rv.name == "chosen"]
    if not chosen:
        return ["`chosen` is not observed where decisions are given: use `learn`, `follow` or `choose`."]
    value = np.asarray(model.rvs_to_values[chosen[0]].eval(mode="FAST_COMPILE"))
    if not np.array_equal(value, declared.decisions["chosen"].values):
        return ["`chosen` is observed, but not as the choices that the decisions hold."]
    if declared.simulated.observed_RVs:
        names = ", ".join(f"`{rv.name}`" for rv in declared.simulated.observed_RVs)
        return [f"in the simulation {names} is observed: nothing can be observed before choices are made."]
    return []


def _agreement_problems(declared: Declared) -> list[str]:
    """Whether simulation and inference are about the same unknowns, of the same shape."""
    drawn, model = declared.drawn, declared.inferred
    problems = [
        f"inference has an unknown `{name}` that the simulation does not draw."
        for name in unknowns(model)
        if name not in drawn
    ]
    problems += [
        f"the simulation draws `{name}`, which inference does not have."
        for name in unknowns(declared.simulated)
        if name not in model.named_vars
    ]
    if problems:
        return problems
    common = [name for name in drawn if name in model.named_vars and name != "chosen"]
    try:
        values = pm.draw([model[name] for name in common], random_seed=0, mode="FAST_COMPILE")
    except NotImplementedError:
        return ["a flat prior cannot be drawn from: give a proper one."]
    for name, value in zip(common, values, strict=True):
        simulated, inferred = drawn[name].shape[1:], np.shape(value)
        if simulated != inferred:
            dims = dims_of(model, name, len(inferred))
            problems.append(f"`{name}` {dims} has shape {simulated} in the simulation, but {inferred} in inference.")
    return problems


def _density_problems(model: pm.Model) -> list[str]:
    """Whether log-density and gradient are finite at draws of the prior."""
    if not model.free_RVs:
        return []
    points = pm.draw([unconstrained(model, rv) for rv in model.free_RVs], TRIALS, random_seed=0, mode="FAST_COMPILE")
    terms = [*model.basic_RVs, *model.potentials]
    evaluate = compile_graph(model.value_vars, model.logp(sum=False), mode="FAST_COMPILE", on_unused_input="ignore")
    for values in zip(*points, strict=True):
        for term, value in zip(terms, evaluate(*values), strict=True):
            if not np.isfinite(value).all():
                return [f"the log-density of `{term.name}` is {_bad(value)} at a draw of the prior."]
    moving = [value for value in model.value_vars if value.dtype.startswith("float")]
    try:
        gradients = pytensor.grad(model.logp(), moving, disconnected_inputs="ignore")
    except (NotImplementedError, DisconnectedInputError, NullTypeGradError) as error:
        return [f"the log-density has no gradient: {str(error).partition(chr(10))[0]}"]
    slope = compile_graph(model.value_vars, gradients, mode="FAST_COMPILE", on_unused_input="ignore")
    for values in zip(*points, strict=True):
        for value, gradient in zip(moving, slope(*values), strict=True):
            if not np.isfinite(gradient).all():
                name = model.values_to_rvs[value].name
                return [f"the gradient of the log-density by `{name}` is {_bad(gradient)} at a draw of the prior."]
    return []


def unconstrained(model: pm.Model, rv: Any) -> Any:
    """A random variable on the unconstrained scale that samplers use."""
    transform = model.rvs_to_transforms.get(rv)
    return rv if transform is None else transform.forward(rv, *rv.owner.inputs)


def _bad(value: np.ndarray) -> str:
    bad = np.asarray(value)[~np.isfinite(value)]
    return "not a number" if np.isnan(bad).any() else f"{bad.flat[0]}"
