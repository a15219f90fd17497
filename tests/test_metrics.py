import numpy as np
import xarray as xr

from icb_pymc.metrics import relative_importance


def test_relative_importance_is_the_share_of_absolute_weights():
    weights = xr.DataArray([[1.0, -3.0], [-2.0, 2.0]], dims=("time", "feature"))
    np.testing.assert_allclose(relative_importance(weights), [[0.25, 0.75], [0.5, 0.5]])
