"""Choices with lapses: π = (1 - lapse) p + lapse / number of candidates, where p is the softmax of the utilities.

With w = (1 - lapse) p_0 / π the probability that the choice was no lapse, log π has gradient -w p (over the candidates
not chosen) and curvature -(w diag(p) - w (2 - w) pp'), which is not negative definite where the choice looks like a
lapse. Both of its approximations here are of the form diag(share) - share share' / (Σ share + rest) of `PseudoData`.
"""

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Added to each share, as a candidate that carries no information would have an infinite variance.
_MIN_SHARE = 1e-8
# Far above the smallest float: its square is one, too.
_SMALL = 1e-150


@numba.njit(cache=True, nogil=True)
def softmax_of_decision(contrasts: Floats, begin: int, end: int, probability: Floats) -> float:
    """The ``probability`` of each candidate that was not chosen; returns that of the chosen one."""
    peak = 0.0
    for row in range(begin, end):
        peak = max(peak, contrasts[row])
    chosen = np.exp(-peak)
    mass = chosen
    for row in range(begin, end):
        probability[row] = np.exp(contrasts[row] - peak)
        mass += probability[row]
    for row in range(begin, end):
        probability[row] /= mass
    return chosen / mass


@numba.njit(cache=True, nogil=True)
def gradient_with_lapses(first: Integers, contrasts: Floats, lapse: float, gradient: Floats) -> float:
    """The ``gradient`` -w p (N,) and the sum of log π."""
    total = 0.0
    for t in range(first.size - 1):
        begin, end = first[t], first[t + 1]
        attentive = (1.0 - lapse) * softmax_of_decision(contrasts, begin, end, gradient)
        probability = attentive + lapse / (end - begin + 1)
        for row in range(begin, end):
            gradient[row] *= -attentive / probability
        total += np.log(probability)
    return total


@numba.njit(cache=True, nogil=True)
def curvature_shares(first: Integers, contrasts: Floats, lapse: float, variance: Floats, common: Floats) -> None:
    """Shares w p with the rest that gives the curvature, or zero where the curvature would be negative.

    ``variance`` (N,) and ``common`` (T,) receive one over the shares and the rests.
    """
    for t in range(first.size - 1):
        begin, end = first[t], first[t + 1]
        chosen = softmax_of_decision(contrasts, begin, end, variance)
        uniform = lapse / (end - begin + 1)
        attentive = (1.0 - lapse) * chosen / ((1.0 - lapse) * chosen + uniform)
        for row in range(begin, end):
            variance[row] = 1.0 / (attentive * variance[row] + _MIN_SHARE)
        # Σ share + rest = w / (2 - w), from which Σ share = w (1 - p_0) is subtracted.
        rest = attentive * (chosen - (1.0 - attentive) / (2.0 - attentive))
        common[t] = 1.0 / (max(rest, 0.0) + _MIN_SHARE)


@numba.njit(cache=True, nogil=True)
def information_shares(first: Integers, contrasts: Floats, lapse: float, variance: Floats, common: Floats) -> None:
    """Shares with the trace of the Fisher information, the mean of the curvature over all choices that can be made.

    It is positive, and about a mode it describes the posterior better than the curvature itself, which depends on
    which choices happened to look like lapses. With m_a = (1 - lapse)² p_a² / π_a the shares are proportional to m,
    which is exact for two candidates, and otherwise right but for products of two differences of m_a / p_a.
    """
    for t in range(first.size - 1):
        begin, end = first[t], first[t + 1]
        uniform = lapse / (end - begin + 1)
        chosen = softmax_of_decision(contrasts, begin, end, variance)
        own, total, square, wanted, squares = 0.0, _SMALL, 0.0, 0.0, 0.0
        for row in range(begin, end + 1):
            # The chosen candidate is the last.
            p = chosen if row == end else variance[row]
            mass = ((1.0 - lapse) * p) ** 2 / ((1.0 - lapse) * p + uniform)
            wanted += mass * (1.0 - 2.0 * p)
            total += mass
            square += mass**2
            squares += p**2
            if row == end:
                own = mass
            else:
                variance[row] = mass
        given = total - square / total
        scale = (wanted + total * squares) / given if given > _MIN_SHARE else 1.0
        for row in range(begin, end):
            variance[row] = 1.0 / (scale * variance[row] + _MIN_SHARE)
        common[t] = 1.0 / (scale * own + _MIN_SHARE)


@numba.njit(cache=True, nogil=True)
def attentive_probabilities(first: Integers, contrasts: Floats, attentive: Floats, uniform: Floats) -> None:
    """How probable each choice is if it is no lapse, into ``attentive`` (T,), and if it is one, into ``uniform``."""
    unused = np.empty(contrasts.size)
    for t in range(first.size - 1):
        attentive[t] = softmax_of_decision(contrasts, first[t], first[t + 1], unused)
        uniform[t] = 1.0 / (first[t + 1] - first[t] + 1)


@numba.njit(cache=True, nogil=True)
def log_likelihood_of_rate(attentive: Floats, uniform: Floats, lapse: float) -> float:
    """The sum of log π over decisions, for one rate of lapses."""
    total, product = 0.0, 1.0
    for t in range(attentive.size):
        probability = (1.0 - lapse) * attentive[t] + lapse * uniform[t]
        # One logarithm is taken for many decisions, unless the product could leave the range of a double.
        if probability < _SMALL:
            total += np.log(probability)
            continue
        product *= probability
        if product < _SMALL:
            total += np.log(product)
            product = 1.0
    return total + np.log(product)
