"""The Metropolis-Hastings step of Algorithms 1 and 2: ρ_1..ρ_T given beliefs and choices.

Given the beliefs the ρ_t are independent, and the prior P_{β_t} serves as proposal, so that a candidate is
judged by the likelihood of the choice alone. A sweep is three small acts: draw candidates (`draw_around`
where the proposal covariance is the identity, `draw_with_roots` where it changes with t), take the
log-likelihood of each, `choose_between` them. What a candidate is compared against makes the kernel: the
current ρ_t for the exact one, a second fresh draw for the one printed in the paper.
"""

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@numba.njit(cache=True, nogil=True)
def log_choice_probability(
    context: Floats, available: Flags, chosen: int, inverse_temperature: float, rho: Floats
) -> float:
    """log π(x)[a] of equation 2 for one decision: a softmax over the available actions.

    Parameters
    ----------
    context : (A, k)
        x[a], one row per action; rows of unavailable actions are never read.
    available : (A,)
        Which actions could have been chosen.
    chosen : int
        a, one of the available actions.
    inverse_temperature : float
        α.
    rho : (k,)
        ρ.
    """
    # Only contrasts with the chosen action matter; its own is zero, so one action alone gives exactly log 1.
    peak, total = 0.0, 1.0
    for action in range(context.shape[0]):
        if action == chosen or not available[action]:
            continue
        contrast = 0.0
        for i in range(rho.size):
            contrast += (context[action, i] - context[chosen, i]) * rho[i]
        contrast *= inverse_temperature
        if contrast <= peak:
            total += np.exp(contrast - peak)
        else:
            total = total * np.exp(peak - contrast) + 1.0
            peak = contrast
    return -(peak + np.log(total))


@numba.njit(cache=True, nogil=True)
def choice_log_likelihood(
    context: Floats,
    available: Flags,
    chosen: Integers,
    inverse_temperature: float,
    rho: Floats,
    out: Floats,
) -> None:
    """log π(x_t)[a_t] of equation 2 into ``out`` (T,), for contexts (T, A, k) and ρ (T, k)."""
    for t in range(chosen.size):
        out[t] = log_choice_probability(context[t], available[t], chosen[t], inverse_temperature, rho[t])


@numba.njit(cache=True, nogil=True)
def draw_around(center: Floats, rng: np.random.Generator, out: Floats) -> None:
    """Draw ρ_t ~ N(center_t, I) into ``out``: P_β of NB-ICB in shared axes."""
    for t in range(center.shape[0]):
        for i in range(center.shape[1]):
            out[t, i] = center[t, i] + rng.standard_normal()


@numba.njit(cache=True, nogil=True)
def draw_with_roots(center: Floats, roots: Floats, rng: np.random.Generator, out: Floats) -> None:
    """Draw ρ_t ~ N(center_t, L_t L_t') into ``out``, with roots L (T, k, k): P_β of B-ICB."""
    T, k = center.shape
    noise = np.empty(k)
    for t in range(T):
        for i in range(k):
            noise[i] = rng.standard_normal()
        for i in range(k):
            value = center[t, i]
            for j in range(k):
                value += roots[t, i, j] * noise[j]
            out[t, i] = value


@numba.njit(cache=True, nogil=True)
def choose_between(
    proposal: Floats,
    alternative: Floats,
    log_proposal: Floats,
    log_alternative: Floats,
    rng: np.random.Generator,
    out: Floats,
) -> float:
    """Take ρ' with probability min(1, p(a|ρ') / p(a|ρ'')), otherwise ρ'', at each t on its own.

    Parameters
    ----------
    proposal, alternative : (T, k)
        ρ' and ρ''.
    log_proposal, log_alternative : (T,)
        log p(a_t | x_t, ρ) at either, under whatever reward function.
    out : (T, k)
        Receives the choice; may be ``alternative`` itself.

    Returns
    -------
    float
        The share of decisions at which the proposal was taken.
    """
    T, k = proposal.shape
    accepted = 0
    for t in range(T):
        # Written so that a proposal of undefined likelihood is refused, and an impossible state always left.
        accept = log_proposal[t] >= log_alternative[t]
        if not accept:
            accept = rng.random() < np.exp(log_proposal[t] - log_alternative[t])
        accepted += accept
        for i in range(k):
            out[t, i] = proposal[t, i] if accept else alternative[t, i]
    return accepted / T


@numba.njit(cache=True, nogil=True)
def choose_by_softmax(
    proposal: Floats,
    alternative: Floats,
    context: Floats,
    available: Flags,
    chosen: Integers,
    inverse_temperature: float,
    rng: np.random.Generator,
    out: Floats,
) -> float:
    """`choose_between` with the softmax likelihood of equation 2."""
    log_proposal, log_alternative = np.empty(chosen.size), np.empty(chosen.size)
    choice_log_likelihood(context, available, chosen, inverse_temperature, proposal, log_proposal)
    choice_log_likelihood(context, available, chosen, inverse_temperature, alternative, log_alternative)
    return choose_between(proposal, alternative, log_proposal, log_alternative, rng, out)


@numba.njit(cache=True, nogil=True)
def metropolis_sweep(
    rho: Floats,
    belief: Floats,
    context: Floats,
    available: Flags,
    chosen: Integers,
    inverse_temperature: float,
    rng: np.random.Generator,
) -> float:
    """One exact sweep in shared axes: ρ' ~ N(β_t, I) against the current ρ_t, which is updated in place.

    An independence Metropolis kernel, which leaves p(ρ | β, a) invariant. Returns the acceptance rate.
    """
    proposal = np.empty_like(rho)
    draw_around(belief, rng, proposal)
    return choose_by_softmax(proposal, rho, context, available, chosen, inverse_temperature, rng, rho)


@numba.njit(cache=True, nogil=True)
def printed_sweep(
    rho: Floats,
    belief: Floats,
    context: Floats,
    available: Flags,
    chosen: Integers,
    inverse_temperature: float,
    rng: np.random.Generator,
) -> float:
    """One sweep as Algorithm 2 prints it, in shared axes: ρ' and ρ'' both fresh from N(β_t, I).

    ρ_t is forgotten, so p(ρ | β, a) is not left invariant: one comparison of two prior draws falls short of
    the posterior however many sweeps are made. Returns the share of ρ' taken.
    """
    proposal = np.empty_like(rho)
    draw_around(belief, rng, proposal)
    draw_around(belief, rng, rho)
    return choose_by_softmax(proposal, rho, context, available, chosen, inverse_temperature, rng, rho)
