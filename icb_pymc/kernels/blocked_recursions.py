"""The recursions of the smoother for a state without a transition (F = I), four rows at a time.

Taken row by row, value_r = y_r - c_r's and s ← s + g_r value_r depend on each other. With κ_rl = c_r'g_l computed
beforehand, value_r = y_r - c_r's - Σ_l κ_rl value_l for the rows l of a block before r, and s is updated once a block.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]

# Rows of a block that precede its last row.
NEIGHBOURS = 3


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def neighbour_couplings(loading: Floats, gain: Floats, out: Floats) -> None:
    """out[r, l - 1] = κ_{r, r-l} (N, 3); zero where there is no such row."""
    for row in range(loading.shape[0]):
        for back in range(1, NEIGHBOURS + 1):
            value = 0.0
            if back <= row:
                for i in range(loading.shape[1]):
                    value += loading[row, i] * gain[row - back, i]
            out[row, back - 1] = value


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def forward_pass(loading: Floats, gain: Floats, coupling: Floats, values: Floats) -> None:
    """The filter: values[r] ← the innovation value_r, in place, with s = 0 before the first row."""
    rows, d = loading.shape
    state, row = np.zeros(d), 0
    while row + 4 <= rows:
        one = two = three = four = 0.0
        for i in range(d):
            one += loading[row, i] * state[i]
            two += loading[row + 1, i] * state[i]
            three += loading[row + 2, i] * state[i]
            four += loading[row + 3, i] * state[i]
        near, middle, far = coupling[:, 0], coupling[:, 1], coupling[:, 2]
        one = values[row] - one
        two = values[row + 1] - two - near[row + 1] * one
        three = values[row + 2] - three - near[row + 2] * two - middle[row + 2] * one
        four = values[row + 3] - four - near[row + 3] * three - middle[row + 3] * two - far[row + 3] * one
        for i in range(d):
            first = gain[row, i] * one + gain[row + 1, i] * two
            state[i] += first + (gain[row + 2, i] * three + gain[row + 3, i] * four)
        values[row], values[row + 1], values[row + 2], values[row + 3] = one, two, three, four
        row += 4
    while row < rows:
        for i in range(d):
            values[row] -= loading[row, i] * state[i]
        for i in range(d):
            state[i] += gain[row, i] * values[row]
        row += 1


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def backward_pass(loading: Floats, gain: Floats, coupling: Floats, values: Floats) -> None:
    """The transpose of `forward_pass`: from the last row on, value_r = y_r - g_r'a, then a ← a + c_r value_r."""
    rows, d = loading.shape
    adjoint, row = np.zeros(d), rows - 1
    while row >= 3:
        one = two = three = four = 0.0
        for i in range(d):
            one += gain[row, i] * adjoint[i]
            two += gain[row - 1, i] * adjoint[i]
            three += gain[row - 2, i] * adjoint[i]
            four += gain[row - 3, i] * adjoint[i]
        near, middle, far = coupling[:, 0], coupling[:, 1], coupling[:, 2]
        one = values[row] - one
        two = values[row - 1] - two - near[row] * one
        three = values[row - 2] - three - near[row - 1] * two - middle[row] * one
        four = values[row - 3] - four - near[row - 2] * three - middle[row - 1] * two - far[row] * one
        for i in range(d):
            first = loading[row, i] * one + loading[row - 1, i] * two
            adjoint[i] += first + (loading[row - 2, i] * three + loading[row - 3, i] * four)
        values[row], values[row - 1], values[row - 2], values[row - 3] = one, two, three, four
        row -= 4
    while row >= 0:
        for i in range(d):
            values[row] -= gain[row, i] * adjoint[i]
        for i in range(d):
            adjoint[i] += loading[row, i] * values[row]
        row -= 1
