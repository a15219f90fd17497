"""The best segmentation of a log, by dynamic programming over a table of segment scores (Bellman).

Entry [i, j] of ``scores`` (S, S+1) is the score of blocks i to j - 1; a segmentation scores the sum of its segments.
"""

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def best_segmentations(scores: Floats, max_segments: int) -> tuple[Floats, Integers]:
    """Best segmentations of the first j blocks into m segments, for all m up to ``max_segments``.

    Returns
    -------
    score : (max_segments+1, S+1)
        The score of the best segmentation of blocks 0 to j - 1 into m segments; minus infinity if there is none.
    last : (max_segments+1, S+1)
        The block at which its last segment begins.
    """
    blocks = scores.shape[0]
    score = np.full((max_segments + 1, blocks + 1), -np.inf)
    last = np.zeros((max_segments + 1, blocks + 1), dtype=np.int64)
    score[0, 0] = 0.0
    for m in range(1, max_segments + 1):
        for j in range(m, blocks + 1):
            for i in range(m - 1, j):
                candidate = score[m - 1, i] + scores[i, j]
                if candidate > score[m, j]:
                    score[m, j] = candidate
                    last[m, j] = i
    return score, last


def best_boundaries(last: Integers, segments: int) -> Integers:
    """Boundaries 0 = b_0 < b_1 < ... < b_M = S of the best segmentation into M segments, from `best_segmentations`."""
    boundaries = np.empty(segments + 1, dtype=np.int64)
    boundaries[segments] = last.shape[1] - 1
    for m in range(segments, 0, -1):
        boundaries[m - 1] = last[m, boundaries[m]]
    return boundaries


@numba.njit(cache=True, nogil=True)
def log_sum_over_segmentations(scores: Floats, max_segments: int) -> Floats:
    """log Σ exp(score) over all segmentations into m segments, for m = 1, ..., ``max_segments``: (max_segments,)."""
    blocks = scores.shape[0]
    total = np.full((max_segments + 1, blocks + 1), -np.inf)
    total[0, 0] = 0.0
    for m in range(1, max_segments + 1):
        for j in range(m, blocks + 1):
            for i in range(m - 1, j):
                total[m, j] = np.logaddexp(total[m, j], total[m - 1, i] + scores[i, j])
    return total[1:, blocks].copy()
