"""What one choice says about its contrasts: E[π] and the mean and covariance of ε weighted by π, u = centre + root ε.

π = p = 1 / (1 + Σ exp u) is the probability of the candidate that was chosen, or with lapses (1 - lapse) p + lapse / n
with n candidates; ε is standard normal.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.choice_integral import find_peak

Floats = NDArray[np.float64]

# Half-width of the grid, the step times the spread, and the largest step.
_HALF_WIDTH, _STEP_TIMES_SPREAD, _MAX_STEP = 8.0, 0.8, 0.5


@numba.njit(cache=True, nogil=True)
def weigh_by_choice(
    count: int,
    centre: Floats,
    root: Floats,
    points: Floats,
    tilted_mean: Floats,
    tilted_covariance: Floats,
    lapse: float = 0.0,
) -> float:
    """log E[π], with the mean (count,) and covariance (count, count) of ε weighted by π.

    Parameters
    ----------
    count : int
        Number of contrasts; arrays may be larger.
    points : (Q, n)
        Standard normal points to average over where there are several contrasts, at most n.
    """
    if count == 1:
        value = _on_grid(centre[0], root[0, 0], tilted_mean, tilted_covariance)
    else:
        value = _at_points(centre[:count], root, points, tilted_mean, tilted_covariance)
    return value if lapse == 0.0 else _mix_with_lapse(count, lapse, value, tilted_mean, tilted_covariance)


@numba.njit(cache=True, nogil=True)
def _mix_with_lapse(count: int, lapse: float, value: float, tilted_mean: Floats, tilted_covariance: Floats) -> float:
    """log E[π] from log E[p], with the moments of a mixture: those weighted by p, or of ε itself if it was a lapse."""
    attentive = (1.0 - lapse) * math.exp(value)
    probability = attentive + lapse / (count + 1)
    weight = attentive / probability
    for i in range(count):
        for j in range(count):
            between = (1.0 - weight) * tilted_mean[i] * tilted_mean[j]
            tilted_covariance[i, j] = weight * (tilted_covariance[i, j] + between)
        tilted_covariance[i, i] += 1.0 - weight
    for i in range(count):
        tilted_mean[i] *= weight
    return math.log(probability)


@numba.njit(cache=True, nogil=True)
def _on_grid(centre: float, spread: float, tilted_mean: Floats, tilted_covariance: Floats) -> float:
    """log E[1 / (1 + exp u)], u = centre + spread ε, with the mean and variance of ε weighted by 1 / (1 + exp u)."""
    at_centre = max(centre, 0.0) + math.log1p(math.exp(-abs(centre)))
    tilted_mean[0], tilted_covariance[0, 0] = 0.0, 1.0
    if spread <= 0.0:
        return -at_centre
    step = min(_MAX_STEP, _STEP_TIMES_SPREAD / spread)
    nodes = math.ceil((2.0 * _HALF_WIDTH + spread) / step) + 1
    total, first, square, largest = 0.0, 0.0, 0.0, -math.inf
    for n in range(nodes):
        z = n * step - _HALF_WIDTH - spread
        u = centre + spread * z
        log_weight = at_centre - 0.5 * z * z - max(u, 0.0) - math.log1p(math.exp(-abs(u)))
        if log_weight > largest:
            # Sums are relative to the largest weight so far, so that they neither overflow nor vanish.
            shrink, largest = math.exp(largest - log_weight), log_weight
            total, first, square = total * shrink, first * shrink, square * shrink
        weight = math.exp(log_weight - largest)
        total += weight
        first += weight * z
        square += weight * z * z
    tilted_mean[0] = first / total
    tilted_covariance[0, 0] = square / total - tilted_mean[0] ** 2
    return math.log(total * step / math.sqrt(2.0 * math.pi)) + largest - at_centre


@numba.njit(cache=True, nogil=True)
def _at_points(centre: Floats, root: Floats, points: Floats, tilted_mean: Floats, tilted_covariance: Floats) -> float:
    """The same for several contrasts, by importance sampling at points shifted to the peak of the integrand."""
    count = centre.size
    value_at_noise, peak, noise = np.empty(count), np.empty(count), np.empty(count)
    find_peak(root, 0, count, centre, value_at_noise, peak)
    total, first, square, most = 0.0, np.zeros(count), np.zeros((count, count)), -math.inf
    for q in range(points.shape[0]):
        log_weight = 0.0
        for i in range(count):
            noise[i] = peak[i] + points[q, i]
            log_weight -= peak[i] * points[q, i] + 0.5 * peak[i] ** 2
        largest = 0.0
        for j in range(count):
            value = centre[j]
            for i in range(count):
                value += root[j, i] * noise[i]
            value_at_noise[j] = value
            largest = max(largest, value)
        mass = math.exp(-largest)
        for j in range(count):
            mass += math.exp(value_at_noise[j] - largest)
        log_weight -= largest + math.log(mass)
        if log_weight > most:
            # As on the grid: an event that is very improbable has weights that all vanish otherwise.
            shrink, most = math.exp(most - log_weight), log_weight
            total *= shrink
            for i in range(count):
                first[i] *= shrink
                for j in range(count):
                    square[i, j] *= shrink
        weight = math.exp(log_weight - most)
        total += weight
        for i in range(count):
            first[i] += weight * noise[i]
            for j in range(count):
                square[i, j] += weight * noise[i] * noise[j]
    for i in range(count):
        tilted_mean[i] = first[i] / total
    for i in range(count):
        for j in range(count):
            tilted_covariance[i, j] = square[i, j] / total - tilted_mean[i] * tilted_mean[j]
    return math.log(total / points.shape[0]) + most
