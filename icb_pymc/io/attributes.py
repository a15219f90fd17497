"""Attributes of files: hyperparameters as JSON, and a check that words are words and numbers are numbers."""

import json
import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from icb_pymc.errors import InputError


def as_json(hyperparameters: dict[str, Any]) -> str:
    """Hyperparameters as JSON for a file's attributes; arrays become lists, random variables their names."""
    return json.dumps(hyperparameters, default=_plain, sort_keys=True)


def check_kinds(attrs: Mapping[Any, Any], words: Iterable[str], numbers: Iterable[str], what: str) -> None:
    """Raise `InputError`, which begins with `what`, if an attribute is no text, or no finite number, where it must be.

    Examples
    --------
    >>> check_kinds({"model": "nb_icb", "seed": 0}, ["model", "method"], ["seed"], "trace.nc is not a trace")
    """
    for name in words:
        if name in attrs and not isinstance(attrs[name], str):
            raise InputError(f"{what}: its attribute '{name}' is no text.")
    for name in numbers:
        if name in attrs and not (isinstance(attrs[name], Real) and math.isfinite(attrs[name])):
            raise InputError(f"{what}: its attribute '{name}' is no finite number.")


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return getattr(value, "name", None) or repr(value)
