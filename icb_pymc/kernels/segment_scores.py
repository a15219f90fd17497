"""How well one constant preference explains each segment of a log: the table from which change points are estimated.

Segments consist of whole blocks (sub-trajectories). Entry [i, j] of a table is the score of blocks i to j - 1, or minus
infinity if j <= i.
"""

from collections.abc import Callable, Iterable

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import Contrasts, decision_log_likelihood
from icb_pymc.kernels.weights_metropolis import ContrastColumns, fold_log_likelihood, make_scratch, walk_fold

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NEWTON_STEPS = 100
# Of the proposal that corrects draws from Laplace's Gaussian: its tails must not be thinner than those of the target.
DEGREES_OF_FREEDOM = 5.0


@numba.njit(cache=True, nogil=True)
def posterior_slopes(
    contrasts: Contrasts,
    start: int,
    stop: int,
    mean: Floats,
    precision: Floats,
    weights: Floats,
    gradient: Floats,
    curvature: Floats,
) -> float:
    """-log p(a | w) + (w - m)'P(w - m) / 2 over some decisions, with its gradient (k,) and Hessian (k, k).

    With p_r the probability of the candidate of contrast c_r, a decision adds E[c] to the gradient and Cov[c] to the
    Hessian.
    """
    k = weights.size
    value = 0.0
    for i in range(k):
        gradient[i] = 0.0
        for j in range(k):
            gradient[i] += precision[i, j] * (weights[j] - mean[j])
            curvature[i, j] = precision[i, j]
        value += 0.5 * gradient[i] * (weights[i] - mean[i])
    expected, utility = np.empty(k), np.empty(1)
    for t in range(start, stop):
        first, last = contrasts.first[t], contrasts.first[t + 1]
        if last - first > utility.size:
            utility = np.empty(last - first)
        peak = 0.0
        for r in range(last - first):
            utility[r] = 0.0
            for i in range(k):
                utility[r] += contrasts.values[first + r, i] * weights[i]
            peak = max(peak, utility[r])
        total = np.exp(-peak)
        for r in range(last - first):
            total += np.exp(utility[r] - peak)
        value += peak + np.log(total)
        expected[:] = 0.0
        for r in range(last - first):
            probability = np.exp(utility[r] - peak) / total
            for i in range(k):
                weighted = probability * contrasts.values[first + r, i]
                expected[i] += weighted
                for j in range(i + 1):
                    curvature[i, j] += weighted * contrasts.values[first + r, j]
        for i in range(k):
            gradient[i] += expected[i]
            for j in range(i + 1):
                curvature[i, j] -= expected[i] * expected[j]
    for i in range(k):
        for j in range(i):
            curvature[j, i] = curvature[i, j]
    return value


@numba.njit(cache=True, nogil=True)
def laplace_evidence(
    contrasts: Contrasts,
    start: int,
    stop: int,
    mean: Floats,
    precision: Floats,
    weights: Floats,
    tolerance: float = 1e-12,
) -> float:
    """log ∫ p(a | w) N(w; m, P^-1) dw over some decisions, by Laplace's method; ``weights`` (k,) becomes the mode.

    Newton's method computes the mode, with steps halved until they satisfy Armijo's condition; the problem is convex.
    It stops when another step would change the log-density by less than half the ``tolerance``.
    """
    k = weights.size
    gradient, curvature = np.empty(k), np.empty((k, k))
    trial_gradient, trial_curvature = np.empty(k), np.empty((k, k))
    value = posterior_slopes(contrasts, start, stop, mean, precision, weights, gradient, curvature)
    for _ in range(NEWTON_STEPS):
        newton_step = np.linalg.solve(curvature, gradient)
        decrease = np.sum(newton_step * gradient)
        if decrease < tolerance:
            break
        step_size = 1.0
        while step_size > 1e-6:
            trial = weights - step_size * newton_step
            trial_value = posterior_slopes(
                contrasts, start, stop, mean, precision, trial, trial_gradient, trial_curvature
            )
            if trial_value <= value - 1e-4 * step_size * decrease:
                break
            step_size *= 0.5
        else:
            break
        value = trial_value
        weights[:], gradient[:], curvature[:] = trial, trial_gradient, trial_curvature
    log_determinant = np.linalg.slogdet(precision)[1]
    return -value + 0.5 * (log_determinant - np.linalg.slogdet(curvature)[1])


@numba.njit(cache=True, nogil=True)
def laplace_gaussian(
    contrasts: Contrasts, start: int, stop: int, mean: Floats, precision: Floats
) -> tuple[Floats, Floats]:
    """Mode (k,) and precision (k, k) of the Gaussian around the mode of a preference, given some decisions."""
    weights, gradient, curvature = mean.copy(), np.empty(mean.size), np.empty((mean.size, mean.size))
    laplace_evidence(contrasts, start, stop, mean, precision, weights)
    posterior_slopes(contrasts, start, stop, mean, precision, weights, gradient, curvature)
    return weights, curvature


@numba.njit(cache=True, nogil=True)
def draw_preference(
    contrasts: Contrasts,
    start: int,
    stop: int,
    mean: Floats,
    precision: Floats,
    mode: Floats,
    factor: Floats,
    steps: int,
    rng: np.random.Generator,
) -> Floats:
    """A preference (k,) given some decisions, by independence Metropolis from a t distribution around the mode.

    ``factor`` (k, k) is a square root of the covariance of Laplace's Gaussian. The posterior is skewed where a segment
    is short or its choices are nearly certain; a few ``steps`` correct for that.
    """
    k = mode.size
    current, current_log_ratio = mode, -np.inf
    deviation = np.empty(k)
    for _ in range(steps):
        scale = np.sqrt(DEGREES_OF_FREEDOM / rng.chisquare(DEGREES_OF_FREEDOM))
        noise = scale * rng.standard_normal(k)
        proposal = mode + factor @ noise
        deviation[:] = proposal - mean
        log_target = -0.5 * np.sum(deviation * (precision @ deviation))
        for t in range(start, stop):
            log_target += decision_log_likelihood(contrasts, t, proposal)
        log_proposal = -0.5 * (DEGREES_OF_FREEDOM + k) * np.log1p(np.sum(noise * noise) / DEGREES_OF_FREEDOM)
        log_ratio = log_target - log_proposal
        if np.log(rng.random()) < log_ratio - current_log_ratio:
            current, current_log_ratio = proposal, log_ratio
    return current


@numba.njit(cache=True, nogil=True)
def fill_evidence_row(
    contrasts: Contrasts,
    boundaries: Integers,
    i: int,
    mean: Floats,
    precision: Floats,
    scores: Floats,
    tolerance: float = 1e-12,
) -> None:
    """Replace each NaN in row i of a table (S, S+1), i < j, by the log evidence of blocks i to j - 1."""
    # The mode of a segment is near that of the segment one block shorter.
    weights = mean.copy()
    for j in range(i + 1, boundaries.size):
        if np.isnan(scores[i, j]):
            scores[i, j] = laplace_evidence(
                contrasts, boundaries[i], boundaries[j], mean, precision, weights, tolerance
            )


def evidence_of_segments(
    contrasts: Contrasts,
    boundaries: Integers,
    mean: Floats,
    precision: Floats,
    track: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Floats:
    """Table (S, S+1) of log evidences, given the S+1 ``boundaries`` of the blocks and the Gaussian prior N(m, P^-1).

    ``track`` goes through the rows, and may show how far it is.
    """
    blocks = boundaries.size - 1
    scores = np.full((blocks, blocks + 1), -np.inf)
    for i in track(range(blocks)):
        scores[i, i + 1 :] = np.nan
        fill_evidence_row(contrasts, boundaries, i, mean, precision, scores)
    return scores


@numba.njit(cache=True, nogil=True)
def likelihood_of_segments(
    data: ContrastColumns,
    boundaries: Integers,
    origin: Floats,
    precision: Floats,
    scale: float,
    tune: int,
    draws: int,
    thin: int,
    rng: np.random.Generator,
) -> Floats:
    """Table (S, S+1) of log-likelihoods at the mean of random-walk draws, scaled to unit L1 norm.

    Each walk starts at ``origin`` (k,), the mean of the prior, and makes ``tune`` iterations, then ``draws`` times
    ``thin`` iterations, the last of which is kept each time.
    """
    blocks, k = boundaries.size - 1, origin.size
    scores = np.full((blocks, blocks + 1), -np.inf)
    weights, average, scratch = np.empty(k), np.empty(k), make_scratch(data)
    for i in range(blocks):
        for j in range(i + 1, blocks + 1):
            start, stop = boundaries[i], boundaries[j]
            weights[:] = origin
            average[:] = 0.0
            walk_fold(data, start, stop, origin, precision, scale, tune, rng, weights, scratch)
            for _ in range(draws):
                walk_fold(data, start, stop, origin, precision, scale, thin, rng, weights, scratch)
                average += weights
            average /= np.abs(average).sum()
            scores[i, j] = fold_log_likelihood(data, start, stop, average, scratch)
    return scores
