"""Which segments divide a log best, by dynamic programming over a table of segment scores (Bellman).

Entry [i, j] of ``scores`` (S, S+1) is the score of blocks i to j - 1; a division is worth the sum of its segments.
"""

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def best_divisions(scores: Floats, most: int) -> tuple[Floats, Integers]:
    """Best divisions of the first j blocks into m segments, for all m up to ``most`` from one table.

    Returns
    -------
    worth : (most+1, S+1)
        Of the best division of blocks 0 to j - 1 into m segments; minus infinity where there is none.
    last : (most+1, S+1)
        Where its last segment begins.
    """
    blocks = scores.shape[0]
    worth = np.full((most + 1, blocks + 1), -np.inf)
    last = np.zeros((most + 1, blocks + 1), dtype=np.int64)
    worth[0, 0] = 0.0
    for m in range(1, most + 1):
        for j in range(m, blocks + 1):
            for i in range(m - 1, j):
                found = worth[m - 1, i] + scores[i, j]
                if found > worth[m, j]:
                    worth[m, j] = found
                    last[m, j] = i
    return worth, last


def division(last: Integers, segments: int) -> Integers:
    """Boundaries 0 = b_0 < b_1 < ... < b_M = S of the best division into M segments, from `best_divisions`."""
    boundaries = np.empty(segments + 1, dtype=np.int64)
    boundaries[segments] = last.shape[1] - 1
    for m in range(segments, 0, -1):
        boundaries[m - 1] = last[m, boundaries[m]]
    return boundaries


@numba.njit(cache=True, nogil=True)
def log_sum_over_divisions(scores: Floats, most: int) -> Floats:
    """log Σ exp(worth) over all divisions into m segments, for m = 1, ..., ``most``: (most,)."""
    blocks = scores.shape[0]
    total = np.full((most + 1, blocks + 1), -np.inf)
    total[0, 0] = 0.0
    for m in range(1, most + 1):
        for j in range(m, blocks + 1):
            for i in range(m - 1, j):
                total[m, j] = np.logaddexp(total[m, j], total[m - 1, i] + scores[i, j])
    return total[1:, blocks].copy()
