"""Initial values of the chains: far apart, so that R-hat shows whether they converge to the same distribution."""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.kernels.metropolis import choice_contrasts

# Utility contrasts of this size make choices nearly certain: well outside the posterior of beliefs.
CONTRAST_SIZE = 2.0


def scattered_initial_values(
    model: pm.Model, decisions: xr.Dataset, alpha: Any, chains: int, seed: int | None
) -> list[Any]:
    """Initial values for each chain: a random constant preference as rho, given which beliefs and rewards are drawn."""
    if "rho" not in [rv.name for rv in model.free_RVs]:
        return [{}] * chains
    sharpness = float(alpha) if isinstance(alpha, (int, float)) else 1.0
    contrasts = choice_contrasts(
        decisions["context"].values, decisions["available"].values, decisions["chosen"].values, sharpness
    )
    typical_contrast = np.sqrt((contrasts.values**2).sum(axis=1).mean()) if len(contrasts.values) else 1.0
    shape = (chains, decisions.sizes["feature"])
    weights = CONTRAST_SIZE / max(typical_contrast, 1e-12) * np.random.default_rng(seed).standard_normal(shape)
    return [{"rho": np.tile(preference, (decisions.sizes["time"], 1))} for preference in weights]
