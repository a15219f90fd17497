"""The pairwise ranking likelihood of T-REX (Brown et al., 2019), in O(T²) time and O(T) memory."""

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]

# Pairs per product: each factor lies in [1/2, 1], so a product is at least 2^-512.
TILE = 512
# For rewards with a larger range e^R would overflow, and pairs are compared one by one.
MAX_RANGE = 600.0


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def ranking_log_likelihood(reward: Floats, gradient: Floats) -> float:
    """Σ_{t < t'} log σ(R_t' - R_t) of rewards R (T,), and its gradient with respect to R into ``gradient`` (T,).

    For a pair, σ(R_t - R_t') = E_t / (E_t + E_t') with E = e^R: one division and no exponential.
    """
    T = reward.size
    gradient[:] = 0.0
    if T < 2:
        return 0.0
    highest = reward.max()
    if highest - reward.min() > MAX_RANGE:
        return _pair_by_pair(reward, gradient)
    odds = np.exp(reward - highest)
    total = 0.0
    for later in range(1, T):
        later_reward, later_odds, gradient_sum = reward[later], odds[later], 0.0
        for begin in range(0, later, TILE):
            size = min(TILE, later - begin)
            earlier_rewards, earlier_odds = reward[begin : begin + size], odds[begin : begin + size]
            earlier_gradient = gradient[begin : begin + size]
            product = 1.0
            for n in range(size):
                inverse = 1.0 / (earlier_odds[n] + later_odds)
                misorder_probability = earlier_odds[n] * inverse
                gradient_sum += misorder_probability
                earlier_gradient[n] -= misorder_probability
                # log(e^a + e^b) = max(a, b) - log(max(A, B) / (A + B)).
                earlier_is_higher = earlier_rewards[n] > later_reward
                total += later_reward - (earlier_rewards[n] if earlier_is_higher else later_reward)
                product *= (earlier_odds[n] if earlier_is_higher else later_odds) * inverse
            total += np.log(product)
        gradient[later] += gradient_sum
    return total


@numba.njit(cache=True, nogil=True)
def _pair_by_pair(reward: Floats, gradient: Floats) -> float:
    total = 0.0
    for later in range(1, reward.size):
        for earlier in range(later):
            difference = reward[later] - reward[earlier]
            small = np.exp(-abs(difference))
            total += min(difference, 0.0) - np.log1p(small)
            misorder_probability = (small if difference > 0 else 1.0) / (1.0 + small)
            gradient[later] += misorder_probability
            gradient[earlier] -= misorder_probability
    return total
