"""The posterior mode of the utility contrasts, and the Laplace approximation around it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icb_pymc.kernels.pseudo_data import PseudoData, choice_gradient, empty_data, log_volume, measure, spread
from icb_pymc.kernels.smoother import SmootherGains, smoother_gains, solve
from icb_pymc.kernels.state_space import StateSpace, empty_noise, respond, run

Floats = NDArray[np.float64]

_CLOSE = 1e-8
# Objectives that differ by less are equal: near the mode a step changes them by less than the sum is exact.
_ROUNDING = 1e-12
_MOST_ITERATIONS = 200


class Mode(NamedTuple):
    """The mode û and what is known there.

    Attributes
    ----------
    contrasts : (N,)
        û.
    multipliers : (N,)
        K^-1 (û - m), which is the gradient of the log likelihood at û.
    data : PseudoData
        Measurements with the gradient and curvature of the choices at û.
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


def find_mode(space: StateSpace, multipliers: Floats | None = None) -> Mode:
    """Newton's method with a line search on log π(u) - ½ (u - m)'K^-1(u - m).

    With u = m + K a the quadratic form is a'(u - m), so that K is never inverted and may be singular. The objective is
    concave, and each step is halved until the objective grows: the search cannot diverge.

    Parameters
    ----------
    multipliers : (N,), optional
        a, where to start; at the prior mean by default.
    """
    rows = space.offset.size
    mean, contrasts = np.empty(rows), np.empty(rows)
    noise, states = empty_noise(space), np.empty((0, 0))
    for part in noise:
        part[...] = 0.0
    run(space, noise, True, states, mean)
    weights = np.zeros(rows) if multipliers is None else multipliers.copy()
    respond(space, weights, noise)
    run(space, noise, True, states, contrasts)

    data = empty_data(space.first)
    gradient, fitted, proposed = np.empty(rows), np.empty(rows), np.empty(rows)
    likelihood = choice_gradient(space.first, contrasts, gradient, True)
    objective = likelihood - 0.5 * weights @ (contrasts - mean)
    for _ in range(_MOST_ITERATIONS):
        measure(space.first, contrasts, gradient, data)
        gains = smoother_gains(space, data)
        solve(space, gains, data.values - mean, proposed)
        spread(space.first, data, proposed, fitted)
        move, turn = data.values - fitted - contrasts, proposed - weights
        if np.abs(move).max(initial=0.0) < _CLOSE:
            break
        step, best = 1.0, objective
        while step > 1e-10:
            trial, trial_weights = contrasts + step * move, weights + step * turn
            likelihood = choice_gradient(space.first, trial, gradient, True)
            objective = likelihood - 0.5 * trial_weights @ (trial - mean)
            if objective >= best - _ROUNDING * (1 + abs(best)):
                break
            step /= 2
        else:
            # Rounding, not the slope, decides from here on.
            likelihood = choice_gradient(space.first, contrasts, gradient, True)
            break
        contrasts, weights = trial, trial_weights
    square = weights @ (contrasts - mean)
    log_evidence = likelihood - 0.5 * square - 0.5 * (gains.log_volume - log_volume(data))
    return Mode(contrasts, weights, data, gains, float(log_evidence))
