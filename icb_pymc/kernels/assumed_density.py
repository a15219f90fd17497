"""p(a_t | a_1, ..., a_{t-1}) in one pass: an assumed-density filter of the states.

Before decision t the state is assumed to be Gaussian, hence so are the contrasts, and the probability of the choice is
an integral as in `choice_integral`. After the decision the state gets its exact mean and covariance given the choice,
and is assumed to be Gaussian again: that is the only approximation.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.choice_integral import find_peak
from icb_pymc.kernels.state_space import StateSpace, apply_transition, time_index

Floats = NDArray[np.float64]

# Half-width of the grid, the step times the spread, and the largest step.
_HALF_WIDTH, _STEP_TIMES_SPREAD, _MAX_STEP = 8.0, 0.8, 0.5
# A contrast with less than this share of its variance left is determined by the contrasts before it.
_MIN_VARIANCE_SHARE = 1e-12


@numba.njit(cache=True, nogil=True)
def predict_choices(space: StateSpace, points: Floats, log_predictive: Floats) -> None:
    """Compute log p(a_t | a_1, ..., a_{t-1}) into ``log_predictive`` (T,).

    Parameters
    ----------
    points : (Q, n)
        Standard normal points to average over if a decision has several alternatives, at most n.
    """
    T, d = space.first.size - 1, space.state_loading.shape[1]
    most_rows = 1
    for t in range(T):
        most_rows = max(most_rows, space.first[t + 1] - space.first[t])
    mean, covariance = space.start_mean.copy(), np.zeros((d, d))
    _add_crossproduct(space.start_root.T, 1.0, covariance)
    centre, tilted_mean = np.empty(most_rows), np.empty(most_rows)
    root, tilted_covariance = np.empty((most_rows, most_rows)), np.empty((most_rows, most_rows))
    gain = np.empty((d, most_rows))
    scratch, column = np.empty(space.left.shape[1]), np.empty(d)
    for t in range(T):
        count = space.first[t + 1] - space.first[t]
        log_predictive[t] = 0.0
        if count > 0:
            _contrast_moments(space, t, mean, covariance, centre, root, gain)
            if count == 1:
                log_predictive[t] = _tilted_moments_on_grid(centre[0], root[0, 0], tilted_mean, tilted_covariance)
            else:
                log_predictive[t] = _tilted_moments_at_points(
                    centre[:count], root, points, tilted_mean, tilted_covariance
                )
            _update(count, gain, tilted_mean, tilted_covariance, mean, covariance)
        if t < T - 1:
            apply_transition(space, t, space.left, space.right, mean, scratch)
            c, s, g = time_index(t, space.drift), time_index(t, space.move_scale), time_index(t, space.move_root)
            for i in range(d):
                mean[i] += space.drift[c, i]
            for _ in range(2):
                # F P, then F (F P)'.
                for j in range(d):
                    for i in range(d):
                        column[i] = covariance[i, j]
                    apply_transition(space, t, space.left, space.right, column, scratch)
                    for i in range(d):
                        covariance[i, j] = column[i]
                _transpose(covariance)
            _add_crossproduct(space.move_root[g], space.move_scale[s] ** 2, covariance)


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
def _transpose(matrix: Floats) -> None:
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[i, j], matrix[j, i] = matrix[j, i], matrix[i, j]


@numba.njit(cache=True, nogil=True)
def _contrast_moments(
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
def _update(
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


@numba.njit(cache=True, nogil=True)
def _tilted_moments_on_grid(centre: float, spread: float, tilted_mean: Floats, tilted_covariance: Floats) -> float:
    """log E[1 / (1 + exp u)], u = centre + spread ε, with the mean and variance of ε weighted by 1 / (1 + exp u)."""
    at_centre = max(centre, 0.0) + math.log1p(math.exp(-abs(centre)))
    tilted_mean[0], tilted_covariance[0, 0] = 0.0, 1.0
    if spread <= 0.0:
        return -at_centre
    step = min(_MAX_STEP, _STEP_TIMES_SPREAD / spread)
    nodes = math.ceil((2.0 * _HALF_WIDTH + spread) / step) + 1
    total, first, square = 0.0, 0.0, 0.0
    for n in range(nodes):
        z = n * step - _HALF_WIDTH - spread
        u = centre + spread * z
        weight = math.exp(at_centre - 0.5 * z * z - max(u, 0.0) - math.log1p(math.exp(-abs(u))))
        total += weight
        first += weight * z
        square += weight * z * z
    tilted_mean[0] = first / total
    tilted_covariance[0, 0] = square / total - tilted_mean[0] ** 2
    return math.log(total * step / math.sqrt(2.0 * math.pi)) - at_centre


@numba.njit(cache=True, nogil=True)
def _tilted_moments_at_points(
    centre: Floats, root: Floats, points: Floats, tilted_mean: Floats, tilted_covariance: Floats
) -> float:
    """The same for several contrasts, by importance sampling at points shifted to the peak of the integrand."""
    count = centre.size
    value_at_noise, peak, noise = np.empty(count), np.empty(count), np.empty(count)
    find_peak(root, 0, count, centre, value_at_noise, peak)
    total, first, square = 0.0, np.zeros(count), np.zeros((count, count))
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
        weight = math.exp(log_weight - largest - math.log(mass))
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
    return math.log(total / points.shape[0])
