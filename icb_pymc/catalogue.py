"""The models by name: one file of `icb_pymc.models` is one model, and a function of the same name declares it."""

import ast
import difflib
import inspect
import json
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from icb_pymc.errors import InputError

KINDS = {"": "inverse model", "irl": "inverse model", "agents": "agent"}


class Entry(NamedTuple):
    """A model of the catalogue."""

    name: str
    kind: str
    module: str
    summary: str


def entries() -> Iterator[Entry]:
    """All models, without importing any: the summary is the first line of the file's docstring."""
    spec = find_spec("icb_pymc.models")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    root = Path(next(iter(spec.submodule_search_locations)))
    for folder, kind in KINDS.items():
        for file in sorted((root / folder).glob("*.py")):
            if not file.stem.startswith("_"):
                docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
                module = ".".join(part for part in ("icb_pymc.models", folder, file.stem) if part)
                summary = docstring.partition("\n")[0].partition(": ")[2]
                yield Entry(file.stem, kind, module, summary)


def find(name: str) -> Callable[..., Any]:
    """The function that declares the model `name`, or an `InputError` that names the nearest."""
    found = {entry.name: entry for entry in entries()}
    key = name.replace("-", "_")
    if key not in found:
        near = difflib.get_close_matches(key, found, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(found)}."
        raise InputError(f"there is no model called '{name}': {hint}")
    return getattr(import_module(found[key].module), key)


def settings(declare: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """The hyperparameters of a model with those given in place of the defaults."""
    # The first parameter is the data.
    _, *parameters = inspect.signature(declare).parameters.items()
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    accepted = {name: parameter.default for name, parameter in parameters if parameter.kind in named}
    unknown = sorted(set(given) - set(accepted))
    if unknown:
        raise InputError(f"'{name_of(declare)}' has no hyperparameter '{unknown[0]}'; it has {', '.join(accepted)}.")
    return accepted | given


def name_of(declare: Callable[..., Any]) -> str:
    """What a model is called: the function's name, also where some of its arguments are bound."""
    return getattr(getattr(declare, "func", declare), "__name__", type(declare).__name__)


def described(hyperparameters: dict[str, Any]) -> str:
    """Hyperparameters as JSON for a file's attributes; arrays as lists, random variables by name."""
    return json.dumps(hyperparameters, default=_plain, sort_keys=True)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return getattr(value, "name", None) or repr(value)
