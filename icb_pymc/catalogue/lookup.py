"""The models by name, by path, or as they are: those of `icb_pymc.models`, of other packages, and one's own.

One file is one model. In `icb_pymc.models` a function of the same name declares it. A package offers models by entry
points of the group ``icb_pymc.models``, and whoever has a function or a file by `register`.
"""

import ast
import difflib
import inspect
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from icb_pymc.catalogue.model_files import first_parameter, load_model
from icb_pymc.declare.spec import Declare
from icb_pymc.errors import InputError

KINDS = {"": "inverse model", "irl": "inverse model", "agents": "agent"}
GROUP = "icb_pymc.models"

_registered: dict[str, Declare] = {}


class CatalogueEntry(NamedTuple):
    """A model of the catalogue."""

    name: str
    kind: str
    module: str
    summary: str


def entries() -> Iterator[CatalogueEntry]:
    """All models, without importing any: the summary is the first line of the file's docstring."""
    yield from _built_in()
    for name, declare in _registered.items():
        yield CatalogueEntry(name, "registered model", declare.__module__, summary_of(declare))
    for point in _offered():
        package = point.dist.name if point.dist else point.module
        yield CatalogueEntry(point.name, "model of other packages", point.module, f"of the package {package}")


def find(model: str | Path | Declare) -> Declare:
    """The function that declares a model given by name, by the path of its file, or as it is.

    Names that are not known get an `InputError` that names the nearest.
    """
    if callable(model):
        return model
    text = str(model)
    if isinstance(model, Path) or text.endswith(".py") or "/" in text or "\\" in text:
        return load_model(text)
    key = text.replace("-", "_")
    if key in _registered:
        return _registered[key]
    built_in = {entry.name: entry for entry in _built_in()}
    if key in built_in:
        return getattr(import_module(built_in[key].module), key)
    offered = {point.name.replace("-", "_"): point for point in _offered()}
    if key in offered:
        return _loaded(offered[key])
    names = [*built_in, *_registered, *offered]
    near = difflib.get_close_matches(key, names, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}."
    raise InputError(f"there is no model called '{text}': {hint}")


def register(model: Declare | str | Path, name: str | None = None) -> Declare:
    """Give a model of one's own a name, so that `fit`, `simulate` and `check` know it by it in this session.

    Parameters
    ----------
    model : callable, or path
        A function ``decisions -> pm.Model``, or a file with one.
    name : str, optional
        By default that of the function.

    Returns
    -------
    callable
        The function, so that this can be used as a decorator.
    """
    declare = find(model) if callable(model) else load_model(model)
    key = (name or name_of(declare)).replace("-", "_")
    if not key.isidentifier():
        raise InputError(f"'{key}' cannot be the name of a model: use letters, digits and underscores.")
    if key in {entry.name for entry in _built_in()}:
        raise InputError(f"there is a model called '{key}' already: give yours another name.")
    if first_parameter(declare) is None:
        raise InputError(f"'{key}' is no model: it must be a function of decisions.")
    _registered[key] = declare
    return declare


def settings(declare: Declare, given: dict[str, Any]) -> dict[str, Any]:
    """The hyperparameters of a model with those given in place of the defaults."""
    # The first parameter is the data.
    _, *parameters = inspect.signature(declare).parameters.items()
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    accepted = {name: parameter.default for name, parameter in parameters if parameter.kind in named}
    unknown = sorted(set(given) - set(accepted))
    if unknown:
        raise InputError(f"'{name_of(declare)}' has no hyperparameter '{unknown[0]}'; it has {', '.join(accepted)}.")
    complete = accepted | given
    missing = [name for name, value in complete.items() if value is inspect.Parameter.empty]
    if missing:
        raise InputError(f"'{name_of(declare)}' needs a value for its hyperparameter '{missing[0]}'.")
    return complete


def name_of(declare: Declare) -> str:
    """What a model is called: the function's name, also where some of its arguments are bound."""
    return getattr(getattr(declare, "func", declare), "__name__", type(declare).__name__)


def summary_of(declare: Declare) -> str:
    """A model in a line: the first of the docstring of its function."""
    return (inspect.getdoc(getattr(declare, "func", declare)) or "").partition("\n")[0]


def _built_in() -> Iterator[CatalogueEntry]:
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
                yield CatalogueEntry(file.stem, kind, module, summary)


def _offered() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _loaded(point: EntryPoint) -> Declare:
    try:
        return point.load()
    except Exception as error:
        raise InputError(f"the model '{point.name}' cannot be loaded from '{point.value}': {error}") from error
