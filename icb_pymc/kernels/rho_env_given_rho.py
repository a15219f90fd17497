"""ρ_env given ρ_1..ρ_T with the rewards integrated out, without which the Gibbs sampler of B-ICB mixes slowly."""

import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.reward_given_rho import RewardGains, draw_reward_path

Floats = NDArray[np.float64]


def rho_env_precision(gains: RewardGains, sigma: float) -> Floats:
    """The information Λ = X'X/σ² - X'Σ̃X/σ⁴ of ρ about ρ_env, in O(Tk²).

    Column j of Σ̃X/σ² is the mean of Lemma 1 for ρ_env = e_j and μ_1 = ρ_t = 0.
    """
    context = gains.chosen_context
    T, k = context.shape
    no_noise, origin, no_rho = np.zeros(T), np.zeros(k), np.zeros((T, k))
    mean_reward = np.empty((T, k))
    reward = np.empty(T)
    for j in range(k):
        draw_reward_path(gains, origin, np.eye(k)[j], no_rho, no_noise, reward)
        mean_reward[:, j] = reward
    precision = context.T @ (context - mean_reward) / sigma**2
    return (precision + precision.T) / 2


def draw_rho_env(
    gains: RewardGains,
    precision: Floats,
    sigma: float,
    start_mean: Floats,
    rho: Floats,
    prior_mean: Floats,
    prior_precision: Floats,
    noise: Floats,
) -> Floats:
    """Draw ρ_env ~ N(prior) given ρ (T, k), the rewards integrated out, with standard normal ``noise`` (k,).

    The linear term is η = X'd/σ², where d are the mean rewards of Lemma 1 for ρ_env = μ_1, minus <μ_1, x_t>.
    """
    context = gains.chosen_context
    reward = np.empty(len(context))
    draw_reward_path(gains, start_mean, start_mean, rho, np.zeros(len(context)), reward)
    linear = context.T @ (reward - context @ start_mean) / sigma**2 + prior_precision @ (prior_mean - start_mean)
    root = np.linalg.cholesky(prior_precision + precision)
    shift = np.linalg.solve(root, linear)
    return start_mean + np.linalg.solve(root.T, shift + noise)
