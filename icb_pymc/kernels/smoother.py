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
    # Of symmetric matrices only the lower triangle is kept.
    covariance, innovation = np.zeros((d, d)), np.zeros((d, d))
    product, column = np.empty(d), np.empty(d)
    moved = np.empty((space.left.shape[1], d))
    _add_square(space.start_root.T, covariance)
    log_volume = 0.0
    for t in range(T):
        log_volume += _whiten(space, data, t, root, reading)
        for row in range(space.first[t], space.first[t + 1]):
            for i in range(d):
                column[i] = reading[row, i]
            _multiply(covariance, column, product)
            total = 1.0
            for i in range(d):
                total += product[i] * column[i]
            shrink[row] = 1.0 / total
            log_volume += np.log(total)
            for i in range(d):
                share = product[i] / total
                gain[row, i] = share
                for j in range(i + 1):
                    covariance[i, j] -= share * product[j]
        if t < T - 1:
            s, g = at(t, space.move_scale), at(t, space.move_root)
            if g == t or t == 0:
                innovation[:] = 0.0
                _add_square(space.move_root[g], innovation)
            _move_covariance(space.decay, space.left, space.right, t, covariance, moved, column, product)
            variance = space.move_scale[s] ** 2
            for i in range(d):
                for j in range(i + 1):
                    covariance[i, j] += variance * innovation[i, j]
    return log_volume


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _add_square(root: Floats, out: Floats) -> None:
    """out += root'root, the lower triangle."""
    for p in range(root.shape[0]):
        for i in range(root.shape[1]):
            # Where only one block of a long state moves, most of the root is zero.
            if root[p, i] != 0.0:
                for j in range(i + 1):
                    out[i, j] += root[p, i] * root[p, j]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _multiply(lower: Floats, vector: Floats, out: Floats) -> None:
    """out = P vector, P symmetric."""
    for i in range(vector.size):
        value, factor = lower[i, i] * vector[i], vector[i]
        for j in range(i):
            value += lower[i, j] * vector[j]
            out[j] += lower[i, j] * factor
        out[i] = value


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _move_covariance(
    decay: Floats,
    left: Floats,
    right: Floats,
    t: int,
    covariance: Floats,
    moved: Floats,
    column: Floats,
    other: Floats,
) -> None:
    """P ← F P F' in place: with F = D + L'R it is D P D + L'A + A'L, where A' = D P R' + ½ L'R P R'."""
    d, rank, f, e = covariance.shape[0], left.shape[1], at(t, left), at(t, decay)
    for p in range(rank):
        for i in range(d):
            column[i] = right[f, p, i]
        _multiply(covariance, column, moved[p])
    crossed = np.empty((rank, rank))
    for p in range(rank):
        for q in range(rank):
            value = 0.0
            for i in range(d):
                value += right[f, q, i] * moved[p, i]
            crossed[p, q] = 0.5 * value
    if decay.shape[0] > 0:
        for i in range(d):
            for p in range(rank):
                moved[p, i] *= decay[e, i]
            for j in range(i + 1):
                covariance[i, j] *= decay[e, i] * decay[e, j]
    for p in range(rank):
        for q in range(rank):
            for i in range(d):
                moved[p, i] += left[f, q, i] * crossed[p, q]
    for p in range(rank):
        for i in range(d):
            column[i] = left[f, p, i]
            other[i] = moved[p, i]
        for i in range(d):
            one, two = column[i], other[i]
            for j in range(i + 1):
                covariance[i, j] += one * other[j] + two * column[j]


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


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def solve(space: StateSpace, gains: SmootherGains, values: Floats, out: Floats) -> float:
    """out = (K + V)^-1 values, for ``values`` (N,) measured from their prior mean; returns values' out."""
    T, d = space.first.size - 1, space.reading.shape[1]
    state, scratch = np.zeros(d), np.empty(space.left.shape[1])
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
