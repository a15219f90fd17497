"""Priors written as text, like ``Gamma(2, 0.5)``: on the command line, and in the attributes of a trace."""

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
from pymc.logprob.abstract import MeasurableOp
from pytensor.tensor.variable import TensorVariable

from icb_pymc.catalogue.hyperparameter_values import NEVER_NEGATIVE
from icb_pymc.declare.graph import has_op, parameters
from icb_pymc.errors import InputError

# Written after the arguments: one value for each feature, not one for all.
EACH = "each"


class Family(NamedTuple):
    """A family of PyMC.

    Attributes
    ----------
    arguments : tuple of str
        As PyMC calls them.
    from_graph : callable
        The arguments of a random variable of the family, from the parameters in its graph.
    is_positive, is_proper : bool
    """

    arguments: tuple[str, ...]
    from_graph: Callable[..., tuple[float, ...]] = lambda *given: given
    is_positive: bool = True
    is_proper: bool = True


FAMILIES = {
    "HalfNormal": Family(("sigma",), lambda _, sigma: (sigma,)),
    "HalfCauchy": Family(("beta",)),
    "HalfStudentT": Family(("nu", "sigma")),
    "Exponential": Family(("lam",), lambda scale: (1 / scale,)),
    "LogNormal": Family(("mu", "sigma")),
    "Gamma": Family(("alpha", "beta"), lambda alpha, scale: (alpha, 1 / scale)),
    "InverseGamma": Family(("alpha", "beta")),
    "Beta": Family(("alpha", "beta")),
    "Uniform": Family(("lower", "upper")),
    "HalfFlat": Family((), is_proper=False),
    "Normal": Family(("mu", "sigma"), is_positive=False),
    "Flat": Family((), is_positive=False, is_proper=False),
}
_LOCATIONS = ("mu", "lower", "upper")


def prior_from_text(name: str, text: str, features: int) -> TensorVariable:
    """The distribution that a text like ``HalfNormal(0.1)`` or ``HalfFlat(each)`` names.

    Parameters
    ----------
    name : str
        The hyperparameter.
    text : str
        A family of `FAMILIES` with its arguments in PyMC's order or by their names; ``each`` among them asks for one
        value for each feature.
    features : int
        Number of features.

    Raises
    ------
    InputError
        If the text is not a prior, its family or its arguments are unknown, or the hyperparameter cannot be negative.

    Examples
    --------
    >>> from icb_pymc.sample.named_priors import prior_from_text, text_of_prior
    >>> text_of_prior(prior_from_text("alpha", "Gamma(2, beta=0.5)", features=3), features=3)
    'Gamma(2, 0.5)'
    """
    refused = f"prior {name}={text}"
    family, values, is_each = _parsed(text, refused)
    known = FAMILIES[family]
    numbers = dict(zip(known.arguments, values, strict=True))
    for argument, value in numbers.items():
        if not np.isfinite(value) or (value <= 0 and argument not in _LOCATIONS):
            raise InputError(f"{refused}: {argument} of {family} must be {_range(argument)}.")
    if family == "Uniform" and not numbers["lower"] < numbers["upper"]:
        raise InputError(f"{refused}: the first number of Uniform must be less than the second.")
    is_scale = name.rpartition("_")[2] in NEVER_NEGATIVE
    if is_scale and (not known.is_positive or numbers.get("lower", 0.0) < 0):
        raise InputError(f"{refused}: '{name}' cannot be negative; choose a prior of positive numbers.")
    return getattr(pm, family).dist(**numbers, shape=(features,) if is_each else ())


def text_of_prior(value: Any, features: int) -> str | None:
    """A distribution as a text that `prior_from_text` reads; None for anything else.

    Examples
    --------
    >>> import pymc as pm
    >>> text_of_prior(pm.LogNormal.dist(0.0, 1.5, shape=3), features=3)
    'LogNormal(0, 1.5, each)'
    >>> text_of_prior(2.0, features=3) is None
    True
    """
    if not is_distribution(value) or value.type.shape not in ((), (features,)):
        return None
    family = next((name for name in FAMILIES if isinstance(value.owner.op, _op_of(name))), None)
    if family is None:
        return None
    try:
        given = [np.unique(graph.eval()) for graph in parameters(value)]
    except Exception:
        # It depends on other variables.
        return None
    if any(numbers.size != 1 for numbers in given):
        return None
    arguments = FAMILIES[family].from_graph(*(float(numbers[0]) for numbers in given))
    words = [f"{number:.7g}" for number in arguments] + [EACH] * value.type.ndim
    return f"{family}({', '.join(words)})"


def is_distribution(value: Any) -> bool:
    """Whether a value of a hyperparameter is a distribution, such as ``pm.HalfNormal.dist(1)``."""
    return isinstance(value, TensorVariable) and has_op(value, MeasurableOp)


def improper(value: Any) -> bool:
    """Whether a value of a hyperparameter is a flat distribution, which has no integral."""
    flat = tuple(_op_of(name) for name, family in FAMILIES.items() if not family.is_proper)
    return is_distribution(value) and isinstance(value.owner.op, flat)


def _op_of(family: str) -> type:
    declared = getattr(pm, family)
    return getattr(declared, "rv_type", None) or type(declared.rv_op)


def _parsed(text: str, refused: str) -> tuple[str, list[float], bool]:
    """Family, arguments in order, and whether there is one value for each feature. Nothing is evaluated."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    call = ast.Call(tree, [], []) if isinstance(tree, ast.Name) else tree
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise InputError(f"{refused}: write it as a family with numbers, like Gamma(2, 0.5).")
    family = call.func.id
    if family not in FAMILIES:
        raise InputError(f"{refused}: there is no family '{family}'; there are {', '.join(FAMILIES)}.")
    names = FAMILIES[family].arguments
    is_each = any(isinstance(node, ast.Name) and node.id == EACH for node in call.args)
    plain = [node for node in call.args if not (isinstance(node, ast.Name) and node.id == EACH)]
    given = [*zip(names, plain, strict=False), *((word.arg, word.value) for word in call.keywords)]
    values = {name: _number(node) for name, node in given}
    if len(plain) > len(names) or len(values) < len(given) or set(values) != set(names) or None in values.values():
        wanted = f"{family}({', '.join(names)}), with numbers in the place of names" if names else family
        raise InputError(f"{refused}: write it as {wanted}.")
    return family, [values[name] for name in names], is_each  # type: ignore[misc]


def _number(node: ast.AST) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    if not is_number or isinstance(node.value, bool) or abs(node.value) > 1e100:  # type: ignore[attr-defined]
        return None
    return float(node.value)  # type: ignore[attr-defined]


def _range(argument: str) -> str:
    return "a finite number" if argument in _LOCATIONS else "a positive number"
