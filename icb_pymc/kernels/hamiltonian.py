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


def make_reference(space: StateSpace, data: PseudoData) -> Reference:
    """The prior conditioned on the pseudo-data."""
    gains, noise, contrasts = smoother_gains(space, data), empty_noise(space), np.empty_like(data.values)
    square = _condition_on_data(space, data, gains, contrasts, noise)
    return Reference(space, data, gains, contrasts, noise, -0.5 * (square + gains.log_determinant))


def path_of(reference: Reference) -> Floats:
    """Means of the states (T, d) given the pseudo-data."""
    space = reference.space
    states = np.empty((len(space.first) - 1, len(space.start_mean)))
    path_from_noise(space, reference.noise, 1.0, states, np.empty(len(space.offset)))
    return states


@numba.njit(cache=True, nogil=True)
def _condition_on_data(
    space: StateSpace, data: PseudoData, gains: SmootherGains, contrasts: Floats, noise: Noise
) -> float:
    """Fill the means of `Reference`; returns (y - m)' (K + V)^-1 (y - m)."""
    states, deviation, multipliers = np.empty((0, 0)), np.empty(contrasts.size), np.empty(contrasts.size)
    noise.start[:] = 0.0
    noise.move[:] = 0.0
    noise.sampling[:] = 0.0
    path_from_noise(space, noise, 1.0, states, contrasts)
    for row in range(contrasts.size):
        deviation[row] = data.values[row] - contrasts[row]
    square = solve_covariance(space, gains, deviation, multipliers)
    path_adjoint(space, multipliers, noise)
    # û = m + K (K + V)^-1 (y - m) = y - V (K + V)^-1 (y - m).
    apply_noise_covariance(space.first, data, multipliers, deviation)
    for row in range(contrasts.size):
        contrasts[row] = data.values[row] - deviation[row]
    return square


def fresh_noise(reference: Reference, rng: np.random.Generator) -> FreshNoise:
    """New standard normals."""
    path = Noise(*(rng.standard_normal(shape) for shape in noise_shapes(reference.space)))
    common = len(reference.data.common_variance) if reference.gains.noise_loading.shape[1] else 0
    return FreshNoise(path, rng.standard_normal(len(reference.contrasts)), rng.standard_normal(common))


@numba.njit(cache=True, nogil=True)
def _expect_noise(reference: Reference, path: Noise, error: Floats, expected: Noise, unexplained: Floats) -> None:
    """The mean of the noise given measurements of ``path`` with this error, and what it leaves of the measurements.

    All are relative to their means: y = P path + error, expected = P'(K + V)^-1 y, unexplained = y - P expected.
    """
    rows = error.size
    measured, multipliers = np.empty(rows), np.empty(rows)
    path_from_noise(reference.space, path, 0.0, np.empty((0, 0)), measured)
    for row in range(rows):
        measured[row] += error[row]
    solve_covariance(reference.space, reference.gains, measured, multipliers)
    path_adjoint(reference.space, multipliers, expected)
    apply_noise_covariance(reference.space.first, reference.data, multipliers, unexplained)


def draw_centred_noise(reference: Reference, fresh: FreshNoise) -> Noise:
    """Noise relative to its mean, with its covariance under the reference.

    It is the noise of a path from the prior minus its mean given simulated measurements of that path.
    """
    error, unexplained = np.empty_like(reference.contrasts), np.empty_like(reference.contrasts)
    draw_measurement_noise(reference.space.first, reference.data, fresh.measurement, fresh.common, error)
    expected = empty_noise(reference.space)
    _expect_noise(reference, fresh.path, error, expected, unexplained)
    return Noise(*(part - mean for part, mean in zip(fresh.path, expected, strict=True)))


def transfer_position(before: Reference, after: Reference, position: Position, fresh: FreshNoise) -> Position:
    """Map a position from one model to another: noise ~ N(0, S) under `before` becomes N(0, S) under `after`.

    Together with independent simulated measurements, the noise determines a path from the prior and its measurement
    errors. Neither of these depends on the model, so the noise under the other model follows from them. With the
    measurements that this map ends with, the map from `after` to `before` leads back to the original noise.
    """
    return position_of_measured_path(after, *measured_path(before, position, fresh))


def measured_path(reference: Reference, position: Position, fresh: FreshNoise) -> tuple[Noise, Floats]:
    """The noise of a path from the prior, and errors (N,) of measurements of it, that lead to this position.

    They are independent, and a position of any other model with the same pseudo-data follows from them.
    """
    error, unexplained = np.empty_like(reference.contrasts), np.empty_like(reference.contrasts)
    draw_measurement_noise(reference.space.first, reference.data, fresh.measurement, fresh.common, error)
    noise = empty_noise(reference.space)
    _expect_noise(reference, fresh.path, error, noise, unexplained)
    for part, deviation in zip(noise, position.noise, strict=True):
        part += deviation
    # The measurements minus the path of this noise: u - û is the path of the position's own noise.
    return noise, unexplained - (position.contrasts - reference.contrasts)


def position_of_measured_path(reference: Reference, noise: Noise, error: Floats) -> Position:
    """The position under a reference: the noise of the path minus its mean given the measurements."""
    expected = empty_noise(reference.space)
    _expect_noise(reference, noise, error, expected, np.empty_like(error))
    return make_position(reference, Noise(*(part - mean for part, mean in zip(noise, expected, strict=True))))


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def make_position(reference: Reference, noise: Noise) -> Position:
    """The position determined by ``noise`` relative to its mean under the reference."""
    first, rows = reference.space.first, reference.contrasts.size
    contrasts = np.empty(rows)
    path_from_noise(reference.space, noise, 0.0, np.empty((0, 0)), contrasts)
    contrasts += reference.contrasts
    value = log_residual(first, contrasts, reference.data, np.empty(rows), True, reference.space.lapse)
    return Position(contrasts, noise, value)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _apply_reference_covariance(reference: Reference, gradient: Floats, multipliers: Floats, out: Floats) -> None:
    """out = S gradient = V (gradient - (K + V)^-1 V gradient); ``multipliers`` (N,) is scratch space."""
    first = reference.space.first
    apply_noise_covariance(first, reference.data, gradient, out)
    solve_covariance(reference.space, reference.gains, out, multipliers)
    for row in range(out.size):
        multipliers[row] = gradient[row] - multipliers[row]
    apply_noise_covariance(first, reference.data, multipliers, out)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
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
    space, data, first, centre = reference.space, reference.data, reference.space.first, reference.contrasts
    rows = centre.size
    # A fresh velocity ~ N(0, S): a path from the prior minus its mean given simulated measurements of it.
    measured, velocity, multipliers = np.empty(rows), np.empty(rows), np.empty(rows)
    path_from_noise(space, fresh.path, 0.0, np.empty((0, 0)), measured)
    draw_measurement_noise(first, data, fresh.measurement, fresh.common, velocity)
    for row in range(rows):
        measured[row] += velocity[row]
    solve_covariance(space, reference.gains, measured, multipliers)
    impulse, kick, gradient = np.empty(rows), np.empty(rows), np.empty(rows)
    apply_noise_covariance(first, data, multipliers, impulse)
    for row in range(rows):
        velocity[row] = impulse[row] - velocity[row]

    step, contrasts, energy = path_length / steps, start.contrasts.copy(), 0.0
    impulse[:] = 0.0
    for n in range(steps + 1):
        # A whole step between two kicks, half a step at either end.
        angle = step if 0 < n < steps else 0.5 * step
        cosine, sine = np.cos(angle), np.sin(angle)
        for row in range(rows):
            deviation = contrasts[row] - centre[row]
            contrasts[row] = centre[row] + cosine * deviation + sine * velocity[row]
            velocity[row] = cosine * velocity[row] - sine * deviation
        if n < steps:
            log_residual(first, contrasts, data, gradient, False, space.lapse)
            _apply_reference_covariance(reference, gradient, multipliers, kick)
            # By how much this kick displaces the end of the trajectory.
            displacement = step * np.sin(path_length - (n + 0.5) * step)
            for row in range(rows):
                energy += step * gradient[row] * (velocity[row] + 0.5 * step * kick[row])
                impulse[row] += displacement * gradient[row]
                velocity[row] += step * kick[row]
    value = log_residual(first, contrasts, data, gradient, True, space.lapse)

    # The noise undergoes the same rotation and the same kicks, all of which take a single smoother pass.
    apply_noise_covariance(first, data, impulse, velocity)
    cosine, sine = np.cos(path_length), np.sin(path_length)
    for row in range(rows):
        velocity[row] -= sine * measured[row]
    solve_covariance(space, reference.gains, velocity, multipliers)
    noise = Noise(
        np.empty_like(start.noise.start), np.empty_like(start.noise.move), np.empty_like(start.noise.sampling)
    )
    path_adjoint(space, multipliers, noise)
    _add_rotated(cosine, sine, start.noise.start, fresh.path.start, noise.start)
    _add_rotated(cosine, sine, start.noise.move.ravel(), fresh.path.move.ravel(), noise.move.ravel())
    _add_rotated(cosine, sine, start.noise.sampling.ravel(), fresh.path.sampling.ravel(), noise.sampling.ravel())
    return Position(contrasts, noise, value), energy - (value - start.log_residual)


@numba.njit(cache=True, nogil=True)
def _add_rotated(cosine: float, sine: float, position: Floats, velocity: Floats, out: Floats) -> None:
    """out += cosine position + sine velocity."""
    for i in range(out.size):
        out[i] += cosine * position[i] + sine * velocity[i]
