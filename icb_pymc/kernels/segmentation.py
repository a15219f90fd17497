"""The best segmentation of a log, and sums over all of them, by recursions over a table of segment scores.

Entry [i, j] of ``scores`` (S, S+1) is the score of blocks i to j - 1; a segmentation scores the sum of its segments.
The best one is computed by Bellman's recursion; the sums are those of Fearnhead (2006, "Exact and efficient Bayesian
inference for multiple changepoint problems"), here by the number of segments, so that it can have any prior.
"""

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


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
def log_sums_of_beginnings(scores: Floats, max_segments: int) -> Floats:
    """[m, j]: log Σ exp(score) over all segmentations of blocks 0 to j - 1 into m segments (max_segments+1, S+1)."""
    blocks = scores.shape[0]
    total = np.full((max_segments + 1, blocks + 1), -np.inf)
    total[0, 0] = 0.0
    for m in range(1, max_segments + 1):
        for j in range(m, blocks + 1):
            for i in range(m - 1, j):
                total[m, j] = np.logaddexp(total[m, j], total[m - 1, i] + scores[i, j])
    return total


def log_sum_over_segmentations(scores: Floats, max_segments: int) -> Floats:
    """log Σ exp(score) over all segmentations into m segments, for m = 1, ..., ``max_segments``: (max_segments,)."""
    return log_sums_of_beginnings(scores, max_segments)[1:, -1].copy()


@numba.njit(cache=True, nogil=True)
def log_sums_of_completions(scores: Floats, log_weight: Floats) -> Floats:
    """[m, i]: log Σ exp(score + log_weight[M - 1]) over all segmentations of blocks i to S - 1, after m segments.

    M is the number of all segments, the m before block i included; ``log_weight`` (S,) is the log prior weight of a
    segmentation into 1, ..., S segments. Entry [0, 0] is the sum over all segmentations. With F from
    `log_sums_of_beginnings` and C this table, those with a boundary at block i sum to Σ_m exp(F[m, i] + C[m, i]).
    """
    blocks = scores.shape[0]
    total = np.full((blocks + 1, blocks + 1), -np.inf)
    for m in range(1, blocks + 1):
        total[m, blocks] = log_weight[m - 1]
    for i in range(blocks - 1, -1, -1):
        # Before block i there are at least one and at most i segments; before block 0 there are none.
        for m in range(min(i, 1), i + 1):
            peak = -np.inf
            for j in range(i + 1, blocks + 1):
                peak = max(peak, scores[i, j] + total[m + 1, j])
            if peak == -np.inf:
                continue
            total_over_ends = 0.0
            for j in range(i + 1, blocks + 1):
                total_over_ends += np.exp(scores[i, j] + total[m + 1, j] - peak)
            total[m, i] = peak + np.log(total_over_ends)
    return total


@numba.njit(cache=True, nogil=True)
def draw_segmentations(scores: Floats, completions: Floats, draws: int, rng: np.random.Generator) -> Flags:
    """Independent draws of a segmentation, with probability proportional to exp(score + log_weight).

    Parameters
    ----------
    scores : (S, S+1)
    completions : (S+1, S+1)
        From `log_sums_of_completions` of the same scores.

    Returns
    -------
    (draws, S)
        Whether a segment begins at each block; one always begins at block 0.
    """
    blocks = scores.shape[0]
    begins = np.zeros((draws, blocks), dtype=np.bool_)
    for draw in range(draws):
        i, m = 0, 0
        while i < blocks:
            begins[draw, i] = True
            remaining = rng.random()
            following = blocks
            for j in range(i + 1, blocks + 1):
                probability = np.exp(scores[i, j] + completions[m + 1, j] - completions[m, i])
                if probability > 0.0:
                    # Rounding may leave a little of `remaining` after the last possible end, which is then taken.
                    following = j
                remaining -= probability
                if remaining < 0.0:
                    break
            i = following
            m += 1
    return begins
