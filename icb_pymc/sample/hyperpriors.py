"""Hyperparameters to be learnt: a prior around the number that would otherwise be taken as known."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.catalogue.hyperparameter_values import PROBABILITIES
from icb_pymc.catalogue.lookup import check_names, name_of, settings
from icb_pymc.declare.graph import children
from icb_pymc.declare.spec import Declare
from icb_pymc.errors import InputError
from icb_pymc.sample.named_priors import improper, is_distribution, prior_from_text, text_of_prior

# Standard deviation of the logarithm: a factor of 2.7 either way at one standard deviation, and of 7 at two.
LOG_SD = 1.0
# The priors as a trace describes them: of a number or a vector, and of the scale of a matrix.
PRIOR, SCALE_PRIOR = f"LogNormal(log median, {LOG_SD:g})", f"LogNormal(0, {LOG_SD:g})"


def declare_with_priors(
    declare: Declare, decisions: xr.Dataset, given: dict[str, Any], learn: Sequence[str]
) -> pm.Model:
    """Declare a model with a log-normal prior for each hyperparameter to learn.

    Its median is the value given or by default: each entry of a vector gets a prior of its own, a matrix is multiplied
    by a scale (called ``name_scale``) around one. What has a prior by default, such as the strength of B-ICB, keeps it.

    Raises
    ------
    InputError
        If a hyperparameter is unknown, is not a positive number, or cannot be a random variable in this model.
    """
    if not learn:
        return _declare_distributions(declare, decisions, given)
    check_names(declare, learn)
    values = settings(declare, given)
    learnt = [name for name in learn if values[name] is not None]
    try:
        model, declared = _declare_learning(declare, decisions, given, values, learnt)
    except TypeError:
        for name in learnt:
            _check_can_be_learnt(declare, decisions, given, values, name)
        # The model raises it by itself, whatever is learnt.
        raise
    free = {rv.name for rv in model.free_RVs if children(model, rv)}
    for name in learn:
        if declared is not model or not {name, f"{name}_scale"} & free:
            raise _not_learnable(declare, name)
    return model


def describe_priors(values: dict[str, Any], learn: Sequence[str], features: int) -> dict[str, Any]:
    """Hyperparameters with the priors instead of those that are learnt, as `learnt_hyperparameters` reads them."""
    described = dict(values)
    for name in learn:
        if np.ndim(values[name]) == 2:
            described[name] = {"matrix": values[name], "times": SCALE_PRIOR}
        elif values[name] is not None:
            described[name] = {"median": values[name], "prior": PRIOR}
    for name, value in values.items():
        if (text := text_of_prior(value, features)) is not None:
            described[name] = {"distribution": text}
    return described


def learnt_hyperparameters(stored: dict[str, Any], features: int) -> tuple[dict[str, Any], list[str]]:
    """The values that `describe_priors` described, and the names of those that were learnt, as `fit` was given them."""
    values, learn = dict(stored), []
    for name, value in stored.items():
        if not isinstance(value, dict):
            continue
        if set(value) == {"distribution"}:
            values[name] = prior_from_text(name, str(value["distribution"]), features)
            continue
        centre, prior = ("matrix", {"times": SCALE_PRIOR}) if "matrix" in value else ("median", {"prior": PRIOR})
        if value != prior | {centre: value.get(centre)}:
            raise InputError(f"the prior of '{name}' of this trace, {value}, is not one that `fit(learn=...)` makes.")
        values[name] = value[centre]
        learn.append(name)
    return values, learn


def check_proper(given: dict[str, Any]) -> None:
    """Raise `InputError` if a hyperparameter has a flat prior, under which nothing can be drawn."""
    for name, value in given.items():
        if improper(value):
            raise InputError(
                f"the flat prior of '{name}' has no integral, nor has the posterior, since choices exclude no large "
                "value: use method 'laplace', which maximises the evidence, or another prior."
            )


def _declare_distributions(declare: Declare, decisions: xr.Dataset, given: dict[str, Any]) -> pm.Model:
    """Declare a model, each distribution that it is given becoming one of its random variables."""
    priors = [name for name, value in given.items() if is_distribution(value)]
    try:
        model = declare(decisions, **given)
    except InputError:
        raise
    except (TypeError, ValueError, NotImplementedError):
        for name in priors:
            # Without the prior the model declares, or raises an error of its own.
            declare(decisions, **{other: value for other, value in given.items() if other != name})
            raise _not_learnable(declare, name) from None
        raise
    for name in priors:
        if given[name] not in model.basic_RVs and not any(rv.name.startswith(name) for rv in model.free_RVs):
            raise _not_learnable(declare, name)
    return model


def _declare_learning(
    declare: Declare, decisions: xr.Dataset, given: dict[str, Any], values: dict[str, Any], learnt: Sequence[str]
) -> tuple[pm.Model, Any]:
    with pm.Model() as model:
        priors = {name: _prior(name, values[name]) for name in learnt}
        return model, declare(decisions, **given | priors)


def _check_can_be_learnt(
    declare: Declare, decisions: xr.Dataset, given: dict[str, Any], values: dict[str, Any], name: str
) -> None:
    """Raise `InputError` if the model raises a TypeError for this prior, but not for the number."""
    try:
        _declare_learning(declare, decisions, given, values, [name])
    except TypeError:
        # A variable has no answer to whether it is less than three, say. An error of the model's own comes up here too.
        declare(decisions, **given)
        raise _not_learnable(declare, name) from None


def _not_learnable(declare: Declare, name: str) -> InputError:
    return InputError(f"learn {name}: '{name_of(declare)}' cannot take it as a random variable; give it as a number.")


def _prior(name: str, value: Any) -> Any:
    if name in PROBABILITIES:
        raise InputError(f"learn {name}: it is a probability; give it a prior instead, like {name}=Beta(1, 20).")
    if isinstance(value, bool) or not isinstance(value, (int, float, list, tuple, np.ndarray)):
        raise InputError(f"learn {name}: its value is not a number, so no prior can be put around it.")
    array = np.asarray(value, dtype=float)
    if array.ndim == 2:
        return pm.LogNormal(f"{name}_scale", 0.0, LOG_SD) * array
    if not (array > 0).all():
        raise InputError(f"learn {name}: only positive values can be learnt, and it is {value}; set another value.")
    return pm.LogNormal(name, np.log(array), LOG_SD, shape=array.shape)
