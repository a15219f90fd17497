"""Nested dictionaries and lists of numbers, text and arrays in one file, without pickle.

The file is an npz: the arrays by number, and the nesting as JSON, in which an array is named by its number.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from icb_pymc.errors import InputError
from icb_pymc.io.files import replacing

STRUCTURE = "structure"


def write_tree(path: str | Path, tree: Any) -> None:
    """Write a tree whole or not at all.

    Parameters
    ----------
    path : path
    tree : dict, list, tuple, None, bool, int, float, str, numpy scalar or array of numbers or text
        Numbers come back exactly as they are, NaN and infinity included.

    Raises
    ------
    InputError
        If the file cannot be written.
    TypeError
        If the tree holds anything else.
    """
    arrays: list[np.ndarray] = []
    structure = json.dumps(_described(tree, arrays))
    with replacing(path) as temporary, temporary.open("wb") as file:
        named = {str(number): array for number, array in enumerate(arrays)}
        np.savez(file, allow_pickle=False, **named, **{STRUCTURE: np.array(structure)})


def read_tree(path: str | Path) -> Any:
    """Read what `write_tree` wrote; raises `InputError` if the file is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return _rebuilt(json.loads(str(file[STRUCTURE])), file)
    except (OSError, ValueError, KeyError, TypeError, EOFError, RecursionError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is missing or damaged.") from error


def _described(value: Any, arrays: list[np.ndarray]) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "biufU":
        raise TypeError(f"an array of {value.dtype} cannot be written as plain numbers or text")
    if isinstance(value, np.generic):
        return {"scalar": [value.dtype.str, value.item()]}
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if type(value) is list:
        return [_described(part, arrays) for part in value]
    if type(value) is tuple:
        return {"tuple": [_described(part, arrays) for part in value]}
    if type(value) is dict and all(isinstance(name, str) for name in value):
        return {"dict": {name: _described(part, arrays) for name, part in value.items()}}
    raise TypeError(f"{type(value).__name__} cannot be written as plain numbers or text")


def _rebuilt(described: Any, file: Any) -> Any:
    if isinstance(described, list):
        return [_rebuilt(part, file) for part in described]
    if not isinstance(described, dict):
        return described
    ((kind, content),) = described.items()
    if kind == "tuple":
        return tuple(_rebuilt(part, file) for part in content)
    if kind == "dict":
        return {name: _rebuilt(part, file) for name, part in content.items()}
    if kind == "scalar":
        return np.dtype(content[0]).type(content[1])
    return file[str(content)]
