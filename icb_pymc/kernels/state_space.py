"""Linear-Gaussian belief models: utility contrasts as a linear function of independent noise.

    s_1 = m + G_0 z,    s_{t+1} = F_t s_t + c_t + g_t G_t w_t,    u_t = o_t + C_t s_t + B_t ξ_t,

with z, w, ξ standard normal and F_t = diag(decay_t) + left_t' right_t. NB-ICB and B-ICB have F = I, beliefs that are
constant within folds have an F of zeros and ones, and a user-defined process can have any F. The rows of C_t and B_t
belong to the contrasts of `choice_contrasts`, so u_t holds all the utilities that the choice at t depends on. ξ_t is
the noise of sampling: ρ_t deviates from the belief by a root of its covariance times ξ_t.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class StateSpace(NamedTuple):
    """The matrices of a belief model; an array that is the same for all t has a leading dimension of one.

    Attributes
    ----------
    start_mean, start_root : (d,), (d, p)
        m and G_0.
    decay, left, right : (T-1, 1 or 0, d), (T-1 or 1, r, d), (T-1 or 1, r, d)
        F_t = diag(decay_t) + left_t' right_t, where left and right have the same length. A decay without rows stands
        for ones.
    drift : (T-1 or 1, d)
        c_t.
    move_scale, move_root : (T-1 or 1,), (T-1 or 1, q, d)
        g_t and G_t', transposed so that the state is updated by contiguous vectors.
    first : (T+1,)
        The contrasts of decision t are rows ``first[t]`` to ``first[t+1] - 1``.
    offset, state_loading, sampling_loading : (N,), (N, d), (N, e)
        The rows of o_t, C_t and B_t: how the state and the noise of sampling enter each contrast.
    lapse : float
        Probability that a choice is made at random, whatever the contrasts are.
    """

    start_mean: Floats
    start_root: Floats
    decay: Floats
    left: Floats
    right: Floats
    drift: Floats
    move_scale: Floats
    move_root: Floats
    first: Integers
    offset: Floats
    state_loading: Floats
    sampling_loading: Floats
    lapse: float = 0.0


class Noise(NamedTuple):
    """Standard normals that determine a path: z (p,) of the start, w (T-1, q) of the moves, ξ (T, e) of sampling."""

    start: Floats
    move: Floats
    sampling: Floats


def noise_shapes(space: StateSpace) -> tuple[tuple[int, ...], ...]:
    """Shapes of z, w and ξ."""
    times = len(space.first) - 1
    return (space.start_root.shape[1],), (times - 1, space.move_root.shape[1]), (times, space.sampling_loading.shape[1])


def empty_noise(space: StateSpace) -> Noise:
    """Uninitialised arrays for the noise of a path."""
    return Noise(*(np.empty(shape) for shape in noise_shapes(space)))


@numba.njit(cache=True, nogil=True, inline="always")
def time_index(t: int, array: Floats) -> int:
    """Index of the entry for time t in an array that may hold a single entry for all times."""
    return min(t, array.shape[0] - 1)


@numba.njit(cache=True, nogil=True, inline="always")
def apply_transition(decay: Floats, t: int, outer: Floats, inner: Floats, state: Floats, scratch: Floats) -> None:
    """state ← F_t state in place, with ``left`` as outer and ``right`` as inner; if they are swapped it is F_t'."""
    # Inlined, because passing the arrays would take longer than the work.
    rank, d = outer.shape[1], outer.shape[2]
    f = time_index(t, outer)
    for j in range(rank):
        product = 0.0
        for i in range(d):
            product += inner[f, j, i] * state[i]
        scratch[j] = product
    if decay.shape[0] > 0:
        e = time_index(t, decay)
        for i in range(d):
            state[i] *= decay[e, i]
    for j in range(rank):
        for i in range(d):
            state[i] += outer[f, j, i] * scratch[j]


@numba.njit(cache=True, nogil=True)
def has_diagonal_moves(move_root: Floats) -> bool:
    """Whether each component of the state moves by itself, and always as far: then a move takes d steps, not d^2."""
    times, rank, d = move_root.shape
    if times > 1 or rank != d:
        return False
    for i in range(d):
        for j in range(d):
            if i != j and move_root[0, i, j] != 0.0:
                return False
    return True


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def path_from_noise(space: StateSpace, noise: Noise, means: float, states: Floats, contrasts: Floats) -> None:
    """Compute the path that `noise` determines: ``contrasts`` u (N,) and, unless it is empty, ``states`` (T, d).

    ``means`` multiplies the start mean, the drift and the offset: with 0 the path is linear in the noise, with 1 it is
    complete. It is a number since numba would compile the function for each constant truth value.
    """
    T, d = space.first.size - 1, space.start_root.shape[0]
    state, scratch = np.zeros(d), np.empty(space.left.shape[1])
    is_diagonal = has_diagonal_moves(space.move_root)
    for i in range(d):
        state[i] = means * space.start_mean[i]
        for j in range(space.start_root.shape[1]):
            state[i] += space.start_root[i, j] * noise.start[j]
    for t in range(T):
        if states.size > 0:
            for i in range(d):
                states[t, i] = state[i]
        for row in range(space.first[t], space.first[t + 1]):
            value = means * space.offset[row]
            for i in range(d):
                value += space.state_loading[row, i] * state[i]
            for i in range(space.sampling_loading.shape[1]):
                value += space.sampling_loading[row, i] * noise.sampling[t, i]
            contrasts[row] = value
        if t < T - 1:
            apply_transition(space.decay, t, space.left, space.right, state, scratch)
            c, s, g = time_index(t, space.drift), time_index(t, space.move_scale), time_index(t, space.move_root)
            if is_diagonal:
                for i in range(d):
                    state[i] += space.move_scale[s] * noise.move[t, i] * space.move_root[0, i, i]
            else:
                for j in range(space.move_root.shape[1]):
                    size = space.move_scale[s] * noise.move[t, j]
                    for i in range(d):
                        state[i] += size * space.move_root[g, j, i]
            for i in range(d):
                state[i] += means * space.drift[c, i]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def path_adjoint(space: StateSpace, multipliers: Floats, noise: Noise) -> None:
    """The adjoint of `path_from_noise` without means: noise = (∂u/∂noise)' multipliers, for multipliers (N,)."""
    T, d = len(space.first) - 1, space.start_root.shape[0]
    adjoint, scratch = np.zeros(d), np.empty(space.left.shape[1])
    is_diagonal = has_diagonal_moves(space.move_root)
    for t in range(T - 1, -1, -1):
        if t < T - 1:
            s, g = time_index(t, space.move_scale), time_index(t, space.move_root)
            if is_diagonal:
                for i in range(d):
                    noise.move[t, i] = space.move_scale[s] * space.move_root[0, i, i] * adjoint[i]
            else:
                for j in range(space.move_root.shape[1]):
                    value = 0.0
                    for i in range(d):
                        value += space.move_root[g, j, i] * adjoint[i]
                    noise.move[t, j] = space.move_scale[s] * value
            apply_transition(space.decay, t, space.right, space.left, adjoint, scratch)
        for j in range(space.sampling_loading.shape[1]):
            noise.sampling[t, j] = 0.0
        for row in range(space.first[t], space.first[t + 1]):
            for i in range(d):
                adjoint[i] += space.state_loading[row, i] * multipliers[row]
            for j in range(space.sampling_loading.shape[1]):
                noise.sampling[t, j] += space.sampling_loading[row, j] * multipliers[row]
    for j in range(space.start_root.shape[1]):
        value = 0.0
        for i in range(d):
            value += space.start_root[i, j] * adjoint[i]
        noise.start[j] = value
