"""The Metropolis-Hastings step of Algorithms 1 and 2: ρ_1..ρ_T given beliefs and choices.

Given the beliefs the ρ_t are independent, and the prior P_{β_t} is the proposal distribution, so acceptance depends
only on the likelihood of the choice. The exact kernel compares the proposal with the current ρ_t, the kernel printed in
the paper with a second fresh draw.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Contrasts(NamedTuple):
    """What a softmax choice depends on: α (x_t[a] - x_t[a_t]) for each available a other than a_t.

    Attributes
    ----------
    values : (N, k)
        The contrasts of all decisions, one decision after the other.
    first : (T+1,)
        The contrasts of decision t are rows ``first[t]`` to ``first[t+1] - 1``; none if it had no alternative.
    """

    values: Floats
    first: Integers


def choice_contrasts(context: Floats, available: Flags, chosen: Integers, inverse_temperature: float) -> Contrasts:
    """Contrasts of contexts (T, A, k), given which actions were available (T, A), which was chosen (T,), and α."""
    others = np.array(available, dtype=bool)
    steps = np.arange(len(chosen))
    others[steps, chosen] = False
    difference = inverse_temperature * (context - context[steps, chosen][:, None, :])
    first = np.concatenate([[0], np.cumsum(others.sum(axis=1))])
    return Contrasts(np.ascontiguousarray(difference[others]), first.astype(np.int64))


# The only freedom given to the compiler is to reorder the terms of a sum, so that it can add several at once.
REORDER_SUMS = {"reassoc", "contract"}


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def decision_log_likelihood(contrasts: Contrasts, t: int, rho: Floats) -> float:
    """log π(x_t)[a_t] of equation 2 for decision t and ρ (k,)."""
    # The chosen action itself has contrast zero, so a single available action gives exactly log 1.
    peak, total = 0.0, 1.0
    for row in range(contrasts.first[t], contrasts.first[t + 1]):
        contrast = 0.0
        for i in range(rho.size):
            contrast += contrasts.values[row, i] * rho[i]
        if contrast <= peak:
            total += np.exp(contrast - peak)
        else:
            total = total * np.exp(peak - contrast) + 1.0
            peak = contrast
    return -(peak + np.log(total))


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def choice_log_likelihood(contrasts: Contrasts, rho: Floats, out: Floats) -> None:
    """log π(x_t)[a_t] = -log(1 + Σ exp(contrast · ρ_t)) of equation 2 into ``out`` (T,), for ρ (T, k)."""
    for t in range(rho.shape[0]):
        out[t] = decision_log_likelihood(contrasts, t, rho[t])


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def add_correlated_noise(center: Floats, roots: Floats, noise: Floats, out: Floats) -> None:
    """center_t + L_t noise_t into ``out`` (T, k), with roots L (T, k, k): draws from the beliefs of B-ICB."""
    T, k = center.shape
    for t in range(T):
        for i in range(k):
            value = center[t, i]
            for j in range(k):
                value += roots[t, i, j] * noise[t, j]
            out[t, i] = value


@numba.njit(cache=True, nogil=True)
def metropolis_accept(
    proposal: Floats,
    alternative: Floats,
    log_proposal: Floats,
    log_alternative: Floats,
    uniform: Floats,
    out: Floats,
) -> float:
    """Take ρ' with probability min(1, p(a|ρ') / p(a|ρ'')), otherwise ρ'', separately for each t.

    Parameters
    ----------
    proposal, alternative : (T, k)
        ρ' and ρ''.
    log_proposal, log_alternative : (T,)
        log p(a_t | x_t, ρ) at either, under any reward function; the latter then receives the selected one.
    uniform : (T,)
        Uniform on [0, 1).
    out : (T, k)
        Receives the selected ρ; may be ``alternative`` itself.

    Returns
    -------
    float
        The share of decisions at which the proposal was accepted.
    """
    T, k = proposal.shape
    accepted = 0
    for t in range(T):
        # Written so that a proposal of undefined likelihood is rejected, and an impossible state is always left.
        accept = log_proposal[t] >= log_alternative[t]
        if not accept:
            accept = uniform[t] < np.exp(log_proposal[t] - log_alternative[t])
        accepted += accept
        if accept:
            log_alternative[t] = log_proposal[t]
        for i in range(k):
            out[t, i] = proposal[t, i] if accept else alternative[t, i]
    return accepted / T
