"""Models in files of one's own: one file is one model."""

import inspect
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from icb_pymc.errors import InputError
from icb_pymc.io.files import existing


def load_model(path: str | Path) -> Callable[..., Any]:
    """The function that the file at `path` declares a model with.

    It is the one called like the file, else the only one with a spec (`icb_pymc.declare.specify`), else the only public
    one whose first parameter is ``decisions``. What it raises becomes one sentence that names the file and the line.
    """
    source = existing(path)
    if source.suffix != ".py":
        raise InputError(f"{source}: a model is a Python file, whose name ends in .py.")
    module = _imported(source)
    declare = _model_of(module, source)

    @wraps(declare)
    def declare_or_explain(*arguments: Any, **given: Any) -> Any:
        try:
            return declare(*arguments, **given)
        except InputError:
            raise
        except Exception as error:
            raise InputError(_where(error, source)) from error

    declare_or_explain.model_file = str(source)  # type: ignore[attr-defined]
    return declare_or_explain


def digest_of(path: str | Path) -> str:
    """What the contents of a file hash to."""
    return sha256(existing(path).read_bytes()).hexdigest()[:16]


def first_parameter(declare: Callable[..., Any]) -> str | None:
    """The name of the first parameter of a function."""
    try:
        return next(iter(inspect.signature(declare).parameters), None)
    except (TypeError, ValueError):
        return None


def _imported(source: Path) -> ModuleType:
    # By its contents: a file that was changed is another module, one that was not is imported once.
    name = f"icb_pymc_model_{source.stem}_{digest_of(source)}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, source)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise InputError(_where(error, source)) from error
    return module


def _model_of(module: ModuleType, source: Path) -> Callable[..., Any]:
    own = {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    }
    if source.stem in own:
        declare = own[source.stem]
        if first_parameter(declare) is None:
            raise InputError(f"{source}: '{source.stem}' has no parameters; a model is a function of decisions.")
        return declare
    models = [name for name, value in own.items() if hasattr(value, "icb_spec")]
    if len(models) != 1:
        models = [name for name, value in own.items() if first_parameter(value) == "decisions" and name[0] != "_"]
    if len(models) == 1:
        return own[models[0]]
    if models:
        raise InputError(
            f"{source}: there are several functions of decisions ({', '.join(models)}); call the model "
            f"'{source.stem}', or begin the names of the others with an underscore."
        )
    raise InputError(f"{source}: there is no model in it; declare it by a function '{source.stem}(decisions)'.")


def _where(error: BaseException, source: Path) -> str:
    """What was raised, and the line of the file that led to it."""
    if isinstance(error, SyntaxError) and error.filename == str(source):
        return f"{source}, line {error.lineno}: {error.msg}."
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(source)]
    place = f"{source}, line {lines[-1]}" if lines else str(source)
    words = str(error).strip().partition("\n")[0]
    return f"{place}: {type(error).__name__}{': ' + words if words else ''}"
