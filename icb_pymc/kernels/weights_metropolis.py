"""Random-walk Metropolis for weights that are constant within a fold of decisions: the sampler of B-IRL in the paper.

A proposal costs one likelihood of all decisions of the fold, Σ log(1 + e^u) for two candidates. That is the log of a
product, so one logarithm does for a whole block, and e^-|u| is a polynomial squared eight times: nothing is called,
and the compiler works on several decisions at once.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS, Contrasts, decision_log_likelihood

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Factors of a block lie in [1, 2], so their product is at most 2^256.
BLOCK = 256


class ContrastColumns(NamedTuple):
    """Contrasts laid out by feature.

    Attributes
    ----------
    contrasts : Contrasts
    columns : (k, N)
        Its values, one feature after the other.
    pairwise : bool
        Whether no decision has more than two candidates.
    """

    contrasts: Contrasts
    columns: Floats
    pairwise: bool


def by_column(contrasts: Contrasts) -> ContrastColumns:
    """Lay contrasts out by feature."""
    pairwise = bool((np.diff(contrasts.first) <= 1).all())
    return ContrastColumns(contrasts, np.ascontiguousarray(contrasts.values.T), pairwise)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def fold_log_likelihood(data: ContrastColumns, start: int, stop: int, weights: Floats, work: Floats) -> float:
    """Σ_t log π(x_t)[a_t] over decisions ``start`` to ``stop - 1`` for weights (k,); ``work`` (BLOCK,) is scratch."""
    total = 0.0
    if not data.pairwise:
        for t in range(start, stop):
            total += decision_log_likelihood(data.contrasts, t, weights)
        return total
    # A decision without alternative has no row, and a log-likelihood of zero.
    last = data.contrasts.first[stop]
    for row in range(data.contrasts.first[start], last, BLOCK):
        size = min(BLOCK, last - row)
        utility = work[:size]
        utility[:] = 0.0
        for i in range(weights.size):
            weight, column = weights[i], data.columns[i, row : row + size]
            for n in range(size):
                utility[n] += weight * column[n]
        product = 1.0
        for n in range(size):
            # log(1 + e^u) = max(u, 0) + log(1 + e^-|u|), and e^-40 is nothing beside 1.
            distance = abs(utility[n])
            total -= 0.5 * (utility[n] + distance)
            x = -distance / 256
            x = x if x > -40 / 256 else -40 / 256
            power = 1.0 + x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x / 720)))))
            # (e^x)^256; the polynomial errs by less than 1e-15 in the end.
            power *= power
            power *= power
            power *= power
            power *= power
            power *= power
            power *= power
            power *= power
            power *= power
            product *= 1.0 + power
        total -= np.log(product)
    return total


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
) -> int:
    """Propose weights + scale N(0, I), ``iterations`` times, for decisions ``start`` to ``stop - 1``.

    ``weights`` (k,) is updated in place. Returns how many proposals were taken.
    """
    work, proposal = np.empty(BLOCK), np.empty(weights.size)
    log_density = fold_log_likelihood(data, start, stop, weights, work) + log_prior(weights, mean, precision)
    accepted = 0
    for _ in range(iterations):
        for i in range(weights.size):
            proposal[i] = weights[i] + scale * rng.standard_normal()
        proposed = fold_log_likelihood(data, start, stop, proposal, work) + log_prior(proposal, mean, precision)
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
    """`walk_fold` for each fold on its own: a posteriori they are independent.

    Parameters
    ----------
    fold_first : (M+1,)
        Decisions of fold j are ``fold_first[j]`` to ``fold_first[j+1] - 1``.
    mean : (M, k)
    weights : (M, k)
        Updated in place.

    Returns
    -------
    float
        The share of proposals taken.
    """
    accepted = 0
    for j in range(weights.shape[0]):
        accepted += walk_fold(
            data, fold_first[j], fold_first[j + 1], mean[j], precision, scale, iterations, rng, weights[j]
        )
    return accepted / (iterations * weights.shape[0])
