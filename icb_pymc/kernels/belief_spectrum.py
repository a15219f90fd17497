"""The covariances of a learner's beliefs as functions of how sure it was at first: a spectrum instead of a recursion.

Equation 1 gives Σ_t = σ² (A^-1 + G_t)^-1 with A = Σ_1 / σ² and G_t the sum of the products x_s x_s' before t. Where
only the size of A changes, A = c M, one eigendecomposition R'G_tR = Q_t Λ_t Q_t' for each t, with R R' = M, serves all
c and σ:

    Σ_t = σ² U_t diag(c / (1 + c λ_t)) U_t',    U_t = R Q_t.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.joint_diagonalisation import covariance_root
from icb_pymc.kernels.metropolis import REORDER_SUMS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rounding in c and in the covariance stays below this share of its largest entry.
_ROUNDING = 1e-12
# Where c λ is larger, the smallest variances would lose digits beside the largest.
_LARGEST = 1e7


class BeliefSpectrum(NamedTuple):
    """What does not depend on c and σ.

    Attributes
    ----------
    shape : (k, k)
        M.
    axes : (T, k, k)
        U_t.
    information : (T, k)
        λ_t.
    """

    shape: Floats
    axes: Floats
    information: Floats

    def ratio(self, start_covariance: Floats, sigma: float) -> float | None:
        """c, or None where Σ_1 / σ² is no multiple of the shape, or so large a one that digits would be lost."""
        largest = np.argmax(np.abs(self.shape))
        with np.errstate(all="ignore"):
            scaled = start_covariance / (sigma * sigma)
            ratio = float(scaled.flat[largest] / self.shape.flat[largest])
            error = np.abs(scaled - ratio * self.shape).max()
            is_multiple = error <= _ROUNDING * abs(scaled.flat[largest])
        # Of NaN all comparisons are false.
        return ratio if is_multiple and 0 < ratio * self.information[-1, -1] < _LARGEST else None

    def gains(self, ratio: float, context: Floats) -> Floats:
        """Σ_t x_t / (σ² + x_t'Σ_t x_t), (T, k), for contexts (T, k): they do not depend on σ."""
        gain = np.empty_like(context)
        _gains_of_contexts(self.axes, self.information, ratio, context, gain)
        return gain

    def roots(self, ratio: float, sigma: float) -> Floats:
        """L_t (T, k, k) with L_t L_t' = Σ_t."""
        return self.axes * (sigma * np.sqrt(ratio / (1.0 + ratio * self.information)))[:, None, :]

    def last_root(self, ratio: float, sigma: float) -> Floats:
        """L_T alone."""
        return self.axes[-1] * (sigma * np.sqrt(ratio / (1.0 + ratio * self.information[-1])))


def belief_spectrum(start_covariance: Floats, sums: Floats) -> BeliefSpectrum:
    """The spectrum for all multiples of a covariance (k, k), with the sums of products G_t (T, k, k), in O(Tk³)."""
    root = covariance_root(start_covariance)
    information, axes = np.linalg.eigh(root @ sums @ root)
    return BeliefSpectrum(start_covariance, root @ axes, np.maximum(information, 0.0))


def spectrum_of_contexts(start_covariance: Floats, context: Floats) -> BeliefSpectrum:
    """The same for the contexts (T, k) of all rewards."""
    products = context[:-1, :, None] * context[:-1, None, :]
    return belief_spectrum(
        start_covariance, np.concatenate([np.zeros((1, *products.shape[1:])), np.cumsum(products, 0)])
    )


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _gains_of_contexts(axes: Floats, information: Floats, ratio: float, context: Floats, gain: Floats) -> None:
    k, weighted = context.shape[1], np.empty(context.shape[1])
    for t in range(context.shape[0]):
        for j in range(k):
            weighted[j] = 0.0
        for i in range(k):
            for j in range(k):
                weighted[j] += context[t, i] * axes[t, i, j]
        total = 1.0
        for j in range(k):
            variance = ratio / (1.0 + ratio * information[t, j])
            total += weighted[j] * weighted[j] * variance
            weighted[j] *= variance
        for i in range(k):
            product = 0.0
            for j in range(k):
                product += axes[t, i, j] * weighted[j]
            gain[t, i] = product / total


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def sampling_of_rows(
    axes: Floats, information: Floats, ratio: float, sigma: float, first: Integers, rows: Floats, sampling: Floats
) -> None:
    """Fill ``sampling`` (N, k): the rows of decision t, times a root of Σ_t."""
    k = rows.shape[1]
    for t in range(first.size - 1):
        for row in range(first[t], first[t + 1]):
            for j in range(k):
                sampling[row, j] = 0.0
            for i in range(k):
                for j in range(k):
                    sampling[row, j] += rows[row, i] * axes[t, i, j]
            for j in range(k):
                sampling[row, j] *= sigma * np.sqrt(ratio / (1.0 + ratio * information[t, j]))


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def loading_of_rows(
    axes: Floats,
    information: Floats,
    ratio: float,
    sigma: float,
    first: Integers,
    rows: Floats,
    sampling: Floats,
    squares: Floats,
    learnt: Floats,
    start_mean: Floats,
    loading: Floats,
    offset: Floats,
) -> None:
    """Fill ``loading`` (N, 2k) and ``offset`` (N,): the rows of decision t times those of `belief_of_rewards`.

    ``sampling`` (N, k) is what `sampling_of_rows` gives for these rows.
    """
    k, scaled = rows.shape[1], np.empty(rows.shape[1])
    for t in range(first.size - 1):
        for row in range(first[t], first[t + 1]):
            for j in range(k):
                scaled[j] = sampling[row, j] * np.sqrt(ratio / (1.0 + ratio * information[t, j])) / sigma
                loading[row, k + j] = 0.0
            value = 0.0
            for i in range(k):
                product = 0.0
                for j in range(k):
                    product += axes[t, i, j] * scaled[j]
                loading[row, i] = product
                value += rows[row, i] * start_mean[i] + product * learnt[t, i]
                for j in range(k):
                    loading[row, k + j] += product * squares[t, i, j]
            for j in range(k):
                value -= loading[row, k + j] * start_mean[j]
            offset[row] = value
