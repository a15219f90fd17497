"""Proposals of hyperparameters from a t distribution, whatever their current values."""

import numpy as np

# Degrees of freedom: hyperparameters may have tails that are exponential on their unconstrained scale.
FREEDOM = 4.0
# With more hyperparameters a proposal for all of them would hardly be accepted: so many move at a time.
TOGETHER = 3


def random_blocks(size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The numbers from 0 to size - 1, each once, divided at random into blocks that can move together."""
    return [np.arange(size)] if size <= TOGETHER else np.array_split(rng.permutation(size), -(-size // TOGETHER))


def propose_far(
    current: np.ndarray, moving: np.ndarray, mean: np.ndarray, covariance: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """A proposal for some components, given the others, from a t distribution with this centre and scale.

    Returns
    -------
    proposed : array
    log_ratio : float
        Log ratio of the densities of proposing the current ones and these.
    """
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
