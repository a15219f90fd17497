"""Hamiltonian dynamics of the utility contrasts, with the Gaussian part of the posterior solved exactly.

Pseudo-data y of the contrasts make a Gaussian N(û, S), S = V - V (K + V)^-1 V, that is close to the posterior; what
they leave over is the residual R(u) = log π(u) - log N(y; u, V). With S^-1 as mass, (u - û, velocity) rotate exactly,
and a kick adds S ∇R(u) to the velocity: one filter and smoother pass. Only the energy of kicks needs to be added up.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.metropolis import REORDER_SUMS
from icb_pymc.kernels.pseudo_data import PseudoData, residual, spread, spread_noise
from icb_pymc.kernels.smoother import SmootherGains, smoother_gains, solve
from icb_pymc.kernels.state_space import Noise, StateSpace, empty_noise, noise_shapes, respond, run

Floats = NDArray[np.float64]


class Reference(NamedTuple):
    """The Gaussian that the dynamics turn in.

    Attributes
    ----------
    space : StateSpace
    data : PseudoData
    gains : SmootherGains
    contrasts : (N,)
        û, the mean of the contrasts given the pseudo-data.
    noise : Noise
        The mean of the noise.
    log_density : float
        log N(y; m, K + V): what the pseudo-data say of the model's hyperparameters.
    """

    space: StateSpace
    data: PseudoData
    gains: SmootherGains
    contrasts: Floats
    noise: Noise
    log_density: float


class Place(NamedTuple):
    """Where the chain is.

    Attributes
    ----------
    contrasts : (N,)
        u.
    noise : Noise
        The noise that makes u, measured from its mean under the reference.
    residual : float
        R(u).
    """

    contrasts: Floats
    noise: Noise
    residual: float


class FreshNoise(NamedTuple):
    """Standard normals for a velocity: those of a path, and those of measuring it, (N,) and (T,).

    Where there are no more than two candidates the last are not needed, and there are none.
    """

    path: Noise
    rows: Floats
    common: Floats


def refer(space: StateSpace, data: PseudoData) -> Reference:
    """The Gaussian that the pseudo-data make of the prior."""
    gains, noise = smoother_gains(space, data), empty_noise(space)
    contrasts, multipliers = np.empty_like(data.values), np.empty_like(data.values)
    states = np.empty((0, 0))
    for part in noise:
        part[...] = 0.0
    run(space, noise, True, states, contrasts)
    square = solve(space, gains, data.values - contrasts, multipliers)
    respond(space, multipliers, noise)
    run(space, noise, True, states, contrasts)
    return Reference(space, data, gains, contrasts, noise, -0.5 * (square + gains.log_volume))


def fresh_noise(reference: Reference, rng: np.random.Generator) -> FreshNoise:
    """New standard normals."""
    path = Noise(*(rng.standard_normal(shape) for shape in noise_shapes(reference.space)))
    common = len(reference.data.common) if reference.gains.mixing.shape[1] else 0
    return FreshNoise(path, rng.standard_normal(len(reference.contrasts)), rng.standard_normal(common))


@numba.njit(cache=True, nogil=True)
def measure_path(reference: Reference, path: Noise, error: Floats, out: Floats) -> None:
    """out = measurements, with this error, of the path that ``path`` makes, all but for their means."""
    run(reference.space, path, False, np.empty((0, 0)), out)
    out += error


@numba.njit(cache=True, nogil=True)
def explain(reference: Reference, measured: Floats, out: Noise) -> None:
    """out = the mean of the noise given measurements, all but for their means."""
    multipliers = np.empty(measured.size)
    solve(reference.space, reference.gains, measured, multipliers)
    respond(reference.space, multipliers, out)


def draw_around(reference: Reference, fresh: FreshNoise) -> Noise:
    """Noise ~ N(0, S) measured from its mean: a path from the prior, less what its measurements tell of it."""
    error, measured = np.empty_like(reference.contrasts), np.empty_like(reference.contrasts)
    spread_noise(reference.space.first, reference.data, fresh.rows, fresh.common, error)
    measure_path(reference, fresh.path, error, measured)
    told = empty_noise(reference.space)
    explain(reference, measured, told)
    return Noise(*(part - mean for part, mean in zip(fresh.path, told, strict=True)))


def carry_over(before: Reference, after: Reference, noise: Noise, fresh: FreshNoise) -> Noise:
    """The same place under another model: noise (from its mean) that was N(0, S) before is N(0, S) after.

    Noise and fresh measurements, independent of it, are together a path from the prior and the errors of measuring it.
    Neither of these knows the model: from them the noise under the other model is made. Applied the other way round,
    with the measurements that this one ends with, it leads back.
    """
    error, measured = np.empty_like(before.contrasts), np.empty_like(before.contrasts)
    spread_noise(before.space.first, before.data, fresh.rows, fresh.common, error)
    measure_path(before, fresh.path, error, measured)
    told, path = empty_noise(before.space), np.empty_like(measured)
    explain(before, measured, told)
    whole = Noise(*(part + mean for part, mean in zip(noise, told, strict=True)))
    measure_path(before, whole, np.zeros_like(error), path)
    measure_path(after, whole, measured - path, measured)
    explain(after, measured, told)
    return Noise(*(part - mean for part, mean in zip(whole, told, strict=True)))


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def locate(reference: Reference, noise: Noise) -> Place:
    """The place that ``noise``, measured from the reference's mean, leads to."""
    first, rows = reference.space.first, reference.contrasts.size
    contrasts = np.empty(rows)
    run(reference.space, noise, False, np.empty((0, 0)), contrasts)
    contrasts += reference.contrasts
    return Place(contrasts, noise, residual(first, contrasts, reference.data, np.empty(rows), True))


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def _push(reference: Reference, gradient: Floats, multipliers: Floats, out: Floats) -> None:
    """out = S gradient = V (gradient - (K + V)^-1 V gradient), with room for ``multipliers`` (N,)."""
    first = reference.space.first
    spread(first, reference.data, gradient, out)
    solve(reference.space, reference.gains, out, multipliers)
    for row in range(out.size):
        multipliers[row] = gradient[row] - multipliers[row]
    spread(first, reference.data, multipliers, out)


@numba.njit(cache=True, nogil=True, fastmath=REORDER_SUMS)
def travel(reference: Reference, here: Place, fresh: FreshNoise, steps: int, path: float) -> tuple[Place, float]:
    """Follow the dynamics for ``path`` radians from a fresh velocity, with a kick in the middle of each of ``steps``.

    Returns
    -------
    place, energy_error
        Accept the place with probability min(1, exp(-energy_error)).
    """
    space, data, first, centre = reference.space, reference.data, reference.space.first, reference.contrasts
    rows = centre.size
    # A fresh velocity ~ N(0, S): a path from the prior, less what its own noisy measurements tell of it.
    measured, velocity, multipliers = np.empty(rows), np.empty(rows), np.empty(rows)
    run(space, fresh.path, False, np.empty((0, 0)), measured)
    spread_noise(first, data, fresh.rows, fresh.common, velocity)
    for row in range(rows):
        measured[row] += velocity[row]
    solve(space, reference.gains, measured, multipliers)
    impulse, push, gradient = np.empty(rows), np.empty(rows), np.empty(rows)
    spread(first, data, multipliers, impulse)
    for row in range(rows):
        velocity[row] = impulse[row] - velocity[row]

    step, contrasts, energy = path / steps, here.contrasts.copy(), 0.0
    impulse[:] = 0.0
    for n in range(steps + 1):
        # From kick to kick, and half as far at either end.
        turn = step if 0 < n < steps else 0.5 * step
        cosine, sine = np.cos(turn), np.sin(turn)
        for row in range(rows):
            away = contrasts[row] - centre[row]
            contrasts[row] = centre[row] + cosine * away + sine * velocity[row]
            velocity[row] = cosine * velocity[row] - sine * away
        if n < steps:
            residual(first, contrasts, data, gradient, False)
            _push(reference, gradient, multipliers, push)
            # What a kick will have moved by the end of the path.
            lever = step * np.sin(path - (n + 0.5) * step)
            for row in range(rows):
                energy += step * gradient[row] * (velocity[row] + 0.5 * step * push[row])
                impulse[row] += lever * gradient[row]
                velocity[row] += step * push[row]
    value = residual(first, contrasts, data, gradient, True)

    # The noise has moved by the same rotation and the same kicks; all of it is one response to pseudo-data.
    spread(first, data, impulse, velocity)
    cosine, sine = np.cos(path), np.sin(path)
    for row in range(rows):
        velocity[row] -= sine * measured[row]
    solve(space, reference.gains, velocity, multipliers)
    noise = Noise(np.empty_like(here.noise.start), np.empty_like(here.noise.move), np.empty_like(here.noise.stray))
    respond(space, multipliers, noise)
    _turn(cosine, sine, here.noise.start, fresh.path.start, noise.start)
    _turn(cosine, sine, here.noise.move.ravel(), fresh.path.move.ravel(), noise.move.ravel())
    _turn(cosine, sine, here.noise.stray.ravel(), fresh.path.stray.ravel(), noise.stray.ravel())
    return Place(contrasts, noise, value), energy - (value - here.residual)


@numba.njit(cache=True, nogil=True)
def _turn(cosine: float, sine: float, position: Floats, velocity: Floats, out: Floats) -> None:
    """out += cosine position + sine velocity."""
    for i in range(out.size):
        out[i] += cosine * position[i] + sine * velocity[i]
