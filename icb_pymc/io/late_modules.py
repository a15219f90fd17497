"""Import PyMC without the parts of other packages that only figures need; each is loaded when it is first used."""

import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

# Modules that PyMC, ArviZ and PyTensor import, which take half of the time of importing PyMC, with what is taken from
# them by name.
LATE: dict[str, tuple[str, ...]] = {
    "arviz.plots": (),
    "arviz.plots.backends": (),
    "arviz.stats": ("wrap_xarray_ufunc",),
    "matplotlib.pyplot": (),
    "scipy.cluster.vq": ("kmeans",),
    "scipy.interpolate": ("InterpolatedUnivariateSpline",),
    "scipy.optimize": ("minimize",),
    "scipy.signal": ("convolve", "convolve2d"),
    "scipy.signal.windows": ("gaussian",),
    "scipy.spatial": ("cKDTree",),
    "scipy.stats": ("multivariate_normal",),
}
# Parts of ArviZ all of whose names are taken over by ArviZ itself, and by PyMC.
PARTS = ("stats", "plots")


def import_pymc() -> None:
    """Import PyMC in a program that makes no figures, such as `icb fit`, in about half of the time.

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
    late = {name: _LateModule(name, names) for name, names in LATE.items() if name not in sys.modules}
    absent = [name for name in _of_no_use() if name not in sys.modules]
    sys.modules.update(late)
    # An import of these fails at once.
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        arviz = import_module("arviz")
        with suppress(ImportError, AttributeError):
            # xarray remembers what it has not found.
            import_module("xarray.namedarray.pycompat").array_type("dask")
        for part in PARTS:
            vars(arviz).setdefault(part, late.get(f"arviz.{part}"))
        pymc = import_module("pymc")
    finally:
        for name, module in late.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
        for name in absent:
            del sys.modules[name]
    for part in PARTS:
        if vars(arviz)[part] is late.get(f"arviz.{part}"):
            del vars(arviz)[part]
    for package in (arviz, pymc, *(sys.modules[f"pymc.{part}"] for part in PARTS)):
        vars(package)["__getattr__"] = partial(_attribute_of_parts, package.__name__)


def _of_no_use() -> list[str]:
    """What is looked for and not needed: a shell, zarr where it is too new for PyMC, and arrays in pieces.

    xarray looks for Dask when it is imported, and would load its arrays with the first file. Dask itself can be
    imported later.
    """
    try:
        is_new = int(version("zarr").split(".")[0]) >= 3
    except (PackageNotFoundError, ValueError):
        is_new = False
    return ["IPython", "dask", *(["zarr", "numcodecs"] if is_new else [])]


class _LateModule(ModuleType):
    """Stands for a module while others are imported, and takes from it what is asked for later."""

    def __init__(self, name: str, names: tuple[str, ...]) -> None:
        super().__init__(name)
        self.__all__: list[str] = []
        self._names = names

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._names:
            return _LateObject(self.__name__, name)
        if (self.__name__, name) == ("matplotlib.pyplot", "style"):
            return import_module("matplotlib.style")
        return getattr(_real(self.__name__), name)


class _LateObject:
    """Stands for a function, a class or another object of a module."""

    def __init__(self, module: str, name: str) -> None:
        self._place = module, name

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._found()(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        if name == "_place":
            raise AttributeError(name)
        return getattr(self._found(), name)

    def _found(self) -> Any:
        module, name = self._place
        return getattr(_real(module), name)


def _real(name: str) -> ModuleType:
    if isinstance(sys.modules.get(name), _LateModule):
        del sys.modules[name]
    return import_module(name)


def _attribute_of_parts(module: str, name: str) -> Any:
    """What a package that has taken all of the late parts of ArviZ would have by that name."""
    if not name.startswith("__"):
        for part in PARTS:
            found = import_module(f"arviz.{part}")
            if name == part:
                return found
            if name in found.__all__:
                return getattr(found, name)
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
