"""(K + V)^-1 y in O(Nd), K the prior covariance of the contrasts: a Kalman filter and disturbance smoother.

The gains depend on the model and on V alone; they are computed once, in O(Nd²), and serve for every y.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.blocked_recursions import NEIGHBOURS, backward, couple, forward
from icb_pymc.kernels.metropolis import REORDER_SUMS
from icb_pymc.kernels.pseudo_data import PseudoData
from icb_pymc.kernels.state_space import StateSpace, at, move_state

Floats = NDArray[np.float64]


class SmootherGains(NamedTuple):
    """What a pass over the measurements needs and does not depend on them.

    Attributes
    ----------
    mixing : (N, n)
        Row by row L_t, lower triangular with ones on its diagonal (left out), where L_t D_t L_t' = B_t B_t' + V_t.
    reading : (N, d)
        Rows c of L_t^-1 C_t: measurements whose noise, of variances D, is independent, so that each row can be taken
        on its own.
    gain : (N, d)
        P c / f with P the covariance of the state before the row and f = D + c'P c.
    shrink : (N,)
        1 / f.
    coupling : (N, 3) or (0, 3)
        c'g with the gains g of the rows before, if the state stays where it is.
    log_volume : float
        log det(K + V).
    """

    mixing: Floats
    reading: Floats
    gain: Floats
    shrink: Floats
    coupling: Floats
    log_volume: float


def smoother_gains(space: StateSpace, data: PseudoData) -> SmootherGains:
    """The covariance recursion of the Kalman filter."""
    # The first row of a decision is mixed with none.
    mixed = max(int(np.diff(space.first).max(initial=1)) - 1, 0)
    rows, d = space.reading.shape
    mixing, reading, gain, shrink = np.zeros((rows, mixed)), np.empty((rows, d)), np.empty((rows, d)), np.empty(rows)
    log_volume = _filter(space, data, mixing, reading, gain, shrink)
    stays = len(space.decay) == 0 and space.left.shape[1] == 0
    coupling = np.empty((rows if stays else 0, NEIGHBOURS))
    if stays:
        couple(reading, gain, coupling)
    return SmootherGains(mixing, reading, gain, shrink, coupling, log_volume)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _filter(
    space: StateSpace, data: PseudoData, mixing: Floats, reading: Floats, gain: Floats, shrink: Floats
) -> float:
    T, d = space.first.size - 1, space.reading.shape[1]
    # Of symmetric matrices only the lower triangle is kept.
    covariance, innovation = np.zeros((d, d)), np.zeros((d, d))
    product, column = np.empty(d), np.empty(d)
    moved = np.empty((space.left.shape[1], d))
    _add_square(space.start_root.T, covariance)
    log_volume = 0.0
    for t in range(T):
        # Of each row `shrink` holds the variance of its noise at first.
        _separate(space, data, t, mixing, reading, shrink)
        for row in range(space.first[t], space.first[t + 1]):
            for i in range(d):
                column[i] = reading[row, i]
            _multiply(covariance, column, product)
            total = shrink[row]
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
def _separate(space: StateSpace, data: PseudoData, t: int, mixing: Floats, reading: Floats, variance: Floats) -> None:
    """Mixing and variances of the noise of decision t, and its readings in noise that is independent."""
    begin, end = space.first[t], space.first[t + 1]
    for row in range(begin, end):
        for other in range(begin, row + 1):
            value = data.common[t]
            if other == row:
                value += data.width[row]
            for i in range(space.stray.shape[1]):
                value += space.stray[row, i] * space.stray[other, i]
            for before in range(begin, other):
                value -= mixing[row, before - begin] * variance[before] * mixing[other, before - begin]
            if other == row:
                variance[row] = value
            else:
                mixing[row, other - begin] = value / variance[other]
        for i in range(space.reading.shape[1]):
            value = space.reading[row, i]
            for before in range(begin, row):
                value -= mixing[row, before - begin] * reading[before, i]
            reading[row, i] = value


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def solve(space: StateSpace, gains: SmootherGains, values: Floats, out: Floats) -> float:
    """out = (K + V)^-1 values, for ``values`` (N,) measured from their prior mean; returns values' out."""
    first, rows = space.first, values.size
    stays = gains.coupling.shape[0] == rows
    for row in range(rows):
        out[row] = values[row]
    if gains.mixing.shape[1] > 0:
        for t in range(first.size - 1):
            for row in range(first[t] + 1, first[t + 1]):
                for before in range(first[t], row):
                    out[row] -= gains.mixing[row, before - first[t]] * out[before]
    # `out` holds the innovations on the way forward and the multipliers on the way back.
    if stays:
        forward(gains.reading, gains.gain, gains.coupling, out)
    else:
        _forward_moving(space, gains, out)
    square = 0.0
    for row in range(rows):
        square += out[row] * out[row] * gains.shrink[row]
        out[row] *= gains.shrink[row]
    if stays:
        backward(gains.reading, gains.gain, gains.coupling, out)
    else:
        _backward_moving(space, gains, out)
    if gains.mixing.shape[1] > 0:
        for t in range(first.size - 1):
            for row in range(first[t + 1] - 2, first[t] - 1, -1):
                for after in range(row + 1, first[t + 1]):
                    out[row] -= gains.mixing[after, row - first[t]] * out[after]
    return square


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _forward_moving(space: StateSpace, gains: SmootherGains, out: Floats) -> None:
    """`forward` of a state that moves from decision to decision."""
    T, d = space.first.size - 1, space.reading.shape[1]
    state, scratch = np.zeros(d), np.empty(space.left.shape[1])
    for t in range(T):
        for row in range(space.first[t], space.first[t + 1]):
            value = out[row]
            for i in range(d):
                value -= gains.reading[row, i] * state[i]
            for i in range(d):
                state[i] += gains.gain[row, i] * value
            out[row] = value
        if t < T - 1:
            move_state(space, t, space.left, space.right, state, scratch)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _backward_moving(space: StateSpace, gains: SmootherGains, out: Floats) -> None:
    """`backward` of a state that moves from decision to decision."""
    T, d = space.first.size - 1, space.reading.shape[1]
    adjoint, scratch = np.zeros(d), np.empty(space.left.shape[1])
    for t in range(T - 1, -1, -1):
        if t < T - 1:
            move_state(space, t, space.right, space.left, adjoint, scratch)
        for row in range(space.first[t + 1] - 1, space.first[t] - 1, -1):
            value = out[row]
            for i in range(d):
                value -= gains.gain[row, i] * adjoint[i]
            for i in range(d):
                adjoint[i] += gains.reading[row, i] * value
            out[row] = value
