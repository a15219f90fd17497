"""The model, hyperparameters and priors that a trace was fitted with, to compute with again."""

import json
from typing import Any, NamedTuple

import numpy as np

from icb_pymc.catalogue.lookup import find, settings
from icb_pymc.declare.spec import Declare
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import decisions_in
from icb_pymc.sample.hyperpriors import learnt_hyperparameters


class TraceModel(NamedTuple):
    """What `icb_pymc.fit` was given.

    Attributes
    ----------
    declare : callable
        The function that declares the model.
    given : dict
        Hyperparameters.
    learn : list of str
        Those that were learnt.
    """

    declare: Declare
    given: dict[str, Any]
    learn: list[str]


def model_of_trace(trace: InferenceData, to_do: str, instead: str) -> TraceModel:
    """The model of a trace with the hyperparameters that it stores.

    Hyperparameters that were learnt (``fit(learn=...)``) get the same priors again. A user-defined model must be
    registered first (`icb_pymc.register`).

    Parameters
    ----------
    trace : InferenceData
    to_do : str
        What it is for, such as ``"forecast"``, for the error about averages.
    instead : str
        The function that takes what a file cannot store.

    Raises
    ------
    InputError
        If the trace is of no such model, or of an average, or a hyperparameter was a function or an unusual
        distribution.
    """
    model = str(trace.attrs.get("model"))
    if trace.attrs.get("method") == "average":
        raise InputError(f"this trace is an {model}, which cannot {to_do}: give the traces of its models.")
    if not model.isidentifier():
        # A trace may come from anywhere: it may name a model, but not a file to be run.
        raise InputError(f"this trace is of a model called '{model}', which is not a name of a model.")
    declare = find(model)
    stored, learn = learnt_hyperparameters(
        json.loads(trace.attrs.get("hyperparameters", "{}")), decisions_in(trace).sizes["feature"]
    )
    defaults = settings(declare, {})
    given: dict[str, Any] = {}
    for name, value in stored.items():
        try:
            array = np.array(value) if isinstance(value, list) else value
        except ValueError:
            raise InputError(
                f"'{name}' of this trace is neither a number nor a vector nor a matrix: {value}."
            ) from None
        is_text = isinstance(value, str) or (isinstance(array, np.ndarray) and array.dtype.kind not in "biuf")
        # Functions, and distributions of unusual families, are stored by names from which they cannot be rebuilt.
        if is_text and not (isinstance(defaults.get(name), str) or name == "unit_of_time"):
            raise InputError(
                f"'{name}' of this trace was a distribution or a function ({value}), which a file cannot store; call "
                f"{instead} with it."
            )
        given[name] = array
    return TraceModel(declare, given, learn)
