"""The steps of a filter that assumes the state to be Gaussian: its contrasts, what a choice changes, how it moves on.

The contrasts of a decision are u = centre + root ε with ε standard normal, and ``gain`` is Cov(state, ε). If a choice
gives ε another mean and covariance, the mean and covariance of the state follow exactly.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.state_space import StateSpace, apply_transition, time_index

Floats = NDArray[np.float64]

# A contrast with less than this share of its variance left is determined by the contrasts before it.
_MIN_VARIANCE_SHARE = 1e-12


@numba.njit(cache=True, nogil=True)
def start_state(space: StateSpace) -> tuple[Floats, Floats]:
    """Mean and covariance of the first state."""
    covariance = np.zeros((space.start_mean.size, space.start_mean.size))
    _add_crossproduct(space.start_root.T, 1.0, covariance)
    return space.start_mean.copy(), covariance


@numba.njit(cache=True, nogil=True)
def advance_state(space: StateSpace, t: int, mean: Floats, covariance: Floats, column: Floats, scratch: Floats) -> None:
    """Mean and covariance of the state at t + 1 from those at t, in place."""
    apply_transition(space.decay, t, space.left, space.right, mean, scratch)
    c, s, g = time_index(t, space.drift), time_index(t, space.move_scale), time_index(t, space.move_root)
    for i in range(mean.size):
        mean[i] += space.drift[c, i]
    transform(space, t, space.left, space.right, covariance, column, scratch)
    _add_crossproduct(space.move_root[g], space.move_scale[s] ** 2, covariance)


@numba.njit(cache=True, nogil=True)
def transform(
    space: StateSpace, t: int, outer: Floats, inner: Floats, matrix: Floats, column: Floats, scratch: Floats
) -> None:
    """A symmetric matrix ← F_t matrix F_t', with ``left`` as outer and ``right`` as inner; F_t' if swapped."""
    if space.decay.shape[0] == 0 and outer.shape[1] == 0:
        return
    d = matrix.shape[0]
    for _ in range(2):
        # F M, then F (F M)'.
        for j in range(d):
            for i in range(d):
                column[i] = matrix[i, j]
            apply_transition(space.decay, t, outer, inner, column, scratch)
            for i in range(d):
                matrix[i, j] = column[i]
        for i in range(d):
            for j in range(i):
                matrix[i, j], matrix[j, i] = matrix[j, i], matrix[i, j]


@numba.njit(cache=True, nogil=True)
def _add_crossproduct(root: Floats, scale: float, out: Floats) -> None:
    """out += scale root'root."""
    for i in range(root.shape[1]):
        for j in range(root.shape[1]):
            value = 0.0
            for p in range(root.shape[0]):
                value += root[p, i] * root[p, j]
            out[i, j] += scale * value


@numba.njit(cache=True, nogil=True)
def contrast_moments(
    space: StateSpace, t: int, mean: Floats, covariance: Floats, centre: Floats, root: Floats, gain: Floats
) -> None:
    """Write the contrasts as u = centre + root ε, root lower triangular, with ``gain`` = Cov(state, ε).

    A contrast that is determined by those before it adds no ε.
    """
    begin, d = space.first[t], mean.size
    for j in range(space.first[t + 1] - begin):
        row = begin + j
        centre[j] = space.offset[row]
        for i in range(d):
            centre[j] += space.state_loading[row, i] * mean[i]
            value = 0.0
            for h in range(d):
                value += covariance[i, h] * space.state_loading[row, h]
            gain[i, j] = value
        # First Cov(u_j, u_i), then by Cholesky's method Cov(u_j, ε) for the previous ε.
        for i in range(j + 1):
            value = 0.0
            for e in range(space.sampling_loading.shape[1]):
                value += space.sampling_loading[row, e] * space.sampling_loading[begin + i, e]
            for h in range(d):
                value += space.state_loading[begin + i, h] * gain[h, j]
            root[j, i] = value
        total = root[j, j]
        for i in range(j):
            value = root[j, i]
            for p in range(i):
                value -= root[j, p] * root[i, p]
            root[j, i] = value / root[i, i] if root[i, i] > 0.0 else 0.0
        own_variance = total
        for p in range(j):
            own_variance -= root[j, p] ** 2
        root[j, j] = math.sqrt(own_variance) if own_variance > _MIN_VARIANCE_SHARE * max(total, 1e-300) else 0.0
        for h in range(d):
            value = gain[h, j]
            for p in range(j):
                value -= root[j, p] * gain[h, p]
            gain[h, j] = value / root[j, j] if root[j, j] > 0.0 else 0.0
        for i in range(j):
            root[i, j] = 0.0


@numba.njit(cache=True, nogil=True)
def update_state(
    count: int, gain: Floats, tilted_mean: Floats, tilted_covariance: Floats, mean: Floats, covariance: Floats
) -> None:
    """Mean and covariance of the state if ε has the tilted mean and covariance instead of 0 and I."""
    d = mean.size
    for i in range(d):
        for p in range(count):
            mean[i] += gain[i, p] * tilted_mean[p]
    for i in range(d):
        for j in range(d):
            for p in range(count):
                for q in range(count):
                    change = tilted_covariance[p, q] - (1.0 if p == q else 0.0)
                    covariance[i, j] += gain[i, p] * change * gain[j, q]
