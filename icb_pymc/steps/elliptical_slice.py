"""Elliptical slice sampling (Murray, Adams and MacKay, 2010), which needs no tuning."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

State = TypeVar("State")


def elliptical_slice(
    at_angle: Callable[[float], tuple[float, State]], log_likelihood: float, rng: np.random.Generator
) -> tuple[float, State]:
    """Draw a state on the ellipse through the current state and a fresh prior draw.

    Parameters
    ----------
    at_angle : callable
        ``at_angle(angle) -> (log_likelihood, state)`` where the state is current cos(angle) + fresh sin(angle), both
        relative to the prior mean.
    log_likelihood : float
        Log-likelihood of the current state, at angle zero.

    Returns
    -------
    angle, state
    """
    level = log_likelihood + np.log(rng.random())
    angle = 2 * np.pi * rng.random()
    low, high = angle - 2 * np.pi, angle
    while True:
        proposed, state = at_angle(angle)
        if proposed > level:
            return angle, state
        # The bracket shrinks towards the current state, which is above the level, so the loop terminates.
        low, high = (angle, high) if angle < 0 else (low, angle)
        angle = low + (high - low) * rng.random()
