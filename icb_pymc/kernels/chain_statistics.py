"""R-hat and effective sample sizes of many components, each from one sorting of its draws.

The ranks of the draws, those of their distances from the median, and both tails follow from the order of the draws.
Autocovariances are summed lag by lag until Geyer's initial sequence ends, which for draws that are nearly independent
is after a few lags; a sum that has not ended after `MOST_LAGS` is left to a Fourier transform.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Lags to which autocovariances are summed one by one, each of which takes as long as a pass over the draws.
MOST_LAGS = 48
# Columns of the result.
RHAT, SCALE_RHAT, BULK, LOWER_TAIL, UPPER_TAIL, MEAN, COLUMNS = range(7)
# An effective sample size that has not ended after `MOST_LAGS`.
UNFINISHED = -1.0


@numba.njit(cache=True, nogil=True)
def chain_statistics(
    draws: Floats,
    order: Integers,
    quantiles: Floats,
    scores: Floats,
    halves: int,
    constant: float,
    most: float,
    out: Floats,
) -> None:
    """R-hat and effective sample sizes of each row of draws.

    Parameters
    ----------
    draws, order : (m, n)
        For each component the draws of all half chains, one after the other, and the indices that sort them; n is even.
    quantiles : (m, 2)
        The quantiles whose effective sample sizes are those of the tails.
    scores : (2n - 1,)
        Normal scores of the ranks 1, 1.5, 2, ..., n; equal draws share the mean of their ranks.
    halves : int
        Number of half chains.
    constant, most : float
        Draws whose range is less are constant, and known exactly from any of them; the largest effective sample size.
    out : (m, 6)
        Receives R-hat of location and scale, and effective sample sizes: bulk, lower tail, upper tail, mean.
    """
    n = draws.shape[1]
    series, distance, place = np.empty(n), np.empty(n), np.empty(n, np.int64)
    for m in range(draws.shape[0]):
        row, by_size = draws[m], order[m]
        if not (np.isfinite(row[by_size[0]]) and np.isfinite(row[by_size[n - 1]])):
            # Sorting puts what is not a number last.
            out[m] = np.nan
            continue
        # Scores and tails are monotone in the draws, so their extremes are where those of the draws are.
        least, largest = by_size[0], by_size[n - 1]
        score(row, by_size, scores, series)
        out[m, RHAT] = _rhat(series, halves)
        is_constant = series[largest] - series[least] < constant
        out[m, BULK] = n if is_constant else _effective_size(series, halves, most)
        _sort_by_distance(row, by_size, distance, place)
        score(distance, place, scores, series)
        out[m, SCALE_RHAT] = _rhat(series, halves)
        for tail in range(2):
            for i in range(n):
                series[i] = 1.0 if row[i] <= quantiles[m, tail] else 0.0
            is_constant = series[least] == series[largest]
            out[m, LOWER_TAIL + tail] = n if is_constant else _effective_size(series, halves, most)
        is_constant = row[largest] - row[least] < constant
        out[m, MEAN] = n if is_constant else _effective_size(row, halves, most)


@numba.njit(cache=True, nogil=True)
def score(values: Floats, order: Integers, scores: Floats, out: Floats) -> None:
    """out = the scores of the ranks of values, which ``order`` sorts."""
    n, begin = values.size, 0
    while begin < n:
        end = begin
        while end + 1 < n and values[order[end + 1]] == values[order[begin]]:
            end += 1
        for i in range(begin, end + 1):
            out[order[i]] = scores[begin + end]
        begin = end + 1


@numba.njit(cache=True, nogil=True)
def _sort_by_distance(values: Floats, order: Integers, distance: Floats, place: Integers) -> None:
    """distance = |values - median|, and place = the indices that sort it, by merging both sides of the median."""
    n = values.size
    below, above = n // 2 - 1, n // 2
    median = (values[order[below]] + values[order[above]]) / 2
    for i in range(n):
        distance[i] = abs(values[i] - median)
    for i in range(n):
        if above == n or (below >= 0 and distance[order[below]] <= distance[order[above]]):
            place[i] = order[below]
            below -= 1
        else:
            place[i] = order[above]
            above += 1


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _rhat(series: Floats, halves: int) -> float:
    length = series.size // halves
    means, within = np.empty(halves), 0.0
    for h in range(halves):
        part = series[h * length : (h + 1) * length]
        mean = 0.0
        for i in range(length):
            mean += part[i]
        mean /= length
        square = 0.0
        for i in range(length):
            square += (part[i] - mean) * (part[i] - mean)
        means[h], within = mean, within + square / (length - 1)
    within /= halves
    between = length * _variance(means)
    if within == 0.0:
        return np.inf if between > 0.0 else np.nan
    return np.sqrt((between / within + length - 1) / length)


@numba.njit(cache=True, nogil=True)
def _variance(values: Floats) -> float:
    mean, square = 0.0, 0.0
    for i in range(values.size):
        mean += values[i] / values.size
    for i in range(values.size):
        square += (values[i] - mean) ** 2
    return square / (values.size - 1)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _effective_size(series: Floats, halves: int, most: float) -> float:
    """Effective sample size by Geyer's initial monotone sequence, or `UNFINISHED`."""
    n, length = series.size, series.size // halves
    centred, means = np.empty(n), np.empty(halves)
    for h in range(halves):
        part, deviation = series[h * length : (h + 1) * length], centred[h * length : (h + 1) * length]
        mean = 0.0
        for i in range(length):
            mean += part[i]
        mean /= length
        means[h] = mean
        for i in range(length):
            deviation[i] = part[i] - mean
    pairs, total, least, ended = (length - 3) // 2, 0.0, np.inf, 0
    # At lag zero, but not as a constant, for which numba would compile the function again.
    mean_variance = _autocovariance(centred, halves, ended) * length / (length - 1)
    variance = mean_variance * (length - 1) / length + _variance(means)
    while ended < pairs:
        if 2 * ended + 1 > MOST_LAGS:
            return UNFINISHED
        even = 1.0
        if ended > 0:
            even = 1.0 - (mean_variance - _autocovariance(centred, halves, 2 * ended)) / variance
        odd = 1.0 - (mean_variance - _autocovariance(centred, halves, 2 * ended + 1)) / variance
        if not even + odd > 0.0:
            # The pair does not count, except for its first half.
            break
        # A pair never counts more than the pair before.
        least = min(least, even + odd)
        total += least
        ended += 1
    after = 1.0
    if ended > 0:
        after = 1.0 - (mean_variance - _autocovariance(centred, halves, 2 * ended)) / variance
    time = max(-1.0 + 2.0 * total + max(after, 0.0), 1e-12)
    return min(n / time, most)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _autocovariance(centred: Floats, halves: int, lag: int) -> float:
    """Of all half chains together, at one lag."""
    length, total = centred.size // halves, 0.0
    for h in range(halves):
        earlier = centred[h * length : (h + 1) * length - lag]
        later = centred[h * length + lag : (h + 1) * length]
        for i in range(earlier.size):
            total += earlier[i] * later[i]
    return total / centred.size
