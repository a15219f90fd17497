"""A trace made small enough to be shared: fewer draws and times, single precision; and it records that."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from icb_pymc.data.schema import DECISION_GROUPS
from icb_pymc.errors import InputError
from icb_pymc.io.machine import format_bytes
from icb_pymc.results.inference_data import InferenceData, from_groups, group, group_names
from icb_pymc.results.kept_times import check_dtype, positions_to_keep

# Variables outside the posterior that are larger than this are left out.
LARGEST = 2 * 2**20


def share(
    trace: InferenceData,
    *,
    draws: int | None = None,
    every: int = 1,
    times: Sequence[Any] | None = None,
    dtype: str = "float32",
) -> InferenceData:
    """Make a smaller trace for sharing; its attribute ``shared`` says what was left out.

    Parameters
    ----------
    trace : InferenceData
    draws : int, optional
        Keep at most this many draws per chain: every n-th. All by default.
    every : int
        Keep the posterior at every n-th of its times.
    times : sequence, optional
        Keep the posterior at these times instead.
    dtype : {"float32", "float64"}
        Type of the draws that are kept.

    Returns
    -------
    InferenceData
        Posterior, sampler statistics and log-likelihood of the draws kept, the latter two only if they are below 2 MiB
        each; the decisions are unchanged.

    Raises
    ------
    InputError
        If an option is not valid, or a time is not in the posterior.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.share(icb_pymc.open_trace("nb-icb-stepping"), draws=100, every=2)
    >>> dict(trace.posterior["belief"].sizes)
    {'chain': 4, 'draw': 100, 'time': 42, 'feature': 8}
    """
    posterior = group(trace, "posterior")
    if draws is not None and draws < 1:
        raise InputError(f"draws={draws}: give at least one.")
    check_dtype(dtype)
    step = 1 if draws is None else -(-posterior.sizes["draw"] // draws)
    kept = _rounded(posterior.isel(draw=slice(None, None, step)), dtype)
    times_of_all = group(trace, "constant_data").sizes.get("time", 0)
    if "time" in kept.dims:
        if "position" not in {*kept.variables, *kept.dims} and kept.sizes["time"] == times_of_all:
            # Traces of `pm.sample` do not have it; from the times kept it could not be recovered if some occur twice.
            kept = kept.assign_coords(position=("time", np.arange(times_of_all)))
        kept = kept.isel(time=positions_to_keep(posterior["time"].values, every, times))
    elif every != 1 or times is not None:
        raise InputError("the posterior of this trace has no times to choose from: leave out every and times.")
    groups, dropped = {"posterior": kept}, []
    for name in group_names(trace):
        # The decisions are kept in full, so that the model can be fitted again and every metric computed.
        if name in DECISION_GROUPS:
            groups[name] = group(trace, name)
        elif name != "posterior":
            part = group(trace, name)
            part = _rounded(part.isel(draw=slice(None, None, step), missing_dims="ignore"), dtype)
            large = [variable for variable in part.data_vars if part[variable].nbytes > LARGEST]
            dropped += [f"{name}/{variable} ({format_bytes(part[variable].nbytes)})" for variable in large]
            if len(large) < len(part.data_vars):
                groups[name] = part.drop_vars(large)
    description = _describe(posterior.sizes["draw"], times_of_all, kept, step, dtype, dropped)
    before = trace.attrs.get("shared")
    attrs = {"draws": kept.sizes["draw"], "shared": f"{before}; then {description}" if before else description}
    return from_groups(groups, dict(trace.attrs) | attrs)


def _rounded(dataset: xr.Dataset, dtype: str) -> xr.Dataset:
    return dataset.map(lambda values: values.astype(dtype) if values.dtype.kind == "f" else values, keep_attrs=True)


def _describe(draws: int, times: int, kept: xr.Dataset, step: int, dtype: str, dropped: list[str]) -> str:
    words = [f"{kept.sizes['draw']} of {draws} draws of each of {kept.sizes['chain']} chains"]
    words[0] += f" (every {_ordinal(step)})" if step > 1 else ""
    if "time" in kept.dims:
        words.append(f"{kept.sizes['time']} of {times} times")
    words.append(dtype)
    return ", ".join(words) + (f", without {', '.join(dropped)}" if dropped else "")


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
