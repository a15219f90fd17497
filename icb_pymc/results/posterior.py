"""Reading a trace: draws of a variable, the decisions inside, and what those decisions say at the times kept."""

import numpy as np
import xarray as xr

from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group


def estimated(trace: InferenceData, name: str) -> xr.DataArray:
    """Draws of `belief` or `rho_env`, which not every algorithm gives."""
    posterior = group(trace, "posterior")
    if name not in posterior:
        raise InputError(
            f"'{trace.attrs.get('model', 'this model')}' gives no estimate of '{name}', "
            f"only of {', '.join(map(str, posterior)) or 'nothing'}."
        )
    return posterior[name]


def decisions_in(trace: InferenceData) -> xr.Dataset:
    """The decisions that a trace holds."""
    data, observed = group(trace, "constant_data"), group(trace, "observed_data")
    missing = [name for name in ("context", "available") if name not in data]
    missing += [] if "chosen" in observed else ["chosen"]
    if missing:
        raise InputError(f"this trace does not hold its decisions: it has no '{missing[0]}'.")
    return data.assign(chosen=observed["chosen"])


def at_times_of(values: xr.DataArray, posterior: xr.DataArray) -> xr.DataArray:
    """What the decisions say (truth, contexts) at the times that a posterior keeps, told by their labels.

    Of decisions at one and the same time the first are taken.
    """
    if "time" not in values.dims:
        return values
    kept = np.arange(values.sizes["time"])
    if posterior.sizes["time"] != len(kept):
        labels, wanted = values["time"].values, posterior["time"].values
        nth_of_its_time = np.arange(len(wanted)) - np.searchsorted(wanted, wanted)
        kept = np.searchsorted(labels, wanted) + nth_of_its_time
        if kept.max() >= len(labels) or (labels[kept] != wanted).any():
            raise InputError("the posterior of this trace has times that its decisions do not have; fit it anew.")
    at = values.isel(time=kept)
    return at.assign_coords(time=posterior["time"]) if "time" in posterior.coords else at
