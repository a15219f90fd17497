"""A small problem of several agents, and the covariance of their walks by definition."""

import numpy as np

START, MOVE = np.array([[0.6, 0.2], [0.2, 0.4]]), np.array([[0.3, -0.1], [-0.1, 0.2]])
ELAPSED = np.array([1.0, 0.001, 3.0, 1.0, 0.5, 2.0])
# Agent 2 never decides, agent 3 begins late.
DECIDER = np.array([1, 0, 1, 1, 3, 0, 3])


def dense_covariance(decider=DECIDER, elapsed=ELAPSED, start=START, move=MOVE):
    """Cov(shown_s, shown_t) = [same agent] (D + time from its first decision to the earlier of the two M)."""
    clock = np.concatenate([[0.0], np.cumsum(elapsed)])
    clock = clock - [clock[np.argmax(decider == agent)] for agent in decider]
    same = decider[:, None] == decider
    return np.kron(same, start) + np.kron(same * np.minimum.outer(clock, clock), move)
