"""The softmax choice seen as a Gaussian measurement of its utility contrasts.

With p the probabilities of the candidates not chosen and p_0 that of the chosen one, log π = -log(1 + Σ exp u) has
gradient -p and curvature -W, W = diag(p) - pp', whose inverse is V = diag(1/p) + 11'/p_0: as if u were measured as y in
noise of covariance V. Over a posterior the mean of W has about the shape of that at the mean of p, but is smaller:
shares are then less than p, V = diag(1/share) + 11'/rest, and W = diag(share) - share share'/(Σ share + rest).
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A candidate that is hardly ever taken measures next to nothing; the floor keeps V within what float64 can subtract.
_LEAST_SHARE = 1e-8


class PseudoData(NamedTuple):
    """Measurements y of the contrasts u in noise V_t = diag(1/share) + 11'/rest_t.

    Attributes
    ----------
    values : (N,)
        y.
    share : (N,)
        Probability of each candidate that was not chosen, or less.
    rest : (T,)
        Probability of the chosen one, less by the same factor.
    """

    values: Floats
    share: Floats
    rest: Floats


@numba.njit(cache=True, nogil=True)
def choice_gradient(first: Integers, contrasts: Floats, gradient: Floats, with_value: bool) -> float:
    """The ``gradient`` -p (N,) of Σ_t log π(x_t)[a_t] at contrasts u (N,), and that sum itself if asked for."""
    total = 0.0
    for t in range(first.size - 1):
        begin, end = first[t], first[t + 1]
        if end == begin + 1:
            # Two candidates are the common case, and one exponential is enough for them.
            small = np.exp(-abs(contrasts[begin]))
            gradient[begin] = -(1.0 if contrasts[begin] > 0.0 else small) / (1.0 + small)
            if with_value:
                total -= max(contrasts[begin], 0.0) + np.log1p(small)
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
            total -= peak + np.log(mass)
    return total


@numba.njit(cache=True, nogil=True)
def measure(first: Integers, contrasts: Floats, gradient: Floats, data: PseudoData) -> None:
    """Pseudo-data whose log density has the gradient and curvature of the choices' at ``contrasts``."""
    for t in range(first.size - 1):
        candidates = first[t + 1] - first[t] + 1
        total = 1.0 + candidates * _LEAST_SHARE
        rest = 1.0
        for row in range(first[t], first[t + 1]):
            data.share[row] = (_LEAST_SHARE - gradient[row]) / total
            rest -= data.share[row]
        data.rest[t] = max(rest, _LEAST_SHARE / total)
    # y = u + V times the gradient.
    spread(first, data, gradient, data.values)
    for row in range(contrasts.size):
        data.values[row] += contrasts[row]


class Seen(NamedTuple):
    """Sums over places that a chain has been at.

    Attributes
    ----------
    contrasts : (N,)
        Of u.
    share : (N,)
        Of p.
    curvature : (T,)
        Of the trace of W, with the chosen candidate's p_0 (1 - p_0) added to it.
    """

    contrasts: Floats
    share: Floats
    curvature: Floats


@numba.njit(cache=True, nogil=True)
def see(first: Integers, contrasts: Floats, seen: Seen) -> None:
    """Add a place."""
    gradient = np.empty(contrasts.size)
    choice_gradient(first, contrasts, gradient, False)
    for t in range(first.size - 1):
        others, curvature = 0.0, 0.0
        for row in range(first[t], first[t + 1]):
            share = -gradient[row]
            seen.contrasts[row] += contrasts[row]
            seen.share[row] += share
            others += share
            curvature += share * (1.0 - share)
        seen.curvature[t] += curvature + others * (1.0 - others)


@numba.njit(cache=True, nogil=True)
def measure_seen(first: Integers, seen: Seen, count: int, data: PseudoData) -> None:
    """Pseudo-data with the mean gradient of ``count`` places, at their mean, and about their mean curvature."""
    gradient = np.empty(data.values.size)
    for t in range(first.size - 1):
        others, curvature = 0.0, 0.0
        for row in range(first[t], first[t + 1]):
            share = seen.share[row] / count
            gradient[row] = -share
            others += share
            curvature += share * (1.0 - share)
        curvature += others * (1.0 - others)
        scale = seen.curvature[t] / count / curvature if curvature > _LEAST_SHARE else 1.0
        for row in range(first[t], first[t + 1]):
            data.share[row] = max(-scale * gradient[row], _LEAST_SHARE)
        data.rest[t] = max(scale * (1.0 - others), _LEAST_SHARE)
    spread(first, data, gradient, data.values)
    for row in range(data.values.size):
        data.values[row] += seen.contrasts[row] / count


@numba.njit(cache=True, nogil=True)
def spread(first: Integers, data: PseudoData, vector: Floats, out: Floats) -> None:
    """out = V vector."""
    for t in range(first.size - 1):
        total = 0.0
        for row in range(first[t], first[t + 1]):
            total += vector[row]
        for row in range(first[t], first[t + 1]):
            out[row] = vector[row] / data.share[row] + total / data.rest[t]


@numba.njit(cache=True, nogil=True)
def spread_noise(first: Integers, data: PseudoData, noise: Floats, common: Floats, out: Floats) -> None:
    """out ~ N(0, V), from standard normal ``noise`` (N,) and ``common`` (T,)."""
    for t in range(first.size - 1):
        shared = common[t] / np.sqrt(data.rest[t])
        for row in range(first[t], first[t + 1]):
            out[row] = noise[row] / np.sqrt(data.share[row]) + shared


@numba.njit(cache=True, nogil=True)
def residual(first: Integers, contrasts: Floats, data: PseudoData, gradient: Floats, with_value: bool) -> float:
    """What the pseudo-data leave over, log π(u) - log N(y; u, V) but for a constant: its ``gradient`` and value."""
    total = choice_gradient(first, contrasts, gradient, with_value)
    for t in range(first.size - 1):
        weighted, whole = 0.0, data.rest[t]
        for row in range(first[t], first[t + 1]):
            weighted += data.share[row] * (data.values[row] - contrasts[row])
            whole += data.share[row]
        weighted /= whole
        for row in range(first[t], first[t + 1]):
            miss = data.values[row] - contrasts[row]
            precise = data.share[row] * (miss - weighted)
            total += 0.5 * miss * precise
            gradient[row] -= precise
    return total


@numba.njit(cache=True, nogil=True)
def log_volume(data: PseudoData) -> float:
    """log det V = -Σ log share - Σ log rest, for shares that add up to one."""
    total = 0.0
    for row in range(data.share.size):
        total -= np.log(data.share[row])
    for t in range(data.rest.size):
        total -= np.log(data.rest[t])
    return total
