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
# Directions of the contrasts with less than this share of the largest variance are none.
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
    mean, covariance = space.start_mean.copy(), space.start_root @ space.start_root.T
    scratch, column = np.empty(space.left.shape[2]), np.empty(d)
    for t in range(T):
        begin, end = space.first[t], space.first[t + 1]
        count = end - begin
        if count > 0:
            reading = space.reading[begin:end].copy()
            stray = space.stray[begin:end].copy()
            centre = space.offset[begin:end] + reading @ mean
            crossed = covariance @ reading.T
            spread = reading @ crossed + stray @ stray.T
            # u = centre + root ε; `inverse` leads back.
            if count == 1:
                root = np.sqrt(np.maximum(spread, 0.0))
                inverse = np.where(root > 0.0, 1.0 / np.maximum(root, 1e-300), 0.0)
            else:
                variances, axes = np.linalg.eigh(0.5 * (spread + spread.T))
                least = _NOTHING * max(variances[-1], 1e-300)
                deviations = np.sqrt(np.maximum(variances, 0.0))
                root = axes * deviations
                inverse = np.zeros((count, count))
                for i in range(count):
                    if variances[i] > least:
                        inverse[i] = axes[:, i] / deviations[i]
            tilted, second = np.zeros(count), np.eye(count)
            if count == 1:
                log_predictive[t] = _line_moments(centre[0], root[0, 0], tilted, second)
            else:
                log_predictive[t] = _point_moments(centre, root, points, tilted, second)
            gain = crossed @ inverse.T
            mean = mean + gain @ tilted
            covariance = covariance + gain @ (second - np.eye(count)) @ gain.T
        else:
            log_predictive[t] = 0.0
        if t < T - 1:
            move_state(space, t, space.left, space.right, mean, scratch)
            mean += space.drift[at(t, space.drift)]
            for _ in range(2):
                # F P, then F (F P)'.
                for j in range(d):
                    column[:] = covariance[:, j]
                    move_state(space, t, space.left, space.right, column, scratch)
                    covariance[:, j] = column
                covariance = covariance.T.copy()
            root = np.ascontiguousarray(space.move_root[at(t, space.move_root)])
            covariance += space.move_scale[at(t, space.move_scale)] ** 2 * (root @ root.T)


@numba.njit(cache=True, nogil=True)
def _line_moments(centre: float, spread: float, tilted: Floats, second: Floats) -> float:
    """log E[1 / (1 + exp u)], u = centre + spread ε, and mean and variance of ε under that weight."""
    at_centre = max(centre, 0.0) + math.log1p(math.exp(-abs(centre)))
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
