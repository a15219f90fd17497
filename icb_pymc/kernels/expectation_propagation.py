"""p(a_t | a_1, ..., a_{t-1}) by expectation propagation (Minka, 2001) in a window of decisions.

A filter approximates each choice by a Gaussian factor of its contrasts, the site, under which the state has the mean
and covariance that it has given the choice. After a wide start the state is uncertain by more than a choice can tell,
and later choices show that a site was wrong. So the sites of the last decisions are made again, each given all others
up to t. Forecasts are ratios p(a_1, ..., a_t) / p(a_1, ..., a_{t-1}), so they add up to the log evidence.
"""

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.assumed_density import advance_state, contrast_moments, start_state, transform, update_state
from icb_pymc.kernels.choice_moments import weigh_by_choice
from icb_pymc.kernels.choice_sites import apply_site, factorise, invert, make_site
from icb_pymc.kernels.state_space import StateSpace, apply_transition

Floats = NDArray[np.float64]

# Sites are made again in this many decisions at most; older ones stay as they are.
WINDOW = 256
# A pass over the window that changes the log evidence by less than this per decision since the last pass was not worth
# it: twice as many decisions are awaited until the next, up to the longest wait. After a large change there is another
# pass at once.
_SMALL, _LARGE, _PASSES, _LONGEST_WAIT = 2e-3, 0.05, 3, 128
# The square root of the least precision of a contrast given all sites but its own.
_LEAST_PIVOT = 2e-5


class Window(NamedTuple):
    """The last decisions; decision t is in entry t modulo the length W.

    Attributes
    ----------
    mean, covariance : (W, d), (W, d, d)
        Of the state before the choice, given the sites of the choices before it.
    precision, linear, scale : (W, n, n), (W, n), (W,)
        The sites: Λ, h and their logarithmic scale.
    before : (W,)
        Log evidence of all choices before this one.
    """

    mean: Floats
    covariance: Floats
    precision: Floats
    linear: Floats
    scale: Floats
    before: Floats


@numba.njit(cache=True, nogil=True)
def predict_choices(space: StateSpace, points: Floats, log_predictive: Floats) -> None:
    """Compute log p(a_t | a_1, ..., a_{t-1}) into ``log_predictive`` (T,).

    Parameters
    ----------
    points : (Q, n)
        Standard normal points to average over if a decision has several alternatives, at most n.
    """
    T, d = space.first.size - 1, space.state_loading.shape[1]
    n = 1
    for t in range(T):
        n = max(n, space.first[t + 1] - space.first[t])
    W = min(WINDOW, T)
    window = Window(
        np.zeros((W, d)), np.zeros((W, d, d)), np.zeros((W, n, n)), np.zeros((W, n)), np.zeros(W), np.zeros(W)
    )
    mean, covariance = start_state(space)
    centre, tilted_mean, unused = np.empty(n), np.empty(n), np.empty(n)
    root, tilted_covariance, gain = np.empty((n, n)), np.empty((n, n)), np.empty((d, n))
    unused_covariance, column, scratch = np.empty((n, n)), np.empty(d), np.empty(space.left.shape[1])
    log_evidence, forecast, wait, since = 0.0, 0.0, 1, 0
    for t in range(T):
        w, count = t % W, space.first[t + 1] - space.first[t]
        window.before[w] = log_evidence
        _copy(mean, covariance, window.mean[w], window.covariance[w])
        log_predictive[t] = 0.0
        if count > 0:
            contrast_moments(space, t, mean, covariance, centre, root, gain)
            value = weigh_by_choice(count, centre, root, points, tilted_mean, tilted_covariance, space.lapse)
            log_evidence += value
            update_state(count, gain, tilted_mean, tilted_covariance, mean, covariance)
            make_site(count, centre, root, tilted_mean, tilted_covariance, window.precision[w], window.linear[w])
            window.scale[w] = value - apply_site(
                count, centre, root, window.precision[w], window.linear[w], unused, unused_covariance
            )
            since += 1
            if since >= wait:
                change, begin = 0.0, max(0, t - W + 1)
                for _ in range(_PASSES):
                    _make_sites_again(space, begin, t, points, window)
                    refined = _filter_again(space, begin, t, window, mean, covariance)
                    step = abs(refined - log_evidence)
                    log_evidence, change = refined, max(change, step)
                    if step < _LARGE:
                        break
                wait = min(2 * wait, _LONGEST_WAIT) if change < _SMALL * since else max(1, wait // 2)
                since = 0
            # What corrects earlier forecasts must not make this one exceed certainty, or less probable than by a
            # lapse alone: the rest is left to the next.
            log_predictive[t] = min(log_evidence - forecast, 0.0)
            if space.lapse > 0.0:
                log_predictive[t] = max(log_predictive[t], math.log(space.lapse / (count + 1)))
            forecast += log_predictive[t]
        if t < T - 1:
            advance_state(space, t, mean, covariance, column, scratch)


@numba.njit(cache=True, nogil=True)
def _copy(vector: Floats, matrix: Floats, vector_out: Floats, matrix_out: Floats) -> None:
    """Loops, since assigning a whole array would compile the broadcasting of any shapes."""
    for i in range(vector.size):
        vector_out[i] = vector[i]
        for j in range(vector.size):
            matrix_out[i, j] = matrix[i, j]


@numba.njit(cache=True, nogil=True)
def _filter_again(space: StateSpace, begin: int, end: int, window: Window, mean: Floats, covariance: Floats) -> float:
    """Pass over decisions begin to end with their sites; returns the log evidence up to the end.

    ``mean`` and ``covariance`` receive those of the state given all sites.
    """
    W, n, d = window.mean.shape[0], window.linear.shape[1], mean.size
    centre, site_mean, root, site_covariance = np.empty(n), np.empty(n), np.empty((n, n)), np.empty((n, n))
    gain, column, scratch = np.empty((d, n)), np.empty(d), np.empty(space.left.shape[1])
    log_evidence = window.before[begin % W]
    _copy(window.mean[begin % W], window.covariance[begin % W], mean, covariance)
    for t in range(begin, end + 1):
        w, count = t % W, space.first[t + 1] - space.first[t]
        window.before[w] = log_evidence
        _copy(mean, covariance, window.mean[w], window.covariance[w])
        if count > 0:
            contrast_moments(space, t, mean, covariance, centre, root, gain)
            log_evidence += window.scale[w] + apply_site(
                count, centre, root, window.precision[w], window.linear[w], site_mean, site_covariance
            )
            update_state(count, gain, site_mean, site_covariance, mean, covariance)
        if t < end:
            advance_state(space, t, mean, covariance, column, scratch)
    return log_evidence


@numba.njit(cache=True, nogil=True)
def _make_sites_again(space: StateSpace, begin: int, end: int, points: Floats, window: Window) -> None:
    """From the last decision to the first, make each site given all others of the window.

    Under the sites after t the smoothed state is mean + covariance r, with covariance P - P N P (the disturbance
    smoother of Bryson and Frazier); r and N are carried backwards through the sites as they were.
    """
    W, n, d = window.mean.shape[0], window.linear.shape[1], window.mean.shape[1]
    adjoint, information = np.zeros(d), np.zeros((d, d))
    centre, site_mean, root, site_covariance = np.empty(n), np.empty(n), np.empty((n, n)), np.empty((n, n))
    gain, column, scratch = np.empty((d, n)), np.empty(d), np.empty(space.left.shape[1])
    precision, linear = np.empty((n, n)), np.empty(n)
    for t in range(end, begin - 1, -1):
        w, count = t % W, space.first[t + 1] - space.first[t]
        if t < end:
            apply_transition(space.decay, t, space.right, space.left, adjoint, scratch)
            transform(space, t, space.right, space.left, information, column, scratch)
        if count == 0:
            continue
        contrast_moments(space, t, window.mean[w], window.covariance[w], centre, root, gain)
        _copy(window.linear[w], window.precision[w], linear, precision)
        apply_site(count, centre, root, precision, linear, site_mean, site_covariance)
        informed, both = np.zeros((d, count)), np.zeros((count, count))
        for p in range(count):
            for i in range(d):
                for j in range(d):
                    informed[i, p] += information[i, j] * gain[j, p]
        for p in range(count):
            for q in range(count):
                for i in range(d):
                    both[p, q] += gain[i, p] * informed[i, q]
        _make_site_again(
            count, centre, root, points, site_mean, site_covariance, gain, adjoint, both, w, window, space.lapse
        )
        _carry_backwards(
            count, space.state_loading[space.first[t] : space.first[t + 1]], centre, root, precision, linear,
            site_mean, site_covariance, gain, informed, both, adjoint, information,
        )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def _make_site_again(
    count: int, centre: Floats, root: Floats, points: Floats, site_mean: Floats, site_covariance: Floats,
    gain: Floats, adjoint: Floats, both: Floats, w: int, window: Window, lapse: float,
) -> None:  # fmt: skip
    """Make the site of one decision given the others: the smoothed ε without the old site, then with the choice."""
    d = adjoint.size
    told, smoothed, mean = np.zeros(count), np.zeros((count, count)), np.zeros(count)
    inverse, cavity, own = np.zeros((count, count)), np.zeros((count, count)), np.zeros((count, count))
    for p in range(count):
        for i in range(d):
            told[p] += gain[i, p] * adjoint[i]
    for p in range(count):
        mean[p] = site_mean[p]
        for q in range(count):
            mean[p] += site_covariance[p, q] * told[q]
            smoothed[p, q] = site_covariance[p, q]
            for i in range(count):
                for j in range(count):
                    smoothed[p, q] -= site_covariance[p, i] * both[i, j] * site_covariance[j, q]
    # Natural parameters: those of the smoothed ε minus those that the site has added to the standard normal.
    invert(smoothed, count, inverse)
    invert(site_covariance, count, own)
    slope = np.zeros(count)
    for p in range(count):
        for q in range(count):
            slope[p] += inverse[p, q] * mean[q] - own[p, q] * site_mean[q]
    for p in range(count):
        for q in range(count):
            inverse[p, q] -= own[p, q] - (1.0 if p == q else 0.0)
        if not inverse[p, p] > 1e-9:
            return
    cavity_centre, cavity_root, triangle = np.zeros(count), np.zeros((count, count)), np.zeros((count, count))
    # Where the others do not make a Gaussian of their own, the site stays as it is.
    factorise(inverse, count, triangle)
    for p in range(count):
        if not triangle[p, p] > _LEAST_PIVOT:
            return
    invert(inverse, count, cavity)
    factorise(cavity, count, triangle)
    for p in range(count):
        mean[p] = 0.0
        for q in range(count):
            mean[p] += cavity[p, q] * slope[q]
    for p in range(count):
        cavity_centre[p] = centre[p]
        for q in range(p + 1):
            cavity_centre[p] += root[p, q] * mean[q]
            for j in range(q, p + 1):
                cavity_root[p, q] += root[p, j] * triangle[j, q]
        if root[p, p] == 0.0:
            cavity_root[p, p] = 0.0
        if not math.isfinite(cavity_centre[p] + cavity_root[p, p]):
            return
    tilted_mean, tilted_covariance = np.empty(count), np.empty((count, count))
    value = weigh_by_choice(count, cavity_centre, cavity_root, points, tilted_mean, tilted_covariance, lapse)
    make_site(count, cavity_centre, cavity_root, tilted_mean, tilted_covariance, window.precision[w], window.linear[w])
    window.scale[w] = value - apply_site(
        count, cavity_centre, cavity_root, window.precision[w], window.linear[w], tilted_mean, tilted_covariance
    )


@numba.njit(cache=True, nogil=True)
def _carry_backwards(
    count: int, loading: Floats, centre: Floats, root: Floats, precision: Floats, linear: Floats,
    site_mean: Floats, site_covariance: Floats, gain: Floats, informed: Floats, both: Floats,
    adjoint: Floats, information: Floats,
) -> None:  # fmt: skip
    """r and N before a decision from those after it.

    With C the loading and A the covariance of ε under the site, the mean after the site moves with that before it by
    L = I - gain A R'ΛC. So r ← C'(h - Λ(centre + R mean of ε)) + L'r, N ← C'ΛC - (R'ΛC)'A R'ΛC + L'N L.
    """
    d = adjoint.size
    at_site, turned, spread = np.zeros(count), np.zeros((count, d)), np.zeros((count, d))
    for p in range(count):
        at_site[p] = centre[p]
        for q in range(p + 1):
            at_site[p] += root[p, q] * site_mean[q]
    weighted = np.zeros((count, d))
    for p in range(count):
        for q in range(count):
            for i in range(d):
                weighted[p, i] += precision[p, q] * loading[q, i]
    for p in range(count):
        for q in range(p, count):
            for i in range(d):
                turned[p, i] += root[q, p] * weighted[q, i]
    for p in range(count):
        for q in range(count):
            for i in range(d):
                spread[p, i] += site_covariance[p, q] * turned[q, i]
    told = np.zeros(count)
    for p in range(count):
        for i in range(d):
            told[p] += gain[i, p] * adjoint[i]
    for p in range(count):
        slope = linear[p]
        for q in range(count):
            slope -= precision[p, q] * at_site[q]
        for i in range(d):
            adjoint[i] += loading[p, i] * slope - spread[p, i] * told[p]
    for p in range(count):
        for i in range(d):
            through = 0.0
            for q in range(count):
                through += both[p, q] * spread[q, i]
            # Half of the symmetric part, since it is added with its transpose.
            half = 0.5 * (through - turned[p, i]) - informed[i, p]
            for j in range(d):
                information[i, j] += half * spread[p, j]
                information[j, i] += half * spread[p, j]
                information[i, j] += loading[p, i] * weighted[p, j]
