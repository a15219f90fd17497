"""Values of hyperparameters that no model can use are refused by name, before anything is computed."""

import inspect
from typing import Any

import numpy as np

from icb_pymc.data.decisions import LARGEST
from icb_pymc.errors import InputError

# Hyperparameters that are called so, or whose names end so, are scales or variances in every model.
NEVER_NEGATIVE = ("alpha", "sigma", "strength", "covariance", "scale", "movement")
# Hyperparameters that are probabilities in every model, and less than one.
PROBABILITIES = ("lapse",)


def check_value(name: str, value: Any, parameter: inspect.Parameter) -> None:
    """Raise `InputError` if this value of a hyperparameter cannot be meant.

    Parameters
    ----------
    name : str
    value : object
        Numbers and arrays are checked, and the distribution of a probability; other distributions, tensors, functions
        and text are left to the model.
    parameter : inspect.Parameter
        The hyperparameter in the signature of the model.

    Raises
    ------
    InputError
        If the value is missing, true or false where a number is expected, not finite or too large, if a scale or a
        variance is negative, if a probability is not one, or if a matrix called a covariance is not symmetric and
        positive semi-definite.

    Examples
    --------
    >>> from icb_pymc.catalogue.lookup import hyperparameters_of
    >>> from icb_pymc.models import nb_icb
    >>> check_value("alpha", float("nan"), hyperparameters_of(nb_icb)["alpha"])
    Traceback (most recent call last):
    icb_pymc.errors.InputError: alpha=nan: give a finite number.
    """
    if name in PROBABILITIES and hasattr(value, "owner"):
        _check_prior_of_probability(name, value)
    is_number = isinstance(parameter.default, (int, float)) and not isinstance(parameter.default, bool)
    is_missing = value is None and "None" not in inspect.formatannotation(parameter.annotation)
    if is_number and (is_missing or isinstance(value, (bool, np.bool_))):
        raise InputError(f"{name}={value}: give a number; the default is {parameter.default:g}.")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, list, tuple, np.ndarray, np.generic)):
        return
    array = np.asarray(value)
    is_single = name in ("alpha", *PROBABILITIES) or parameter.annotation in (int, float, "int", "float")
    if array.ndim and is_single:
        raise InputError(f"{name}={_shown(value)}: give one number; the model takes no list here.")
    if array.dtype.kind not in "fiu":
        return
    if not np.isfinite(array).all():
        raise InputError(f"{name}={_shown(value)}: give a finite number.")
    if (np.abs(array) > LARGEST).any():
        raise InputError(f"{name}={_shown(value)} is too large to compute with: give less than {LARGEST:g}.")
    if name in PROBABILITIES and not 0 <= array < 1:
        raise InputError(f"{name}={_shown(value)}: it is a probability; give a number from 0 to less than 1.")
    if name.rpartition("_")[2] not in NEVER_NEGATIVE:
        return
    if array.ndim < 2 and (array < 0).any():
        raise InputError(f"{name}={_shown(value)}: it cannot be negative.")
    if array.ndim == 2:
        _check_matrix(name, array.astype(float))


def _check_prior_of_probability(name: str, value: Any) -> None:
    import pymc as pm
    from pymc.pytensorf import compile as compile_graph

    try:
        outside = compile_graph([], [pm.logp(value, number) for number in (-0.5, 1.5)], mode="FAST_COMPILE")()
    except NotImplementedError:
        # An expression of variables of the model.
        outside = []
    if value.type.ndim or np.isfinite(outside).any():
        raise InputError(
            f"{name}: it is one probability; give a prior like Beta(1, 20), without values outside 0 to 1."
        )


def _check_matrix(name: str, matrix: np.ndarray) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name}: a matrix of {matrix.shape[0]} x {matrix.shape[1]} is not square.")
    size = np.abs(matrix).max(initial=0.0)
    if not np.allclose(matrix, matrix.T, atol=1e-8 * size):
        raise InputError(f"{name}: the matrix is not symmetric.")
    smallest = np.linalg.eigvalsh(matrix).min(initial=0.0)
    if smallest < -1e-8 * size:
        raise InputError(
            f"{name}: the matrix is not positive semi-definite; its smallest eigenvalue is {smallest:.3g}."
        )


def _shown(value: Any) -> str:
    return f"{value:g}" if np.ndim(value) == 0 else str(np.asarray(value).tolist())
