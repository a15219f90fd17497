"""What is read from beliefs."""

import xarray as xr


def relative_importance(weights: xr.DataArray) -> xr.DataArray:
    """|beta_t(i)| / sum_j |beta_t(j)|: the share of each feature in the decision at t."""
    size = abs(weights)
    return size / size.sum("feature")
