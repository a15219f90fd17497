"""Moves of the local scales of a shrinkage walk, β_{t+1} = β_t + g_t v_t with scales g_t = base_t λ_t, λ_t ~ C+(1).

The v_t are normal with a covariance that does not depend on t. Three kinds of moves leave the posterior invariant:

- *centred*: λ_t given the innovations d_t = g_t v_t, with an auxiliary variable (Makalic and Schmidt, 2016);
- *noncentred*: Hamiltonian dynamics of log λ with the v_t kept, so that beliefs move along;
- *exchanges* of two innovations together with their scales g, which change the beliefs between the two only: a jump
  moves to another time.

A centred move alone mixes slowly where data say little about an innovation, a noncentred one where they say much.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class ChoiceRows(NamedTuple):
    """Utility contrasts of all decisions as functions of the weights: u = offset + loading · w_t in the rows of t.

    Attributes
    ----------
    first : (T+1,)
        The contrasts of decision t are rows ``first[t]`` to ``first[t+1] - 1``.
    offset, loading : (N,), (N, k)
    """

    first: Integers
    offset: Floats
    loading: Floats


@numba.njit(cache=True, nogil=True, inline="always")
def _log_half_cauchy(log_scale: float) -> float:
    """Log-density of log λ, λ ~ C+(1), without its constant."""
    return -abs(log_scale) - np.log1p(np.exp(-2 * abs(log_scale)))


@numba.njit(cache=True, nogil=True)
def log_half_cauchy(log_scale: Floats) -> float:
    """Σ log-density of log λ_t, λ_t ~ C+(1), without its constant."""
    total = 0.0
    for x in log_scale:
        total += _log_half_cauchy(x)
    return total


@numba.njit(cache=True, nogil=True)
def draw_local_scales(square: Floats, degrees: int, log_local: Floats, rng: np.random.Generator) -> None:
    """The centred move, in place: λ_t given ν_t, after ν_t given λ_t.

    With 1/λ_t² = η_t the half-Cauchy is η_t | ν_t ~ Gamma(1/2, 1/ν_t), ν_t^-1 ~ Gamma(1/2, 1), and d_t contributes
    η_t^{k/2} exp(-η_t c_t).

    Parameters
    ----------
    square : (T-1,)
        2 c_t = |d_t / base_t|² in the metric of the innovations' covariance.
    degrees : int
        k, the rank of that covariance.
    """
    for t in range(log_local.size):
        auxiliary = rng.standard_exponential() / (1.0 + np.exp(-2 * log_local[t]))
        precision = rng.standard_gamma(0.5 * (degrees + 1)) / (auxiliary + 0.5 * square[t])
        log_local[t] = -0.5 * np.log(precision)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _decision_gradient(rows: ChoiceRows, t: int, weights: Floats, gradient: Floats) -> float:
    """log p(a_t | weights) of decision t, and its gradient."""
    k = weights.size
    begin, end = rows.first[t], rows.first[t + 1]
    for i in range(k):
        gradient[i] = 0.0
    # The chosen candidate has contrast zero.
    peak, total = 0.0, 1.0
    for row in range(begin, end):
        contrast = rows.offset[row]
        for i in range(k):
            contrast += rows.loading[row, i] * weights[i]
        if contrast > peak:
            shrink = np.exp(peak - contrast)
            for i in range(k):
                gradient[i] *= shrink
            total, peak = total * shrink, contrast
        odds = np.exp(contrast - peak)
        total += odds
        for i in range(k):
            gradient[i] -= odds * rows.loading[row, i]
    for i in range(k):
        gradient[i] /= total
    return -(peak + np.log(total))


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def decision_log_likelihood(rows: ChoiceRows, t: int, weights: Floats) -> float:
    """log p(a_t | weights) of decision t."""
    peak, total = 0.0, 1.0
    for row in range(rows.first[t], rows.first[t + 1]):
        contrast = rows.offset[row]
        for i in range(weights.size):
            contrast += rows.loading[row, i] * weights[i]
        if contrast <= peak:
            total += np.exp(contrast - peak)
        else:
            total, peak = total * np.exp(peak - contrast) + 1.0, contrast
    return -(peak + np.log(total))


@numba.njit(cache=True, nogil=True)
def add_innovations(anchor: Floats, log_scale: Floats, directions: Floats, weights: Floats) -> None:
    """weights_t = anchor_t + Σ_{s<t} exp(log_scale_s) directions_s, for anchors and weights (T, k)."""
    T, k = anchor.shape
    shift = np.zeros(k)
    for t in range(T):
        for i in range(k):
            weights[t, i] = anchor[t, i] + shift[i]
        if t < T - 1:
            scale = np.exp(log_scale[t])
            for i in range(k):
                shift[i] += scale * directions[t, i]


@numba.njit(cache=True, nogil=True)
def log_scale_gradient(rows: ChoiceRows, anchor: Floats, innovations: Floats, gradient: Floats) -> float:
    """log p(choices) for weights anchor_t + Σ_{s<t} d_s, and its gradient (T-1,) with respect to log g_t."""
    T, k = anchor.shape
    own, weight_gradient, shift = np.empty(k), np.empty((T, k)), np.zeros(k)
    log_likelihood = 0.0
    for t in range(T):
        for i in range(k):
            own[i] = anchor[t, i] + shift[i]
            if t < T - 1:
                shift[i] += innovations[t, i]
        log_likelihood += _decision_gradient(rows, t, own, weight_gradient[t])
    # An innovation moves the weights of all later decisions.
    shift[:] = 0.0
    for t in range(T - 1, 0, -1):
        product = 0.0
        for i in range(k):
            shift[i] += weight_gradient[t, i]
            product += shift[i] * innovations[t - 1, i]
        gradient[t - 1] = product
    return log_likelihood


@numba.njit(cache=True, nogil=True)
def _scale_rows(log_scale: Floats, directions: Floats, out: Floats) -> None:
    """out_t = exp(log_scale_t) directions_t."""
    for t in range(log_scale.size):
        scale = np.exp(log_scale[t])
        for i in range(out.shape[1]):
            out[t, i] = scale * directions[t, i]


@numba.njit(cache=True, nogil=True)
def noncentred_trajectory(
    rows: ChoiceRows,
    anchor: Floats,
    directions: Floats,
    log_base: Floats,
    log_local: Floats,
    momentum: Floats,
    step_size: float,
    steps: int,
) -> tuple[Floats, float]:
    """Leapfrog steps of log λ and its momentum (T-1,) with the directions v_t kept.

    Parameters
    ----------
    anchor : (T, k)
        What the weights would be without innovations.
    directions : (T-1, k)
        v_t.
    log_base, log_local : (T-1,)
        The logarithms of base_t and λ_t.

    Returns
    -------
    log_local : (T-1,)
        The proposal.
    energy_error : float
        Accept it with probability min(1, exp(-energy_error)).
    """
    x, p = log_local.copy(), momentum.copy()
    innovations, gradient = np.empty_like(directions), np.empty_like(x)
    _scale_rows(log_base + x, directions, innovations)
    log_density = log_scale_gradient(rows, anchor, innovations, gradient) + log_half_cauchy(x)
    energy = 0.5 * np.sum(p * p) - log_density
    p += 0.5 * step_size * (gradient - np.tanh(x))
    for n in range(steps):
        x += step_size * p
        _scale_rows(log_base + x, directions, innovations)
        log_density = log_scale_gradient(rows, anchor, innovations, gradient) + log_half_cauchy(x)
        p += (step_size if n < steps - 1 else 0.5 * step_size) * (gradient - np.tanh(x))
    return x, 0.5 * np.sum(p * p) - log_density - energy


@numba.njit(cache=True, nogil=True)
def exchange_innovations(
    rows: ChoiceRows,
    distance: int,
    begin: int,
    stride: int,
    log_base: Floats,
    log_local: Floats,
    innovations: Floats,
    squares: Floats,
    weights: Floats,
    rng: np.random.Generator,
) -> float:
    """Exchange innovations s and s + distance, and their scales g, for s = begin, begin + stride, ..., in place.

    The weights at s+1, ..., s + distance change, and no other; where all base_t are equal, the prior does not.

    Parameters
    ----------
    innovations, squares : (T-1, k), (T-1,)
        d_t, and its square in the metric of the innovations' covariance.
    weights : (T, k)

    Returns
    -------
    float
        The share of proposals that were accepted.
    """
    k, proposals, accepted = weights.shape[1], 0, 0
    moved = np.empty(k)
    for s in range(begin, log_local.size - distance, stride):
        other = s + distance
        shift = log_base[other] - log_base[s]
        new_first, new_second = log_local[other] + shift, log_local[s] - shift
        log_ratio = _log_half_cauchy(new_first) + _log_half_cauchy(new_second)
        log_ratio -= _log_half_cauchy(log_local[s]) + _log_half_cauchy(log_local[other])
        for t in range(s + 1, other + 1):
            for i in range(k):
                moved[i] = weights[t, i] + (innovations[other, i] - innovations[s, i])
            log_ratio += decision_log_likelihood(rows, t, moved) - decision_log_likelihood(rows, t, weights[t])
        proposals += 1
        if np.log(rng.random()) < log_ratio:
            accepted += 1
            log_local[s], log_local[other] = new_first, new_second
            squares[s], squares[other] = squares[other], squares[s]
            for i in range(k):
                difference = innovations[other, i] - innovations[s, i]
                for t in range(s + 1, other + 1):
                    weights[t, i] += difference
                innovations[s, i], innovations[other, i] = innovations[other, i], innovations[s, i]
    return accepted / max(proposals, 1)


@numba.njit(cache=True, nogil=True)
def contrasts_along(rows: ChoiceRows, anchor: Floats, path: Floats, at_anchor: Floats, slope: Floats) -> None:
    """Contrasts at weights anchor + f path are at_anchor + f slope: both (N,), for anchor and path (T, k)."""
    for t in range(anchor.shape[0]):
        for row in range(rows.first[t], rows.first[t + 1]):
            level, change = rows.offset[row], 0.0
            for i in range(anchor.shape[1]):
                level += rows.loading[row, i] * anchor[t, i]
                change += rows.loading[row, i] * path[t, i]
            at_anchor[row], slope[row] = level, change


@numba.njit(cache=True, nogil=True)
def log_likelihood_along(first: Integers, at_anchor: Floats, slope: Floats, factor: float) -> float:
    """log p(choices) at contrasts at_anchor + factor slope."""
    log_likelihood = 0.0
    for t in range(first.size - 1):
        peak, total = 0.0, 1.0
        for row in range(first[t], first[t + 1]):
            contrast = at_anchor[row] + factor * slope[row]
            if contrast <= peak:
                total += np.exp(contrast - peak)
            else:
                total, peak = total * np.exp(peak - contrast) + 1.0, contrast
        log_likelihood -= peak + np.log(total)
    return log_likelihood
