"""Import PyMC without the parts of other packages that only figures need; each is loaded when it is first used."""

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any

# Modules that ArviZ and PyTensor import, which take a third of the time of importing PyMC, with the functions that
# they take from them by name.
LATE: dict[str, tuple[str, ...]] = {
    "arviz.plots": (),
    "arviz.plots.backends": (),
    "matplotlib.pyplot": (),
    "scipy.signal": ("convolve", "convolve2d"),
    "scipy.signal.windows": ("gaussian",),
}


def import_pymc() -> None:
    """Import PyMC in a program that makes no figures, such as `icb fit`, in about two thirds of the time.

    Nothing is lost: what is used all the same, `arviz.plot_trace` by a model of the user's for example, is imported
    then. Where PyMC is already imported, or its ArviZ is not the one of PyMC 5, this does nothing.

    Examples
    --------
    >>> import_pymc()
    >>> import pymc
    >>> callable(pymc.plot_trace)
    True
    """
    if "pymc" in sys.modules or "arviz" in sys.modules or not version("arviz").startswith("0."):
        return
    late = {name: _LateModule(name, functions) for name, functions in LATE.items() if name not in sys.modules}
    sys.modules.update(late)
    try:
        arviz = import_module("arviz")
        vars(arviz).setdefault("plots", late.get("arviz.plots"))
        pymc = import_module("pymc")
    finally:
        for name, module in late.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
    if vars(arviz)["plots"] is late.get("arviz.plots"):
        del vars(arviz)["plots"]
        for package in (arviz, pymc, sys.modules["pymc.plots"]):
            vars(package)["__getattr__"] = partial(_attribute_of_plots, package.__name__)


class _LateModule(ModuleType):
    """Stands for a module while others are imported, and takes from it what is asked for later."""

    def __init__(self, name: str, functions: tuple[str, ...]) -> None:
        super().__init__(name)
        self.__all__: list[str] = []
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._functions:
            return _late_function(self.__name__, name)
        if (self.__name__, name) == ("matplotlib.pyplot", "style"):
            return import_module("matplotlib.style")
        return getattr(_real(self.__name__), name)


def _real(name: str) -> ModuleType:
    if isinstance(sys.modules.get(name), _LateModule):
        del sys.modules[name]
    return import_module(name)


def _late_function(module: str, name: str) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        return getattr(_real(module), name)(*arguments, **options)

    return call


def _attribute_of_plots(module: str, name: str) -> Any:
    """What a package that has taken all of `arviz.plots` would have by that name."""
    if not name.startswith("__"):
        plots = import_module("arviz.plots")
        if name == "plots":
            return plots
        if name in plots.__all__:
            return getattr(plots, name)
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
