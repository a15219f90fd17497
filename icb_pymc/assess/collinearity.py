"""Features that move together among the candidates of a decision, so that choices cannot tell their weights apart."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from icb_pymc.assess.weights import within_decision_covariance

# From this absolute correlation on, two features share half of their variance.
HIGH = 0.7


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
    >>> from icb_pymc.assess.collinearity import collinear_pairs
    >>> x = np.random.default_rng(0).normal(size=(50, 2, 1))
    >>> decisions = icb_pymc.from_arrays(np.concatenate([x, 2 * x], axis=2), [0] * 50, features=["cm", "half_cm"])
    >>> collinear_pairs(decisions)
    [CollinearPair(first='cm', second='half_cm', correlation=1.0)]
    """
    covariance = within_decision_covariance(decisions).transpose("feature", "other").values
    sd = np.sqrt(np.diag(covariance))
    scale = np.outer(sd, sd)
    correlation = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
    names = [str(name) for name in decisions["feature"].values]
    pairs = [
        CollinearPair(names[i], names[j], round(float(correlation[i, j]), 12))
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if abs(correlation[i, j]) >= least
    ]
    return sorted(pairs, key=lambda pair: -abs(pair.correlation))
