import numpy as np
import pytest
from scipy.stats import multivariate_t

from icb_pymc.steps.far_proposals import FREEDOM, TOGETHER, propose_far

ROOT = np.random.default_rng(0).standard_normal((5, 5))


@pytest.mark.parametrize("size", [1, TOGETHER, 5])
def test_the_ratio_of_densities_is_that_of_the_t_distribution_that_proposes(size):
    covariance, mean = (ROOT @ ROOT.T)[:size, :size], np.arange(size, dtype=float)
    current = mean + 1.0
    proposed, log_ratio = propose_far(current, mean, covariance, np.random.default_rng(1))
    moved = np.flatnonzero(proposed != current)
    assert len(moved) == (size if size <= TOGETHER else 1)
    others = np.setdiff1d(np.arange(size), moved)
    centre, scale = mean[moved], covariance[np.ix_(moved, moved)]
    if len(others):
        # Of a Gaussian with this mean and covariance, given the others.
        slope = covariance[np.ix_(moved, others)] @ np.linalg.inv(covariance[np.ix_(others, others)])
        centre = centre + slope @ (current[others] - mean[others])
        scale = scale - slope @ covariance[np.ix_(others, moved)]
    density = multivariate_t(centre, scale, df=FREEDOM)
    assert log_ratio == pytest.approx(density.logpdf(current[moved]) - density.logpdf(proposed[moved]))
