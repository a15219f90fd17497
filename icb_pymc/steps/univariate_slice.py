"""Slice sampling in one dimension by stepping out and shrinkage (Neal, 2003), which needs no tuning."""

from collections.abc import Callable

import numpy as np

# Even with a width that is far too small the bracket does not grow forever.
MAX_STEPS_OUT = 50


def univariate_slice(
    log_density: Callable[[float], float],
    current: float,
    width: float,
    rng: np.random.Generator,
    steps_out: int = MAX_STEPS_OUT,
) -> float:
    """A draw that leaves a density invariant.

    Parameters
    ----------
    log_density : callable
        The logarithm of the density, up to a constant.
    current : float
        The current value.
    width : float
        Initial width of the bracket: about the standard deviation of the density.
    rng : Generator
    steps_out : int
        The bracket is at most so many times as wide; with one it is not widened, which saves evaluations.

    Returns
    -------
    float
    """
    level = log_density(current) - rng.standard_exponential()
    low = current - width * rng.random()
    high = low + width
    # The number of steps is divided at random between the sides, or the bracket would depend on the current value.
    below = int(rng.integers(steps_out))
    for _ in range(below):
        if not log_density(low) > level:
            break
        low -= width
    for _ in range(steps_out - 1 - below):
        if not log_density(high) > level:
            break
        high += width
    while True:
        proposal = low + (high - low) * rng.random()
        if log_density(proposal) > level:
            return proposal
        # The bracket shrinks towards the current value, which is above the level.
        low, high = (proposal, high) if proposal < current else (low, proposal)
        if high - low < 1e-12 * max(1.0, abs(current)):
            return current
