"""Choices that some weights explain without exception: such weights have no largest likelihood, they grow without
bound."""

import numpy as np
import xarray as xr

from icb_pymc.kernels.metropolis import choice_contrasts

# With more contrasts than this, separation is too unlikely to be worth the time of a linear programme.
MANY_CONTRASTS = 200_000
# Share of the largest weight of a direction below which a weight is not part of it.
SMALL = 1e-6
# Share of the sum of all contrasts below which the sum along a direction counts as zero.
SMALLEST = 1e-9
# Newton's method needs some ten steps; log-odds beyond these are as certain as numbers can say.
NEWTON_STEPS, MOST = 25, 500.0


def separating_direction(contrasts: np.ndarray) -> np.ndarray | None:
    """Weights w with c'w <= 0 for every contrast c and less for some; None if there are none.

    Parameters
    ----------
    contrasts : array (N, feature)
        x_t[a] - x_t[a_t] of all available candidates that were not chosen, at any scale.

    Examples
    --------
    The chosen candidate always has less of the first feature:

    >>> import numpy as np
    >>> from icb_pymc.data.separation import separating_direction
    >>> separating_direction(np.array([[1.0, 2.0], [3.0, -1.0], [0.5, -2.0]])).tolist()
    [-1.0, -0.0]
    >>> separating_direction(np.array([[1.0], [-1.0]])) is None
    True
    """
    rows, features = contrasts.shape
    # One feature alone says more than a combination.
    for sign in (-1.0, 1.0):
        alone = (sign * contrasts <= 0).all(axis=0) & (contrasts != 0).any(axis=0)
        if alone.any():
            return sign * np.eye(features)[int(np.argmax(alone))]
    if _is_overlapping(contrasts):
        return None
    # Imported here, because most logs overlap, and it takes a while.
    from scipy.optimize import linprog

    limits = np.zeros(rows)
    solution = linprog(
        contrasts.sum(axis=0), A_ub=contrasts, b_ub=limits, bounds=[(-1.0, 1.0)] * features, method="highs"
    )
    return solution.x if solution.fun < -SMALLEST * np.abs(contrasts).sum() else None


def _is_overlapping(contrasts: np.ndarray) -> bool:
    """Whether it is certain that no direction explains all choices; False where that is not known.

    With weights p > 0 such that p'X = r, a direction d of entries up to one with Xd <= 0 has a sum of -Xd of at most
    |r| / min p. The probabilities at the maximum of a likelihood are such weights with r = 0, and Newton's method finds
    it in a few steps, if there is one.
    """
    direction = np.zeros(contrasts.shape[1])
    for _ in range(NEWTON_STEPS):
        weights = 1.0 / (1.0 + np.exp(-np.clip(contrasts @ direction, -MOST, MOST)))
        gradient = contrasts.T @ weights
        if np.abs(gradient).sum() < SMALLEST * np.abs(contrasts).sum() * weights.min():
            return True
        curvature = (contrasts.T * (weights * (1.0 - weights))) @ contrasts
        try:
            direction = direction - np.linalg.solve(curvature, gradient)
        except np.linalg.LinAlgError:
            return False
    return False


def separating_features(decisions: xr.Dataset) -> list[str]:
    """Names of features that together explain every choice; none if no combination does, or the log is very long.

    Parameters
    ----------
    decisions : Dataset

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.data.separation import separating_features
    >>> context = [[[50.0, 1.0], [60.0, 2.0]], [[48.0, 4.0], [40.0, 3.0]]]
    >>> separating_features(icb_pymc.from_arrays(context, [1, 1], features=["age", "inr"]))
    ['age', 'inr']
    """
    context, available, chosen = (decisions[name].values for name in ("context", "available", "chosen"))
    contrasts = choice_contrasts(context, available, chosen, 1.0).values
    if not 0 < len(contrasts) <= MANY_CONTRASTS:
        return []
    size = np.abs(contrasts).max(axis=0)
    direction = separating_direction(contrasts / np.where(size > 0, size, 1.0))
    if direction is None:
        return []
    part = np.abs(direction) > SMALL * np.abs(direction).max()
    return [str(name) for name in decisions["feature"].values[part & (size > 0)]]
