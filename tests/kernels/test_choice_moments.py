import numpy as np
import pytest
from scipy.stats import norm

from icb_pymc.kernels.choice_moments import weigh_by_choice
from icb_pymc.sample.pointwise import normal_points


def test_a_choice_of_almost_no_probability_has_that_of_a_sharp_threshold():
    mean, covariance = np.zeros(1), np.zeros((1, 1))
    value = weigh_by_choice(1, np.array([2000.0]), np.array([[300.0]]), np.zeros((1, 1)), mean, covariance)
    assert value == pytest.approx(norm.logcdf(-2000 / 300), abs=1e-3)
    # The mean of a standard normal variable below a threshold.
    assert mean[0] == pytest.approx(-np.exp(norm.logpdf(2000 / 300) - norm.logcdf(-2000 / 300)), rel=1e-3)


def test_weights_of_several_contrasts_that_all_underflow_have_moments():
    points = np.random.default_rng(0).normal(size=(512, 2))
    mean, covariance = np.zeros(2), np.zeros((2, 2))
    value = weigh_by_choice(2, np.array([5000.0, 2500.0]), np.eye(2), points, mean, covariance)
    # exp(-u) of the first contrast: E exp(-5000 - e) = exp(-4999.5), weighted by which e has mean -1.
    assert value == pytest.approx(-4999.5, abs=0.1)
    assert mean == pytest.approx([-1.0, 0.0], abs=0.2)


def dense_moments(centre, root, lapse):
    """log E[π], and the mean and covariance of ε weighted by π, on a grid."""
    grid = np.linspace(-9, 9, 401)
    noise = np.stack(np.meshgrid(*[grid] * len(centre), indexing="ij"), axis=-1).reshape(-1, len(centre))
    chosen = (1 - lapse) / (1 + np.exp(centre + noise @ root.T).sum(axis=1)) + lapse / (len(centre) + 1)
    weight = chosen * norm.pdf(noise).prod(axis=1)
    mean = weight @ noise / weight.sum()
    spread = (noise - mean).T @ ((noise - mean) * weight[:, None]) / weight.sum()
    return np.log(weight.sum() * (grid[1] - grid[0]) ** len(centre)), mean, spread


@pytest.mark.parametrize("lapse", [0.05, 0.4])
@pytest.mark.parametrize("centre", [[-1.0], [0.5], [9.0], [-0.5, 0.3], [9.0, 2.0]])
def test_the_moments_of_a_choice_that_may_be_a_lapse_are_those_of_the_mixture(centre, lapse):
    count, points = len(centre), normal_points(4096, 2)
    root = np.array([[1.5, 0.0], [0.4, 0.8]])[:count, :count]
    mean, covariance = np.zeros(count), np.zeros((count, count))
    value = weigh_by_choice(count, np.array(centre), root, points, mean, covariance, lapse)
    expected = dense_moments(np.array(centre), root, lapse)
    assert value == pytest.approx(expected[0], abs=1e-3)
    np.testing.assert_allclose(mean, expected[1], atol=3e-3)
    np.testing.assert_allclose(covariance, expected[2], atol=5e-3)
