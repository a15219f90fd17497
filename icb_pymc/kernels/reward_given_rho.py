"""Lemma 1 in O(Tk) per draw: the rewards r_1..r_T given the sampled reward parameters ρ_1..ρ_T.

Given the actions, Σ_t is fixed. Relative to the start mean, with d_t = r_t - <μ_1, x_t>, equation 1 reads

    μ_t = μ_1 + Σ_t s_t / σ²,    s_{t+1} = s_t + d_t x_t,    s_1 = 0,    d_t ~ N(<ρ_env - μ_1, x_t>, σ²),

in which no Σ_1^-1 occurs, and ρ_t ~ N(μ_t, Σ_t). Going backward with J_{T+1} = 0, h_{T+1} = ρ_env - μ_1,

    D_t = σ² + x_t'J_{t+1}x_t,             f_t = J_{t+1}x_t / D_t,
    J_t = Σ_t + J_{t+1} - D_t f_t f_t',    h_t = (ρ_t - μ_1) + h_{t+1} - f_t x_t'h_{t+1},

and going forward d_t given s_t and ρ_{t+1}..ρ_T is N(σ² x_t'h_{t+1} / D_t - f_t's_t, σ⁴ / D_t). Only h
depends on ρ. No belief in the log depends on the last reward: with J_{T+1} = 0 it is drawn from its prior.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.joint_diagonalisation import covariance_root
from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]


class BeliefCovariances(NamedTuple):
    """The part of equation 1 that does not depend on the rewards.

    Attributes
    ----------
    covariance : (T, k, k)
        Σ_t.
    root : (T, k, k)
        L_t with L_t L_t' = Σ_t; not triangular.
    gain : (T-1, k)
        Σ_t x_t / (σ² + x_t'Σ_t x_t), by which the prediction error of r_t is multiplied to update the mean.
    """

    covariance: Floats
    root: Floats
    gain: Floats


class RewardGains(NamedTuple):
    """The part of a draw of the rewards that does not depend on ρ, ρ_env or μ_1.

    Attributes
    ----------
    chosen_context : (T, k)
        x_t[a_t].
    feedback : (T, k)
        f_t.
    message_weight : (T,)
        σ² / D_t.
    deviation : (T,)
        σ² / sqrt(D_t).
    """

    chosen_context: Floats
    feedback: Floats
    message_weight: Floats
    deviation: Floats


def covariance_path(start_covariance: Floats, chosen_context: Floats, sigma: float) -> BeliefCovariances:
    """Σ_1..Σ_T of equation 1 with their roots, in O(Tk²) and without inverses.

    Parameters
    ----------
    start_covariance : (k, k)
        Σ_1, any positive semi-definite matrix.
    chosen_context : (T, k)
        x_t[a_t].
    sigma : float
        Standard deviation of a reward, positive.
    """
    return BeliefCovariances(
        *_covariance_path(start_covariance, covariance_root(start_covariance), chosen_context, sigma)
    )


@numba.njit(cache=True, nogil=True)
def _covariance_path(
    start_covariance: Floats, start_root: Floats, chosen_context: Floats, sigma: float
) -> tuple[Floats, Floats, Floats]:
    T, k = chosen_context.shape
    covariance, root, gain = np.empty((T, k, k)), np.empty((T, k, k)), np.empty((T - 1, k))
    # Loops: assigning whole arrays compiles the broadcasting of any shapes, which takes longer than all the rest.
    for i in range(k):
        for j in range(k):
            covariance[0, i, j], root[0, i, j] = start_covariance[i, j], start_root[i, j]
    loading, cross = np.empty(k), np.empty(k)
    for t in range(T - 1):
        for j in range(k):
            loading[j] = 0.0
        for i in range(k):
            for j in range(k):
                loading[j] += root[t, i, j] * chosen_context[t, i]
        total = sigma * sigma
        for j in range(k):
            total += loading[j] * loading[j]
        for i in range(k):
            product = 0.0
            for j in range(k):
                product += root[t, i, j] * loading[j]
            gain[t, i] = product / total
        # Potter's update of the root: L - γ (L v) v' with v = L'x, S = σ² + v'v and γ = 1 / (S + σ sqrt(S)).
        potter = total / (total + sigma * np.sqrt(total))
        # Joseph's update of the covariance, (I - Kx') Σ (I - Kx')' + σ² K K': the rounding error shrinks with Σ.
        variance = sigma * sigma
        for i in range(k):
            product = 0.0
            for j in range(k):
                product += covariance[t, i, j] * chosen_context[t, j]
            cross[i] = product
            variance += product * chosen_context[t, i]
        for i in range(k):
            for j in range(k):
                root[t + 1, i, j] = root[t, i, j] - potter * gain[t, i] * loading[j]
                covariance[t + 1, i, j] = (
                    covariance[t, i, j]
                    - (gain[t, i] * cross[j] + cross[i] * gain[t, j])
                    + variance * (gain[t, i] * gain[t, j])
                )
    return covariance, root, gain


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def belief_means(gain: Floats, start_mean: Floats, chosen_context: Floats, reward: Floats, out: Floats) -> None:
    """μ_1, and μ_{t+1} = μ_t + gain_t (r_t - <μ_t, x_t>) for each gain, into ``out`` (gains + 1, k), in O(Tk)."""
    k = chosen_context.shape[1]
    for i in range(k):
        out[0, i] = start_mean[i]
    for t in range(len(gain)):
        prediction_error = reward[t]
        for i in range(k):
            prediction_error -= out[t, i] * chosen_context[t, i]
        for i in range(k):
            out[t + 1, i] = out[t, i] + gain[t, i] * prediction_error


@numba.njit(cache=True, nogil=True)
def reward_gains(covariance: Floats, chosen_context: Floats, sigma: float) -> RewardGains:
    """The backward recursion of J_t, from the Σ_t (T, k, k) of `covariance_path`, in O(Tk²)."""
    T, k = chosen_context.shape
    feedback, message_weight, deviation = np.empty((T, k)), np.empty(T), np.empty(T)
    precision = np.zeros((k, k))
    for t in range(T - 1, -1, -1):
        total = sigma * sigma
        for i in range(k):
            product = 0.0
            for j in range(k):
                product += precision[i, j] * chosen_context[t, j]
            feedback[t, i] = product
            total += product * chosen_context[t, i]
        for i in range(k):
            feedback[t, i] /= total
        message_weight[t] = sigma * sigma / total
        deviation[t] = sigma * sigma / np.sqrt(total)
        for i in range(k):
            for j in range(k):
                precision[i, j] += covariance[t, i, j] - total * (feedback[t, i] * feedback[t, j])
    return RewardGains(chosen_context, feedback, message_weight, deviation)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def draw_reward_path(
    gains: RewardGains, start_mean: Floats, rho_env: Floats, rho: Floats, noise: Floats, out: Floats
) -> None:
    """Draw r_1..r_T given ρ (T, k), ρ_env and μ_1 (Lemma 1) into ``out`` (T,).

    The draw is affine in ρ, ρ_env and the standard normal ``noise`` (T,); with zero noise it is the mean μ̃ of
    the lemma. If Σ_1 is singular, ρ_t - μ_1 must lie in its range, as every draw from the beliefs does.
    """
    T, k = rho.shape
    context = gains.chosen_context
    # `out` holds x_t'h_{t+1} in the backward pass and the rewards in the forward pass.
    message = rho_env - start_mean
    for t in range(T - 1, -1, -1):
        projected = 0.0
        for i in range(k):
            projected += context[t, i] * message[i]
        out[t] = projected
        for i in range(k):
            message[i] += rho[t, i] - start_mean[i] - gains.feedback[t, i] * projected

    reward_sum = np.zeros(k)
    for t in range(T):
        excess = gains.message_weight[t] * out[t] + gains.deviation[t] * noise[t]
        expected = 0.0
        for i in range(k):
            excess -= gains.feedback[t, i] * reward_sum[i]
            expected += context[t, i] * start_mean[i]
        for i in range(k):
            reward_sum[i] += excess * context[t, i]
        out[t] = expected + excess
