"""ρ_env given ρ_1..ρ_T with the rewards integrated out: what makes B-ICB's alternation mix."""

import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.reward_given_rho import RewardGains, draw_reward_path

Floats = NDArray[np.float64]


def environment_precision(gains: RewardGains, sigma: float) -> Floats:
    """Λ = X'X/σ² - X'Σ̃X/σ⁴, in O(Tk²).

    Column j of Σ̃X/σ² is the mean of Lemma 1 for ρ_env = e_j and μ_1 = ρ_t = 0.
    """
    context = gains.chosen_context
    T, k = context.shape
    silence, origin, none = np.zeros(T), np.zeros(k), np.zeros((T, k))
    explained = np.empty((T, k))
    reward = np.empty(T)
    for j in range(k):
        draw_reward_path(gains, origin, np.eye(k)[j], none, silence, reward)
        explained[:, j] = reward
    precision = context.T @ (context - explained) / sigma**2
    return (precision + precision.T) / 2


def draw_environment(
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

    η = X'd/σ², where d are the mean rewards of Lemma 1 for ρ_env = μ_1, measured from <μ_1, x_t>.
    """
    context = gains.chosen_context
    reward = np.empty(len(context))
    draw_reward_path(gains, start_mean, start_mean, rho, np.zeros(len(context)), reward)
    linear = context.T @ (reward - context @ start_mean) / sigma**2 + prior_precision @ (prior_mean - start_mean)
    root = np.linalg.cholesky(prior_precision + precision)
    shift = np.linalg.solve(root, linear)
    return start_mean + np.linalg.solve(root.T, shift + noise)
