"""Traces: results as self-contained netCDF files."""

import json
import warnings
from pathlib import Path
from typing import Any

import h5netcdf
import numpy as np
import xarray as xr

from icb_pymc.data.decisions import validate
from icb_pymc.data.schema import DECISION_GROUPS, POSTERIOR_DIMS
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.io.files import existing, replacing
from icb_pymc.io.untrusted import check_netcdf
from icb_pymc.results.inference_data import InferenceData, as_netcdf, from_groups, group, group_names, read_tree
from icb_pymc.results.posterior import kept_positions
from icb_pymc.results.trace_contents import check_contents

SCHEMA_VERSION = 1
IN_JSON = ("hyperparameters", "versions", "averaged")


def write_trace(result: InferenceData, path: str | Path) -> None:
    """Write a trace as netCDF; an existing file is replaced only when the new one is complete.

    Parameters
    ----------
    result : InferenceData
    path : path
        Must end in ``.nc``.

    Raises
    ------
    InputError
        If the path does not end in ``.nc``, the file cannot be written, or the result contains Python objects.

    Examples
    --------
    >>> import icb_pymc, tempfile
    >>> trace = icb_pymc.share(icb_pymc.open_trace("nb-icb-stepping"), draws=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     icb_pymc.write_trace(trace, f"{folder}/trace.nc")
    ...     icb_pymc.read_trace(f"{folder}/trace.nc").attrs["model"]
    'nb_icb'
    """
    if Path(path).suffix != ".nc":
        raise InputError(f"{path}: traces are netCDF files and end in .nc.")
    content = trace_bytes(result)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def trace_bytes(result: InferenceData) -> bytes:
    """The contents of a trace's file."""
    return as_netcdf(result, dict(result.attrs) | {"schema_version": SCHEMA_VERSION})


def read_trace(path: str | Path) -> InferenceData:
    """Read a trace, whichever PyMC line wrote it; its contents are checked first.

    Parameters
    ----------
    path : path

    Returns
    -------
    InferenceData (DataTree on PyMC 6)

    Raises
    ------
    InputError
        If the file does not exist, or is not a trace.

    Examples
    --------
    >>> import icb_pymc, tempfile
    >>> trace = icb_pymc.share(icb_pymc.open_trace("nb-icb-stepping"), draws=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     icb_pymc.write_trace(trace, f"{folder}/trace.nc")
    ...     icb_pymc.read_trace(f"{folder}/trace.nc").posterior.sizes["draw"]
    10
    """
    tree = read_trace_as_tree(path)
    attrs = {str(name): value for name, value in tree.attrs.items()}
    return from_groups({name: group(tree, name) for name in group_names(tree)}, attrs)


def read_trace_as_tree(path: str | Path) -> xr.DataTree:
    """`read_trace` for verbs of the command line: a DataTree on both lines, without importing PyMC or ArviZ.

    All functions of this package take it, too; of PyMC 5 only ArviZ does not.
    """
    if Path(path).is_dir():
        raise InputError(f"{path} is a folder; give one trace, such as that of one subject in a folder of fits.")
    source = existing(path)
    check_netcdf(source)
    try:
        result = read_tree(source)
    except Exception as error:
        # Attributes that contradict the arrays can make xarray fail in any way.
        raise InputError(f"{source} is not a trace: it cannot be read as netCDF.") from error
    check_trace(result, str(source))
    return result


def read_attributes(path: Path) -> dict[str, Any]:
    """The attributes of a trace's file alone; none if it is missing, or was cut short by another program."""
    try:
        check_netcdf(path)
        with h5netcdf.File(path, "r") as file:
            return dict(file.attrs)
    except (OSError, ValueError, KeyError):
        return {}


def check_trace(result: InferenceData, source: str = "this result") -> None:
    """Raise `InputError` unless a result follows the schema that metrics, plots and diagnostics rely on."""
    _check_version(result.attrs, source)
    for name in ("posterior", *DECISION_GROUPS):
        if name not in group_names(result):
            raise InputError(f"{source} is not a trace: it has no group '{name}'.")
    _check_posterior(group(result, "posterior"), source)
    for name, variables in DECISION_GROUPS.items():
        for variable in variables:
            if variable not in group(result, name):
                raise InputError(f"{source} is not a trace: its {name} has no '{variable}'.")
    decisions = _decisions(result, source)
    with warnings.catch_warnings():
        # These warnings were given when the model was fitted.
        warnings.simplefilter("ignore", InputWarning)
        validate(decisions, f"{source}, the decisions inside")
    _check_labels(group(result, "posterior"), decisions, source)
    for attrs in (result.attrs, decisions.attrs):
        _check_json(attrs, source)
    check_contents(result, decisions, source)


def _decisions(result: InferenceData, source: str) -> xr.Dataset:
    """The decisions inside a trace; xarray would fill up what has other times than the rest."""
    data, chosen = group(result, "constant_data"), group(result, "observed_data")["chosen"]
    if chosen.dims != ("time",) or not chosen.get_index("time").equals(data["context"].get_index("time")):
        raise InputError(f"{source} is not a trace: its choices, 'chosen', have other times than its decisions.")
    return data.assign(chosen=chosen)


def _check_version(attrs: dict[str, Any], source: str) -> None:
    version = attrs.get("schema_version", SCHEMA_VERSION)
    if not isinstance(version, (int, np.integer)) or version < 1:
        raise InputError(f"{source} is not a trace: its schema_version is {version!r}, not a whole number from 1.")
    if version > SCHEMA_VERSION:
        raise InputError(
            f"{source} has schema_version {version}, and this icb_pymc reads up to {SCHEMA_VERSION}: "
            "pip install -U icb-pymc."
        )


def _check_posterior(posterior: xr.Dataset, source: str) -> None:
    if not any(name in posterior for name in POSTERIOR_DIMS):
        raise InputError(f"{source} is not a trace: its posterior has no 'belief' and no 'rho_env'.")
    for name, dims in POSTERIOR_DIMS.items():
        if name not in posterior:
            continue
        draws = posterior[name]
        if draws.dims != dims or draws.dtype.kind != "f" or draws.size == 0:
            raise InputError(
                f"{source} is not a trace: its '{name}' holds {draws.dtype} over {draws.dims} of sizes {draws.shape}, "
                f"not real numbers over {dims}."
            )


def _check_labels(posterior: xr.Dataset, decisions: xr.Dataset, source: str) -> None:
    for dim in ("time", "feature"):
        if dim not in posterior.dims:
            continue
        known, labels = decisions[dim].values, posterior[dim].values if dim in posterior.coords else None
        if labels is None or not np.isin(labels, known).all() or (dim == "feature" and len(labels) != len(known)):
            raise InputError(f"{source} is not a trace: its posterior has another '{dim}' than its decisions.")
    _check_positions(posterior, decisions["time"].values, source)


def _check_positions(posterior: xr.Dataset, time: np.ndarray, source: str) -> None:
    """Positions of the times kept among the decisions, if there are any: in order, and at the same times."""
    positions = kept_positions(posterior)
    if positions is None:
        return
    is_valid = positions.dtype.kind in "iu"
    if is_valid:
        kept = positions.astype(np.int64)
        is_valid = bool((np.diff(kept) > 0).all() and kept[0] >= 0 and kept[-1] < len(time))
        is_valid = is_valid and np.array_equal(time[kept], posterior["time"].values)
    if not is_valid:
        raise InputError(f"{source} is not a trace: the 'position' of its times is not where its decisions have them.")


def _check_json(attrs: dict[str, Any], source: str) -> None:
    for name in IN_JSON:
        try:
            value = json.loads(attrs.get(name, "{}"))
        except (TypeError, ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise InputError(f"{source} is not a trace: its attribute '{name}' is not a JSON object.")
