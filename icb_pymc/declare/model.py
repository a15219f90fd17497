"""Parts that every declared model shares: what there is to choose from, what is known of the environment, the choice.

A model is a function of decisions. Given decisions it explains the choices that were made; given arrivals (decisions
before anyone has chosen) the same function draws them, so that one declaration both simulates and infers.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from pymc.logprob.abstract import MeasurableOp
from pytensor.tensor.variable import TensorVariable

from icb_pymc.data.decisions import validate, validate_arrivals
from icb_pymc.data.schema import CHOSEN_SLOT, CONTEXT_DIMS
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.graph import context_model, has_op
from icb_pymc.declare.processes import as_covariance
from icb_pymc.errors import InputError


def decisions_model(decisions: xr.Dataset) -> pm.Model:
    """A model that holds the decisions: coordinates, contexts, who was available and (unless they are arrivals) chosen.

    Within the context of a model it is that model, so that hyperparameters declared there can be used.

    An agent may weigh other features than those that an observer records (`reward_context`, the quadratic rewards of
    the paper's appendix): where choices are drawn, `context` is what the agent weighs.
    """
    is_decided = "chosen" in decisions
    (validate if is_decided else validate_arrivals)(decisions)
    weighed = "reward_context" if "reward_context" in decisions and not is_decided else "context"
    model = context_model() or pm.Model()
    model.add_coords({dim: decisions[dim].values for dim in CONTEXT_DIMS})
    with model:
        # Data, not constants: large constants defeat compilation caches.
        pm.Data("context", decisions[weighed].values, dims=CONTEXT_DIMS)
        pm.Data("available", decisions["available"].values, dims=("time", "action"))
        if is_decided:
            pm.Data(CHOSEN_SLOT, decisions["chosen"].values, dims="time")
        elif "true_rho_env" in decisions:
            pm.Data("true_rho_env", decisions["true_rho_env"].values, dims="feature")
    return model


def is_simulated(model: pm.Model) -> bool:
    """Whether choices are to be drawn, because none are given."""
    return CHOSEN_SLOT not in model.named_vars


def hyperparameter(name: str, value: Any) -> Any:
    """A number or a variable as it is; a distribution such as ``pm.HalfNormal.dist(1)`` as a random variable `name`."""
    model = pm.modelcontext(None)
    is_distribution = isinstance(value, TensorVariable) and has_op(value, MeasurableOp)
    if is_distribution and value not in model.basic_RVs:
        return model.register_rv(value, name)
    return value


def true_preferences(mean: Any = None, covariance: Any = None) -> TensorVariable:
    """rho_env (feature): in a simulation that of the arrivals, if they tell it; otherwise Gaussian a priori.

    Parameters
    ----------
    mean, covariance : number, vector or matrix
        Of the prior; by default N(-1/k, (2/k)^2 I), wide for weights that sum to one.
    """
    model = pm.modelcontext(None)
    if is_simulated(model) and "true_rho_env" in model.named_vars:
        return model["true_rho_env"]
    features = len(model.coords["feature"])
    return pm.MvNormal(
        "rho_env",
        mu=(-1 / features if mean is None else mean) * np.ones(features),
        cov=as_covariance((2 / features) ** 2 if covariance is None else covariance, features),
        dims="feature",
    )


def uniform_preferences() -> np.ndarray:
    """-1/k: every feature counts the same, and against the candidate."""
    features = len(pm.modelcontext(None).coords["feature"])
    return np.full(features, -1.0 / features)


def numbers_of_decisions() -> np.ndarray:
    """t = 1, ..., T."""
    return np.arange(1, len(pm.modelcontext(None).coords["time"]) + 1)


def chosen_context() -> TensorVariable:
    """x_t[a_t], the context of the candidate that was chosen (time, feature)."""
    model = pm.modelcontext(None)
    if is_simulated(model):
        raise InputError("what was chosen is not known before anyone has chosen: this model cannot be simulated.")
    return _taken(model["context"], model[CHOSEN_SLOT])


def choose(utility: TensorVariable) -> TensorVariable:
    """The choice `chosen` as the softmax of `utility` (time, action): observed, or drawn if there are none yet."""
    model = pm.modelcontext(None)
    observed = None if is_simulated(model) else model[CHOSEN_SLOT]
    return SoftmaxChoice("chosen", utility, model["available"], observed=observed, dims="time")


def follow(rho: TensorVariable, *, alpha: Any, sigma: Any) -> None:
    """Act on a trajectory rho_t that no reward changes: `belief`, `rho`, the choice and, in a simulation, rewards."""
    model = pm.modelcontext(None)
    pm.Deterministic("rho", rho, dims=("time", "feature"))
    pm.Deterministic("belief", rho, dims=("time", "feature"))
    chosen = choose(linear_utility(rho, model["context"], alpha))
    known = [model[name] for name in ("rho_env", "true_rho_env") if name in model.named_vars]
    if is_simulated(model) and known:
        mean_reward = (_taken(model["context"], chosen) * known[0]).sum(axis=-1)
        pm.Normal("reward", mean_reward, sigma, dims="time")


def _taken(context: TensorVariable, chosen: TensorVariable) -> TensorVariable:
    return context[pt.arange(chosen.shape[0]), chosen]
