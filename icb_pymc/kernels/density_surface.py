"""A smooth surface through values of a log-density that is dear to evaluate, and draws from it that are cheap.

The coordinates of a point are x = (point - centre) / scale. The surface is a quadratic function of x, as for a
Gaussian, plus a sum of products of Chebyshev polynomials T_e(s_i) of higher degree, where s = x / sqrt(x² + BEND²) lies
between -1 and 1. It ends at the edges of a box.
"""

from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Coordinates bend from about so many standard deviations on, and the surface ends at so many.
BEND, EDGE = 3.0, 5.0
# The highest degree in one variable, and the largest number of terms that products of several may have.
DEGREE, MAX_TERMS = 6, 130
# Small against the spread of a log-density; larger for terms of higher degree, which few values may leave undetermined.
RIDGE, RIDGE_GROWTH = 3e-3, 4.0


class Surface(NamedTuple):
    """Terms and coefficients.

    Attributes
    ----------
    centre, scale : (d,)
    root : (d, d)
        Of about the covariance of x.
    begin : (terms + 1,)
        The factors of term m are those from ``begin[m]`` to ``begin[m + 1] - 1``.
    variable, degree : (factors,)
        A degree of 0 stands for x itself.
    coefficient : (terms,)
    """

    centre: Floats
    scale: Floats
    root: Floats
    begin: Integers
    variable: Integers
    degree: Integers
    coefficient: Floats


def surface_terms(d: int) -> tuple[Integers, Integers, Integers]:
    """Products of any variables up to a total degree that is lower the more there are, and powers of each."""
    total = max(degree for degree in range(2, DEGREE + 1) if degree == 2 or comb(d + degree, degree) <= MAX_TERMS)
    begin, variable, degree = [0], list[int](), list[int]()
    products = [term for size in range(total + 1) for term in combinations_with_replacement(range(d), size)]
    powers = [(i,) * size for size in range(total + 1, DEGREE + 1) for i in range(d)]
    for term in products + powers:
        if len(term) <= 2:
            variable += term
            degree += [0] * len(term)
        else:
            variable += sorted(set(term))
            degree += [term.count(i) for i in sorted(set(term))]
        begin.append(len(variable))
    return np.array(begin), np.array(variable, dtype=np.int64), np.array(degree, dtype=np.int64)


def fit_surface(points: Floats, values: Floats, centre: Floats, scale: Floats, root: Floats) -> Surface:
    """The surface through ``values`` (n,) at ``points`` (n, d) by least squares, best where values are high."""
    begin, variable, degree = surface_terms(len(centre))
    surface = Surface(centre, scale, root, begin, variable, degree, np.zeros(len(begin) - 1))
    terms = np.empty((len(points), len(begin) - 1))
    inside = np.array([_terms_at(surface, point, terms[n]) for n, point in enumerate(points)])
    terms, values = terms[inside], values[inside]
    highest = values.max()
    excess = np.maximum(highest - values - len(centre), 0.0)
    weight = 1 / (1 + (excess / 5) ** 2)
    total = np.add.reduceat(np.append(degree, 0), begin[:-1]) * (np.diff(begin) > 0)
    penalty = np.sqrt(RIDGE * RIDGE_GROWTH ** np.maximum(total - 2.0, 0.0)) * (total > 0)
    left = np.concatenate([weight[:, None] * terms, np.diag(penalty)])
    right = np.concatenate([weight * (values - highest), np.zeros(len(penalty))])
    return surface._replace(coefficient=np.linalg.lstsq(left, right, rcond=None)[0])


@numba.njit(cache=True, nogil=True)
def _terms_at(surface: Surface, point: Floats, out: Floats) -> bool:
    """The terms (m,) at a point; false, and nothing, outside of the box."""
    d = point.size
    chebyshev = np.empty((d, DEGREE + 1))
    for i in range(d):
        x = (point[i] - surface.centre[i]) / surface.scale[i]
        if not abs(x) <= EDGE:
            return False
        s = x / np.sqrt(x * x + BEND * BEND)
        chebyshev[i, 0], chebyshev[i, 1], chebyshev[i, 2] = x, s, 2.0 * s * s - 1.0
        for e in range(3, DEGREE + 1):
            chebyshev[i, e] = 2.0 * s * chebyshev[i, e - 1] - chebyshev[i, e - 2]
    for term in range(surface.begin.size - 1):
        value = 1.0
        for factor in range(surface.begin[term], surface.begin[term + 1]):
            value *= chebyshev[surface.variable[factor], surface.degree[factor]]
        out[term] = value
    return True


@numba.njit(cache=True, nogil=True)
def height(surface: Surface, point: Floats) -> float:
    """The log-density of the surface, up to a constant; minus infinity outside of the box."""
    terms = np.empty(surface.coefficient.size)
    if not _terms_at(surface, point, terms):
        return -np.inf
    value = 0.0
    for term in range(terms.size):
        value += surface.coefficient[term] * terms[term]
    return value


@numba.njit(cache=True, nogil=True)
def walk_on_surface(
    surface: Surface, start: Floats, steps: Floats, thresholds: Floats, heat: float, visited: Floats
) -> None:
    """A random walk by Metropolis' rule, reversible under the density of the surface to the power 1 / ``heat``.

    Parameters
    ----------
    surface : Surface
    start : (d,)
    steps : (n, d)
        Independent of each other, and symmetric: standard normals, or multiples of these.
    thresholds : (n,)
        Standard exponentials.
    heat : float
    visited : (n, d)
        Filled with where the walk has been.
    """
    count, d = steps.shape
    size = 2.4 / np.sqrt(d)
    here, there, level = start.copy(), np.empty(d), height(surface, start)
    for n in range(count):
        for i in range(d):
            move = 0.0
            for j in range(i + 1):
                move += surface.root[i, j] * steps[n, j]
            there[i] = here[i] + size * surface.scale[i] * move
        proposed = height(surface, there)
        if (level - proposed) / heat < thresholds[n]:
            level = proposed
            for i in range(d):
                here[i] = there[i]
        for i in range(d):
            visited[n, i] = here[i]
