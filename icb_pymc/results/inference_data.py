"""Results on both PyMC lines: `arviz.InferenceData` on PyMC 5, `xarray.DataTree` on PyMC 6, the same groups on disk.

Everything that differs between the two lines is in this file.
"""

import json
import sys
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from icb_pymc.errors import InputError
from icb_pymc.io.netcdf import netcdf_bytes

InferenceData = Any
"""`arviz.InferenceData` or `xarray.DataTree`."""


def from_groups(groups: Mapping[str, xr.Dataset], attrs: Mapping[str, Any]) -> InferenceData:
    """A result that consists of named groups (posterior, sample_stats, ...)."""
    if _on_pymc_6():
        return _as_tree(groups, attrs)
    import arviz as az

    with warnings.catch_warnings():
        # A group that the ArviZ schema does not have, such as the path of EM, is not a mistake.
        warnings.filterwarnings("ignore", message=".*group is not defined in the InferenceData scheme")
        return az.InferenceData(attrs=dict(attrs), **groups)


def group_names(result: InferenceData) -> list[str]:
    """Names of the groups of a result."""
    return list(result.children) if isinstance(result, xr.DataTree) else list(result.groups())


def group(result: InferenceData, name: str) -> xr.Dataset:
    """One group as a plain Dataset; empty if the result does not have it."""
    if name not in group_names(result):
        return xr.Dataset()
    return result[name].to_dataset() if isinstance(result, xr.DataTree) else result[name]


def leave_one_out(log_likelihood: xr.Dataset, relative_efficiency: float) -> tuple[xr.DataArray, xr.DataArray]:
    """Expected log predictive density of each observation left out, by ArviZ's PSIS-LOO, and Pareto's k.

    Parameters
    ----------
    log_likelihood : Dataset
        One variable (chain, draw, ...).
    relative_efficiency : float
        Effective draws per draw.

    Raises
    ------
    InputError
        If there are too few draws.
    """
    import arviz as az

    # ArviZ requires a posterior, but only counts its draws.
    sizes = {"size": log_likelihood[next(iter(log_likelihood))].isel({"time": 0}, drop=True)}
    result = from_groups({"posterior": xr.Dataset(sizes), "log_likelihood": log_likelihood}, {})
    with warnings.catch_warnings():
        # The caller reports high values of k.
        warnings.simplefilter("ignore")
        try:
            loo = az.loo(result, pointwise=True, reff=relative_efficiency)
        except ValueError as error:
            # Newer versions of ArviZ fit a tail to five draws at least.
            if "n_draws_tail" not in str(error):
                raise
            raise InputError(
                "there are too few draws to leave out choices one at a time; fit with more draws."
            ) from error
    return loo.elpd_i if hasattr(loo, "elpd_i") else loo.loo_i, loo.pareto_k


def default_ci_prob() -> float:
    """The probability of credible intervals in ArviZ's settings, which older releases call ``hdi_prob``."""
    settings = _arviz_settings()
    name = "stats.ci_prob" if "stats.ci_prob" in settings else "stats.hdi_prob"
    return float(settings[name])


def _arviz_settings() -> Mapping[str, Any]:
    """ArviZ's settings, those of the user's file included, read by its own module if ArviZ is not imported yet.

    ArviZ itself, with its figures, takes more than a second to import.
    """
    loaded = sys.modules.get("arviz")
    for package in ("arviz_base", "arviz"):
        found = None if loaded is not None else find_spec(package)
        for folder in (found.submodule_search_locations or []) if found else []:
            module = spec_from_file_location("_arviz_settings", Path(folder) / "rcparams.py")
            if module is not None and module.loader is not None and (Path(folder) / "rcparams.py").is_file():
                settings = module_from_spec(module)
                module.loader.exec_module(settings)
                return settings.rcParams
    import arviz as az

    return az.rcParams


def as_netcdf(result: InferenceData, attrs: Mapping[str, Any]) -> bytes:
    """The contents of a compressed netCDF4 file, one group of the file to a group of the result."""
    groups = {"/": xr.Dataset(attrs=_plain(attrs))}
    for name in group_names(result):
        groups[name] = dataset = group(result, name).copy()
        dataset.attrs = _plain(dataset.attrs)
        for variable in dataset.variables:
            dataset[variable].attrs = _plain(dataset[variable].attrs)
            _refuse_objects(dataset[variable], f"{name}/{variable}")
    return netcdf_bytes(groups)


def _plain(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes that netCDF has types for: numbers, text, and arrays of them; everything else as JSON."""
    plain = {}
    for name, value in attrs.items():
        if isinstance(value, (bool, np.bool_)):
            value = int(value)
        is_plain = isinstance(value, (str, int, float)) or np.asarray(value).dtype.kind in "iufU"
        plain[str(name)] = value if is_plain else json.dumps(value, default=str)
    return plain


def _refuse_objects(values: xr.DataArray, name: str) -> None:
    if values.dtype.kind == "O" and not all(isinstance(value, str) for value in values.values.flat):
        raise InputError(f"'{name}' holds Python objects, which a trace cannot store; convert them to numbers or text.")


def read_tree(path: Path) -> xr.DataTree:
    """Read a file made by `as_netcdf` on either line, without importing PyMC or ArviZ."""
    import h5netcdf

    with h5netcdf.File(path, "r") as file:
        names = list(file.groups)
    with xr.open_dataset(path, engine="h5netcdf") as root:
        attrs = dict(root.attrs)
    groups = {}
    for name in names:
        with xr.open_dataset(path, group=name, engine="h5netcdf") as dataset:
            # xarray opens sizes that contradict each other, and fails when they are used first; better here.
            groups[name] = dataset.load().assign({})
    return _as_tree(groups, attrs)


def _as_tree(groups: Mapping[str, xr.Dataset], attrs: Mapping[str, Any]) -> xr.DataTree:
    tree = xr.DataTree.from_dict({f"/{name}": dataset for name, dataset in groups.items()})
    tree.attrs.update(attrs)
    return tree


def begin_chain(step: Any, generator: np.random.Generator, tune: int, draws: int) -> None:
    """Give a step method the random generator of a chain, as `pm.sample` does."""
    if _on_pymc_6():
        step.setup_chain(generator, tune, draws)
    else:
        step.set_rng(generator)


def _on_pymc_6() -> bool:
    # Not from the module, which takes seconds to import.
    return int(version("pymc").split(".")[0]) >= 6
