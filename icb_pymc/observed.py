"""Parts that every inverse model shares: the decisions it is given, and the choice it explains."""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from pymc.logprob.abstract import MeasurableOp
from pytensor.tensor.variable import TensorVariable

from icb_pymc.decisions import validate
from icb_pymc.policy import SoftmaxChoice
from icb_pymc.steps.graph import context_model, has_op


def decisions_model(decisions: xr.Dataset) -> pm.Model:
    """A model that holds the decisions: coordinates, contexts and who was available.

    Within the context of a model it is that model, so that hyperparameters declared there can be used.
    """
    validate(decisions)
    model = context_model() or pm.Model()
    model.add_coords({dim: decisions[dim].values for dim in ("time", "action", "feature")})
    with model:
        # Data, not constants: large constants defeat compilation caches.
        pm.Data("context", decisions["context"].values, dims=("time", "action", "feature"))
        pm.Data("available", decisions["available"].values, dims=("time", "action"))
    return model


def hyperparameter(name: str, value: Any) -> Any:
    """A number or a variable as it is; a distribution such as ``pm.HalfNormal.dist(1)`` as a random variable `name`."""
    model = pm.modelcontext(None)
    is_distribution = isinstance(value, TensorVariable) and has_op(value, MeasurableOp)
    if is_distribution and value not in model.basic_RVs:
        return model.register_rv(value, name)
    return value


def chosen_context(decisions: xr.Dataset) -> TensorVariable:
    """x_t[a_t], the context of the candidate that was chosen, as data of the model (time, feature)."""
    steps = np.arange(decisions.sizes["time"])
    values = decisions["context"].values[steps, decisions["chosen"].values]
    return pm.Data("chosen_context", values, dims=("time", "feature"))


def observe_choice(decisions: xr.Dataset, utility: TensorVariable) -> TensorVariable:
    """The choice `chosen` as the softmax of `utility`, observed."""
    model = pm.modelcontext(None)
    return SoftmaxChoice("chosen", utility, model["available"], observed=decisions["chosen"].values, dims="time")
