import arviz as az
import numpy as np
import pytest
import xarray as xr

from icb_pymc.convergence import bulk_ess, rank_rhat


def test_rank_rhat_is_the_one_of_arviz_for_every_component():
    rng = np.random.default_rng(0)
    draws = rng.standard_t(3, size=(4, 101, 2, 3)) + np.arange(4)[:, None, None, None] * np.array([0.0, 0.1, 1.0])
    found = rank_rhat(xr.DataArray(draws, dims=("chain", "draw", "time", "feature")))
    assert found.dims == ("time", "feature")
    expected = [[az.rhat(draws[:, :, t, i]) for i in range(3)] for t in range(2)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert (found[:, 2] > 1.05).all()


@pytest.mark.parametrize("correlation", [-0.6, 0.0, 0.9])
def test_bulk_ess_is_the_one_of_arviz_for_every_component(correlation):
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(4, 101, 6))
    for t in range(1, 101):
        draws[:, t] += correlation * draws[:, t - 1]
    # Chains that have not met: their correlations never end.
    draws[0, :, 5] += 2.0
    found = bulk_ess(xr.DataArray(draws, dims=("chain", "draw", "feature")))
    np.testing.assert_allclose(found, [az.ess(draws[:, :, i]) for i in range(6)], rtol=1e-10)
