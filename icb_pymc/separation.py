"""Whether choices pin weights down by themselves, or leave them free to grow without end."""

import numpy as np
from scipy.optimize import linprog


def pins_down(contrasts: np.ndarray) -> bool:
    """Whether the likelihood of choices falls in every direction, so that a flat prior leaves a proper posterior.

    It does not where some w has c'w <= 0 for every contrast c: then all choices are explained ever better, or no worse,
    as weights move along w. That is always so if there are fewer contrasts than features, or as many.

    Parameters
    ----------
    contrasts : array (N, feature)
        x_t[a] - x_t[a_t] of all alternatives that were not chosen, at any scale.
    """
    rows, features = contrasts.shape
    if rows <= features or np.linalg.matrix_rank(contrasts) < features:
        return False
    slope = contrasts.sum(axis=0)
    found = linprog(slope, A_ub=contrasts, b_ub=np.zeros(rows), bounds=[(-1.0, 1.0)] * features, method="highs")
    return bool(found.fun > -1e-9 * np.abs(contrasts).sum())
