"""Proposals of hyperparameters from a t distribution, whatever their current values."""

import numpy as np

# Degrees of freedom: hyperparameters may have tails that are exponential on their unconstrained scale.
FREEDOM = 4.0
# With more hyperparameters a proposal for all of them would hardly be accepted: one at random moves, given the others.
TOGETHER = 3


def propose_far(
    current: np.ndarray, mean: np.ndarray, covariance: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """A proposal from a t distribution with this centre and scale.

    Returns
    -------
    proposed : array
    log_ratio : float
        Log ratio of the densities of proposing the current ones and these.
    """
    size = len(current)
    moving = np.arange(size) if size <= TOGETHER else rng.integers(size, size=1)
    mean, covariance = _conditional(mean, covariance, moving, current)
    root = np.linalg.cholesky(covariance)
    radius = np.sqrt(FREEDOM / rng.chisquare(FREEDOM))
    proposed = current.copy()
    proposed[moving] = mean + radius * root @ rng.standard_normal(len(moving))
    log_density = [_log_t(np.linalg.solve(root, vector[moving] - mean)) for vector in (current, proposed)]
    return proposed, log_density[0] - log_density[1]


def _conditional(
    mean: np.ndarray, covariance: np.ndarray, some: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of some components of a Gaussian, given the values of the others."""
    if len(some) == len(mean):
        return mean, covariance
    others = np.setdiff1d(np.arange(len(mean)), some)
    slope = np.linalg.solve(covariance[np.ix_(others, others)], covariance[np.ix_(others, some)]).T
    given = covariance[np.ix_(some, some)] - slope @ covariance[np.ix_(others, some)]
    return mean[some] + slope @ (values[others] - mean[others]), given


def _log_t(standardised: np.ndarray) -> float:
    """Logarithm, up to a constant, of the density of a t distribution of unit scale."""
    return float(-0.5 * (FREEDOM + len(standardised)) * np.log1p(standardised @ standardised / FREEDOM))
