"""Random-walk Metropolis for weights that are constant within a fold of decisions: the sampler of B-IRL in the paper.

A proposal costs one likelihood of all decisions of the fold, Σ log(1 + e^u) for two candidates. That is the log of a
product, so one logarithm is enough for a whole block, and e^-|u| is a polynomial squared eight times: no function is
called, and the compiler vectorises over decisions.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS, Contrasts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Decisions per product: each factor lies in [1, 2], so a product is at most 2^256.
BLOCK = 256

# The paper's proposals, 0.005 at alpha = 20 (B-IRL) and 0.05 at alpha = 2 (I-SPI), have the same scale in utilities.
PAPER_SCALE = 0.1


class ContrastColumns(NamedTuple):
    """Contrasts stored by feature.

    Attributes
    ----------
    contrasts : Contrasts
    columns : (k, N)
        Their values, one feature after the other.
    pairwise : bool
        Whether no decision has more than two candidates.
    """

    contrasts: Contrasts
    columns: Floats
    pairwise: bool


def contrast_columns(contrasts: Contrasts) -> ContrastColumns:
    """Store contrasts by feature."""
    pairwise = bool((np.diff(contrasts.first) <= 1).all())
    return ContrastColumns(contrasts, np.ascontiguousarray(contrasts.values.T), pairwise)


@numba.njit(cache=True, nogil=True)
def make_scratch(data: ContrastColumns) -> Floats:
    """Working memory for `fold_log_likelihood`."""
    return np.empty(data.contrasts.values.shape[0] + data.contrasts.first.size)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def fold_log_likelihood(data: ContrastColumns, start: int, stop: int, weights: Floats, scratch: Floats) -> float:
    """Σ_t log π(x_t)[a_t] over decisions ``start`` to ``stop - 1`` for weights (k,), with `make_scratch`."""
    first = data.contrasts.first
    begin, rows = first[start], first[stop] - first[start]
    utility = scratch[:rows]
    utility[:] = 0.0
    for i in range(weights.size):
        weight, column = weights[i], data.columns[i, begin : begin + rows]
        for n in range(rows):
            utility[n] += weight * column[n]
    if data.pairwise:
        return _pairwise_log_likelihood(utility)
    chosen = scratch[rows : rows + stop - start]
    return _multiple_log_likelihood(utility, first[start : stop + 1], chosen)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _pairwise_log_likelihood(utility: Floats) -> float:
    """-Σ log(1 + e^u) = -Σ max(u, 0) - log Π (1 + e^-|u|): a decision without alternatives adds nothing."""
    total = 0.0
    for n in range(utility.size):
        distance = abs(utility[n])
        total -= 0.5 * (utility[n] + distance)
        utility[n] = -distance
    _exponentials(utility)
    for begin in range(0, utility.size, BLOCK):
        block = utility[begin : begin + BLOCK]
        product = 1.0
        for n in range(block.size):
            product *= 1.0 + block[n]
        total -= np.log(product)
    return total


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _multiple_log_likelihood(utility: Floats, first: Integers, chosen: Floats) -> float:
    """-Σ_t log(1 + Σ_a e^u), each sum relative to its largest term."""
    total, row = 0.0, 0
    for t in range(chosen.size):
        peak, end = 0.0, first[t + 1] - first[0]
        for n in range(row, end):
            peak = max(peak, utility[n])
        for n in range(row, end):
            utility[n] -= peak
        chosen[t] = -peak
        total -= peak
        row = end
    _exponentials(utility)
    _exponentials(chosen)
    product, row = 1.0, 0
    for t in range(chosen.size):
        end = first[t + 1] - first[0]
        factor = chosen[t]
        for n in range(row, end):
            factor += utility[n]
        product *= factor
        if product > 1e200:
            total -= np.log(product)
            product = 1.0
        row = end
    return total - np.log(product)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _exponentials(values: Floats) -> None:
    """e^x in place for x <= 0, with an absolute error below 1e-15; e^-40 and less are negligible in sums with 1."""
    for n in range(values.size):
        x = values[n] / 256
        x = x if x > -40 / 256 else -40 / 256
        power = 1.0 + x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x / 720)))))
        power *= power
        power *= power
        power *= power
        power *= power
        power *= power
        power *= power
        power *= power
        power *= power
        values[n] = power


@numba.njit(cache=True, nogil=True)
def log_prior(weights: Floats, mean: Floats, precision: Floats) -> float:
    """-(w - m)'P(w - m) / 2; a precision P of zero is the flat prior."""
    total = 0.0
    for i in range(weights.size):
        row = 0.0
        for j in range(weights.size):
            row += precision[i, j] * (weights[j] - mean[j])
        total -= 0.5 * row * (weights[i] - mean[i])
    return total


@numba.njit(cache=True, nogil=True)
def walk_fold(
    data: ContrastColumns,
    start: int,
    stop: int,
    mean: Floats,
    precision: Floats,
    scale: float,
    iterations: int,
    rng: np.random.Generator,
    weights: Floats,
    scratch: Floats,
) -> int:
    """Propose weights + scale N(0, I), ``iterations`` times, for decisions ``start`` to ``stop - 1``.

    ``weights`` (k,) is updated in place; ``scratch`` is from `make_scratch`. Returns the number of accepted proposals.
    """
    proposal = np.empty(weights.size)
    log_density = fold_log_likelihood(data, start, stop, weights, scratch) + log_prior(weights, mean, precision)
    accepted = 0
    for _ in range(iterations):
        for i in range(weights.size):
            proposal[i] = weights[i] + scale * rng.standard_normal()
        proposed = fold_log_likelihood(data, start, stop, proposal, scratch) + log_prior(proposal, mean, precision)
        if proposed >= log_density or rng.random() < np.exp(proposed - log_density):
            log_density = proposed
            weights[:] = proposal
            accepted += 1
    return accepted


@numba.njit(cache=True, nogil=True)
def walk_folds(
    data: ContrastColumns,
    fold_first: Integers,
    mean: Floats,
    precision: Floats,
    scale: float,
    iterations: int,
    rng: np.random.Generator,
    weights: Floats,
) -> float:
    """`walk_fold` for each fold separately: they are independent under the posterior.

    Parameters
    ----------
    fold_first : (M+1,)
        Decisions of fold j are ``fold_first[j]`` to ``fold_first[j+1] - 1``.
    mean, precision : (M, k), (M, k, k)
    weights : (M, k)
        Updated in place.

    Returns
    -------
    float
        The acceptance rate.
    """
    accepted, scratch = 0, make_scratch(data)
    for j in range(weights.shape[0]):
        fold = (fold_first[j], fold_first[j + 1], mean[j], precision[j])
        accepted += walk_fold(data, *fold, scale, iterations, rng, weights[j], scratch)
    return accepted / (iterations * weights.shape[0])
