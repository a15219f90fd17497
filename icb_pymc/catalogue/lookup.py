"""Find models: those of `icb_pymc.models`, those of other packages, and user-defined ones.

One file holds one model. In `icb_pymc.models` the function has the name of its file. Other packages provide models by
entry points of the group ``icb_pymc.models``; a function or a file of your own gets a name by `register`.
"""

import difflib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from icb_pymc.catalogue.built_in import CatalogueEntry, built_in
from icb_pymc.catalogue.hyperparameter_values import check_value
from icb_pymc.catalogue.model_files import first_parameter, load_model
from icb_pymc.declare.spec import Declare
from icb_pymc.errors import InputError

GROUP = "icb_pymc.models"

_registered: dict[str, Declare] = {}


def entries() -> Iterator[CatalogueEntry]:
    """All models, without importing the built-in ones: a summary is the first line of the file's docstring."""
    yield from built_in()
    for name, declare in _registered.items():
        yield CatalogueEntry(name, "registered model", declare.__module__, summary_of(declare))
    for point in _entry_points():
        package = point.dist.name if point.dist else point.module
        yield CatalogueEntry(point.name, "model of other packages", point.module, f"from the package {package}")


def find(model: str | Path | Declare) -> Declare:
    """Return the function that declares a model.

    Parameters
    ----------
    model : str, path or callable
        The name of a model (hyphens count as underscores), the path of a Python file, or the function itself.

    Returns
    -------
    callable
        ``decisions -> pm.Model``; its keyword-only arguments are hyperparameters.

    Raises
    ------
    InputError
        If there is no such model; the message suggests the closest name. If a file or an entry point cannot be loaded;
        the message names the file and the line.

    Examples
    --------
    >>> from icb_pymc.catalogue.lookup import find
    >>> find("nb-icb").__name__
    'nb_icb'
    >>> find("nb_icv")
    Traceback (most recent call last):
        ...
    icb_pymc.errors.InputError: there is no model called 'nb_icv': did you mean 'nb_icb'?
    """
    if callable(model):
        return model
    text = str(model)
    if isinstance(model, Path) or text.endswith(".py") or "/" in text or "\\" in text:
        return load_model(text)
    key = text.replace("-", "_")
    if key in _registered:
        return _registered[key]
    ours = {entry.name: entry for entry in built_in()}
    if key in ours:
        return getattr(import_module(ours[key].module), key)
    points = {point.name.replace("-", "_"): point for point in _entry_points()}
    if key in points:
        return _load_entry_point(points[key])
    names = [*ours, *_registered, *points]
    closest = difflib.get_close_matches(key, names, n=1)
    hint = f"did you mean '{closest[0]}'?" if closest else f"there are {', '.join(names)}."
    raise InputError(f"there is no model called '{text}': {hint}")


def register(model: Declare | str | Path, name: str | None = None) -> Declare:
    """Give a user-defined model a name by which `fit`, `simulate` and `check` know it in this session.

    Parameters
    ----------
    model : callable, or path
        A function ``decisions -> pm.Model``, or a file with one.
    name : str, optional
        By default the name of the function.

    Returns
    -------
    callable
        The function, so that `register` can be used as a decorator.

    Raises
    ------
    InputError
        If the name is not made of letters, digits and underscores, or belongs to a built-in model; if the function has
        no parameters; if the file cannot be loaded.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.models import nb_icb
    >>> @icb_pymc.register
    ... def cautious(decisions, *, alpha=5.0):
    ...     return nb_icb(decisions, alpha=alpha)
    >>> icb_pymc.simulate("cautious", steps=10, random_seed=0).sizes["time"]
    10
    """
    declare = find(model) if callable(model) else load_model(model)
    key = (name or name_of(declare)).replace("-", "_")
    if not key.isidentifier():
        raise InputError(f"'{key}' cannot be the name of a model: use letters, digits and underscores.")
    if key in {entry.name for entry in built_in()}:
        raise InputError(f"a built-in model is called '{key}': give yours another name.")
    if first_parameter(declare) is None:
        raise InputError(f"'{key}' is not a model: it must be a function of decisions.")
    _registered[key] = declare
    return declare


def hyperparameters_of(declare: Declare) -> dict[str, inspect.Parameter]:
    """The hyperparameters of a model by name: all named parameters of its function but the first, the decisions.

    Examples
    --------
    >>> from icb_pymc.models.irl import b_irl
    >>> hyperparameters_of(b_irl)["prior"].default
    'gaussian'
    """
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    _, *parameters = inspect.signature(declare).parameters.items()
    return {name: parameter for name, parameter in parameters if parameter.kind in named}


def settings(declare: Declare, given: Mapping[str, Any]) -> dict[str, Any]:
    """The hyperparameters of a model: those given, and the defaults of the others.

    Parameters
    ----------
    declare : callable
        The function that declares the model.
    given : mapping of str to value

    Returns
    -------
    dict
        A value for each hyperparameter, in the order of the function's signature.

    Raises
    ------
    InputError
        If the model has no hyperparameter of a given name, one without a default is not given, or a value cannot be
        meant (see `check_value`).

    Examples
    --------
    >>> from icb_pymc.models.agents import stepping
    >>> settings(stepping, {"alpha": 5.0})
    {'step_at': 0.5, 'alpha': 5.0, 'sigma': 0.1}
    """
    check_names(declare, given)
    parameters = hyperparameters_of(declare)
    for name, value in given.items():
        check_value(name, value, parameters[name])
    complete = {name: parameter.default for name, parameter in parameters.items()} | dict(given)
    missing = [name for name, value in complete.items() if value is inspect.Parameter.empty]
    if missing:
        raise InputError(f"'{name_of(declare)}' needs a value for its hyperparameter '{missing[0]}'.")
    return complete


def check_names(declare: Declare, names: Iterable[str]) -> None:
    """Raise `InputError` if the model has no hyperparameter of one of these names.

    Examples
    --------
    >>> from icb_pymc.models.agents import stepping
    >>> check_names(stepping, ["alpha", "sigma"])
    """
    known = hyperparameters_of(declare)
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InputError(
            f"'{name_of(declare)}' has no hyperparameter '{unknown[0]}'; it has {', '.join(known) or 'none'}."
        )


def name_of(declare: Declare) -> str:
    """The name of a model: that of its function, also behind `functools.partial`."""
    return getattr(getattr(declare, "func", declare), "__name__", type(declare).__name__)


def summary_of(declare: Declare) -> str:
    """A model in one line: the first line of its function's docstring."""
    return (inspect.getdoc(getattr(declare, "func", declare)) or "").partition("\n")[0]


def _entry_points() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _load_entry_point(point: EntryPoint) -> Declare:
    try:
        return point.load()
    except Exception as error:
        raise InputError(f"the model '{point.name}' cannot be loaded from '{point.value}': {error}") from error
