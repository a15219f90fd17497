"""A small problem with several agents, and the dense covariance of their walks."""

import numpy as np

START, MOVE = np.array([[0.6, 0.2], [0.2, 0.4]]), np.array([[0.3, -0.1], [-0.1, 0.2]])
ELAPSED = np.array([1.0, 0.001, 3.0, 1.0, 0.5, 2.0])
MOMENTS = np.concatenate([[0.0], np.cumsum(ELAPSED)])
# Agent 2 never decides, agent 3 starts late.
DECIDER = np.array([1, 0, 1, 1, 3, 0, 3])


def dense_covariance(decider=DECIDER, elapsed=ELAPSED, start=START, move=MOVE):
    """Cov(deviation_s, deviation_t) = [same agent] (D + M times the time from its first to the earlier decision)."""
    clock = np.concatenate([[0.0], np.cumsum(elapsed)])
    clock = clock - [clock[np.argmax(decider == agent)] for agent in decider]
    same = decider[:, None] == decider
    return np.kron(same, start) + np.kron(same * np.minimum.outer(clock, clock), move)
