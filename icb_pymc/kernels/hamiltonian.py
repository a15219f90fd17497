"""Hamiltonian dynamics of the utility contrasts, with the Gaussian part of the posterior solved exactly.

Pseudo-data y of the contrasts give a Gaussian N(û, S), S = V - V (K + V)^-1 V, that is close to the posterior. What it
does not capture is the residual log-density R(u) = log π(u) - log N(y; u, V). With mass matrix S^-1, (u - û, velocity)
rotate exactly under the Gaussian, and a kick adds S ∇R(u) to the velocity: one filter and smoother pass. The rotations
conserve the Gaussian part of the energy, so only the changes made by kicks have to be summed.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS
from icb_pymc.kernels.pseudo_data import PseudoData, apply_noise_covariance, draw_measurement_noise, log_residual
from icb_pymc.kernels.smoother import SmootherGains, smoother_gains, solve_covariance
from icb_pymc.kernels.state_space import Noise, StateSpace, empty_noise, noise_shapes, path_adjoint, path_from_noise

Floats = NDArray[np.float64]

# States that are not asked for.
NO_STATES = np.empty((0, 0))


class Reference(NamedTuple):
    """The Gaussian under which the dynamics are an exact rotation.

    Attributes
    ----------
    space : StateSpace
    data : PseudoData
    gains : SmootherGains
    contrasts : (N,)
        û, the mean of the contrasts given the pseudo-data.
    noise : Noise
        The mean of the noise given the pseudo-data.
    log_density : float
        log N(y; m, K + V): the evidence of the pseudo-data for the model's hyperparameters.
    """

    space: StateSpace
    data: PseudoData
    gains: SmootherGains
    contrasts: Floats
    noise: Noise
    log_density: float


class Position(NamedTuple):
    """The current position of a chain.

    Attributes
    ----------
    contrasts : (N,)
        u.
    noise : Noise
        The noise that determines u, relative to its mean under the reference.
    log_residual : float
        R(u).
    """

    contrasts: Floats
    noise: Noise
    log_residual: float


class FreshNoise(NamedTuple):
    """Standard normals that a velocity is made from.

    Attributes
    ----------
    path : Noise
        The noise of a path from the prior.
    measurement : (N,)
        The measurement noise of its contrasts.
    common : (T,) or (0,)
        The measurement noise that the contrasts of a decision share; empty if no decision has more than two candidates.
    """

    path: Noise
    measurement: Floats
    common: Floats


# What follows is put together from kernels in Python: numba would compile each kernel again for each function that
# calls it, which takes seconds, and calls from Python take microseconds.


def make_reference(space: StateSpace, data: PseudoData) -> Reference:
    """The prior conditioned on the pseudo-data."""
    gains, noise, mean = smoother_gains(space, data), empty_noise(space), np.empty_like(data.values)
    for part in noise:
        part.fill(0.0)
    path_from_noise(space, noise, 1.0, NO_STATES, mean)
    deviation, multipliers, weighted = data.values - mean, np.empty_like(mean), np.empty_like(mean)
    square = solve_covariance(space, gains, deviation, multipliers)
    path_adjoint(space, multipliers, noise)
    apply_noise_covariance(space.first, data, multipliers, weighted)
    # û = m + K (K + V)^-1 (y - m) = y - V (K + V)^-1 (y - m).
    return Reference(space, data, gains, data.values - weighted, noise, -0.5 * (square + gains.log_determinant))


def path_of(reference: Reference) -> Floats:
    """Means of the states (T, d) given the pseudo-data."""
    space = reference.space
    states = np.empty((len(space.first) - 1, len(space.start_mean)))
    path_from_noise(space, reference.noise, 1.0, states, np.empty(len(space.offset)))
    return states


def fresh_noise(reference: Reference, rng: np.random.Generator) -> FreshNoise:
    """New standard normals."""
    path = Noise(*(rng.standard_normal(shape) for shape in noise_shapes(reference.space)))
    common = len(reference.data.common_variance) if reference.gains.noise_loading.shape[1] else 0
    return FreshNoise(path, rng.standard_normal(len(reference.contrasts)), rng.standard_normal(common))


def _expect_noise(reference: Reference, path: Noise, error: Floats) -> Noise:
    """The mean of the noise given measurements of ``path`` with this error.

    All are relative to their means: y = P path + error, expected = P'(K + V)^-1 y.
    """
    measured, multipliers, expected = np.empty_like(error), np.empty_like(error), empty_noise(reference.space)
    path_from_noise(reference.space, path, 0.0, NO_STATES, measured)
    measured += error
    solve_covariance(reference.space, reference.gains, measured, multipliers)
    path_adjoint(reference.space, multipliers, expected)
    return expected


def _measurement_error(reference: Reference, fresh: FreshNoise) -> Floats:
    error = np.empty_like(reference.contrasts)
    draw_measurement_noise(reference.space.first, reference.data, fresh.measurement, fresh.common, error)
    return error


def draw_centred_noise(reference: Reference, fresh: FreshNoise) -> Noise:
    """Noise relative to its mean, with its covariance under the reference.

    It is the noise of a path from the prior minus its mean given simulated measurements of that path.
    """
    expected = _expect_noise(reference, fresh.path, _measurement_error(reference, fresh))
    return Noise(*(part - mean for part, mean in zip(fresh.path, expected, strict=True)))


def make_position(reference: Reference, noise: Noise) -> Position:
    """The position determined by ``noise`` relative to its mean under the reference."""
    contrasts = np.empty_like(reference.contrasts)
    path_from_noise(reference.space, noise, 0.0, NO_STATES, contrasts)
    contrasts += reference.contrasts
    space, gradient = reference.space, np.empty_like(contrasts)
    value = log_residual(space.first, contrasts, reference.data, gradient, True, space.lapse)
    return Position(contrasts, noise, value)


def hmc_trajectory(
    reference: Reference, start: Position, fresh: FreshNoise, steps: int, path_length: float
) -> tuple[Position, float]:
    """Follow the dynamics for ``path_length`` radians from a fresh velocity, with a kick in the middle of each step.

    Returns
    -------
    proposal : Position
    energy_error : float
        Accept the proposal with probability min(1, exp(-energy_error)).
    """
    space, data, first = reference.space, reference.data, reference.space.first
    # A fresh velocity ~ N(0, S): a path from the prior minus its mean given simulated measurements of it.
    error, measured = _measurement_error(reference, fresh), np.empty_like(reference.contrasts)
    path_from_noise(space, fresh.path, 0.0, NO_STATES, measured)
    measured += error
    multipliers, velocity = np.empty_like(measured), np.empty_like(measured)
    solve_covariance(space, reference.gains, measured, multipliers)
    apply_noise_covariance(first, data, multipliers, velocity)
    velocity -= error
    contrasts, impulse = start.contrasts.copy(), np.zeros_like(measured)
    energy, value = _rotate_and_kick(
        space, data, reference.gains, reference.contrasts, steps, path_length, contrasts, velocity, impulse
    )
    # The noise undergoes the same rotation and the same kicks, all of which take a single smoother pass.
    cosine, sine = np.cos(path_length), np.sin(path_length)
    apply_noise_covariance(first, data, impulse, velocity)
    velocity -= sine * measured
    solve_covariance(space, reference.gains, velocity, multipliers)
    noise = empty_noise(space)
    path_adjoint(space, multipliers, noise)
    for part, position, fresh_part in zip(noise, start.noise, fresh.path, strict=True):
        part += cosine * position
        part += sine * fresh_part
    return Position(contrasts, noise, value), energy - (value - start.log_residual)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _rotate_and_kick(
    space: StateSpace,
    data: PseudoData,
    gains: SmootherGains,
    centre: Floats,
    steps: int,
    path_length: float,
    contrasts: Floats,
    velocity: Floats,
    impulse: Floats,
) -> tuple[float, float]:
    """The steps of a trajectory of the contrasts, in place; adds to ``impulse`` what the kicks displace its end by.

    Returns the change of energy by the kicks, and the log-density of the residual at the end.
    """
    first, rows = space.first, centre.size
    kick, gradient, multipliers = np.empty(rows), np.empty(rows), np.empty(rows)
    step, energy, value = path_length / steps, 0.0, 0.0
    for n in range(steps + 1):
        # A whole step between two kicks, half a step at either end.
        angle = step if 0 < n < steps else 0.5 * step
        cosine, sine = np.cos(angle), np.sin(angle)
        for row in range(rows):
            deviation = contrasts[row] - centre[row]
            contrasts[row] = centre[row] + cosine * deviation + sine * velocity[row]
            velocity[row] = cosine * velocity[row] - sine * deviation
        # Called once for both cases, since numba would compile it for each constant truth value.
        value = log_residual(first, contrasts, data, gradient, n == steps, space.lapse)
        if n < steps:
            # kick = S gradient = V (gradient - (K + V)^-1 V gradient).
            apply_noise_covariance(first, data, gradient, kick)
            solve_covariance(space, gains, kick, multipliers)
            for row in range(rows):
                multipliers[row] = gradient[row] - multipliers[row]
            apply_noise_covariance(first, data, multipliers, kick)
            # By how much this kick displaces the end of the trajectory.
            displacement = step * np.sin(path_length - (n + 0.5) * step)
            for row in range(rows):
                energy += step * gradient[row] * (velocity[row] + 0.5 * step * kick[row])
                impulse[row] += displacement * gradient[row]
                velocity[row] += step * kick[row]
    return energy, value
