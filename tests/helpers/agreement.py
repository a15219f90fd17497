"""Comparison of two samples of autocorrelated draws."""

import numpy as np
from scipy.stats import chi2


def standard_error(draws: np.ndarray, batches: int = 25) -> np.ndarray:
    """Monte-Carlo standard error of the mean of draws (chain, draw, ...), by batch means."""
    chains, length = draws.shape[:2]
    size = length // batches
    means = draws[:, : size * batches].reshape(chains * batches, size, *draws.shape[2:]).mean(axis=1)
    return means.std(axis=0, ddof=1) / np.sqrt(len(means))


def z_scores(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Differences of means and of second moments about a common point, in Monte-Carlo standard errors."""
    centre = first.mean(axis=(0, 1))
    scores = []
    for power in (1, 2):
        one, two = ((draws - centre) ** power for draws in (first, second))
        error = np.sqrt(standard_error(one) ** 2 + standard_error(two) ** 2)
        scores.append((one.mean(axis=(0, 1)) - two.mean(axis=(0, 1))) / error)
    return np.concatenate([score.ravel() for score in scores])


def uniformity(ranks: np.ndarray, draws: int, bins: int = 5) -> np.ndarray:
    """p-values of chi-squared tests that ranks (replicate, quantity) from 0 to `draws` are uniform."""
    size = (draws + 1) // bins
    counts = np.array([np.bincount(column // size, minlength=bins) for column in ranks.T])
    expected = len(ranks) / bins
    return chi2(bins - 1).sf(((counts - expected) ** 2 / expected).sum(axis=1))
