"""Gradient ascent for point estimates."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np


class Optimiser(Protocol):
    """Turns gradients into steps."""

    def step(self, gradient: np.ndarray) -> np.ndarray:
        """The step to take."""


class Adam:
    """Steps by running means of gradients and of their squares (Kingma and Ba, 2015)."""

    def __init__(self, learning_rate: float = 0.001, first: float = 0.9, second: float = 0.999) -> None:
        self.learning_rate, self.first, self.second = learning_rate, first, second
        self.mean: np.ndarray | float = 0.0
        self.square: np.ndarray | float = 0.0
        self.steps = 0

    def step(self, gradient: np.ndarray) -> np.ndarray:
        """The step to take."""
        self.steps += 1
        self.mean = self.first * self.mean + (1 - self.first) * gradient
        self.square = self.second * self.square + (1 - self.second) * gradient**2
        mean, square = self.mean / (1 - self.first**self.steps), self.square / (1 - self.second**self.steps)
        return self.learning_rate * mean / (np.sqrt(square) + 1e-8)


class RMSprop:
    """Gradient ascent with steps scaled by the root of a running mean of squared gradients."""

    def __init__(self, learning_rate: float, discount: float) -> None:
        self.learning_rate, self.discount, self.square = learning_rate, discount, 0.0

    def step(self, gradient: Any) -> Any:
        """The step to take."""
        self.square = self.discount * self.square + (1 - self.discount) * gradient**2
        return self.learning_rate * gradient / (np.sqrt(self.square) + 1e-8)


class Maximum(NamedTuple):
    """The best point visited, its value, the number of steps, and whether the last `patience` did not improve it."""

    point: np.ndarray
    value: float
    steps: int
    has_converged: bool


def maximise(
    value_and_gradient: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    optimiser: Optimiser,
    *,
    max_steps: int,
    patience: int | None = None,
) -> Maximum:
    """Follow the gradient for `max_steps` steps, or until `patience` steps in a row bring no improvement."""
    point = start.copy()
    best, highest, last_gain = point, -np.inf, 0
    for steps in range(max_steps + 1):
        value, gradient = value_and_gradient(point)
        if value > highest:
            best, highest, last_gain = point, value, steps
        if patience is not None and steps - last_gain >= patience:
            return Maximum(best, highest, steps, True)
        if steps < max_steps:
            point = point + optimiser.step(gradient)
    return Maximum(best, highest, max_steps, False)
