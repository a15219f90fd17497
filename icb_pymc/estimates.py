"""Point estimates as results: one chain with one draw."""

from typing import NamedTuple

import numpy as np
import pymc as pm
import xarray as xr

DIMS = {"rho_env": ("feature",), "belief": ("time", "feature")}


class Estimate(NamedTuple):
    """What a companion `estimate` of a model returns: values of `rho_env` and/or `belief`, and how they were found."""

    values: dict[str, np.ndarray]
    how: str


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
