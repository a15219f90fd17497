"""Features whose weights choices cannot tell apart."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from icb_pymc.data.sessions import seen

# Correlation among the candidates of a decision from which on two features are nearly the same.
NEARLY = 0.98
# From this one on they share half of their variance.
HIGH = 0.7
# Share of the largest singular value below which a combination of features never differs.
NEVER = 1e-10


@dataclass(frozen=True)
class CollinearPair:
    """Two features and their correlation among the candidates of a decision.

    Attributes
    ----------
    first, second : str
    correlation : float
    """

    first: str
    second: str
    correlation: float


def deviations(decisions: xr.Dataset) -> np.ndarray:
    """Features minus their mean over the candidates of the decision (candidate, feature), with a length of one each."""
    available, context = seen(decisions), decisions["context"].values
    count = np.maximum(available.sum(axis=1), 1)[:, None, None]
    mean = np.where(available[:, :, None], context, 0.0).sum(axis=1, keepdims=True) / count
    away = (context - mean)[available]
    length = np.linalg.norm(away, axis=0)
    return away / np.where(length > 1e-12 * np.linalg.norm(context, axis=(0, 1)), length, np.inf)


def constant_features(decisions: xr.Dataset) -> list[str]:
    """Names of features in which the candidates of a decision never differ."""
    return [str(name) for name in decisions["feature"].values[~deviations(decisions).any(axis=0)]]


def collinear_pairs(decisions: xr.Dataset, least: float = HIGH) -> list[CollinearPair]:
    """Pairs of features whose differences between candidates are correlated, the strongest first.

    Only differences between candidates of the same decision say anything about weights, so it is their correlation that
    matters, not that over the whole log.

    Parameters
    ----------
    decisions : Dataset
    least : float
        The least absolute correlation.

    Returns
    -------
    list of CollinearPair

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> from icb_pymc.data.collinearity import collinear_pairs
    >>> x = np.random.default_rng(0).normal(size=(50, 2, 1))
    >>> decisions = icb_pymc.from_arrays(np.concatenate([x, 2 * x], axis=2), [0] * 50, features=["cm", "half_cm"])
    >>> collinear_pairs(decisions)
    [CollinearPair(first='cm', second='half_cm', correlation=1.0)]
    """
    away = deviations(decisions)
    correlation = away.T @ away
    names = [str(name) for name in decisions["feature"].values]
    pairs = [
        CollinearPair(names[i], names[j], round(float(correlation[i, j]), 12))
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if abs(correlation[i, j]) >= least
    ]
    return sorted(pairs, key=lambda pair: -abs(pair.correlation))


def collinear_features(decisions: xr.Dataset) -> list[tuple[list[str], float]]:
    """Groups of features of which one follows from the others, with their correlation; pairs come first.

    Parameters
    ----------
    decisions : Dataset

    Returns
    -------
    list of (names, correlation)
        Pairs with their correlation among the candidates of a decision, 1 or -1 if one is a multiple of the other;
        larger groups, of which one is a sum of multiples of the others, with 1.

    Examples
    --------
    >>> import numpy as np
    >>> import icb_pymc
    >>> from icb_pymc.data.collinearity import collinear_features
    >>> price = np.random.default_rng(0).normal(size=(20, 2))
    >>> context = np.stack([price, 3 - 2 * price], axis=-1)
    >>> decisions = icb_pymc.from_arrays(context, np.zeros(20, int), features=["euros", "saving"])
    >>> collinear_features(decisions)
    [(['euros', 'saving'], -1.0)]
    """
    names, away = decisions["feature"].values.astype(str), deviations(decisions)
    correlation = away.T @ away
    found = [
        ([pair.first, pair.second], round(pair.correlation, 6)) for pair in collinear_pairs(decisions, least=NEARLY)
    ]
    # Of features that are the same, one is left; what is still dependent is so in larger groups.
    dropped = {pair[1] for pair, value in found if abs(value) > 1 - 1e-9}
    kept = [i for i, name in enumerate(names) if name not in dropped and correlation[i, i] > 0]
    while kept:
        variance, axes = np.linalg.eigh(correlation[np.ix_(kept, kept)])
        if variance[0] > NEVER * variance[-1]:
            break
        part = np.flatnonzero(np.abs(axes[:, 0]) > 1e-6)
        found.append(([str(names[kept[i]]) for i in part], 1.0))
        kept.pop(int(part[-1]))
    return found
