"""p(a_t | a_1, ..., a_{t-1}) in one pass: an assumed-density filter of the states.

Before decision t the state is taken to be Gaussian, so that the contrasts are too, and the probability of the choice is
an integral as in `choice_integral`. After it the state gets the mean and covariance that the choice gives it exactly,
and is taken to be Gaussian again: that is the one approximation.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.choice_integral import climb
from icb_pymc.kernels.state_space import StateSpace, at, move_state

Floats = NDArray[np.float64]

_REACH, _STEP, _WIDEST = 8.0, 0.8, 0.5
# A contrast with less than this share of its variance left is determined by those before it.
_NOTHING = 1e-12


@numba.njit(cache=True, nogil=True)
def predict_choices(space: StateSpace, points: Floats, log_predictive: Floats) -> None:
    """log p(a_t | a_1, ..., a_{t-1}) into ``log_predictive`` (T,).

    Parameters
    ----------
    points : (Q, n)
        Standard normal points to average over where a decision has several alternatives, at most n.
    """
    T, d = space.first.size - 1, space.reading.shape[1]
    widest = 1
    for t in range(T):
        widest = max(widest, space.first[t + 1] - space.first[t])
    mean, covariance = space.start_mean.copy(), np.zeros((d, d))
    _add_square(space.start_root, 1.0, covariance)
    centre, tilted = np.empty(widest), np.empty(widest)
    root, second, crossed = np.empty((widest, widest)), np.empty((widest, widest)), np.empty((d, widest))
    scratch, column = np.empty(space.left.shape[2]), np.empty(d)
    for t in range(T):
        count = space.first[t + 1] - space.first[t]
        log_predictive[t] = 0.0
        if count > 0:
            _read(space, t, mean, covariance, centre, root, crossed)
            if count == 1:
                log_predictive[t] = _line_moments(centre[0], root[0, 0], tilted, second)
            else:
                log_predictive[t] = _point_moments(centre[:count], root, points, tilted, second)
            _update(count, crossed, tilted, second, mean, covariance)
        if t < T - 1:
            move_state(space, t, space.left, space.right, mean, scratch)
            c, s, g = at(t, space.drift), at(t, space.move_scale), at(t, space.move_root)
            for i in range(d):
                mean[i] += space.drift[c, i]
            for _ in range(2):
                # F P, then F (F P)'.
                for j in range(d):
                    for i in range(d):
                        column[i] = covariance[i, j]
                    move_state(space, t, space.left, space.right, column, scratch)
                    for i in range(d):
                        covariance[i, j] = column[i]
                _transpose(covariance)
            _add_square(space.move_root[g], space.move_scale[s] ** 2, covariance)


@numba.njit(cache=True, nogil=True)
def _add_square(root: Floats, scale: float, out: Floats) -> None:
    """out += scale root root'."""
    for i in range(root.shape[0]):
        for j in range(root.shape[0]):
            value = 0.0
            for p in range(root.shape[1]):
                value += root[i, p] * root[j, p]
            out[i, j] += scale * value


@numba.njit(cache=True, nogil=True)
def _transpose(matrix: Floats) -> None:
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[i, j], matrix[j, i] = matrix[j, i], matrix[i, j]


@numba.njit(cache=True, nogil=True)
def _read(
    space: StateSpace, t: int, mean: Floats, covariance: Floats, centre: Floats, root: Floats, crossed: Floats
) -> None:
    """Contrasts as u = centre + root ε, root lower triangular, and ``crossed`` = Cov(state, ε).

    Contrasts that those before them determine add no ε of their own.
    """
    begin, d = space.first[t], mean.size
    for j in range(space.first[t + 1] - begin):
        row = begin + j
        centre[j] = space.offset[row]
        for i in range(d):
            centre[j] += space.reading[row, i] * mean[i]
            value = 0.0
            for h in range(d):
                value += covariance[i, h] * space.reading[row, h]
            crossed[i, j] = value
        # Cov(u_j, ε) of the ε before, as Cholesky's method has it; first Cov(u_j, u_i).
        for i in range(j + 1):
            value = 0.0
            for e in range(space.stray.shape[1]):
                value += space.stray[row, e] * space.stray[begin + i, e]
            for h in range(d):
                value += space.reading[begin + i, h] * crossed[h, j]
            root[j, i] = value
        total = root[j, j]
        for i in range(j):
            value = root[j, i]
            for p in range(i):
                value -= root[j, p] * root[i, p]
            root[j, i] = value / root[i, i] if root[i, i] > 0.0 else 0.0
        rest = total
        for p in range(j):
            rest -= root[j, p] ** 2
        root[j, j] = math.sqrt(rest) if rest > _NOTHING * max(total, 1e-300) else 0.0
        for h in range(d):
            value = crossed[h, j]
            for p in range(j):
                value -= root[j, p] * crossed[h, p]
            crossed[h, j] = value / root[j, j] if root[j, j] > 0.0 else 0.0
        for i in range(j):
            root[i, j] = 0.0


@numba.njit(cache=True, nogil=True)
def _update(count: int, gain: Floats, tilted: Floats, second: Floats, mean: Floats, covariance: Floats) -> None:
    """Mean and covariance of the state where ε has mean ``tilted`` and covariance ``second`` instead of 0 and I."""
    d = mean.size
    for i in range(d):
        for p in range(count):
            mean[i] += gain[i, p] * tilted[p]
    for i in range(d):
        for j in range(d):
            for p in range(count):
                for q in range(count):
                    change = second[p, q] - (1.0 if p == q else 0.0)
                    covariance[i, j] += gain[i, p] * change * gain[j, q]


@numba.njit(cache=True, nogil=True)
def _line_moments(centre: float, spread: float, tilted: Floats, second: Floats) -> float:
    """log E[1 / (1 + exp u)], u = centre + spread ε, and mean and variance of ε under that weight."""
    at_centre = max(centre, 0.0) + math.log1p(math.exp(-abs(centre)))
    tilted[0], second[0, 0] = 0.0, 1.0
    if spread <= 0.0:
        return -at_centre
    step = min(_WIDEST, _STEP / spread)
    nodes = math.ceil((2.0 * _REACH + spread) / step) + 1
    total, first, square = 0.0, 0.0, 0.0
    for n in range(nodes):
        z = n * step - _REACH - spread
        u = centre + spread * z
        weight = math.exp(at_centre - 0.5 * z * z - max(u, 0.0) - math.log1p(math.exp(-abs(u))))
        total += weight
        first += weight * z
        square += weight * z * z
    tilted[0] = first / total
    second[0, 0] = square / total - tilted[0] ** 2
    return math.log(total * step / math.sqrt(2.0 * math.pi)) - at_centre


@numba.njit(cache=True, nogil=True)
def _point_moments(centre: Floats, root: Floats, points: Floats, tilted: Floats, second: Floats) -> float:
    """The same for several contrasts, by an average over points moved to the peak."""
    count = centre.size
    share, peak, noise = np.empty(count), np.empty(count), np.empty(count)
    climb(root, 0, count, centre, share, peak)
    total, first, square = 0.0, np.zeros(count), np.zeros((count, count))
    for q in range(points.shape[0]):
        tilt = 0.0
        for i in range(count):
            noise[i] = peak[i] + points[q, i]
            tilt -= peak[i] * points[q, i] + 0.5 * peak[i] ** 2
        top = 0.0
        for j in range(count):
            value = centre[j]
            for i in range(count):
                value += root[j, i] * noise[i]
            share[j] = value
            top = max(top, value)
        mass = math.exp(-top)
        for j in range(count):
            mass += math.exp(share[j] - top)
        weight = math.exp(tilt - top - math.log(mass))
        total += weight
        for i in range(count):
            first[i] += weight * noise[i]
            for j in range(count):
                square[i, j] += weight * noise[i] * noise[j]
    for i in range(count):
        tilted[i] = first[i] / total
    for i in range(count):
        for j in range(count):
            second[i, j] = square[i, j] / total - tilted[i] * tilted[j]
    return math.log(total / points.shape[0])
