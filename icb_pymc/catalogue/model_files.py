"""User-defined models in files: one file holds one model."""

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
    """Load a model from a Python file.

    The model is the function with the name of the file; else the only function with a spec
    (`icb_pymc.declare.specify`); else the only public function whose first parameter is called ``decisions``.

    Parameters
    ----------
    path : str or path
        A file that ends in ``.py``. It is run, so load only files that you trust.

    Returns
    -------
    callable
        ``decisions -> pm.Model``. Whatever the model raises when it is called becomes an `InputError` that names the
        file and the line.

    Raises
    ------
    InputError
        If there is no such file, if it cannot be imported, or if it is not clear which function is the model.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "constant.py"
    ...     _ = path.write_text("def constant(decisions, *, alpha=20.0): ...")
    ...     load_model(path).__name__
    'constant'
    """
    source = existing(path)
    if source.suffix != ".py":
        raise InputError(f"{source}: a model is a Python file, whose name ends in .py.")
    module = _import_file(source)
    declare = _model_in(module, source)

    @wraps(declare)
    def declare_or_explain(*arguments: Any, **given: Any) -> Any:
        try:
            return declare(*arguments, **given)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise InputError(_describe_error(error, source)) from error

    declare_or_explain.model_file = str(source)  # type: ignore[attr-defined]
    return declare_or_explain


def digest_of(path: str | Path) -> str:
    """A short hash of the contents of a file."""
    return sha256(existing(path).read_bytes()).hexdigest()[:16]


def first_parameter(declare: Callable[..., Any]) -> str | None:
    """The name of the first parameter of a function."""
    try:
        return next(iter(inspect.signature(declare).parameters), None)
    except (TypeError, ValueError):
        return None


def _import_file(source: Path) -> ModuleType:
    # Named by its contents and path: a file that was changed is another module, one that was not is imported once.
    path = sha256(str(source.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    name = f"icb_pymc_model_{source.stem}_{digest_of(source)}_{path}"
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
        raise InputError(_describe_error(error, source)) from error
    return module


def _model_in(module: ModuleType, source: Path) -> Callable[..., Any]:
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
            f"{source}: there are several functions of decisions ({', '.join(models)}); name the model "
            f"'{source.stem}', or start the names of the others with an underscore."
        )
    raise InputError(f"{source}: it contains no model; declare one as a function '{source.stem}(decisions)'.")


def _describe_error(error: BaseException, source: Path) -> str:
    """An error in one line, with the line of the file that led to it."""
    # Python records where a file is, however it was named.
    known = {str(source), str(source.absolute())}
    if isinstance(error, SyntaxError) and error.filename in known:
        return f"{source}, line {error.lineno}: {error.msg}."
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in known]
    location = f"{source}, line {lines[-1]}" if lines else str(source)
    message = str(error).strip().partition("\n")[0]
    return f"{location}: {type(error).__name__}{': ' + message if message else ''}"
