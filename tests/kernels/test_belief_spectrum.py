"""The spectrum of a learner's covariances gives what the recursion of equation 1 gives, at any strength."""

import numpy as np
import pytest

from icb_pymc.kernels.belief_spectrum import belief_spectrum, loading_of_rows, sampling_of_rows
from icb_pymc.kernels.learnt_beliefs import belief_of_rewards
from icb_pymc.kernels.reward_given_rho import covariance_path

T, K, SIGMA = 12, 3, 0.7
RNG = np.random.default_rng(0)
CONTEXT = RNG.standard_normal((T, K))
SQUARES = np.concatenate([np.zeros((1, K, K)), np.cumsum(CONTEXT[:-1, :, None] * CONTEXT[:-1, None, :], axis=0)])
SHAPE = np.cov(RNG.standard_normal((K, 10)))


@pytest.mark.parametrize("shape", [SHAPE, np.diag([2.0, 0.5, 0.0])], ids=["any", "singular"])
@pytest.mark.parametrize("ratio", [1e-3, 1.0, 1e4])
def test_roots_are_those_of_the_covariances_of_equation_1(shape, ratio):
    start = SIGMA**2 * ratio * shape
    spectrum = belief_spectrum(shape, SQUARES)
    assert spectrum.ratio(start, SIGMA) == pytest.approx(ratio, rel=1e-12)
    roots = spectrum.roots(ratio, SIGMA)
    beliefs = covariance_path(start, CONTEXT, SIGMA)
    expected = beliefs.covariance
    np.testing.assert_allclose(spectrum.gains(ratio, CONTEXT)[:-1], beliefs.gain, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(spectrum.last_root(ratio, SIGMA), roots[-1])
    np.testing.assert_allclose(roots @ roots.transpose(0, 2, 1), expected, rtol=1e-9, atol=1e-12 * np.abs(start).max())


@pytest.mark.parametrize("other", [np.diag([1.0, 2.0, 3.0]), np.zeros((K, K)), np.full((K, K), np.nan), 1e12 * SHAPE])
def test_covariances_that_are_no_moderate_multiples_are_left_to_the_recursion(other):
    assert belief_spectrum(SHAPE, SQUARES).ratio(other, SIGMA) is None


def test_rows_are_multiplied_by_loadings_offsets_and_roots():
    ratio, first = 2.0, np.concatenate([[0], np.cumsum(RNG.integers(0, 3, T))])
    time = np.repeat(np.arange(T), np.diff(first))
    rows, learnt, start_mean = RNG.standard_normal((first[-1], K)), RNG.standard_normal((T, K)), RNG.standard_normal(K)
    spectrum = belief_spectrum(SHAPE, SQUARES)
    sampling, loading, offset = np.empty_like(rows), np.empty((len(rows), 2 * K)), np.empty(len(rows))
    at = (spectrum.axes, spectrum.information, ratio, SIGMA, first, rows)
    sampling_of_rows(*at, sampling)
    loading_of_rows(*at, sampling, SQUARES, learnt, start_mean, loading, offset)
    roots = spectrum.roots(ratio, SIGMA)
    whole = belief_of_rewards(roots, SIGMA, SQUARES, learnt, start_mean)
    np.testing.assert_allclose(sampling, np.einsum("ni,nij->nj", rows, roots[time]))
    np.testing.assert_allclose(loading, np.einsum("ni,nij->nj", rows, whole[0][time]), atol=1e-12)
    np.testing.assert_allclose(offset, (rows * whole[1][time]).sum(axis=1), atol=1e-12)
