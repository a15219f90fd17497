"""Reading a trace: draws of a variable, its decisions and sessions, and true values and contexts at the times kept."""

import numpy as np
import xarray as xr

from icb_pymc.data.sessions import session_boundaries
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, default_ci_prob, group


def draws_of(trace: InferenceData, name: str) -> xr.DataArray:
    """Draws of `belief` or `rho_env`, which not every algorithm estimates."""
    posterior = group(trace, "posterior")
    if name not in posterior:
        raise InputError(
            f"'{trace.attrs.get('model', 'this model')}' does not estimate '{name}', "
            f"only {', '.join(map(str, posterior)) or 'nothing'}."
        )
    return posterior[name]


def checked_ci_prob(ci_prob: float | None) -> float:
    """The probability of a credible interval, by default that of ArviZ, or an `InputError` if it is not one."""
    if ci_prob is None:
        return default_ci_prob()
    if not 0 < ci_prob <= 1:
        raise InputError(f"ci_prob={ci_prob}: give a number above 0 and at most 1, such as 0.9.")
    return ci_prob


def central_band(draws: xr.DataArray, ci_prob: float) -> xr.DataArray:
    """Lower end, median and upper end (quantile, ...) of the central credible interval of every component."""
    tail = (1 - ci_prob) / 2
    return draws.quantile([tail, 0.5, 1 - tail], ("chain", "draw"))


def decisions_in(trace: InferenceData) -> xr.Dataset:
    """The decisions that a trace contains."""
    data, observed = group(trace, "constant_data"), group(trace, "observed_data")
    missing = [name for name in ("context", "available") if name not in data]
    missing += [] if "chosen" in observed else ["chosen"]
    if missing:
        raise InputError(f"this trace does not contain its decisions: it has no '{missing[0]}'.")
    return data.assign(chosen=observed["chosen"])


def at_kept_times(values: xr.DataArray, posterior: xr.DataArray) -> xr.DataArray:
    """A variable of the decisions (true values, contexts) at the times that a posterior keeps.

    A fit records in the coordinate `position` which decisions it kept. Without it (a trace of `pm.sample`, or an older
    one) they are identified by their times, where that is unambiguous.
    """
    if "time" not in values.dims:
        return values
    kept = np.arange(values.sizes["time"])
    if posterior.sizes["time"] != len(kept):
        recorded, labels = kept_positions(posterior), values["time"].values
        kept = _positions_by_time(values, posterior) if recorded is None else recorded
        if kept.max() >= len(labels) or (labels[kept] != posterior["time"].values).any():
            raise InputError("the posterior of this trace has times that its decisions do not have; fit it again.")
    at = values.isel(time=kept)
    return at.assign_coords(time=posterior["time"].values) if "time" in posterior.coords else at


def kept_positions(posterior: xr.Dataset | xr.DataArray) -> np.ndarray | None:
    """Positions among the decisions of the times that a posterior keeps, if it records them."""
    position = posterior.coords.get("position")
    # A user-defined model may have a dimension or a variable of this name.
    return None if position is None or position.dims != ("time",) else position.values


def _positions_by_time(values: xr.DataArray, posterior: xr.DataArray) -> np.ndarray:
    labels, wanted = values["time"].values, posterior["time"].values
    first = np.searchsorted(labels, wanted)
    available = np.searchsorted(labels, wanted, side="right") - first
    kept = np.searchsorted(wanted, wanted, side="right") - np.searchsorted(wanted, wanted)
    some = kept < available
    if some.any():
        raise InputError(
            f"several decisions were made at {wanted[some][0]}, and this trace does not record which of them it keeps; "
            "fit it again."
        )
    return first + np.arange(len(wanted)) - np.searchsorted(wanted, wanted)


def boundary_times(trace: InferenceData) -> np.ndarray:
    """The times at which sessions begin, except for the first; none if sessions of several agents overlap."""
    decisions = group(trace, "constant_data")
    try:
        return decisions["time"].values[session_boundaries(decisions)] if "session" in decisions else np.zeros(0)
    except InputError:
        return np.zeros(0)
