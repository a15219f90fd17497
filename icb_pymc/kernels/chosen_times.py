"""The posterior of the states at chosen times: a Markov chain from one of these times to the one before it.

With A_j the filter's covariance after decision t_j, the decisions up to t_{j+1} tell N_j of the state at t_j, and move
it by Φ_j: the next state deviates from what the filter expects by Φ_j times the deviation of this one, and independent
noise. So given the next state, and all choices, this one has mean m_j + G_j (s_{j+1} - m_{j+1}) and covariance
A_j - A_j N_j A_j - G_j A_{j+1} G_j', where G_j = A_j Φ_j' A_{j+1}^-1: what later decisions tell, they tell through it.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.assumed_density import start_state, transform
from icb_pymc.kernels.metropolis import REORDER_SUMS
from icb_pymc.kernels.smoother import SmootherGains
from icb_pymc.kernels.state_space import Integers, StateSpace, apply_transition, time_index

Floats = NDArray[np.float64]

# Directions with less than this share of the largest variance do not vary.
_MIN_VARIANCE_SHARE = 1e-13


class ChosenStates(NamedTuple):
    """Deviations of the states at J times from their posterior means, from the last time backwards.

    Attributes
    ----------
    slope : (J-1, d, d)
        G_j.
    root : (J, d, d)
        A root of the covariance of the state at t_j given that at t_{j+1}, and of the last state.
    covariance : (J, d, d)
        Of each state by itself.
    """

    slope: Floats
    root: Floats
    covariance: Floats


def chosen_states(space: StateSpace, gains: SmootherGains, times: Integers) -> ChosenStates:
    """The Markov chain of the states at these times, which are positions of decisions in ascending order."""
    d = len(space.start_mean)
    filtered, moved, told = np.empty((len(times), d, d)), np.empty((len(times), d, d)), np.zeros((len(times), d, d))
    _filter_between(space, gains, times, filtered, moved, told)
    remaining = filtered - filtered @ told @ filtered
    inverse = np.linalg.pinv(filtered[1:], rcond=_MIN_VARIANCE_SHARE, hermitian=True)
    slope = filtered[:-1] @ moved[:-1].transpose(0, 2, 1) @ inverse
    remaining[:-1] -= slope @ moved[:-1] @ filtered[:-1]
    remaining = 0.5 * (remaining + remaining.transpose(0, 2, 1))
    variance, vectors = np.linalg.eigh(remaining)
    root = vectors * np.sqrt(np.maximum(variance, 0.0))[:, None, :]
    covariance = root @ root.transpose(0, 2, 1)
    for j in range(len(times) - 2, -1, -1):
        covariance[j] += slope[j] @ covariance[j + 1] @ slope[j].T
    return ChosenStates(slope, root, covariance)


def draw_states(states: ChosenStates, mean: Floats, draws: int, dtype: str, rng: np.random.Generator) -> NDArray:
    """Independent draws (draws, J, d) of the states, whose means are ``mean`` (J, d)."""
    drawn = np.empty((draws, *mean.shape), dtype)
    deviation = np.empty((draws, mean.shape[1]))
    for j in range(len(mean) - 1, -1, -1):
        fresh = rng.standard_normal(deviation.shape) @ states.root[j].T
        deviation = fresh if j == len(mean) - 1 else deviation @ states.slope[j].T + fresh
        drawn[:, j] = mean[j] + deviation
    return drawn


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _filter_between(
    space: StateSpace, gains: SmootherGains, times: Integers, filtered: Floats, moved: Floats, told: Floats
) -> None:
    """A_j, Φ_j and N_j (J, d, d); after the last time Φ_j is that up to the end of the log."""
    first, decay, left, right = space.first, space.decay, space.left, space.right
    state_loading, kalman_gain, precision = gains.state_loading, gains.kalman_gain, gains.innovation_precision
    T, d = first.size - 1, state_loading.shape[1]
    has_transition = decay.shape[0] > 0 or left.shape[1] > 0
    _, covariance = start_state(space)
    step, path, reading = np.empty((d, d)), np.zeros((d, d)), np.empty(d)
    column, scratch = np.empty(d), np.empty(left.shape[1])
    j = -1
    for t in range(T):
        for row in range(first[t], first[t + 1]):
            gain, loading, variance = kalman_gain[row], state_loading[row], 1.0 / precision[row]
            for i in range(d):
                size = gain[i] * variance
                for h in range(d):
                    covariance[i, h] -= size * gain[h]
            if j >= 0:
                for h in range(d):
                    reading[h] = 0.0
                for i in range(d):
                    for h in range(d):
                        reading[h] += loading[i] * path[i, h]
                for i in range(d):
                    size = precision[row] * reading[i]
                    for h in range(d):
                        told[j, i, h] += size * reading[h]
                        path[i, h] -= gain[i] * reading[h]
        if j + 1 < times.size and times[j + 1] == t:
            if j >= 0:
                moved[j] = path
            j += 1
            filtered[j] = covariance
            path[:] = 0.0
            for i in range(d):
                path[i, i] = 1.0
        if t < T - 1:
            if has_transition:
                transform(space, t, left, right, covariance, column, scratch)
                for h in range(d):
                    for i in range(d):
                        column[i] = path[i, h]
                    apply_transition(decay, t, left, right, column, scratch)
                    for i in range(d):
                        path[i, h] = column[i]
            s, g = time_index(t, space.move_scale), time_index(t, space.move_root)
            if g == t or t == 0:
                _crossproduct(space.move_root[g], step)
            scale = space.move_scale[s] ** 2
            for i in range(d):
                for h in range(d):
                    covariance[i, h] += scale * step[i, h]
    moved[j] = path


@numba.njit(cache=True, nogil=True)
def _crossproduct(root: Floats, out: Floats) -> None:
    """out = root'root."""
    out[:] = 0.0
    for p in range(root.shape[0]):
        for i in range(root.shape[1]):
            for h in range(root.shape[1]):
                out[i, h] += root[p, i] * root[p, h]
