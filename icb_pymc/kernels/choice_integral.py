"""p(a_t | β_t): the probability of a choice with ρ_t integrated out.

The contrasts of decision t are u = m + B ξ, ξ standard normal, and the chosen candidate has probability
E[1 / (1 + Σ exp u)]. With one alternative that is an integral over a line, taken by the trapezoidal rule, which for
integrands like this one converges exponentially: errors of its logarithm are about 1e-6. With more it is an average
over fixed quasi-random points, moved to where the integrand has its peak (importance sampling), with errors of one or
two per cent for a hundred points and a few alternatives.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Half-width of the grid, its widest step, and the step times the spread: that keeps errors near 1e-6.
_REACH, _WIDEST, _STEP = 6.0, 0.8, 1.2
# With a spread beyond this the logistic function is next to a step, and a probit of equal variance serves.
_WIDE = 20.0
_MOST_NODES = 1024
# On the log scale, lest they overflow.
_MOST_ODDS = 600.0
# Steps towards the peak; they need not arrive.
_CLIMBS = 4


@numba.njit(cache=True, nogil=True)
def line_grid(spread: float, weights: Floats, factors: Floats) -> int:
    """Nodes z of the rule for u = m + spread z: weights (normal density times step) and exp(spread z); how many."""
    step = min(_WIDEST, _STEP / spread)
    # Where u is large the integrand is exp(-u): its peak lies at -spread.
    lowest = -_REACH - spread
    nodes = math.ceil((_REACH - lowest) / step) + 1
    # Both grow by factors, so that no node needs an exponential of its own.
    weight = math.exp(-0.5 * lowest * lowest) * step / math.sqrt(2.0 * math.pi)
    ratio, change = math.exp(-lowest * step - 0.5 * step * step), math.exp(-step * step)
    factor, growth = math.exp(spread * lowest), math.exp(spread * step)
    for n in range(nodes):
        weights[n], factors[n] = weight, factor
        weight *= ratio
        ratio *= change
        factor *= growth
    return nodes


@numba.njit(cache=True, nogil=True)
def line_log_probability(mean: float, spread: float, nodes: int, weights: Floats, factors: Floats) -> float:
    """log E[1 / (1 + exp u)], u ~ N(mean, spread²), with the grid of that spread."""
    small = math.exp(-abs(mean))
    at_mean = max(mean, 0.0) + math.log1p(small)
    if spread == 0.0:
        return -at_mean
    if spread > _WIDE:
        tail = 0.5 * math.erfc(mean / math.sqrt(2.0 * (spread * spread + math.pi**2 / 3.0)))
        return math.log(max(tail, 1e-300))
    # Relative to its value at the mean, so that nothing vanishes or overflows.
    total = 0.0
    if mean > 0.0:
        for n in range(nodes):
            total += weights[n] / (small + factors[n])
    else:
        for n in range(nodes):
            total += weights[n] / (1.0 + small * factors[n])
    return math.log(total * (1.0 + small)) - at_mean


@numba.njit(cache=True, nogil=True)
def _spread_factors(stray: Floats, points: Floats, begin: int, end: int, out: Floats) -> None:
    """exp(B ξ) of decision rows begin to end - 1 at all points (Q, rows)."""
    for q in range(points.shape[0]):
        for row in range(begin, end):
            value = 0.0
            for i in range(points.shape[1]):
                value += stray[row, i] * points[q, i]
            out[q, row - begin] = math.exp(value)


@numba.njit(cache=True, nogil=True)
def integrate_choices(
    first: Integers,
    rows: Floats,
    scale: Floats,
    belief: Floats,
    stray: Floats,
    points: Floats,
    log_chosen: Floats,
    others: Floats,
) -> None:
    """Choice probabilities of all decisions under each of n draws.

    Parameters
    ----------
    first, rows : (T+1,), (N, k)
        Contrasts of contexts, as `choice_contrasts` makes them at α = 1.
    scale : (n,)
        α of each draw.
    belief : (n, T, k)
        Mean of ρ_t under each draw.
    stray : (n or 1, N, e)
        Rows of B: once if they are the same for all draws.
    points : (Q, e)
        Standard normal points to average over where a decision has several alternatives.
    log_chosen : (n, T)
        Receives log p(a_t | β_t).
    others : (N,)
        To which odds are added, over draws: probabilities of the candidates not chosen, relative to that of the chosen
        one. Divided by the sum of 1/p(a_t | β_t) they are the probabilities with the choice itself left out.
    """
    T, n, k, e = first.size - 1, belief.shape[0], belief.shape[2], stray.shape[2]
    widest = 1
    for t in range(T):
        widest = max(widest, first[t + 1] - first[t])
    weights, factors = np.empty(_MOST_NODES), np.empty(_MOST_NODES)
    at_points = np.empty((points.shape[0], widest))
    centre, share, peak = np.empty(widest), np.empty(widest), np.empty(e)
    for t in range(T):
        begin, end = first[t], first[t + 1]
        count = end - begin
        spread, nodes = 0.0, 0
        for draw in range(n):
            for row in range(begin, end):
                value = 0.0
                for i in range(k):
                    value += rows[row, i] * belief[draw, t, i]
                centre[row - begin] = scale[draw] * value
            is_new = draw == 0 or stray.shape[0] > 1
            d = draw if stray.shape[0] > 1 else 0
            if count == 0:
                log_chosen[draw, t] = 0.0
            elif count == 1:
                if is_new:
                    square = 0.0
                    for i in range(e):
                        square += stray[d, begin, i] ** 2
                    spread = math.sqrt(square)
                    if 0.0 < spread <= _WIDE:
                        nodes = line_grid(spread, weights, factors)
                value = line_log_probability(centre[0], spread, nodes, weights, factors)
                log_chosen[draw, t] = value
                others[begin] += -math.expm1(value) * math.exp(min(-value, _MOST_ODDS))
            else:
                if is_new:
                    _spread_factors(stray[d], points, begin, end, at_points)
                climb(stray[d], begin, end, centre, share, peak)
                log_chosen[draw, t] = _average(stray[d], begin, end, centre, points, at_points, peak, share)
                for row in range(begin, end):
                    others[row] += share[row - begin] * math.exp(min(-log_chosen[draw, t], _MOST_ODDS))


@numba.njit(cache=True, nogil=True)
def climb(stray: Floats, begin: int, end: int, centre: Floats, share: Floats, peak: Floats) -> None:
    """Near to where -log(1 + Σ exp(centre + B ξ)) - ½ ξ'ξ has its ``peak``, at which ξ = -B'p."""
    count, e = end - begin, peak.size
    peak[:] = 0.0
    for _ in range(_CLIMBS):
        top = 0.0
        for j in range(count):
            value = centre[j]
            for i in range(e):
                value += stray[begin + j, i] * peak[i]
            share[j] = value
            top = max(top, value)
        mass = math.exp(-top)
        for j in range(count):
            share[j] = math.exp(share[j] - top)
            mass += share[j]
        for i in range(e):
            value = 0.0
            for j in range(count):
                value += stray[begin + j, i] * share[j]
            # Half a step each time: whole ones overshoot where the spread is wide.
            peak[i] = 0.5 * (peak[i] - value / mass)


@numba.njit(cache=True, nogil=True)
def _average(
    stray: Floats,
    begin: int,
    end: int,
    centre: Floats,
    points: Floats,
    at_points: Floats,
    peak: Floats,
    share: Floats,
) -> float:
    """log of the mean probability of the chosen candidate over the points, and those of the others into ``share``."""
    count, e, size = end - begin, points.shape[1], points.shape[0]
    top, square = 0.0, 0.0
    for i in range(e):
        square += peak[i] ** 2
    for j in range(count):
        for i in range(e):
            centre[j] += stray[begin + j, i] * peak[i]
        top = max(top, centre[j])
    own = math.exp(-top)
    for j in range(count):
        centre[j] = math.exp(centre[j] - top)
        share[j] = 0.0
    total = 0.0
    for q in range(size):
        mass, tilt = own, 0.0
        for i in range(e):
            tilt -= peak[i] * points[q, i]
        for j in range(count):
            mass += centre[j] * at_points[q, j]
        value = math.exp(tilt) / mass
        total += value
        for j in range(count):
            share[j] += at_points[q, j] * value
    log_chosen = min(math.log(total / size) - top - 0.5 * square, 0.0)
    # All of them together have what the chosen one leaves.
    shares = 0.0
    for j in range(count):
        share[j] *= centre[j]
        shares += share[j]
    for j in range(count):
        share[j] *= -math.expm1(log_chosen) / shares
    return log_chosen
