"""Learning from prediction errors when rewards are known, and its derivatives backwards in time.

All arrays have the decisions of an agent first and the agents second, (N, J, ...): agents learn side by side.
"""

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@numba.njit(cache=True)
def belief_path(start_mean: Floats, gain: Floats, context: Floats, reward: Floats) -> Floats:
    """Means (N, J, k) before each decision: mu_{n+1} = mu_n + g_n (r_n - <mu_n, x_n>).

    Parameters
    ----------
    start_mean : (J, k)
    gain, context : (N, J, k)
    reward : (N, J)
    """
    decisions, agents, k = context.shape
    path = np.empty((decisions, agents, k))
    for j in range(agents):
        for i in range(k):
            path[0, j, i] = start_mean[j, i]
        for n in range(decisions - 1):
            error = reward[n, j]
            for i in range(k):
                error -= path[n, j, i] * context[n, j, i]
            for i in range(k):
                path[n + 1, j, i] = path[n, j, i] + gain[n, j, i] * error
    return path


@numba.njit(cache=True)
def belief_path_pullback(
    gain: Floats, context: Floats, reward: Floats, path: Floats, adjoint: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Derivatives with respect to start_mean, gain, context and reward, given those with respect to the path."""
    decisions, agents, k = context.shape
    to_start, to_gain = np.zeros((agents, k)), np.zeros(gain.shape)
    to_context, to_reward = np.zeros(context.shape), np.zeros(reward.shape)
    for j in range(agents):
        for i in range(k):
            to_start[j, i] = adjoint[decisions - 1, j, i]
        for n in range(decisions - 2, -1, -1):
            error, to_error = reward[n, j], 0.0
            for i in range(k):
                error -= path[n, j, i] * context[n, j, i]
                to_error += to_start[j, i] * gain[n, j, i]
            to_reward[n, j] = to_error
            for i in range(k):
                to_gain[n, j, i] = to_start[j, i] * error
                to_context[n, j, i] = -to_error * path[n, j, i]
                to_start[j, i] += adjoint[n, j, i] - to_error * context[n, j, i]
    return to_start, to_gain, to_context, to_reward


@numba.njit(cache=True)
def kalman_gains(
    start_covariance: Floats, context: Floats, variance: Floats, memory: Floats, drift: Floats
) -> tuple[Floats, Floats]:
    """Gains (N, J, k) of a Kalman filter, and the covariances P_n (N, J, k, k) before each decision.

    Before the reward of a decision beliefs become vaguer, Q = P / memory + drift I; then g = Q x / f with
    f = variance + x'Qx, and P' = Q - g (Qx)'.

    Parameters
    ----------
    start_covariance : (J, k, k)
    context : (N, J, k)
    variance, memory, drift : (J,)
    """
    decisions, agents, k = context.shape
    gain = np.empty((decisions, agents, k))
    path = np.empty((decisions, agents, k, k))
    projected = np.empty(k)
    for j in range(agents):
        path[0, j] = start_covariance[j]
        for n in range(decisions):
            predictive = variance[j]
            for a in range(k):
                projected[a] = drift[j] * context[n, j, a]
                for b in range(k):
                    projected[a] += path[n, j, a, b] * context[n, j, b] / memory[j]
                predictive += projected[a] * context[n, j, a]
            for a in range(k):
                gain[n, j, a] = projected[a] / predictive
            if n + 1 < decisions:
                for a in range(k):
                    for b in range(k):
                        path[n + 1, j, a, b] = path[n, j, a, b] / memory[j] - gain[n, j, a] * projected[b]
                    path[n + 1, j, a, a] += drift[j]
    return gain, path


@numba.njit(cache=True)
def kalman_gains_pullback(
    context: Floats, variance: Floats, memory: Floats, drift: Floats, gain: Floats, path: Floats, adjoint: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Derivatives with respect to start_covariance, context, variance, memory and drift, given those of the gains."""
    decisions, agents, k = context.shape
    to_covariance, to_context = np.zeros((agents, k, k)), np.zeros(context.shape)
    to_variance, to_memory, to_drift = np.zeros(agents), np.zeros(agents), np.zeros(agents)
    projected, to_projected = np.empty(k), np.empty(k)
    widened_to = np.empty((k, k))
    for j in range(agents):
        # Derivatives with respect to P after decision n; no gain depends on that after the last.
        later = to_covariance[j]
        for n in range(decisions - 1, -1, -1):
            predictive = variance[j]
            for a in range(k):
                projected[a] = drift[j] * context[n, j, a]
                for b in range(k):
                    projected[a] += path[n, j, a, b] * context[n, j, b] / memory[j]
                predictive += projected[a] * context[n, j, a]
            # g = v / f and P' = Q - v v' / f with v = Qx, f = variance + x'v.
            to_predictive = 0.0
            for a in range(k):
                to_projected[a] = adjoint[n, j, a] / predictive
                to_predictive -= adjoint[n, j, a] * gain[n, j, a] / predictive
                for b in range(k):
                    to_projected[a] -= (later[a, b] + later[b, a]) * gain[n, j, b]
                    to_predictive += gain[n, j, a] * later[a, b] * gain[n, j, b]
            to_variance[j] += to_predictive
            for a in range(k):
                to_context[n, j, a] += to_predictive * projected[a]
                to_projected[a] += to_predictive * context[n, j, a]
            for a in range(k):
                for b in range(k):
                    widened_to[a, b] = later[a, b] + to_projected[a] * context[n, j, b]
                    widened = path[n, j, a, b] / memory[j] + (drift[j] if a == b else 0.0)
                    to_context[n, j, b] += to_projected[a] * widened
            # Q = P / memory + drift I.
            for a in range(k):
                to_drift[j] += widened_to[a, a]
                for b in range(k):
                    to_memory[j] -= widened_to[a, b] * path[n, j, a, b] / memory[j] ** 2
                    later[a, b] = widened_to[a, b] / memory[j]
    return to_covariance, to_context, to_variance, to_memory, to_drift
