"""The beliefs of equation 1 as a linear function of the reward parameter and of the noise of the rewards.

With S_t = Σ_t / σ², the mean of the belief is μ_t = m + S_t (n_t + l_t + G_t (ρ_env - m)): n_t sums the noise of the
rewards that were not observed, each times its context, G_t the squares of their contexts, and l_t what the observed
rewards deviate from the prior mean m.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def belief_of_rewards(
    root: Floats, sigma: float, squares: Floats, learnt: Floats, start_mean: Floats
) -> tuple[Floats, Floats]:
    """μ_t = loading_t (n_t, ρ_env) + offset_t.

    Parameters
    ----------
    root : (T, k, k)
        L_t with L_t L_t' = Σ_t.
    sigma : float
        Standard deviation of a reward.
    squares : (T, k, k)
        G_t.
    learnt : (T, k)
        l_t.
    start_mean : (k,)
        m.

    Returns
    -------
    loading : (T, k, 2k)
        [S_t, S_t G_t].
    offset : (T, k)
        m + S_t (l_t - G_t m).
    """
    T, k = learnt.shape
    loading, offset = np.zeros((T, k, 2 * k)), np.empty((T, k))
    scale = 1.0 / (sigma * sigma)
    for t in range(T):
        for i in range(k):
            offset[t, i] = start_mean[i]
            for j in range(k):
                value = 0.0
                for p in range(k):
                    value += root[t, i, p] * root[t, j, p]
                value *= scale
                loading[t, i, j] = value
                offset[t, i] += value * learnt[t, j]
                for p in range(k):
                    loading[t, i, k + p] += value * squares[t, j, p]
            for j in range(k):
                offset[t, i] -= loading[t, i, k + j] * start_mean[j]
    return loading, offset
