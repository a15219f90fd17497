import arviz as az
import numpy as np
import xarray as xr

from icb_pymc.convergence import rank_rhat


def test_rank_rhat_is_the_one_of_arviz_for_every_component():
    rng = np.random.default_rng(0)
    draws = rng.standard_t(3, size=(4, 101, 2, 3)) + np.arange(4)[:, None, None, None] * np.array([0.0, 0.1, 1.0])
    found = rank_rhat(xr.DataArray(draws, dims=("chain", "draw", "time", "feature")))
    assert found.dims == ("time", "feature")
    expected = [[az.rhat(draws[:, :, t, i]) for i in range(3)] for t in range(2)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert (found[:, 2] > 1.05).all()
