"""A position carried over from the Gaussian of one model to that of another, with the same pseudo-data.

Together with measurements y ~ N(0, K + V) that are independent of it, the noise of a position (N(0, S) relative to its
mean) determines the noise of a path from the prior, and the errors of measuring that path. Both are standard for any
model, so they determine a position under every other one. They are found by one pass of the smoother each way.
"""

import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.hamiltonian import NO_STATES, Position, Reference
from icb_pymc.kernels.pseudo_data import apply_noise_covariance, log_residual
from icb_pymc.kernels.smoother import solve_covariance, solve_transposed_root
from icb_pymc.kernels.state_space import Noise, empty_noise, path_adjoint, path_from_noise

Floats = NDArray[np.float64]


def measured_path(reference: Reference, position: Position, innovations: Floats) -> tuple[Noise, Floats]:
    """The noise of a path from the prior, and errors (N,) of measurements of it, that lead to this position.

    They are independent standard noise and errors ~ N(0, V) if ``innovations`` (N,) are independent standard normals,
    from which the measurements follow.
    """
    space, noise = reference.space, empty_noise(reference.space)
    multipliers, errors = np.empty_like(innovations), np.empty_like(innovations)
    solve_transposed_root(space, reference.gains, innovations, multipliers)
    # The mean of the noise given the measurements, P'(K + V)^-1 y, and what it leaves of them, V (K + V)^-1 y.
    path_adjoint(space, multipliers, noise)
    for part, deviation in zip(noise, position.noise, strict=True):
        part += deviation
    apply_noise_covariance(space.first, reference.data, multipliers, errors)
    # The contrasts relative to their mean are the path of the position's own noise.
    return noise, errors - (position.contrasts - reference.contrasts)


def position_of_measured_path(reference: Reference, path: Noise, errors: Floats) -> Position:
    """The position under a reference: the noise of the path minus its mean given the measurements."""
    space, data, mean = reference.space, reference.data, empty_noise(reference.space)
    measured, multipliers, unexplained = np.empty_like(errors), np.empty_like(errors), np.empty_like(errors)
    path_from_noise(space, path, 0.0, NO_STATES, measured)
    measured += errors
    solve_covariance(space, reference.gains, measured, multipliers)
    path_adjoint(space, multipliers, mean)
    noise = Noise(*(part - expected for part, expected in zip(path, mean, strict=True)))
    # The path of that noise is what the mean leaves of the measurements, without their errors.
    apply_noise_covariance(space.first, data, multipliers, unexplained)
    contrasts = unexplained + reference.contrasts - errors
    value = log_residual(space.first, contrasts, data, measured, True, space.lapse)
    return Position(contrasts, noise, value)
