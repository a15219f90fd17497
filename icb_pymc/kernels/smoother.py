"""(K + V)^-1 y in O(Nd), K the prior covariance of the contrasts: a Kalman filter and disturbance smoother.

The gains depend on the model and on V alone; they are computed once, in O(Nd²), and serve for every y.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS
from icb_pymc.kernels.pseudo_data import PseudoData
from icb_pymc.kernels.state_space import StateSpace, at, move_state

Floats = NDArray[np.float64]


class SmootherGains(NamedTuple):
    """What a pass over the measurements needs and does not depend on them.

    Attributes
    ----------
    root : (N, n)
        Row by row L_t, lower triangular, with L_t L_t' = B_t B_t' + V_t.
    reading : (N, d)
        Rows c of L_t^-1 C_t: measurements in unit noise, so that each row can be taken on its own.
    gain : (N, d)
        P c / f with P the covariance of the state before the row and f = 1 + c'P c.
    shrink : (N,)
        1 / f.
    log_volume : float
        log det(K + V).
    """

    root: Floats
    reading: Floats
    gain: Floats
    shrink: Floats
    log_volume: float


def smoother_gains(space: StateSpace, data: PseudoData) -> SmootherGains:
    """The covariance recursion of the Kalman filter."""
    widest = int(np.diff(space.first).max(initial=1))
    rows, d = space.reading.shape
    root, reading, gain, shrink = np.zeros((rows, widest)), np.empty((rows, d)), np.empty((rows, d)), np.empty(rows)
    log_volume = _filter(space, data, root, reading, gain, shrink)
    return SmootherGains(root, reading, gain, shrink, log_volume)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _filter(space: StateSpace, data: PseudoData, root: Floats, reading: Floats, gain: Floats, shrink: Floats) -> float:
    T, d = space.first.size - 1, space.reading.shape[1]
    covariance, product = np.zeros((d, d)), np.empty(d)
    scratch = np.empty(space.left.shape[2])
    for i in range(d):
        for j in range(d):
            for p in range(space.start_root.shape[1]):
                covariance[i, j] += space.start_root[i, p] * space.start_root[j, p]
    innovation = np.zeros((d, d))
    log_volume = 0.0
    for t in range(T):
        begin, end = space.first[t], space.first[t + 1]
        log_volume += _whiten(space, data, t, root, reading)
        for row in range(begin, end):
            total = 1.0
            for i in range(d):
                value = 0.0
                for j in range(d):
                    value += covariance[i, j] * reading[row, j]
                product[i] = value
                total += value * reading[row, i]
            shrink[row] = 1.0 / total
            log_volume += np.log(total)
            for i in range(d):
                gain[row, i] = product[i] / total
            # Entry (i, j) and entry (j, i) are computed alike, so that the covariance stays symmetric.
            for i in range(d):
                for j in range(d):
                    covariance[i, j] -= product[i] * product[j] / total
        if t < T - 1:
            for i in range(d):
                move_state(space, t, space.left, space.right, covariance[i], scratch)
            _transpose(covariance)
            for i in range(d):
                move_state(space, t, space.left, space.right, covariance[i], scratch)
            s, g = at(t, space.move_scale), at(t, space.move_root)
            if g == t or t == 0:
                for i in range(d):
                    for j in range(d):
                        value = 0.0
                        for p in range(space.move_root.shape[2]):
                            value += space.move_root[g, i, p] * space.move_root[g, j, p]
                        innovation[i, j] = value
            variance = space.move_scale[s] ** 2
            for i in range(d):
                for j in range(i + 1):
                    # The mean of the two halves: products with F_t from either side round differently.
                    value = 0.5 * (covariance[i, j] + covariance[j, i]) + variance * innovation[i, j]
                    covariance[i, j] = value
                    covariance[j, i] = value
    return log_volume


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _whiten(space: StateSpace, data: PseudoData, t: int, root: Floats, reading: Floats) -> float:
    """Cholesky factor of the noise of decision t, and its readings in unit noise; returns log det of the noise."""
    begin, end = space.first[t], space.first[t + 1]
    log_volume = 0.0
    for row in range(begin, end):
        for other in range(begin, row + 1):
            value = 1.0 / data.rest[t]
            if other == row:
                value += 1.0 / data.share[row]
            for i in range(space.stray.shape[1]):
                value += space.stray[row, i] * space.stray[other, i]
            for before in range(begin, other):
                value -= root[row, before - begin] * root[other, before - begin]
            if other == row:
                root[row, row - begin] = np.sqrt(value)
            else:
                root[row, other - begin] = value / root[other, other - begin]
        for i in range(space.reading.shape[1]):
            value = space.reading[row, i]
            for before in range(begin, row):
                value -= root[row, before - begin] * reading[before, i]
            reading[row, i] = value / root[row, row - begin]
        log_volume += 2.0 * np.log(root[row, row - begin])
    return log_volume


@numba.njit(cache=True, nogil=True)
def _transpose(matrix: Floats) -> None:
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[i, j], matrix[j, i] = matrix[j, i], matrix[i, j]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def solve(space: StateSpace, gains: SmootherGains, values: Floats, out: Floats) -> float:
    """out = (K + V)^-1 values, for ``values`` (N,) measured from their prior mean; returns values' out."""
    T, d = space.first.size - 1, space.reading.shape[1]
    state, scratch = np.zeros(d), np.empty(space.left.shape[2])
    # `out` holds the innovations on the way forward and the multipliers on the way back.
    square = 0.0
    for t in range(T):
        begin = space.first[t]
        for row in range(begin, space.first[t + 1]):
            value = values[row]
            for before in range(begin, row):
                value -= gains.root[row, before - begin] * out[before]
            # The whitened measurement, kept until the rows after it are whitened too.
            out[row] = value / gains.root[row, row - begin]
        for row in range(begin, space.first[t + 1]):
            value = out[row]
            for i in range(d):
                value -= gains.reading[row, i] * state[i]
            for i in range(d):
                state[i] += gains.gain[row, i] * value
            out[row] = value * gains.shrink[row]
            square += value * out[row]
        if t < T - 1:
            move_state(space, t, space.left, space.right, state, scratch)
    adjoint = state
    adjoint[:] = 0.0
    for t in range(T - 1, -1, -1):
        if t < T - 1:
            move_state(space, t, space.right, space.left, adjoint, scratch)
        begin = space.first[t]
        for row in range(space.first[t + 1] - 1, begin - 1, -1):
            value = out[row]
            for i in range(d):
                value -= gains.gain[row, i] * adjoint[i]
            for i in range(d):
                adjoint[i] += gains.reading[row, i] * value
            out[row] = value
        for row in range(space.first[t + 1] - 1, begin - 1, -1):
            value = out[row]
            for after in range(row + 1, space.first[t + 1]):
                value -= gains.root[after, row - begin] * out[after]
            out[row] = value / gains.root[row, row - begin]
    return square
