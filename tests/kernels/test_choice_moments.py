import numpy as np
import pytest
from scipy.stats import norm

from icb_pymc.kernels.choice_moments import weigh_by_choice


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
