"""A choice as a Gaussian factor of its contrasts, its site: exp(scale + h'u - ½ u'Λu).

With u = centre + R ε, ε standard normal, a site turns ε into a Gaussian with covariance A = (I + R'ΛR)^-1.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Pivots of a factorisation are at least this.
_LEAST = 1e-12


@numba.njit(cache=True, nogil=True)
def factorise(matrix: Floats, count: int, root: Floats) -> None:
    """Cholesky's method: ``root`` is lower triangular, root root' = matrix (count, count)."""
    for j in range(count):
        for i in range(j, count):
            value = matrix[i, j]
            for p in range(j):
                value -= root[i, p] * root[j, p]
            if i == j:
                root[j, j] = math.sqrt(max(value, _LEAST))
            else:
                root[i, j] = value / root[j, j]
                root[j, i] = 0.0


@numba.njit(cache=True, nogil=True)
def invert(matrix: Floats, count: int, inverse: Floats) -> float:
    """The ``inverse`` of a positive definite matrix (count, count); returns the logarithm of its determinant."""
    if count == 1:
        value = max(matrix[0, 0], _LEAST)
        inverse[0, 0] = 1.0 / value
        return math.log(value)
    root, triangle = np.zeros((count, count)), np.zeros((count, count))
    factorise(matrix, count, root)
    log_determinant = 0.0
    for j in range(count):
        log_determinant += 2.0 * math.log(root[j, j])
        triangle[j, j] = 1.0 / root[j, j]
        for i in range(j + 1, count):
            value = 0.0
            for p in range(j, i):
                value -= root[i, p] * triangle[p, j]
            triangle[i, j] = value / root[i, i]
    for i in range(count):
        for j in range(count):
            value = 0.0
            for p in range(max(i, j), count):
                value += triangle[p, i] * triangle[p, j]
            inverse[i, j] = value
    return log_determinant


@numba.njit(cache=True, nogil=True)
def apply_site(
    count: int, centre: Floats, root: Floats, precision: Floats, linear: Floats, mean: Floats, covariance: Floats
) -> float:
    """The ``mean`` and ``covariance`` A of ε under a site; returns log E[exp(h'u - ½ u'Λu)]."""
    turned, matrix = np.zeros((count, count)), np.zeros((count, count))
    slope, value = np.zeros(count), 0.0
    for i in range(count):
        weighted = 0.0
        for j in range(count):
            weighted += precision[i, j] * centre[j]
            for p in range(j, count):
                turned[i, j] += precision[i, p] * root[p, j]
        value += linear[i] * centre[i] - 0.5 * centre[i] * weighted
        for p in range(i + 1):
            slope[p] += root[i, p] * (linear[i] - weighted)
    for i in range(count):
        for j in range(count):
            matrix[i, j] = 1.0 if i == j else 0.0
            for p in range(i, count):
                matrix[i, j] += root[p, i] * turned[p, j]
    value -= 0.5 * invert(matrix, count, covariance)
    for i in range(count):
        mean[i] = 0.0
        for j in range(count):
            mean[i] += covariance[i, j] * slope[j]
        value += 0.5 * slope[i] * mean[i]
    return value


@numba.njit(cache=True, nogil=True)
def make_site(
    count: int,
    centre: Floats,
    root: Floats,
    tilted_mean: Floats,
    tilted_covariance: Floats,
    precision: Floats,
    linear: Floats,
) -> None:
    """The site under which ε has the tilted mean and covariance, into ``precision`` and ``linear``.

    After a choice that may have been a lapse ε can be less certain than before. The precision is not negative even
    then: such a site, made given all other choices, could leave no Gaussian without those of later choices.
    """
    inverse = np.zeros((count, count))
    for j in range(count):
        # A contrast that is determined by those before it needs no site.
        if root[j, j] == 0.0:
            tilted_mean[j] = 0.0
            for i in range(count):
                tilted_covariance[i, j] = tilted_covariance[j, i] = 1.0 if i == j else 0.0
    invert(tilted_covariance, count, inverse)
    for i in range(count):
        linear[i] = 0.0
        for j in range(count):
            linear[i] += inverse[i, j] * tilted_mean[j]
    for i in range(count):
        inverse[i, i] -= 1.0
    # R'^-1 from both sides, of a symmetric matrix: of its rows, and of the rows of the transposed result.
    for _ in range(2):
        for i in range(count):
            _solve_transposed(count, root, inverse[i])
        for i in range(count):
            for j in range(i):
                inverse[i, j], inverse[j, i] = inverse[j, i], inverse[i, j]
    _solve_transposed(count, root, linear)
    for i in range(count):
        for j in range(count):
            precision[i, j] = 0.5 * (inverse[i, j] + inverse[j, i])
    if _remove_negative(precision, count):
        # The slope under which the mean of ε is the tilted mean with this precision: R'^-1 m + ΛR m.
        for i in range(count):
            linear[i] = tilted_mean[i]
        _solve_transposed(count, root, linear)
        for i in range(count):
            for j in range(count):
                for p in range(j + 1):
                    linear[i] += precision[i, j] * root[j, p] * tilted_mean[p]
    for i in range(count):
        for j in range(count):
            linear[i] += precision[i, j] * centre[j]


@numba.njit(cache=True, nogil=True)
def _remove_negative(matrix: Floats, count: int) -> bool:
    """Factorise a symmetric matrix, without the columns of pivots that are not positive; whether there were any."""
    triangle, changed = np.zeros((count, count)), False
    for j in range(count):
        for i in range(j, count):
            value = matrix[i, j]
            for p in range(j):
                value -= triangle[i, p] * triangle[j, p]
            if i == j:
                if not value > 0.0:
                    # A contrast without a site of its own has a pivot of zero.
                    changed = changed or value < 0.0
                    break
                triangle[j, j] = math.sqrt(value)
            else:
                triangle[i, j] = value / triangle[j, j]
    if changed:
        for i in range(count):
            for j in range(count):
                matrix[i, j] = 0.0
                for p in range(min(i, j) + 1):
                    matrix[i, j] += triangle[i, p] * triangle[j, p]
    return changed


@numba.njit(cache=True, nogil=True)
def _solve_transposed(count: int, root: Floats, vector: Floats) -> None:
    """Root' x = vector in place, zero where the root is."""
    for i in range(count - 1, -1, -1):
        for j in range(i + 1, count):
            vector[i] -= root[j, i] * vector[j]
        vector[i] = vector[i] / root[i, i] if root[i, i] > 0.0 else 0.0
