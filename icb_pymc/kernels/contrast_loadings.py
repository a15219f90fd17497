"""Rows of contrasts times the matrices and offsets of their times."""

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def times_matrices(rows: Floats, first: Integers, matrices: Floats, out: Floats) -> None:
    """out[row] = row times the matrix of its time, for rows (N, k) and matrices (T, k, q)."""
    for t in range(first.size - 1):
        for row in range(first[t], first[t + 1]):
            for j in range(out.shape[1]):
                out[row, j] = 0.0
            for i in range(rows.shape[1]):
                value = rows[row, i]
                for j in range(out.shape[1]):
                    out[row, j] += value * matrices[t, i, j]
