"""Features on one scale for the sampler, in the user's units for the reader."""

import numpy as np
import xarray as xr


def standardise(decisions: xr.Dataset) -> xr.Dataset:
    """Centre and scale each feature over all available candidates, remembering how.

    The means and scales are kept in `feature_mean` and `feature_scale`; standardising again composes
    them, so they always lead back to the units the user began with. A constant feature is only centred.
    """
    mask = decisions["available"]
    context = decisions["context"].where(mask)
    mean = context.mean(("time", "action"))
    scale = context.std(("time", "action"))
    scale = xr.where(scale > 0, scale, 1.0)
    old_mean = decisions.get("feature_mean", xr.zeros_like(mean))
    old_scale = decisions.get("feature_scale", xr.ones_like(scale))
    standardised = ((context - mean) / scale).where(mask, 0.0).transpose(*decisions["context"].dims)
    return decisions.assign(
        context=standardised, feature_mean=old_mean + old_scale * mean, feature_scale=old_scale * scale
    )


def in_user_units(weights: xr.DataArray, decisions: xr.Dataset) -> xr.DataArray:
    """Tell weights of standardised features (belief, rho, rho_env) per unit of the user's features."""
    scale = decisions.get("feature_scale")
    return weights if scale is None else weights / scale.assign_coords(feature=weights["feature"])


def user_context(decisions: xr.Dataset) -> xr.DataArray:
    """Contexts in the user's units: the inverse of `standardise`."""
    if "feature_scale" not in decisions:
        return decisions["context"]
    restored = decisions["context"] * decisions["feature_scale"] + decisions["feature_mean"]
    return restored.where(decisions["available"], 0.0).astype(np.float64)
