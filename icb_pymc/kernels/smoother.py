"""(K + V)^-1 y in O(Nd), K the prior covariance of the contrasts: a Kalman filter and disturbance smoother.

The Kalman gains depend only on the model and on V; they are computed once, in O(Nd²), and are valid for every y.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.blocked_recursions import NEIGHBOURS, backward_pass, forward_pass, neighbour_couplings
from icb_pymc.kernels.metropolis import REORDER_SUMS
from icb_pymc.kernels.pseudo_data import PseudoData
from icb_pymc.kernels.state_space import Integers, StateSpace, apply_transition, time_index

Floats = NDArray[np.float64]

# A product of two numbers between these is far from the limits of a double.
_SMALL, _LARGE = 1e-100, 1e100


class SmootherGains(NamedTuple):
    """Everything that a pass over the measurements needs and that does not depend on their values.

    Attributes
    ----------
    noise_loading, noise_gain : (N, r)
        Row by row b and h, where the noise of a decision, of covariance L_t D_t L_t' = B_t B_t' + V_t, has few causes
        r: noise of sampling, and what all rows share. L_t is lower triangular with ones on its diagonal and b_i'h_j
        below. Without columns if no decision has two rows.
    state_loading : (N, d)
        Rows c of L_t^-1 C_t: the noise of these measurements is independent, with variances D, so the filter can
        process one row at a time.
    kalman_gain : (N, d)
        P c / f with P the covariance of the state before the row and f = D + c'P c the innovation variance.
    innovation_precision : (N,)
        1 / f.
    coupling : (N, 3) or (0, 3)
        c'g with the Kalman gains g of the three rows before, if the state has no transition (F = I).
    log_determinant : float
        log det(K + V).
    """

    noise_loading: Floats
    noise_gain: Floats
    state_loading: Floats
    kalman_gain: Floats
    innovation_precision: Floats
    coupling: Floats
    log_determinant: float


def smoother_gains(space: StateSpace, data: PseudoData) -> SmootherGains:
    """The covariance recursion of the Kalman filter."""
    # The first row of a decision has no row before it to be correlated with.
    has_several = int(np.diff(space.first).max(initial=1)) > 1
    rows, d = space.state_loading.shape
    causes = space.sampling_loading.shape[1] + 1 if has_several else 0
    noise_loading, noise_gain, noise_variance = np.empty((rows, causes)), np.empty((rows, causes)), np.empty(rows)
    state_loading, kalman_gain, innovation_precision = np.empty((rows, d)), np.empty((rows, d)), np.empty(rows)
    log_determinant = _covariance_recursion(
        space, data, noise_loading, noise_gain, noise_variance, state_loading, kalman_gain, innovation_precision
    )
    is_static = len(space.decay) == 0 and space.left.shape[1] == 0
    coupling = np.empty((rows if is_static else 0, NEIGHBOURS))
    if is_static:
        neighbour_couplings(state_loading, kalman_gain, coupling)
    return SmootherGains(
        noise_loading, noise_gain, state_loading, kalman_gain, innovation_precision, coupling, log_determinant
    )


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _covariance_recursion(
    space: StateSpace,
    data: PseudoData,
    noise_loading: Floats,
    noise_gain: Floats,
    noise_variance: Floats,
    state_loading: Floats,
    kalman_gain: Floats,
    innovation_precision: Floats,
) -> float:
    """Fill the arrays of `SmootherGains`, and ``noise_variance`` (N,) with D; returns log det(K + V)."""
    # Arrays are taken out of the tuple once: a function that is called for every t would copy all of it.
    first, decay, left, right = space.first, space.decay, space.left, space.right
    move_scale, move_root = space.move_scale, space.move_root
    T, d = first.size - 1, state_loading.shape[1]
    has_transition = decay.shape[0] > 0 or left.shape[1] > 0
    # Loops, since assigning a whole array would compile the broadcasting of any shapes.
    for row in range(noise_variance.size):
        noise_variance[row] = data.variance[row]
        for i in range(d):
            state_loading[row, i] = space.state_loading[row, i]
    _decorrelate_noise(
        first, data.common_variance, space.sampling_loading, noise_loading, noise_gain, noise_variance, state_loading
    )
    # Symmetric matrices are stored whole: loops over contiguous rows of equal length use vector instructions.
    covariance, move_covariance = np.zeros((d, d)), np.zeros((d, d))
    cross_covariance, other, moved = np.empty(d), np.empty(d), np.empty((left.shape[1], d))
    _add_crossproduct(space.start_root.T, covariance)
    log_determinant, product = 0.0, 1.0
    for t in range(T):
        for row in range(first[t], first[t + 1]):
            innovation_variance = noise_variance[row]
            for i in range(d):
                value = 0.0
                for j in range(d):
                    value += covariance[i, j] * state_loading[row, j]
                cross_covariance[i] = value
                innovation_variance += value * state_loading[row, i]
            precision = 1.0 / innovation_variance
            innovation_precision[row] = precision
            # One logarithm is taken for many rows, unless their product could leave the range of a double.
            if not _SMALL < innovation_variance < _LARGE:
                log_determinant += np.log(innovation_variance)
            else:
                product *= innovation_variance
                if not _SMALL < product < _LARGE:
                    log_determinant += np.log(product)
                    product = 1.0
            root_precision = np.sqrt(precision)
            for i in range(d):
                kalman_gain[row, i] = precision * cross_covariance[i]
                # Scaled like this the update is symmetric to the last digit.
                cross_covariance[i] *= root_precision
            for i in range(d):
                for j in range(d):
                    covariance[i, j] -= cross_covariance[i] * cross_covariance[j]
        if t < T - 1:
            s, g = time_index(t, move_scale), time_index(t, move_root)
            if g == t or t == 0:
                move_covariance[:] = 0.0
                _add_crossproduct(move_root[g], move_covariance)
            if has_transition:
                _transition_covariance(decay, left, right, t, covariance, moved, other)
            variance = move_scale[s] ** 2
            for i in range(d):
                # Often only a part of the state moves.
                if move_covariance[i, i] != 0.0:
                    for j in range(d):
                        covariance[i, j] += variance * move_covariance[i, j]
    return log_determinant + np.log(product)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _add_crossproduct(root: Floats, out: Floats) -> None:
    """out += root'root."""
    for p in range(root.shape[0]):
        for i in range(root.shape[1]):
            # If only one block of a long state moves, most of the root is zero.
            if root[p, i] != 0.0:
                for j in range(root.shape[1]):
                    out[i, j] += root[p, i] * root[p, j]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _transition_covariance(
    decay: Floats, left: Floats, right: Floats, t: int, covariance: Floats, moved: Floats, other: Floats
) -> None:
    """P ← F P F' in place: with F = D + L'R it is D P D + L'A + A'L, where A' = D P R' + ½ L'R P R'.

    ``moved`` (r, d) holds A; ``other`` (d,) is scratch space.
    """
    d, rank, f, e = covariance.shape[0], left.shape[1], time_index(t, left), time_index(t, decay)
    for p in range(rank):
        for i in range(d):
            value = 0.0
            for j in range(d):
                value += covariance[i, j] * right[f, p, j]
            moved[p, i] = value
    half_product = np.empty((rank, rank))
    for p in range(rank):
        for q in range(rank):
            value = 0.0
            for i in range(d):
                value += right[f, q, i] * moved[p, i]
            half_product[p, q] = 0.5 * value
    # Most often nothing decays, where a subject's own decisions follow one another.
    decays = False
    if decay.shape[0] > 0:
        for i in range(d):
            decays = decays or decay[e, i] != 1.0
    if decays:
        for i in range(d):
            for p in range(rank):
                moved[p, i] *= decay[e, i]
            for j in range(d):
                covariance[i, j] *= decay[e, i] * decay[e, j]
    for p in range(rank):
        for q in range(rank):
            for i in range(d):
                moved[p, i] += left[f, q, i] * half_product[p, q]
    for p in range(rank):
        for i in range(d):
            other[i] = moved[p, i]
        for i in range(d):
            for j in range(d):
                covariance[i, j] += left[f, p, i] * other[j] + other[i] * left[f, p, j]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _decorrelate_noise(
    first: Integers,
    common_variance: Floats,
    sampling_loading: Floats,
    noise_loading: Floats,
    noise_gain: Floats,
    noise_variance: Floats,
    state_loading: Floats,
) -> None:
    """L_t, D_t and the rows of L_t^-1 C_t of all decisions, by a filter of the causes of noise, row after row.

    On entry ``noise_variance`` holds diag(V) without the common variance, and ``state_loading`` C.
    """
    causes, d = noise_loading.shape[1], state_loading.shape[1]
    covariance, told, cross = np.empty((causes, causes)), np.empty((causes, d)), np.empty(causes)
    for t in range(first.size - 1):
        if causes == 0:
            # At most one row, whose noise is that of its own measurement and of sampling.
            for row in range(first[t], first[t + 1]):
                noise_variance[row] += common_variance[t]
                for i in range(sampling_loading.shape[1]):
                    noise_variance[row] += sampling_loading[row, i] ** 2
            continue
        covariance[:] = 0.0
        covariance[0, 0] = common_variance[t]
        for p in range(1, causes):
            covariance[p, p] = 1.0
        told[:] = 0.0
        for row in range(first[t], first[t + 1]):
            noise_loading[row, 0] = 1.0
            for p in range(1, causes):
                noise_loading[row, p] = sampling_loading[row, p - 1]
            variance = noise_variance[row]
            for p in range(causes):
                cross[p] = 0.0
                for q in range(causes):
                    cross[p] += covariance[p, q] * noise_loading[row, q]
                variance += cross[p] * noise_loading[row, p]
            noise_variance[row] = variance
            for p in range(causes):
                noise_gain[row, p] = cross[p] / variance
                for i in range(d):
                    state_loading[row, i] -= noise_loading[row, p] * told[p, i]
            for p in range(causes):
                for q in range(causes):
                    covariance[p, q] -= noise_gain[row, p] * cross[q]
                for i in range(d):
                    told[p, i] += noise_gain[row, p] * state_loading[row, i]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def solve_covariance(space: StateSpace, gains: SmootherGains, values: Floats, out: Floats) -> float:
    """out = (K + V)^-1 values, for ``values`` (N,) relative to their prior mean; returns values' out."""
    first, rows = space.first, values.size
    for row in range(rows):
        out[row] = values[row]
    noise_loading, noise_gain = gains.noise_loading, gains.noise_gain
    causes = noise_loading.shape[1]
    told = np.empty(causes)
    if causes > 0:
        for t in range(first.size - 1):
            told[:] = 0.0
            for row in range(first[t], first[t + 1]):
                for p in range(causes):
                    out[row] -= noise_loading[row, p] * told[p]
                for p in range(causes):
                    told[p] += noise_gain[row, p] * out[row]
    # `out` holds the innovations during the forward pass and the multipliers during the backward pass.
    if gains.coupling.shape[0] == rows:
        forward_pass(gains.state_loading, gains.kalman_gain, gains.coupling, out)
    else:
        _forward_pass_moving(first, space.decay, space.left, space.right, gains.state_loading, gains.kalman_gain, out)
    square = 0.0
    for row in range(rows):
        square += out[row] * out[row] * gains.innovation_precision[row]
        out[row] *= gains.innovation_precision[row]
    _solve_transposed(space, gains, out)
    return square


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def solve_transposed_root(space: StateSpace, gains: SmootherGains, values: Floats, out: Floats) -> None:
    """out = L'^-1 values, where L is the root by Cholesky's method of K + V = L L'."""
    for row in range(values.size):
        out[row] = values[row] * np.sqrt(gains.innovation_precision[row])
    _solve_transposed(space, gains, out)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _solve_transposed(space: StateSpace, gains: SmootherGains, out: Floats) -> None:
    """out ← U'^-1 out in place, where U is that root with ones on its diagonal."""
    first = space.first
    if gains.coupling.shape[0] == out.size:
        backward_pass(gains.state_loading, gains.kalman_gain, gains.coupling, out)
    else:
        _backward_pass_moving(first, space.decay, space.left, space.right, gains.state_loading, gains.kalman_gain, out)
    noise_loading, noise_gain = gains.noise_loading, gains.noise_gain
    causes = noise_loading.shape[1]
    told = np.empty(causes)
    if causes > 0:
        for t in range(first.size - 1):
            told[:] = 0.0
            for row in range(first[t + 1] - 1, first[t] - 1, -1):
                for p in range(causes):
                    out[row] -= noise_gain[row, p] * told[p]
                for p in range(causes):
                    told[p] += noise_loading[row, p] * out[row]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _forward_pass_moving(
    first: Integers, decay: Floats, left: Floats, right: Floats, loading: Floats, gain: Floats, out: Floats
) -> None:
    """`forward_pass` for a state with a transition between decisions."""
    T, d = first.size - 1, loading.shape[1]
    state, scratch = np.zeros(d), np.empty(left.shape[1])
    for t in range(T):
        for row in range(first[t], first[t + 1]):
            innovation = out[row]
            for i in range(d):
                innovation -= loading[row, i] * state[i]
            for i in range(d):
                state[i] += gain[row, i] * innovation
            out[row] = innovation
        if t < T - 1:
            apply_transition(decay, t, left, right, state, scratch)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _backward_pass_moving(
    first: Integers, decay: Floats, left: Floats, right: Floats, loading: Floats, gain: Floats, out: Floats
) -> None:
    """`backward_pass` for a state with a transition between decisions."""
    T, d = first.size - 1, loading.shape[1]
    adjoint, scratch = np.zeros(d), np.empty(left.shape[1])
    for t in range(T - 1, -1, -1):
        if t < T - 1:
            apply_transition(decay, t, right, left, adjoint, scratch)
        for row in range(first[t + 1] - 1, first[t] - 1, -1):
            multiplier = out[row]
            for i in range(d):
                multiplier -= gain[row, i] * adjoint[i]
            for i in range(d):
                adjoint[i] += loading[row, i] * multiplier
            out[row] = multiplier
