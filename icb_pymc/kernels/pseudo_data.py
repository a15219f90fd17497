"""The softmax choice seen as a Gaussian measurement of its utility contrasts.

With p the probabilities of the candidates not chosen and p_0 that of the chosen one, log π = -log(1 + Σ exp u) has
gradient -p and curvature -W, W = diag(p) - pp', whose inverse is V = diag(1/p) + 11'/p_0: as if u were measured as y in
noise of covariance V. Over a posterior the mean of W has about the shape of that at the mean of p, but is smaller:
shares are then less than p, V = diag(1/share) + 11'/rest, and W = diag(share) - share share'/(Σ share + rest).
Two candidates are the common case; for them all of this is a number.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A candidate that is hardly ever taken measures next to nothing; the floor keeps V within what float64 can subtract.
_LEAST_SHARE = 1e-8
# Far below the greatest number, so that it can still be multiplied by any number of candidates.
_MANY = 1e200


class PseudoData(NamedTuple):
    """Measurements y of the contrasts u in noise V_t = diag(width) + 11' common_t.

    Attributes
    ----------
    values : (N,)
        y.
    width : (N,)
        One over the share of each candidate that was not chosen: its probability, or less.
    common : (T,)
        One over the rest: the probability of the chosen one, less by the same factor.
    """

    values: Floats
    width: Floats
    common: Floats


def empty_data(first: Integers) -> PseudoData:
    """Room for measurements."""
    rows = int(first[-1])
    return PseudoData(np.empty(rows), np.empty(rows), np.empty(len(first) - 1))


@numba.njit(cache=True, nogil=True)
def choice_gradient(first: Integers, contrasts: Floats, gradient: Floats, with_value: bool) -> float:
    """The ``gradient`` -p (N,) of Σ_t log π(x_t)[a_t] at contrasts u (N,), and that sum itself if asked for."""
    total, masses = 0.0, 1.0
    for t in range(first.size - 1):
        begin, end = first[t], first[t + 1]
        # One logarithm serves for many decisions.
        if masses > _MANY:
            total -= np.log(masses)
            masses = 1.0
        if end == begin + 1:
            # One exponential is enough for two candidates.
            small = np.exp(-abs(contrasts[begin]))
            gradient[begin] = -(1.0 if contrasts[begin] > 0.0 else small) / (1.0 + small)
            if with_value:
                total -= max(contrasts[begin], 0.0)
                masses *= 1.0 + small
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
            masses *= mass
    return total - np.log(masses)


@numba.njit(cache=True, nogil=True)
def measure(first: Integers, contrasts: Floats, gradient: Floats, data: PseudoData) -> None:
    """Pseudo-data whose log density has the gradient and curvature of the choices' at ``contrasts``."""
    for t in range(first.size - 1):
        candidates = first[t + 1] - first[t] + 1
        total = 1.0 + candidates * _LEAST_SHARE
        rest = 1.0
        for row in range(first[t], first[t + 1]):
            share = (_LEAST_SHARE - gradient[row]) / total
            data.width[row] = 1.0 / share
            rest -= share
        data.common[t] = 1.0 / max(rest, _LEAST_SHARE / total)
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
            data.width[row] = 1.0 / max(-scale * gradient[row], _LEAST_SHARE)
        data.common[t] = 1.0 / max(scale * (1.0 - others), _LEAST_SHARE)
    spread(first, data, gradient, data.values)
    for row in range(data.values.size):
        data.values[row] += seen.contrasts[row] / count


@numba.njit(cache=True, nogil=True)
def spread(first: Integers, data: PseudoData, vector: Floats, out: Floats) -> None:
    """out = V vector."""
    for t in range(first.size - 1):
        begin, end = first[t], first[t + 1]
        if end == begin + 1:
            out[begin] = vector[begin] * (data.width[begin] + data.common[t])
            continue
        total = 0.0
        for row in range(begin, end):
            total += vector[row]
        for row in range(begin, end):
            out[row] = vector[row] * data.width[row] + total * data.common[t]


@numba.njit(cache=True, nogil=True)
def spread_noise(first: Integers, data: PseudoData, noise: Floats, common: Floats, out: Floats) -> None:
    """out ~ N(0, V), from standard normal ``noise`` (N,) and ``common`` (T,), which two candidates do not need."""
    for t in range(first.size - 1):
        if first[t + 1] == first[t] + 1:
            row = first[t]
            out[row] = noise[row] * np.sqrt(data.width[row] + data.common[t])
            continue
        if first[t + 1] == first[t]:
            continue
        shared = common[t] * np.sqrt(data.common[t])
        for row in range(first[t], first[t + 1]):
            out[row] = noise[row] * np.sqrt(data.width[row]) + shared


@numba.njit(cache=True, nogil=True)
def residual(first: Integers, contrasts: Floats, data: PseudoData, gradient: Floats, with_value: bool) -> float:
    """What the pseudo-data leave over, log π(u) - log N(y; u, V) but for a constant: its ``gradient`` and value."""
    total = choice_gradient(first, contrasts, gradient, with_value)
    for t in range(first.size - 1):
        begin, end = first[t], first[t + 1]
        if end == begin + 1:
            miss = data.values[begin] - contrasts[begin]
            precise = miss / (data.width[begin] + data.common[t])
            total += 0.5 * miss * precise
            gradient[begin] -= precise
            continue
        weighted, whole = 0.0, 1.0 / data.common[t]
        for row in range(begin, end):
            share = 1.0 / data.width[row]
            weighted += share * (data.values[row] - contrasts[row])
            whole += share
        weighted /= whole
        for row in range(begin, end):
            miss = data.values[row] - contrasts[row]
            precise = (miss - weighted) / data.width[row]
            total += 0.5 * miss * precise
            gradient[row] -= precise
    return total


@numba.njit(cache=True, nogil=True)
def log_volume(data: PseudoData) -> float:
    """log det V = -Σ log share - Σ log rest, for shares that add up to one."""
    total = 0.0
    for row in range(data.width.size):
        total += np.log(data.width[row])
    for t in range(data.common.size):
        total += np.log(data.common[t])
    return total
