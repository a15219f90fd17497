"""Scores of the ranks of draws; equal draws share their mean rank."""

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def scores_by_rank(values: Floats, order: Integers, scores: Floats, out: Floats) -> None:
    """Replace each value by the score of its rank within its row.

    Parameters
    ----------
    values, order : (m, n)
        Rows of draws, and the indices that sort each row.
    scores : (2n - 1,)
        Scores of the ranks 1, 1.5, 2, ..., n; equal values share the mean of their ranks.
    out : (m, n)
        Receives the scores.
    """
    n = values.shape[1]
    for row in range(values.shape[0]):
        begin = 0
        while begin < n:
            end = begin
            while end + 1 < n and values[row, order[row, end + 1]] == values[row, order[row, begin]]:
                end += 1
            for i in range(begin, end + 1):
                out[row, order[row, i]] = scores[begin + end]
            begin = end + 1
