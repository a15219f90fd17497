"""The softmax choice approximated by a Gaussian measurement of its utility contrasts: the pseudo-data.

With p the probabilities of the candidates not chosen and p_0 that of the chosen one, log π = -log(1 + Σ exp u) has
gradient -p and curvature -W, W = diag(p) - pp', whose inverse is V = diag(1/p) + 11'/p_0: as if u had been measured as
y with noise of covariance V. Averaged over a posterior, W has about the shape it has at the mean of p, but is smaller:
p is then replaced by smaller shares, V = diag(1/share) + 11'/rest, W = diag(share) - share share'/(Σ share + rest).
Two candidates are the common case; for them V and W are scalars.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.lapses import curvature_shares, gradient_with_lapses, information_shares

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A candidate that is almost never chosen carries almost no information; the floor keeps V within what float64 can
# subtract.
_MIN_SHARE = 1e-8
# Far below the largest float, so that it can still be multiplied by any number of candidates.
_LARGE = 1e200


class PseudoData(NamedTuple):
    """Measurements y of the contrasts u with noise of covariance V_t = diag(variance) + 11' common_variance_t.

    Attributes
    ----------
    values : (N,)
        y.
    variance : (N,)
        1/share, where the share of a candidate that was not chosen is its probability p or less.
    common_variance : (T,)
        1/rest, where the rest is the probability p_0 of the chosen candidate, reduced by the same factor.
    """

    values: Floats
    variance: Floats
    common_variance: Floats


def empty_data(first: Integers) -> PseudoData:
    """Uninitialised arrays for the measurements."""
    rows = int(first[-1])
    return PseudoData(np.empty(rows), np.empty(rows), np.empty(len(first) - 1))


@numba.njit(cache=True, nogil=True)
def choice_gradient(
    first: Integers, contrasts: Floats, gradient: Floats, with_value: bool, lapse: float = 0.0
) -> float:
    """The ``gradient`` -p (N,) of Σ_t log π(x_t)[a_t] at contrasts u (N,), and, if requested, the sum itself."""
    if lapse > 0.0:
        return gradient_with_lapses(first, contrasts, lapse, gradient)
    total, product = 0.0, 1.0
    for t in range(first.size - 1):
        begin, end = first[t], first[t + 1]
        # One logarithm is taken for many decisions.
        if product > _LARGE:
            total -= np.log(product)
            product = 1.0
        if end == begin + 1:
            # One exponential is enough for two candidates.
            small = np.exp(-abs(contrasts[begin]))
            gradient[begin] = -(1.0 if contrasts[begin] > 0.0 else small) / (1.0 + small)
            if with_value:
                total -= max(contrasts[begin], 0.0)
                product *= 1.0 + small
            continue
        peak, mass = 0.0, 0.0
        for row in range(begin, end):
            peak = max(peak, contrasts[row])
        for row in range(begin, end):
            gradient[row] = -np.exp(contrasts[row] - peak)
            mass -= gradient[row]
        mass += np.exp(-peak)
        for row in range(begin, end):
            gradient[row] /= mass
        if with_value:
            total -= peak
            product *= mass
    return total - np.log(product)


@numba.njit(cache=True, nogil=True)
def pseudo_data_at(first: Integers, contrasts: Floats, gradient: Floats, data: PseudoData, lapse: float = 0.0) -> None:
    """Pseudo-data whose log-density has the gradient and curvature of the choices' at ``contrasts``, into ``data``.

    With lapses a curvature that would be negative is replaced by zero.
    """
    if lapse > 0.0:
        curvature_shares(first, contrasts, lapse, data.variance, data.common_variance)
    else:
        for t in range(first.size - 1):
            candidates = first[t + 1] - first[t] + 1
            total = 1.0 + candidates * _MIN_SHARE
            rest = 1.0
            for row in range(first[t], first[t + 1]):
                share = (_MIN_SHARE - gradient[row]) / total
                data.variance[row] = 1.0 / share
                rest -= share
            data.common_variance[t] = 1.0 / max(rest, _MIN_SHARE / total)
    _place_values(first, contrasts, gradient, data)


@numba.njit(cache=True, nogil=True)
def expected_data_at(first: Integers, contrasts: Floats, gradient: Floats, data: PseudoData, lapse: float) -> None:
    """The same for choices with lapses, with the Fisher information instead of the curvature."""
    information_shares(first, contrasts, lapse, data.variance, data.common_variance)
    _place_values(first, contrasts, gradient, data)


@numba.njit(cache=True, nogil=True)
def _place_values(first: Integers, contrasts: Floats, gradient: Floats, data: PseudoData) -> None:
    """y = u + V times the gradient."""
    apply_noise_covariance(first, data, gradient, data.values)
    for row in range(contrasts.size):
        data.values[row] += contrasts[row]


class PositionSums(NamedTuple):
    """Sums over the positions that a chain has visited.

    Attributes
    ----------
    contrasts : (N,)
        Sum of u.
    share : (N,)
        Sum of p.
    curvature : (T,)
        Sum of the trace of W, plus the chosen candidate's p_0 (1 - p_0).
    """

    contrasts: Floats
    share: Floats
    curvature: Floats


@numba.njit(cache=True, nogil=True)
def add_position(first: Integers, contrasts: Floats, sums: PositionSums, lapse: float = 0.0) -> None:
    """Add a position with these contrasts to the sums."""
    gradient = np.empty(contrasts.size)
    # Without the value; a constant would have numba compile the function again.
    with_value = contrasts.size < 0
    choice_gradient(first, contrasts, gradient, with_value, lapse)
    for t in range(first.size - 1):
        others, curvature = 0.0, 0.0
        for row in range(first[t], first[t + 1]):
            share = -gradient[row]
            sums.contrasts[row] += contrasts[row]
            sums.share[row] += share
            others += share
            curvature += share * (1.0 - share)
        sums.curvature[t] += curvature + others * (1.0 - others)


@numba.njit(cache=True, nogil=True)
def pseudo_data_from_sums(first: Integers, sums: PositionSums, count: int, data: PseudoData) -> None:
    """Pseudo-data with the mean gradient, at the mean, and about the mean curvature of ``count`` positions."""
    gradient = np.empty(data.values.size)
    for t in range(first.size - 1):
        others, curvature = 0.0, 0.0
        for row in range(first[t], first[t + 1]):
            share = sums.share[row] / count
            gradient[row] = -share
            others += share
            curvature += share * (1.0 - share)
        curvature += others * (1.0 - others)
        scale = sums.curvature[t] / count / curvature if curvature > _MIN_SHARE else 1.0
        for row in range(first[t], first[t + 1]):
            data.variance[row] = 1.0 / max(-scale * gradient[row], _MIN_SHARE)
        data.common_variance[t] = 1.0 / max(scale * (1.0 - others), _MIN_SHARE)
    apply_noise_covariance(first, data, gradient, data.values)
    for row in range(data.values.size):
        data.values[row] += sums.contrasts[row] / count


@numba.njit(cache=True, nogil=True)
def apply_noise_covariance(first: Integers, data: PseudoData, vector: Floats, out: Floats) -> None:
    """out = V vector."""
    for t in range(first.size - 1):
        begin, end = first[t], first[t + 1]
        if end == begin + 1:
            out[begin] = vector[begin] * (data.variance[begin] + data.common_variance[t])
            continue
        total = 0.0
        for row in range(begin, end):
            total += vector[row]
        for row in range(begin, end):
            out[row] = vector[row] * data.variance[row] + total * data.common_variance[t]


@numba.njit(cache=True, nogil=True)
def draw_measurement_noise(first: Integers, data: PseudoData, noise: Floats, common: Floats, out: Floats) -> None:
    """out ~ N(0, V), from standard normal ``noise`` (N,) and ``common`` (T,), unused for two candidates."""
    for t in range(first.size - 1):
        if first[t + 1] == first[t] + 1:
            row = first[t]
            out[row] = noise[row] * np.sqrt(data.variance[row] + data.common_variance[t])
            continue
        if first[t + 1] == first[t]:
            continue
        shared = common[t] * np.sqrt(data.common_variance[t])
        for row in range(first[t], first[t + 1]):
            out[row] = noise[row] * np.sqrt(data.variance[row]) + shared


@numba.njit(cache=True, nogil=True)
def log_residual(
    first: Integers, contrasts: Floats, data: PseudoData, gradient: Floats, with_value: bool, lapse: float = 0.0
) -> float:
    """The residual log-density R(u) = log π(u) - log N(y; u, V) up to a constant: its ``gradient`` and its value."""
    total = choice_gradient(first, contrasts, gradient, with_value, lapse)
    for t in range(first.size - 1):
        begin, end = first[t], first[t + 1]
        if end == begin + 1:
            difference = data.values[begin] - contrasts[begin]
            weighted_difference = difference / (data.variance[begin] + data.common_variance[t])
            total += 0.5 * difference * weighted_difference
            gradient[begin] -= weighted_difference
            continue
        weighted_mean, total_share = 0.0, 1.0 / data.common_variance[t]
        for row in range(begin, end):
            share = 1.0 / data.variance[row]
            weighted_mean += share * (data.values[row] - contrasts[row])
            total_share += share
        weighted_mean /= total_share
        for row in range(begin, end):
            difference = data.values[row] - contrasts[row]
            weighted_difference = (difference - weighted_mean) / data.variance[row]
            total += 0.5 * difference * weighted_difference
            gradient[row] -= weighted_difference
    return total


@numba.njit(cache=True, nogil=True)
def log_determinant(data: PseudoData, first: Integers) -> float:
    """log det V = Σ_t log(Σ share + rest) - Σ log share - Σ log rest."""
    total = 0.0
    for t in range(data.common_variance.size):
        shares = 1.0 / data.common_variance[t]
        total += np.log(data.common_variance[t])
        for row in range(first[t], first[t + 1]):
            shares += 1.0 / data.variance[row]
            total += np.log(data.variance[row])
        total += np.log(shares)
    return total
