"""Point estimates as results: one chain with one draw."""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.catalogue.lookup import name_of
from icb_pymc.data.schema import MODEL_DIMS, POSTERIOR_DIMS
from icb_pymc.declare.spec import Declare, Estimate, spec_of
from icb_pymc.errors import InputError
from icb_pymc.sample.outcome import Outcome


def as_posterior(estimate: Estimate, decisions: xr.Dataset) -> xr.Dataset:
    """An estimate as the only draw of the only chain."""
    values = {name: (POSTERIOR_DIMS[name], value[None, None]) for name, value in estimate.values.items()}
    needed = {dim for name in estimate.values for dim in MODEL_DIMS[name]}
    coords = {"chain": [0], "draw": [0]} | {dim: decisions[dim].values for dim in needed}
    return xr.Dataset(values, coords)


def given_values(model: pm.Model) -> Estimate:
    """The values of a model that has no free variables."""
    names = [variable.name for variable in model.deterministics if variable.name in POSTERIOR_DIMS]
    return Estimate({name: np.asarray(model[name].eval()) for name in names}, "none: there is nothing to estimate")


def fit_by_estimate(declare: Declare, decisions: xr.Dataset, hyperparameters: dict[str, Any]) -> Outcome:
    """The point estimate of a model whose spec says how to compute it."""
    estimate = spec_of(declare).estimate
    if estimate is None:
        raise InputError(f"'{name_of(declare)}' has no point estimate; use method 'mcmc'.")
    return as_outcome(estimate(decisions, **hyperparameters), decisions)


def as_outcome(estimate: Estimate, decisions: xr.Dataset) -> Outcome:
    """An estimate as the outcome of a fit."""
    return Outcome({"posterior": as_posterior(estimate, decisions)}, estimate.how, is_estimate=True)
