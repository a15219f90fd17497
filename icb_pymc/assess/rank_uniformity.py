"""Whether relative ranks, from 0 to 1, are uniform.

By simultaneous bands of their empirical distribution (Säilynoja et al., 2022).
"""

from functools import lru_cache

import numpy as np
from scipy.stats import binom

# Points at which the distribution is evaluated, and replicates of uniform ranks that it is compared with.
GRID_POINTS, REFERENCE = 40, 200_000


def uniform_p_values(ranks: np.ndarray) -> np.ndarray:
    """p-value of each column of relative ranks (replicate, quantity): how often uniform ones deviate as much."""
    reference = _reference_tails(len(ranks))
    return np.array([(1 + (reference <= one).sum()) / (1 + REFERENCE) for one in _least_tails(ranks.T)])


def bands(replicates: int, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points z, and bounds of F(z) - z within which it stays at all points with probability 1 - level."""
    tail = np.quantile(_reference_tails(replicates), level)
    points = _points()
    low, high = binom.ppf(tail / 2, replicates, points), binom.ppf(1 - tail / 2, replicates, points)
    return points, low / replicates - points, high / replicates - points


def describe_departure(ranks: np.ndarray) -> str:
    """What is wrong if relative ranks are not uniform."""
    shift = (ranks.mean() - 0.5) * np.sqrt(12 * len(ranks))
    # The variance of a uniform variable is 1/12, that of its squared deviation 1/180.
    spread = (((ranks - 0.5) ** 2).mean() - 1 / 12) * np.sqrt(180 * len(ranks))
    if abs(shift) >= abs(spread):
        return "its estimates are too low" if shift > 0 else "its estimates are too high"
    return "its posterior is too narrow" if spread > 0 else "its posterior is wider than it should be"


def _points() -> np.ndarray:
    return np.arange(1, GRID_POINTS) / GRID_POINTS


def _least_tails(ranks: np.ndarray) -> np.ndarray:
    """The least two-sided tail probability of the number of ranks below each point, by row of ranks."""
    return _tails((ranks[..., None, :] <= _points()[:, None]).sum(axis=-1), ranks.shape[-1])


@lru_cache(maxsize=4)
def _reference_tails(replicates: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    # Counts between points are multinomial, which saves drawing the ranks themselves.
    between = rng.multinomial(replicates, np.full(GRID_POINTS, 1 / GRID_POINTS), size=REFERENCE)
    return _tails(between.cumsum(axis=1)[:, :-1], replicates)


def _tails(counts: np.ndarray, number: int) -> np.ndarray:
    """The least two-sided tail probability of counts (..., point) among a number of ranks."""
    possible, points = np.arange(number + 1)[:, None], _points()
    tails = 2 * np.minimum(binom.cdf(possible, number, points), binom.sf(possible - 1, number, points))
    return tails[counts, np.arange(len(points))].min(axis=-1)
