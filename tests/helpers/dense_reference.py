"""The reference Gaussian of the engine as dense matrices in the space of the noise."""

from typing import NamedTuple

import numpy as np
from helpers.state_spaces import log_likelihood, noise_covariance, prior, probabilities, random_space

from icb_pymc.kernels.hamiltonian import Reference, make_reference
from icb_pymc.kernels.mode import find_mode


class Dense(NamedTuple):
    """The reference as dense matrices: m, A, V, and the Gaussian N(centre, covariance) of the noise given the data."""

    mean: np.ndarray
    matrix: np.ndarray
    measurement_noise: np.ndarray
    centre: np.ndarray
    covariance: np.ndarray

    @classmethod
    def of(cls, reference: Reference) -> "Dense":
        mean, matrix = prior(reference.space)
        noise = noise_covariance(reference.space.first, reference.data)
        gain = np.linalg.solve(matrix @ matrix.T + noise, matrix).T
        centre = gain @ (reference.data.values - mean)
        return cls(mean, matrix, noise, centre, np.eye(len(gain)) - gain @ matrix)

    def residual(self, reference, noise):
        """R and its gradient in the contrasts, at noise relative to its mean."""
        contrasts = self.mean + self.matrix @ (self.centre + noise)
        weighted_difference = np.linalg.solve(self.measurement_noise, reference.data.values - contrasts)
        value = log_likelihood(reference.space.first, contrasts)
        value += 0.5 * (reference.data.values - contrasts) @ weighted_difference
        return value, -probabilities(reference.space.first, contrasts) - weighted_difference

    def energy(self, reference, noise, velocity):
        squares = [part @ np.linalg.solve(self.covariance, part) for part in (noise, velocity)]
        return 0.5 * sum(squares) - self.residual(reference, noise)[0]

    def leapfrog(self, reference, noise, velocity, steps, path_length):
        """In each step half a rotation, a kick, and half a rotation."""
        step = path_length / steps
        for _ in range(steps):
            noise, velocity = rotated(noise, velocity, step / 2)
            velocity = velocity + step * self.kick(reference, noise)
            noise, velocity = rotated(noise, velocity, step / 2)
        return noise, velocity

    def kick(self, reference, noise):
        return self.covariance @ self.matrix.T @ self.residual(reference, noise)[1]


def rotated(noise, velocity, angle):
    return np.cos(angle) * noise + np.sin(angle) * velocity, np.cos(angle) * velocity - np.sin(angle) * noise


def reference_of(kind, seed=0):
    space = random_space(kind, seed)
    return make_reference(space, find_mode(space).data)
