import numpy as np
import pytest

from icb_pymc.kernels.pairwise_ranking import MAX_RANGE, TILE, ranking_log_likelihood


def dense(reward):
    """The likelihood from the matrix of all pairs."""
    difference = reward[:, None] - reward[None, :]
    earlier = np.tri(len(reward), k=-1, dtype=bool)
    return -np.logaddexp(0.0, -difference)[earlier].sum()


@pytest.mark.parametrize("scale", [0.0, 1.0, 50.0, MAX_RANGE])
@pytest.mark.parametrize("steps", [1, 2, 17, TILE + 40])
def test_the_likelihood_is_the_sum_over_all_pairs(steps, scale):
    reward = scale * np.random.default_rng(0).normal(size=steps)
    assert ranking_log_likelihood(reward, np.empty(steps)) == pytest.approx(dense(reward), rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, MAX_RANGE])
def test_the_gradient_agrees_with_finite_differences(scale):
    reward = np.random.default_rng(1).normal(size=12)
    reward[0] += scale
    gradient = np.empty(12)
    ranking_log_likelihood(reward, gradient)
    shift = 1e-5 * np.eye(12)
    slopes = [(dense(reward + move) - dense(reward - move)) / 2e-5 for move in shift]
    np.testing.assert_allclose(gradient, slopes, atol=1e-5)
