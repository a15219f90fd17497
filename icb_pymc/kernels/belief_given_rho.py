"""Lemma 2 in O(Tk): the belief path β_1..β_T given the sampled reward parameters ρ_1..ρ_T.

In shared axes (see `shared_axes`) each coordinate is a scalar random walk observed with unit noise,

    β_t = β_{t-1} + N(0, q_t),    ρ_t = β_t + N(0, 1),    q_t = λ · elapsed_t.

Going backward, the information of ρ_t..ρ_T about β_t is that of one observation m_t of precision J_t:

    J_T = 1,  w_t = J_{t+1} / (1 + q_{t+1} J_{t+1}),  J_t = 1 + w_t,  m_t = (ρ_t + w_t m_{t+1}) / J_t.

Going forward, β_1 is drawn from its prior and m_1, then each β_t from β_{t-1} and m_t. Only m depends on ρ.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.joint_diagonalisation import covariance_root

Floats = NDArray[np.float64]


class PathGains(NamedTuple):
    """The part of a draw of the path that does not depend on ρ.

    Attributes
    ----------
    message_weight : (T-1, k)
        w_t / J_t, the weight of the later message m_{t+1} in m_t.
    gain : (T-1, k)
        q_t J_t / (1 + q_t J_t), the weight of m_t against β_{t-1} in the mean of β_t.
    deviation : (T-1, k)
        sqrt(q_t / (1 + q_t J_t)), the standard deviation of β_t given β_{t-1} and ρ.
    start_gain : (k, k)
        S (S + diag(1/J_1))^-1 with S the start covariance.
    start_root : (k, k)
        A root of the covariance of β_1 given ρ.
    """

    message_weight: Floats
    gain: Floats
    deviation: Floats
    start_gain: Floats
    start_root: Floats


def path_gains(start_covariance: Floats, innovation_variance: Floats, elapsed: Floats) -> PathGains:
    """Gains of the smoother behind Lemma 2; all arguments in shared axes.

    Parameters
    ----------
    start_covariance : (k, k)
        Covariance of β_1, any positive semi-definite matrix.
    innovation_variance : (k,)
        λ, the diagonal of Σ_B.
    elapsed : (T-1,)
        Time from each decision to the next, 1.0 for plain steps.
    """
    message_weight, gain, deviation, precision = _walk_gains(innovation_variance, elapsed)
    # With S = G G' the covariance of β_1 is G (I + G'diag(J_1)G)^-1 G': nothing is subtracted and S is not inverted, so
    # a singular S needs no special case and a very large one loses no digits.
    root = covariance_root(start_covariance)
    information, rotation = np.linalg.eigh(root.T @ (precision[:, None] * root))
    start_root = (root @ rotation) / np.sqrt(1.0 + np.maximum(information, 0.0))
    return PathGains(message_weight, gain, deviation, (start_root @ start_root.T) * precision, start_root)


@numba.njit(cache=True, nogil=True)
def _walk_gains(innovation_variance: Floats, elapsed: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    steps, k = elapsed.size, innovation_variance.size
    message_weight, gain, deviation = np.empty((steps, k)), np.empty((steps, k)), np.empty((steps, k))
    precision = np.ones(k)
    for t in range(steps - 1, -1, -1):
        for i in range(k):
            step_variance = innovation_variance[i] * elapsed[t]
            shrinkage = 1.0 / (1.0 + step_variance * precision[i])
            weight = precision[i] * shrinkage
            gain[t, i] = step_variance * weight
            deviation[t, i] = np.sqrt(step_variance * shrinkage)
            precision[i] = 1.0 + weight
            message_weight[t, i] = weight / precision[i]
    return message_weight, gain, deviation, precision


@numba.njit(cache=True, nogil=True)
def draw_belief_path(gains: PathGains, start_mean: Floats, rho: Floats, noise: Floats, out: Floats) -> None:
    """Draw β_1..β_T given ρ (Lemma 2) into ``out``, all (T, k) and in shared axes.

    The draw is affine in ρ and in the standard normal ``noise``; with zero noise it is the mean μ̃ of the lemma.
    """
    T, k = rho.shape
    # `out` holds the messages m_t in the backward pass and the beliefs in the forward pass.
    out[T - 1] = rho[T - 1]
    for t in range(T - 2, -1, -1):
        for i in range(k):
            out[t, i] = rho[t, i] + gains.message_weight[t, i] * (out[t + 1, i] - rho[t, i])

    residual = out[0] - start_mean
    for i in range(k):
        start = start_mean[i]
        for j in range(k):
            start += gains.start_gain[i, j] * residual[j] + gains.start_root[i, j] * noise[0, j]
        out[0, i] = start
    for t in range(1, T):
        for i in range(k):
            before = out[t - 1, i]
            mean = before + gains.gain[t - 1, i] * (out[t, i] - before)
            out[t, i] = mean + gains.deviation[t - 1, i] * noise[t, i]
