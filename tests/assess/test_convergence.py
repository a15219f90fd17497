import arviz as az
import numpy as np
import pytest
import xarray as xr

from icb_pymc.assess.convergence import bulk_ess, convergence, is_constant, mcse_of_mean, mean_ess, rank_rhat, tail_ess


def test_rank_rhat_is_the_one_of_arviz_for_every_component():
    rng = np.random.default_rng(0)
    draws = rng.standard_t(3, size=(4, 101, 2, 3)) + np.arange(4)[:, None, None, None] * np.array([0.0, 0.1, 1.0])
    computed = rank_rhat(xr.DataArray(draws, dims=("chain", "draw", "time", "feature")))
    assert computed.dims == ("time", "feature")
    expected = [[az.rhat(draws[:, :, t, i]) for i in range(3)] for t in range(2)]
    np.testing.assert_allclose(computed, expected, rtol=1e-10)
    assert (computed[:, 2] > 1.05).all()


@pytest.mark.parametrize("correlation", [-0.6, 0.0, 0.9])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (bulk_ess, az.ess),
        (tail_ess, lambda chains: az.ess(chains, method="tail", prob=(0.05, 0.95))),
        (mean_ess, lambda chains: az.ess(chains, method="mean")),
        (mcse_of_mean, lambda chains: np.squeeze(az.mcse(chains))),
    ],
    ids=["bulk", "tail", "mean", "mcse"],
)
def test_effective_sizes_and_errors_are_those_of_arviz_for_every_component(ours, theirs, correlation):
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(4, 101, 6))
    for t in range(1, 101):
        draws[:, t] += correlation * draws[:, t - 1]
    # Chains that have not converged: their autocorrelations never end.
    draws[0, :, 5] += 2.0
    computed = ours(xr.DataArray(draws, dims=("chain", "draw", "feature")))
    np.testing.assert_allclose(computed, [theirs(draws[:, :, i]) for i in range(6)], rtol=1e-10)


def test_more_components_than_one_block_keep_their_positions():
    draws = np.random.default_rng(2).normal(size=(2, 20, 300, 4))
    draws[1, :, 290, 3] += 5.0
    computed = rank_rhat(xr.DataArray(draws, dims=("chain", "draw", "time", "feature")))
    assert np.unravel_index(computed.values.argmax(), computed.shape) == (290, 3)


def test_what_never_changes_is_constant_and_chains_stuck_apart_are_not():
    draws = np.zeros((2, 20, 3))
    draws[1, :, 1] = 1.0
    draws[:, :, 2] = np.random.default_rng(3).normal(size=(2, 20))
    draws = xr.DataArray(draws, dims=("chain", "draw", "feature"))
    assert is_constant(draws).values.tolist() == [True, False, False]
    assert rank_rhat(draws)[1] > 1e3
    assert tail_ess(draws)[0] == 40


def test_convergence_is_the_same_as_its_parts_also_with_repeated_draws():
    draws = np.random.default_rng(4).normal(size=(3, 30, 5)).round(1)
    draws = xr.DataArray(draws, dims=("chain", "draw", "feature"), coords={"feature": list("abcde")})
    computed = convergence(draws)
    for name, of in {"rhat": rank_rhat, "ess_bulk": bulk_ess, "ess_tail": tail_ess}.items():
        xr.testing.assert_equal(computed[name], of(draws))
    np.testing.assert_allclose(computed["mcse"] * draws.std(("chain", "draw"), ddof=1), mcse_of_mean(draws))
    assert float(convergence(draws[:, :, 0])["rhat"]) == computed["rhat"][0]
    np.testing.assert_allclose(computed["rhat"], [az.rhat(draws.values[:, :, i]) for i in range(5)])


@pytest.mark.parametrize("correlation", [0.3, 0.98])
def test_chains_that_mix_slowly_have_the_effective_sizes_of_arviz_too(correlation):
    draws = np.random.default_rng(5).normal(size=(2, 600, 3))
    for t in range(1, 600):
        draws[:, t] += correlation * draws[:, t - 1]
    computed = convergence(xr.DataArray(draws.astype(np.float32), dims=("chain", "draw", "feature")))
    exact = draws.astype(np.float32).astype(np.float64)
    for i in range(3):
        expected = [az.ess(exact[:, :, i]), az.ess(exact[:, :, i], method="tail", prob=(0.05, 0.95))]
        np.testing.assert_allclose([computed["ess_bulk"][i], computed["ess_tail"][i]], expected, rtol=1e-8)
        np.testing.assert_allclose(computed["rhat"][i], az.rhat(exact[:, :, i]), rtol=1e-8)


def test_draws_that_are_not_finite_have_no_diagnostics():
    draws = np.random.default_rng(6).normal(size=(2, 20, 3))
    draws[0, 3, 0], draws[1, 4, 1] = np.nan, np.inf
    computed = convergence(xr.DataArray(draws, dims=("chain", "draw", "feature")))
    for values in computed.values():
        assert np.isnan(values.values).tolist() == [True, True, False]
