"""The pairwise ranking likelihood of T-REX (Brown et al., 2019), in O(T²) time and O(T) memory."""

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]

# Factors lie in [1/2, 1]: the product of a tile is at least 2^-512.
TILE = 512
# Rewards further apart than this overflow as e^R, and are compared pair by pair.
WIDEST = 600.0


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def ranking_log_likelihood(reward: Floats, gradient: Floats) -> float:
    """Σ_{t < t'} log σ(R_t' - R_t) of rewards R (T,), and its gradient by R into ``gradient`` (T,).

    Of a pair, σ(R_t - R_t') = E_t / (E_t + E_t') with E = e^R: one division, no exponential.
    """
    T = reward.size
    gradient[:] = 0.0
    if T < 2:
        return 0.0
    highest = reward.max()
    if highest - reward.min() > WIDEST:
        return _pair_by_pair(reward, gradient)
    odds = np.exp(reward - highest)
    total = 0.0
    for later in range(1, T):
        level, odd, lost = reward[later], odds[later], 0.0
        for begin in range(0, later, TILE):
            size = min(TILE, later - begin)
            levels, others = reward[begin : begin + size], odds[begin : begin + size]
            slopes = gradient[begin : begin + size]
            product = 1.0
            for n in range(size):
                inverse = 1.0 / (others[n] + odd)
                wrong = others[n] * inverse
                lost += wrong
                slopes[n] -= wrong
                # log(e^a + e^b) = max(a, b) - log(max(A, B) / (A + B)).
                above = levels[n] > level
                total += level - (levels[n] if above else level)
                product *= (others[n] if above else odd) * inverse
            total += np.log(product)
        gradient[later] += lost
    return total


@numba.njit(cache=True, nogil=True)
def _pair_by_pair(reward: Floats, gradient: Floats) -> float:
    total = 0.0
    for later in range(1, reward.size):
        for earlier in range(later):
            lead = reward[later] - reward[earlier]
            small = np.exp(-abs(lead))
            total += min(lead, 0.0) - np.log1p(small)
            wrong = (small if lead > 0 else 1.0) / (1.0 + small)
            gradient[later] += wrong
            gradient[earlier] -= wrong
    return total
