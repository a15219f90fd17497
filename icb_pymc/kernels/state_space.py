"""Linear-Gaussian belief models: utility contrasts as a linear function of independent noise.

    s_1 = m + G_0 z,    s_{t+1} = F_t s_t + c_t + g_t G_t w_t,    u_t = o_t + C_t s_t + B_t ξ_t,

with z, w, ξ standard normal and F_t = diag(decay_t) + left_t' right_t. NB-ICB and B-ICB have F = I, beliefs
that are constant within folds an F of zeros and ones, a process of one's own any F. The rows of C_t and B_t are those
of `choice_contrasts`, so that u_t are all the utilities that the choice at t depends on.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class StateSpace(NamedTuple):
    """The matrices of a belief model; what is the same for all t has a leading dimension of one.

    Attributes
    ----------
    start_mean, start_root : (d,), (d, p)
        m and G_0.
    decay, left, right : (T-1, 1 or 0, d), (T-1 or 1, r, d), (T-1 or 1, r, d)
        F_t = diag(decay_t) + left_t' right_t, where left and right are equally long. A decay without rows stands for
        ones.
    drift : (T-1 or 1, d)
        c_t.
    move_scale, move_root : (T-1 or 1,), (T-1 or 1, q, d)
        g_t and G_t', with columns as rows, so that the state is moved by whole vectors.
    first : (T+1,)
        Contrasts of decision t are rows ``first[t]`` to ``first[t+1] - 1``.
    offset, reading, stray : (N,), (N, d), (N, e)
        The rows of o_t, C_t and B_t.
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
    reading: Floats
    stray: Floats


class Noise(NamedTuple):
    """z (p,), w (T-1, q) and ξ (T, e): all that a path is made of."""

    start: Floats
    move: Floats
    stray: Floats


def noise_shapes(space: StateSpace) -> tuple[tuple[int, ...], ...]:
    """Shapes of z, w and ξ."""
    times = len(space.first) - 1
    return (space.start_root.shape[1],), (times - 1, space.move_root.shape[1]), (times, space.stray.shape[1])


def empty_noise(space: StateSpace) -> Noise:
    """Room for the noise of a path."""
    return Noise(*(np.empty(shape) for shape in noise_shapes(space)))


@numba.njit(cache=True, nogil=True, inline="always")
def at(t: int, array: Floats) -> int:
    """Where the entry for t is in an array that may hold one entry for all."""
    return min(t, array.shape[0] - 1)


@numba.njit(cache=True, nogil=True, inline="always")
def move_state(space: StateSpace, t: int, outer: Floats, inner: Floats, state: Floats, scratch: Floats) -> None:
    """state ← F_t state in place, with ``left`` as outer and ``right`` as inner; the other way round it is F_t'."""
    # Inlined, since passing the tuple would take longer than the work.
    rank, d = outer.shape[1], outer.shape[2]
    f = at(t, outer)
    for j in range(rank):
        product = 0.0
        for i in range(d):
            product += inner[f, j, i] * state[i]
        scratch[j] = product
    if space.decay.shape[0] > 0:
        e = at(t, space.decay)
        for i in range(d):
            state[i] *= space.decay[e, i]
    for j in range(rank):
        for i in range(d):
            state[i] += outer[f, j, i] * scratch[j]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def run(space: StateSpace, noise: Noise, with_means: bool, states: Floats, contrasts: Floats) -> None:
    """The path that `noise` makes: ``contrasts`` u (N,) and, if there is room for them, ``states`` (T, d).

    Without means only what is linear.
    """
    T, d = space.first.size - 1, space.start_root.shape[0]
    state, scratch = np.zeros(d), np.empty(space.left.shape[1])
    for i in range(d):
        if with_means:
            state[i] = space.start_mean[i]
        for j in range(space.start_root.shape[1]):
            state[i] += space.start_root[i, j] * noise.start[j]
    for t in range(T):
        if states.size > 0:
            for i in range(d):
                states[t, i] = state[i]
        for row in range(space.first[t], space.first[t + 1]):
            value = space.offset[row] if with_means else 0.0
            for i in range(d):
                value += space.reading[row, i] * state[i]
            for i in range(space.stray.shape[1]):
                value += space.stray[row, i] * noise.stray[t, i]
            contrasts[row] = value
        if t < T - 1:
            move_state(space, t, space.left, space.right, state, scratch)
            c, s, g = at(t, space.drift), at(t, space.move_scale), at(t, space.move_root)
            for j in range(space.move_root.shape[1]):
                size = space.move_scale[s] * noise.move[t, j]
                for i in range(d):
                    state[i] += size * space.move_root[g, j, i]
            if with_means:
                for i in range(d):
                    state[i] += space.drift[c, i]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def respond(space: StateSpace, multipliers: Floats, noise: Noise) -> None:
    """The adjoint of `run` without means: noise = (∂u/∂noise)' multipliers, for multipliers (N,)."""
    T, d = len(space.first) - 1, space.start_root.shape[0]
    adjoint, scratch = np.zeros(d), np.empty(space.left.shape[1])
    for t in range(T - 1, -1, -1):
        if t < T - 1:
            s, g = at(t, space.move_scale), at(t, space.move_root)
            for j in range(space.move_root.shape[1]):
                value = 0.0
                for i in range(d):
                    value += space.move_root[g, j, i] * adjoint[i]
                noise.move[t, j] = space.move_scale[s] * value
            move_state(space, t, space.right, space.left, adjoint, scratch)
        for j in range(space.stray.shape[1]):
            noise.stray[t, j] = 0.0
        for row in range(space.first[t], space.first[t + 1]):
            for i in range(d):
                adjoint[i] += space.reading[row, i] * multipliers[row]
            for j in range(space.stray.shape[1]):
                noise.stray[t, j] += space.stray[row, j] * multipliers[row]
    for j in range(space.start_root.shape[1]):
        value = 0.0
        for i in range(d):
            value += space.start_root[i, j] * adjoint[i]
        noise.start[j] = value
