"""Covariances of the states given measurements of the contrasts: the filter's, then the disturbance smoother's.

Before decision t the filter has P_t. The measurements from t on reduce it to P_t - P_t N_t P_t, where N is carried
backwards: N ← cc'/f + (I - g c')'N(I - g c') over a row with loading c, gain g and innovation variance f.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.assumed_density import advance_state, start_state, transform
from icb_pymc.kernels.smoother import SmootherGains
from icb_pymc.kernels.state_space import StateSpace

Floats = NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
def smoothed_covariances(space: StateSpace, gains: SmootherGains, out: Floats) -> None:
    """Covariance of each state given all measurements, into ``out`` (T, d, d)."""
    T, d = space.first.size - 1, space.state_loading.shape[1]
    unused, covariance = start_state(space)
    column, scratch, told = np.empty(d), np.empty(space.left.shape[1]), np.empty(d)
    for t in range(T):
        for i in range(d):
            for j in range(d):
                out[t, i, j] = covariance[i, j]
        for row in range(space.first[t], space.first[t + 1]):
            for i in range(d):
                for j in range(d):
                    change = gains.kalman_gain[row, i] * gains.kalman_gain[row, j] / gains.innovation_precision[row]
                    covariance[i, j] -= change
        if t < T - 1:
            advance_state(space, t, unused, covariance, column, scratch)
    information, product = np.zeros((d, d)), np.empty((d, d))
    for t in range(T - 1, -1, -1):
        if t < T - 1:
            transform(space, t, space.right, space.left, information, column, scratch)
        for row in range(space.first[t + 1] - 1, space.first[t] - 1, -1):
            own = gains.innovation_precision[row]
            for i in range(d):
                told[i] = 0.0
                for j in range(d):
                    told[i] += information[i, j] * gains.kalman_gain[row, j]
            for i in range(d):
                own += gains.kalman_gain[row, i] * told[i]
            loading = gains.state_loading[row]
            for i in range(d):
                for j in range(d):
                    information[i, j] += own * loading[i] * loading[j] - loading[i] * told[j] - told[i] * loading[j]
        for i in range(d):
            for j in range(d):
                product[i, j] = 0.0
                for p in range(d):
                    product[i, j] += out[t, i, p] * information[p, j]
        # P is needed whole until all of P N P has been computed.
        for i in range(d):
            for j in range(d):
                column[j] = 0.0
                for p in range(d):
                    column[j] += product[i, p] * out[t, p, j]
            for j in range(d):
                product[i, j] = column[j]
        for i in range(d):
            for j in range(d):
                out[t, i, j] -= product[i, j]
