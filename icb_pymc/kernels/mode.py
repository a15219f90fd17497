"""The posterior mode of the utility contrasts, and the Laplace approximation around it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.pseudo_data import (
    PseudoData,
    apply_noise_covariance,
    choice_gradient,
    empty_data,
    expected_data_at,
    log_determinant,
    pseudo_data_at,
)
from icb_pymc.kernels.smoother import SmootherGains, smoother_gains, solve_covariance
from icb_pymc.kernels.state_space import StateSpace, empty_noise, path_from_noise

Floats = NDArray[np.float64]

_TOLERANCE = 1e-8
# Objectives that differ by less count as equal: near the mode a step changes them by less than their rounding error.
_ROUNDING = 1e-12
_MAX_ITERATIONS = 200
# Where no contrast changes by more, the curvature of choices without lapses hardly changes on the way (its logarithm by
# no more than that), so whole steps lead to the mode. Below the second length they become shorter until only rounding
# errors are left, which in a long log may exceed the tolerance.
_SHORT, _VERY_SHORT = 0.1, 1e-6


class Mode(NamedTuple):
    """The mode û and the approximation around it.

    Attributes
    ----------
    contrasts : (N,)
        û.
    multipliers : (N,)
        K^-1 (û - m), which is the gradient of the log-likelihood at û.
    data : PseudoData
        Measurements with the gradient and curvature of the choices at û; with lapses, with their Fisher information.
    gains : SmootherGains
        For these measurements.
    log_evidence : float
        log ∫ π(u) N(u; m, K) du by Laplace's method.
    """

    contrasts: Floats
    multipliers: Floats
    data: PseudoData
    gains: SmootherGains
    log_evidence: float


def find_mode(space: StateSpace, near: PseudoData | None = None) -> Mode:
    """Newton's method with a line search on log π(u) - ½ (u - m)'K^-1(u - m).

    With u = m + K a the quadratic form is a'(u - m), so K is never inverted and may be singular. The objective is
    concave, and each long step is halved until the objective increases, so the search cannot diverge. With lapses it is
    not concave: where the curvature of a choice would be negative it is taken as zero, and the search ends at a local
    mode.

    Parameters
    ----------
    near : PseudoData, optional
        Of the mode of a similar model: the search starts from the mean given them. By default from the prior mean.
    """
    rows = space.offset.size
    mean, contrasts = np.empty(rows), np.empty(rows)
    noise, states = empty_noise(space), np.empty((0, 0))
    for part in noise:
        part[...] = 0.0
    path_from_noise(space, noise, 1.0, states, mean)

    data = empty_data(space.first)
    gradient, weighted, proposed = np.empty(rows), np.empty(rows), np.empty(rows)
    multipliers = np.zeros(rows)
    if near is None:
        contrasts[:] = mean
    else:
        solve_covariance(space, smoother_gains(space, near), near.values - mean, multipliers)
        apply_noise_covariance(space.first, near, multipliers, weighted)
        contrasts[:] = near.values - weighted
    likelihood = choice_gradient(space.first, contrasts, gradient, True, space.lapse)
    objective = likelihood - 0.5 * multipliers @ (contrasts - mean)
    last = np.inf
    for _ in range(_MAX_ITERATIONS):
        pseudo_data_at(space.first, contrasts, gradient, data, space.lapse)
        gains = smoother_gains(space, data)
        solve_covariance(space, gains, data.values - mean, proposed)
        apply_noise_covariance(space.first, data, proposed, weighted)
        # The Newton step: the mean given the pseudo-data, y - V a, minus the current contrasts.
        newton_step, multiplier_step = data.values - weighted - contrasts, proposed - multipliers
        length = np.abs(newton_step).max(initial=0.0)
        if length < _TOLERANCE or 0.5 * last < length < _VERY_SHORT:
            break
        last, is_short = length, length < _SHORT and space.lapse == 0
        step_size, best = 1.0, objective
        while step_size > 1e-10:
            trial, trial_multipliers = contrasts + step_size * newton_step, multipliers + step_size * multiplier_step
            likelihood = choice_gradient(space.first, trial, gradient, True, space.lapse)
            objective = likelihood - 0.5 * trial_multipliers @ (trial - mean)
            if is_short or objective >= best - _ROUNDING * (1 + abs(best)):
                break
            step_size /= 2
        else:
            # From here on differences of the objective are rounding errors.
            likelihood = choice_gradient(space.first, contrasts, gradient, True, space.lapse)
            break
        contrasts, multipliers = trial, trial_multipliers
    if space.lapse > 0:
        expected_data_at(space.first, contrasts, gradient, data, space.lapse)
        gains = smoother_gains(space, data)
    square = multipliers @ (contrasts - mean)
    log_evidence = likelihood - 0.5 * square - 0.5 * (gains.log_determinant - log_determinant(data, space.first))
    return Mode(contrasts, multipliers, data, gains, float(log_evidence))
