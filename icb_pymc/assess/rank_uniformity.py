"""Whether places from 0 to 1 are uniform: simultaneous bands of the empirical distribution (Säilynoja et al., 2022)."""

from functools import lru_cache

import numpy as np
from scipy.stats import binom

# Where the distribution is looked at, and how often uniform places are drawn to know what is usual.
POINTS, REFERENCE = 40, 20_000


def uniform_p_values(places: np.ndarray) -> np.ndarray:
    """p-value of each column of places (replicate, quantity): how often uniform ones stray as far somewhere."""
    usual = _usual(len(places))
    return np.array([(1 + (usual <= one).sum()) / (1 + REFERENCE) for one in _least_tails(places.T)])


def bands(replicates: int, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points z, and the least and greatest of F(z) - z that all stay between with probability 1 - level."""
    tail = np.quantile(_usual(replicates), level)
    points = _points()
    low, high = binom.ppf(tail / 2, replicates, points), binom.ppf(1 - tail / 2, replicates, points)
    return points, low / replicates - points, high / replicates - points


def describe_departure(places: np.ndarray) -> str:
    """What is wrong with places that are not uniform."""
    shift = (places.mean() - 0.5) * np.sqrt(12 * len(places))
    # The variance of a uniform variable is 1/12, that of its squared deviation 1/180.
    spread = (((places - 0.5) ** 2).mean() - 1 / 12) * np.sqrt(180 * len(places))
    if abs(shift) >= abs(spread):
        return "inference tells it too low" if shift > 0 else "inference tells it too high"
    return "inference is too sure of it" if spread > 0 else "inference is less sure of it than it could be"


def _points() -> np.ndarray:
    return np.arange(1, POINTS) / POINTS


def _least_tails(places: np.ndarray) -> np.ndarray:
    """The least two-sided tail probability of the number of places below each point, by row of places."""
    number = places.shape[-1]
    points = _points()
    counts = (places[..., None, :] <= points[:, None]).sum(axis=-1)
    below, above = binom.cdf(counts, number, points), binom.sf(counts - 1, number, points)
    return 2 * np.minimum(below, above).min(axis=-1)


@lru_cache(maxsize=4)
def _usual(replicates: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    # Counts between points are multinomial, which saves drawing the places themselves.
    between = rng.multinomial(replicates, np.full(POINTS, 1 / POINTS), size=REFERENCE)
    counts, points = between.cumsum(axis=1)[:, :-1], _points()
    below, above = binom.cdf(counts, replicates, points), binom.sf(counts - 1, replicates, points)
    return 2 * np.minimum(below, above).min(axis=1)
