"""Proposals of hyperparameters whatever their values: each moves, with the right ratio of densities."""

import numpy as np
import pytest
from scipy.stats import f, kstest, multivariate_t

from icb_pymc.steps.far_proposals import FREEDOM, TOGETHER, propose_far, random_blocks

ROOT = np.random.default_rng(0).standard_normal((5, 5))


@pytest.mark.parametrize("size", [1, TOGETHER, 5, 9])
def test_blocks_are_small_and_hold_each_hyperparameter_once(size):
    blocks = random_blocks(size, np.random.default_rng(0))
    assert sorted(np.concatenate(blocks).tolist()) == list(range(size))
    assert max(map(len, blocks)) <= TOGETHER


@pytest.mark.parametrize("moving", [[0], [2, 0], [0, 1, 2, 3, 4]])
def test_the_ratio_of_densities_is_that_of_the_t_distribution_that_proposes(moving):
    covariance, mean = ROOT @ ROOT.T, np.arange(5, dtype=float)
    current, moved = mean + 1.0, np.array(moving)
    proposed, log_ratio = propose_far(current, moved, mean, covariance, np.random.default_rng(1))
    assert sorted(np.flatnonzero(proposed != current).tolist()) == sorted(moving)
    others = np.setdiff1d(np.arange(5), moved)
    centre, scale = mean[moved], covariance[np.ix_(moved, moved)]
    if len(others):
        # Of a Gaussian with this mean and covariance, given the others.
        slope = covariance[np.ix_(moved, others)] @ np.linalg.inv(covariance[np.ix_(others, others)])
        centre = centre + slope @ (current[others] - mean[others])
        scale = scale - slope @ covariance[np.ix_(others, moved)]
    density = multivariate_t(centre, scale, df=FREEDOM)
    assert log_ratio == pytest.approx(density.logpdf(current[moved]) - density.logpdf(proposed[moved]))


@pytest.mark.parametrize("moving", [[0], [2, 0], [0, 1, 2, 3, 4]])
def test_proposals_are_draws_of_that_t_distribution(moving):
    """Their squared distances from the centre, by its scale and dimension, have an F distribution."""
    covariance, mean, rng = np.diag([1.0, 4.0, 0.25, 9.0, 1.0]), np.arange(5.0), np.random.default_rng(3)
    proposed = np.array([propose_far(mean + 1, np.array(moving), mean, covariance, rng)[0] for _ in range(2000)])
    standardised = ((proposed - mean) / np.sqrt(np.diag(covariance)))[:, moving]
    squared = (standardised**2).mean(axis=1)
    assert kstest(squared, f(len(moving), FREEDOM).cdf).pvalue > 1e-3
    assert kstest(squared, f(len(moving), 2 * FREEDOM).cdf).pvalue < 1e-3
