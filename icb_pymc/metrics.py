"""What is read from a trace, and how far it is from the truth that simulated decisions carry."""

import numpy as np
import xarray as xr

from icb_pymc.errors import InputError
from icb_pymc.inference_data import InferenceData, group


def relative_importance(weights: xr.DataArray) -> xr.DataArray:
    """|beta_t(i)| / sum_j |beta_t(j)|: the share of each feature in the decision at t."""
    size = abs(weights)
    return size / size.sum("feature")


def unit_weights(weights: xr.DataArray) -> xr.DataArray:
    """Weights scaled to unit L1 norm at each time, as estimates and truth are before errors are taken."""
    return weights / abs(weights).sum("feature")


def belief_error(trace: InferenceData) -> float:
    """Mean over t of || E[rho | beta_t] - E[rho | estimate] ||_1, both at unit L1 norm (Table 2 of the paper)."""
    estimate = estimated(trace, "belief").mean(("chain", "draw"))
    difference = unit_weights(estimate) - unit_weights(_truth(trace, "true_belief"))
    return float(abs(difference).sum("feature").mean("time"))


def reward_error(trace: InferenceData) -> float:
    """|| rho_env - estimate ||_1, both at unit L1 norm (Table 3 of the paper)."""
    estimate = estimated(trace, "rho_env").mean(("chain", "draw"))
    return float(abs(unit_weights(estimate) - unit_weights(_truth(trace, "true_rho_env"))).sum("feature"))


def coverage(trace: InferenceData, variable: str = "belief", probability: float = 0.9) -> float:
    """Share of true values that lie within their central credible interval."""
    tail = (1 - probability) / 2
    low, high = estimated(trace, variable).quantile([tail, 1 - tail], ("chain", "draw"))
    truth = _truth(trace, f"true_{variable}")
    return float(np.mean((low <= truth) & (truth <= high)))


def estimated(trace: InferenceData, variable: str) -> xr.DataArray:
    """Draws of `belief` or `rho_env`, which not every algorithm gives."""
    posterior = group(trace, "posterior")
    if variable not in posterior:
        raise InputError(f"'{trace.attrs.get('model', 'this model')}' gives no estimate of '{variable}'.")
    return posterior[variable]


def _truth(trace: InferenceData, name: str) -> xr.DataArray:
    data = group(trace, "constant_data")
    if name not in data:
        raise InputError(f"the decisions of this trace have no '{name}'; only simulated ones carry the truth.")
    return data[name]
