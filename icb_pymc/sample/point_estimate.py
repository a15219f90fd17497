"""Point estimates as results: one chain with one draw."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.catalogue.lookup import companion, name_of
from icb_pymc.declare.spec import Estimate
from icb_pymc.errors import InputError
from icb_pymc.sample.outcome import Fitted

DIMS = {"rho_env": ("feature",), "belief": ("time", "feature")}


def as_posterior(estimate: Estimate, decisions: xr.Dataset) -> xr.Dataset:
    """An estimate as the only draw of the only chain."""
    values = {name: (("chain", "draw", *DIMS[name]), value[None, None]) for name, value in estimate.values.items()}
    needed = {dim for name in estimate.values for dim in DIMS[name]}
    coords = {"chain": [0], "draw": [0]} | {dim: decisions[dim].values for dim in needed}
    return xr.Dataset(values, coords)


def given_values(model: pm.Model) -> Estimate:
    """The values of a model that has nothing to estimate."""
    names = [variable.name for variable in model.deterministics if variable.name in DIMS]
    return Estimate({name: np.asarray(model[name].eval()) for name in names}, "none: there is nothing to estimate")


def by_estimate(declare: Callable[..., pm.Model], decisions: xr.Dataset, given: dict[str, Any]) -> Fitted:
    """The point estimate that the file of the model says how to make."""
    estimate = companion(declare, "estimate")
    if estimate is None:
        raise InputError(f"'{name_of(declare)}' has no point estimate; use method 'mcmc'.")
    return as_estimate(estimate(decisions, **given), decisions)


def as_estimate(estimate: Estimate, decisions: xr.Dataset) -> Fitted:
    """An estimate as the only draw."""
    return Fitted({"posterior": as_posterior(estimate, decisions)}, estimate.how, is_estimate=True)
