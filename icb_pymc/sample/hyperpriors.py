"""Hyperparameters to be learnt: a prior around the number that would else be taken for granted."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.catalogue.lookup import name_of, settings
from icb_pymc.declare.graph import children
from icb_pymc.errors import InputError

# Of the logarithm: a factor of 2.7 either way at one standard deviation, and of 7 at two.
SPREAD = 1.0
# The priors as a trace describes them: of a number or a vector, and of the scale of a matrix.
PRIOR, SCALE_PRIOR = f"LogNormal(log median, {SPREAD:g})", f"LogNormal(0, {SPREAD:g})"


def declare_with_priors(
    declare: Callable[..., pm.Model], decisions: xr.Dataset, given: dict[str, Any], learn: Sequence[str]
) -> pm.Model:
    """Declare a model with a log-normal prior in place of each hyperparameter to learn.

    Its median is the value given or by default: each entry of a vector gets a prior of its own, a matrix is multiplied
    by a scale (called ``name_scale``) around one. What has a prior by default, as the strength of B-ICB, keeps it.
    """
    if not learn:
        return declare(decisions, **given)
    settings(declare, dict.fromkeys(learn))
    values = settings(declare, given)
    with pm.Model() as model:
        priors = {name: _prior(name, values[name]) for name in learn if values[name] is not None}
        try:
            declared = declare(decisions, **given | priors)
        except TypeError:
            # Asked whether it is less than three, say, a variable has no answer.
            raise _not_taken(declare, learn[0]) from None
    learnt = {rv.name for rv in model.free_RVs if children(model, rv)}
    for name in learn:
        if declared is not model or not {name, f"{name}_scale"} & learnt:
            raise _not_taken(declare, name)
    return model


def _not_taken(declare: Callable[..., pm.Model], name: str) -> InputError:
    return InputError(f"learn {name}: '{name_of(declare)}' does not take it as a variable; give it a number.")


def describe_priors(values: dict[str, Any], learn: Sequence[str]) -> dict[str, Any]:
    """Hyperparameters with the priors in place of what is learnt, described as `learnt_hyperparameters` reads them."""
    descriptions = {}
    for name in learn:
        if np.ndim(values[name]) == 2:
            descriptions[name] = {"matrix": values[name], "times": SCALE_PRIOR}
        elif values[name] is not None:
            descriptions[name] = {"median": values[name], "prior": PRIOR}
    return values | descriptions


def learnt_hyperparameters(stored: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The values that `describe_priors` described, and the names of those that were learnt, as `fit` was given them."""
    values, learn = dict(stored), []
    for name, value in stored.items():
        if not isinstance(value, dict):
            continue
        centre, prior = ("matrix", {"times": SCALE_PRIOR}) if "matrix" in value else ("median", {"prior": PRIOR})
        if value != prior | {centre: value.get(centre)}:
            raise InputError(f"the prior of '{name}' of this trace, {value}, is not one that `fit(learn=...)` makes.")
        values[name] = value[centre]
        learn.append(name)
    return values, learn


def _prior(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float, list, tuple, np.ndarray)):
        raise InputError(f"learn {name}: it is not a number, so that there is no prior to put around it.")
    array = np.asarray(value, dtype=float)
    if array.ndim == 2:
        return pm.LogNormal(f"{name}_scale", 0.0, SPREAD) * array
    if not (array > 0).all():
        raise InputError(f"learn {name}: only what is greater than zero can be learnt, and it is {value}; set another.")
    return pm.LogNormal(name, np.log(array), SPREAD, shape=array.shape)
