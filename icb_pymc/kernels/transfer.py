"""A position carried over from the Gaussian of one model to that of another, with the same pseudo-data.

Together with measurements y ~ N(0, K + V) that are independent of it, the noise of a position (N(0, S) relative to its
mean) determines the noise of a path from the prior, and the errors of measuring that path. Both are standard for any
model, so they determine a position under every other one. They are found by one pass of the smoother each way.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.hamiltonian import Position, Reference
from icb_pymc.kernels.metropolis import REORDER_SUMS
from icb_pymc.kernels.pseudo_data import apply_noise_covariance, log_residual
from icb_pymc.kernels.smoother import solve_covariance, solve_transposed_root
from icb_pymc.kernels.state_space import Noise, path_adjoint, path_from_noise

Floats = NDArray[np.float64]


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def measured_path(reference: Reference, position: Position, innovations: Floats) -> tuple[Noise, Floats]:
    """The noise of a path from the prior, and errors (N,) of measurements of it, that lead to this position.

    They are independent standard noise and errors ~ N(0, V) if ``innovations`` (N,) are independent standard normals,
    from which the measurements follow.
    """
    space, rows = reference.space, innovations.size
    multipliers, errors = np.empty(rows), np.empty(rows)
    solve_transposed_root(space, reference.gains, innovations, multipliers)
    noise = Noise(
        np.empty_like(position.noise.start), np.empty_like(position.noise.move), np.empty_like(position.noise.sampling)
    )
    # The mean of the noise given the measurements, P'(K + V)^-1 y, and what it leaves of them, V (K + V)^-1 y.
    path_adjoint(space, multipliers, noise)
    _add(position.noise.start, noise.start)
    _add(position.noise.move.ravel(), noise.move.ravel())
    _add(position.noise.sampling.ravel(), noise.sampling.ravel())
    apply_noise_covariance(space.first, reference.data, multipliers, errors)
    # The contrasts relative to their mean are the path of the position's own noise.
    for row in range(rows):
        errors[row] -= position.contrasts[row] - reference.contrasts[row]
    return noise, errors


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def position_of_measured_path(reference: Reference, path: Noise, errors: Floats) -> Position:
    """The position under a reference: the noise of the path minus its mean given the measurements."""
    space, data, rows = reference.space, reference.data, errors.size
    measured, multipliers, contrasts = np.empty(rows), np.empty(rows), np.empty(rows)
    path_from_noise(space, path, 0.0, np.empty((0, 0)), measured)
    _add(errors, measured)
    solve_covariance(space, reference.gains, measured, multipliers)
    noise = Noise(np.empty_like(path.start), np.empty_like(path.move), np.empty_like(path.sampling))
    path_adjoint(space, multipliers, noise)
    _subtract_from(path.start, noise.start)
    _subtract_from(path.move.ravel(), noise.move.ravel())
    _subtract_from(path.sampling.ravel(), noise.sampling.ravel())
    # The path of that noise is what the mean leaves of the measurements, without their errors.
    apply_noise_covariance(space.first, data, multipliers, contrasts)
    for row in range(rows):
        contrasts[row] += reference.contrasts[row] - errors[row]
    value = log_residual(space.first, contrasts, data, measured, True, space.lapse)
    return Position(contrasts, noise, value)


@numba.njit(cache=True, nogil=True)
def _add(values: Floats, out: Floats) -> None:
    for i in range(out.size):
        out[i] += values[i]


@numba.njit(cache=True, nogil=True)
def _subtract_from(values: Floats, out: Floats) -> None:
    """out = values - out."""
    for i in range(out.size):
        out[i] = values[i] - out[i]
