"""What a model's function returns, checked before sampling: a pm.Model with the names that the suite reads."""

from typing import Any

import pymc as pm

from icb_pymc.data.schema import MODEL_DIMS
from icb_pymc.errors import InputError

NO_CHOICES = "there is no `chosen`: declare how choices are made, by `learn`, `follow` or `choose`."


def not_a_model(value: Any) -> str:
    """What is wrong with a function of decisions that returned this instead of a model.

    Examples
    --------
    >>> not_a_model(None)
    'it returns NoneType, not a pm.Model: end it with `return model`.'
    """
    return f"it returns {type(value).__name__}, not a pm.Model: end it with `return model`."


def shape_problems(model: pm.Model) -> list[str]:
    """Which names are missing or have other dims than expected, in sentences; empty if none.

    Examples
    --------
    >>> import pymc as pm
    >>> shape_problems(pm.Model())[0]
    'there is no `chosen`: declare how choices are made, by `learn`, `follow` or `choose`.'
    """
    problems = []
    for name, expected in MODEL_DIMS.items():
        if name in model.named_vars:
            dims = tuple(model.named_vars_to_dims.get(name) or ())
            if dims != expected:
                actual = f"has dims {dims}" if dims else "has no dims"
                problems.append(f"`{name}` {actual}, expected {expected}.")
    if "chosen" not in model.named_vars:
        problems.append(NO_CHOICES)
    if not {"belief", "rho_env"} & set(model.named_vars):
        problems.append("there is neither `belief` nor `rho_env`: name what the model estimates, by pm.Deterministic.")
    return problems


def check_declared(model: Any, name: str) -> pm.Model:
    """The model that a function of decisions returned; raises `InputError` if it cannot be fitted.

    Parameters
    ----------
    model : object
        What the function returned.
    name : str
        Name of the function.

    Returns
    -------
    pm.Model

    Raises
    ------
    InputError
        If it is not a model, or does not name what the suite reads.
    """
    problems = shape_problems(model) if isinstance(model, pm.Model) else [not_a_model(model)]
    # A model may also learn from choices by way of something else, as T-REX does by rankings.
    if problems == [NO_CHOICES] and (model.observed_RVs or model.potentials):
        problems = []
    if not problems and "chosen" in model.named_vars:
        problems = _choice_problems(model)
    if problems:
        raise InputError(f"the model '{name}' cannot be fitted: {problems[0]}")
    return model


def _choice_problems(model: pm.Model) -> list[str]:
    """What keeps a model from learning from the choices; empty if nothing does."""
    chosen = model["chosen"]
    if chosen in model.free_RVs:
        return ["`chosen` is not observed: declare it with observed=decisions['chosen'].values."]
    seen = getattr(model.rvs_to_values.get(chosen), "data", None)
    times = model.coords.get("time")
    if seen is not None and times is not None and len(seen) != len(times):
        return [f"`chosen` observes {len(seen)} choices, but there are {len(times)} decisions."]
    return []
