"""The inner loop of Algorithm 1: alternately draw rewards given ρ, and ρ given the beliefs learnt from the rewards."""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS, Contrasts, decision_log_likelihood
from icb_pymc.kernels.reward_given_rho import BeliefCovariances, RewardGains, belief_means, draw_reward_path

Floats = NDArray[np.float64]


class Expectations(NamedTuple):
    """Averages over the sweeps that the gradient of Q needs.

    Attributes
    ----------
    reward : (T,)
        E[r_t].
    strength_slope : float
        E of the derivative of Σ_t log N(ρ_t; μ_t, Σ_t) with respect to s, where Σ_1 = σ²/s I.
    acceptance_rate : float
        Share of the proposals ρ' that were accepted.
    """

    reward: Floats
    strength_slope: float
    acceptance_rate: float


@numba.njit(cache=True, nogil=True)
def sampling_loadings(contrasts: Contrasts, roots: Floats) -> Floats:
    """L_t'c (N, k) for each contrast c of decision t: how the noise of ρ_t enters the contrast."""
    loading = np.zeros(contrasts.values.shape)
    for t in range(roots.shape[0]):
        for row in range(contrasts.first[t], contrasts.first[t + 1]):
            for i in range(roots.shape[1]):
                for j in range(roots.shape[1]):
                    loading[row, j] += roots[t, i, j] * contrasts.values[row, i]
    return loading


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def update_rho(
    contrasts: Contrasts,
    loading: Floats,
    mean: Floats,
    roots: Floats,
    as_printed: bool,
    rng: np.random.Generator,
    rho: Floats,
) -> float:
    """Lines 8 to 12 of Algorithm 1: one Metropolis step for each ρ_t, in place; returns the acceptance rate of ρ'.

    Between two candidates the choice depends on ρ only through the utility contrast c'ρ, a scalar. So only that scalar
    is drawn and compared, and then ρ is drawn given the accepted c'ρ. It has the same distribution and needs half as
    many normals.
    """
    T, k = mean.shape
    noise, proposal = np.empty(k), np.empty(k)
    accepted = 0
    for t in range(T):
        row, rows = contrasts.first[t], contrasts.first[t + 1] - contrasts.first[t]
        if rows == 1:
            expected, square = 0.0, 0.0
            for i in range(k):
                expected += contrasts.values[row, i] * mean[t, i]
                square += loading[row, i] * loading[row, i]
            deviation = np.sqrt(square)
            proposed = expected + deviation * rng.standard_normal()
            if as_printed:
                state = expected + deviation * rng.standard_normal()
            else:
                state = 0.0
                for i in range(k):
                    state += contrasts.values[row, i] * rho[t, i]
            accept = _softplus(state) >= _softplus(proposed)
            if not accept:
                accept = rng.random() < np.exp(_softplus(state) - _softplus(proposed))
            accepted += accept
            if not (accept or as_printed):
                continue
            # Noise that gives the accepted contrast: any noise, shifted along L'c.
            projected = 0.0
            for i in range(k):
                noise[i] = rng.standard_normal()
                projected += loading[row, i] * noise[i]
            if square > 0.0:
                shift = ((proposed if accept else state) - expected - projected) / square
                for i in range(k):
                    noise[i] += shift * loading[row, i]
            _add_correlated_noise(mean[t], roots[t], noise, rho[t])
        else:
            if as_printed:
                for i in range(k):
                    noise[i] = rng.standard_normal()
                _add_correlated_noise(mean[t], roots[t], noise, rho[t])
            for i in range(k):
                noise[i] = rng.standard_normal()
            _add_correlated_noise(mean[t], roots[t], noise, proposal)
            log_ratio = decision_log_likelihood(contrasts, t, proposal) - decision_log_likelihood(contrasts, t, rho[t])
            if log_ratio >= 0.0 or rng.random() < np.exp(log_ratio):
                accepted += 1
                rho[t] = proposal
    return accepted / T


@numba.njit(cache=True, nogil=True)
def _softplus(contrast: float) -> float:
    """log(1 + exp(contrast)): minus the log-probability of the choice."""
    return max(contrast, 0.0) + np.log1p(np.exp(-abs(contrast)))


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _add_correlated_noise(mean: Floats, root: Floats, noise: Floats, out: Floats) -> None:
    """out = mean + root noise."""
    for i in range(mean.size):
        value = mean[i]
        for j in range(mean.size):
            value += root[i, j] * noise[j]
        out[i] = value


@numba.njit(cache=True, nogil=True)
def alternate(
    gains: RewardGains,
    beliefs: BeliefCovariances,
    contrasts: Contrasts,
    start_mean: Floats,
    rho_env: Floats,
    sigma: float,
    as_printed: bool,
    sweeps: int,
    rng: np.random.Generator,
    rho: Floats,
    kept: Floats,
) -> Expectations:
    """Make ``sweeps`` sweeps of lines 7 to 12 of Algorithm 1, starting from ``rho`` (T, k), which is updated in place.

    Parameters
    ----------
    as_printed : bool
        Compare ρ' with a second fresh draw, as printed in the paper, instead of the current ρ_t, which is exact.
    kept : (n, T, k)
        Receives the mean beliefs of the last n sweeps.
    """
    T, k = rho.shape
    reward, mean, reward_noise = np.empty(T), np.empty((T, k)), np.empty(T)
    reward_sum, slope_sum, acceptance_rate = np.zeros(T), 0.0, 0.0
    spread = 0.0
    for t in range(T):
        for i in range(k):
            spread += beliefs.covariance[t, i, i]
    loading = sampling_loadings(contrasts, beliefs.root)
    for sweep in range(sweeps):
        for t in range(T):
            reward_noise[t] = rng.standard_normal()
        draw_reward_path(gains, start_mean, rho_env, rho, reward_noise, reward)
        belief_means(beliefs.gain, start_mean, gains.chosen_context, reward, mean)
        acceptance_rate += update_rho(contrasts, loading, mean, beliefs.root, as_printed, rng, rho)
        # d/ds log N(ρ_t; μ_t, Σ_t) = (tr Σ_t - |ρ_t - μ_t|² + 2 (ρ_t - μ_t)'(μ_1 - μ_t)) / (2σ²), without inverses.
        slope = spread
        for t in range(T):
            reward_sum[t] += reward[t]
            for i in range(k):
                deviation = rho[t, i] - mean[t, i]
                slope += deviation * (2.0 * (start_mean[i] - mean[t, i]) - deviation)
        slope_sum += slope / (2.0 * sigma * sigma)
        position = sweep - (sweeps - kept.shape[0])
        if position >= 0:
            kept[position] = mean
    return Expectations(reward_sum / sweeps, slope_sum / sweeps, acceptance_rate / sweeps)
