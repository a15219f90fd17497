"""p(a_t | β_t): the probability of a choice with ρ_t integrated out.

The contrasts of decision t are u = m + B ξ, ξ standard normal, and the chosen candidate has probability
E[1 / (1 + Σ exp u)]. With one alternative that is a one-dimensional integral, computed by the trapezoidal rule, which
converges exponentially for integrands like this one: the error of the logarithm is about 1e-6. With more alternatives
it is an average over fixed quasi-random points, shifted to the peak of the integrand (importance sampling), with errors
of one or two per cent for a hundred points and a few alternatives.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Half-width of the grid, its largest step, and the step times the spread: these keep errors near 1e-6.
_HALF_WIDTH, _MAX_STEP, _STEP_TIMES_SPREAD = 6.0, 0.8, 1.2
# With a larger spread the logistic function is close to a step, and a probit of equal variance replaces it.
_LARGE_SPREAD = 20.0
_MAX_NODES = 1024
# Larger odds would overflow.
_MAX_LOG_ODDS = 600.0
# Iterations towards the peak, which only has to be approximate.
_PEAK_STEPS = 4


@numba.njit(cache=True, nogil=True)
def trapezoidal_grid(spread: float, weights: Floats, factors: Floats) -> int:
    """Fill in the weights (normal density times step) and exp(spread z) of nodes z; returns the number of nodes."""
    step = min(_MAX_STEP, _STEP_TIMES_SPREAD / spread)
    # For large u the integrand is like exp(-u), and its peak is at -spread.
    lowest = -_HALF_WIDTH - spread
    nodes = math.ceil((_HALF_WIDTH - lowest) / step) + 1
    # Both are updated by factors, which saves an exponential for each node.
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
def logistic_normal_log_mean(mean: float, spread: float, nodes: int, weights: Floats, factors: Floats) -> float:
    """log E[1 / (1 + exp u)], u ~ N(mean, spread²), on the `trapezoidal_grid` for that spread."""
    small = math.exp(-abs(mean))
    at_mean = max(mean, 0.0) + math.log1p(small)
    if spread == 0.0:
        return -at_mean
    if spread > _LARGE_SPREAD:
        tail = 0.5 * math.erfc(mean / math.sqrt(2.0 * (spread * spread + math.pi**2 / 3.0)))
        return math.log(max(tail, 1e-300))
    # Relative to the value at the mean, to avoid underflow and overflow.
    total = 0.0
    if mean > 0.0:
        for n in range(nodes):
            total += weights[n] / (small + factors[n])
    else:
        for n in range(nodes):
            total += weights[n] / (1.0 + small * factors[n])
    return math.log(total * (1.0 + small)) - at_mean


@numba.njit(cache=True, nogil=True)
def _exponentials_at_points(sampling_loading: Floats, points: Floats, begin: int, end: int, out: Floats) -> None:
    """exp(B ξ) of rows begin to end - 1 at all points, into ``out`` (Q, rows)."""
    for q in range(points.shape[0]):
        for row in range(begin, end):
            value = 0.0
            for i in range(points.shape[1]):
                value += sampling_loading[row, i] * points[q, i]
            out[q, row - begin] = math.exp(value)


@numba.njit(cache=True, nogil=True)
def integrate_choices(
    first: Integers,
    rows: Floats,
    scale: Floats,
    lapse: Floats,
    belief: Floats,
    sampling_loading: Floats,
    points: Floats,
    log_chosen: Floats,
    odds: Floats,
) -> None:
    """Choice probabilities of all decisions under each of n draws.

    Parameters
    ----------
    first, rows : (T+1,), (N, k)
        Contrasts of contexts, from `choice_contrasts` at α = 1.
    scale, lapse : (n,)
        α and the probability of a lapse of each draw.
    belief : (n, T, k)
        Mean of ρ_t under each draw.
    sampling_loading : (n or 1, N, e)
        Rows of B; a single entry if they are the same for all draws.
    points : (Q, e)
        Standard normal points to average over if a decision has several alternatives.
    log_chosen : (n, T)
        Receives log p(a_t | β_t).
    odds : (N,)
        Accumulates, over draws, the probabilities of the candidates not chosen divided by that of the chosen one.
        Divided by the sum of 1/p(a_t | β_t) they are the leave-one-out probabilities.
    """
    T, n, k, e = first.size - 1, belief.shape[0], belief.shape[2], sampling_loading.shape[2]
    most_rows = 1
    for t in range(T):
        most_rows = max(most_rows, first[t + 1] - first[t])
    weights, factors = np.empty(_MAX_NODES), np.empty(_MAX_NODES)
    exponentials = np.empty((points.shape[0], most_rows))
    centre, probability, peak = np.empty(most_rows), np.empty(most_rows), np.empty(e)
    for t in range(T):
        begin, end = first[t], first[t + 1]
        count = end - begin
        spread, last_square, nodes = 0.0, 0.0, 0
        for draw in range(n):
            for row in range(begin, end):
                value = 0.0
                for i in range(k):
                    value += rows[row, i] * belief[draw, t, i]
                centre[row - begin] = scale[draw] * value
            is_new = draw == 0 or sampling_loading.shape[0] > 1
            d = draw if sampling_loading.shape[0] > 1 else 0
            if count == 0:
                log_chosen[draw, t] = 0.0
            elif count == 1:
                if is_new:
                    square = 0.0
                    for i in range(e):
                        square += sampling_loading[d, begin, i] ** 2
                    # Draws in a row often have the same hyperparameters, and then the same nodes.
                    is_other = draw == 0 or square != last_square
                    last_square, spread = square, math.sqrt(square)
                    if is_other and 0.0 < spread <= _LARGE_SPREAD:
                        nodes = trapezoidal_grid(spread, weights, factors)
                value = logistic_normal_log_mean(centre[0], spread, nodes, weights, factors)
                if lapse[draw] > 0.0:
                    value = math.log((1.0 - lapse[draw]) * math.exp(value) + 0.5 * lapse[draw])
                log_chosen[draw, t] = value
                odds[begin] += -math.expm1(value) * math.exp(min(-value, _MAX_LOG_ODDS))
            else:
                if is_new:
                    _exponentials_at_points(sampling_loading[d], points, begin, end, exponentials)
                find_peak(sampling_loading[d], begin, end, centre, probability, peak)
                log_chosen[draw, t] = _importance_average(
                    sampling_loading[d], begin, end, centre, points, exponentials, peak, probability
                )
                if lapse[draw] > 0.0:
                    share = lapse[draw] / (count + 1)
                    value = (1.0 - lapse[draw]) * math.exp(log_chosen[draw, t]) + share
                    log_chosen[draw, t] = math.log(value)
                    for j in range(count):
                        probability[j] = (1.0 - lapse[draw]) * probability[j] + share
                for row in range(begin, end):
                    odds[row] += probability[row - begin] * math.exp(min(-log_chosen[draw, t], _MAX_LOG_ODDS))


@numba.njit(cache=True, nogil=True)
def find_peak(
    sampling_loading: Floats, begin: int, end: int, centre: Floats, probability: Floats, peak: Floats
) -> None:
    """The approximate ``peak`` ξ of -log(1 + Σ exp(centre + B ξ)) - ½ ξ'ξ, which satisfies ξ = -B'p.

    ``probability`` (rows,) is scratch space for p.
    """
    count, e = end - begin, peak.size
    peak[:] = 0.0
    for _ in range(_PEAK_STEPS):
        largest = 0.0
        for j in range(count):
            value = centre[j]
            for i in range(e):
                value += sampling_loading[begin + j, i] * peak[i]
            probability[j] = value
            largest = max(largest, value)
        mass = math.exp(-largest)
        for j in range(count):
            probability[j] = math.exp(probability[j] - largest)
            mass += probability[j]
        for i in range(e):
            value = 0.0
            for j in range(count):
                value += sampling_loading[begin + j, i] * probability[j]
            # Half a fixed-point step each time: full steps overshoot if the spread is large.
            peak[i] = 0.5 * (peak[i] - value / mass)


@numba.njit(cache=True, nogil=True)
def _importance_average(
    sampling_loading: Floats,
    begin: int,
    end: int,
    centre: Floats,
    points: Floats,
    exponentials: Floats,
    peak: Floats,
    probability: Floats,
) -> float:
    """log of the mean probability of the chosen candidate over the points; fills in ``probability`` of the others."""
    count, e, size = end - begin, points.shape[1], points.shape[0]
    largest, square = 0.0, 0.0
    for i in range(e):
        square += peak[i] ** 2
    for j in range(count):
        for i in range(e):
            centre[j] += sampling_loading[begin + j, i] * peak[i]
        largest = max(largest, centre[j])
    chosen = math.exp(-largest)
    for j in range(count):
        centre[j] = math.exp(centre[j] - largest)
        probability[j] = 0.0
    total = 0.0
    for q in range(size):
        mass, log_weight = chosen, 0.0
        for i in range(e):
            log_weight -= peak[i] * points[q, i]
        for j in range(count):
            mass += centre[j] * exponentials[q, j]
        value = math.exp(log_weight) / mass
        total += value
        for j in range(count):
            probability[j] += exponentials[q, j] * value
    log_chosen = min(math.log(total / size) - largest - 0.5 * square, 0.0)
    # Normalised, so that all probabilities sum to one.
    total_probability = 0.0
    for j in range(count):
        probability[j] *= centre[j]
        total_probability += probability[j]
    for j in range(count):
        probability[j] *= -math.expm1(log_chosen) / total_probability
    return log_chosen
