"""R-hat of every component at once: a path of thousands of beliefs has thousands of them."""

import numpy as np
import xarray as xr
from scipy import special, stats

# Above it chains have not met: their draws are no sample from one posterior yet.
HIGHEST_RHAT = 1.05


def rank_rhat(draws: xr.DataArray) -> xr.DataArray:
    """Rank-normalised split R-hat of Vehtari et al. (2021), the one that ArviZ computes, vectorised.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    split = _split(draws)
    folded = np.abs(split - np.median(split, axis=(0, 1)))
    rhat = np.maximum(_rhat(_normal_scores(split)), _rhat(_normal_scores(folded)))
    return _labelled(rhat, draws, "rhat")


def bulk_ess(draws: xr.DataArray) -> xr.DataArray:
    """Bulk effective sample size of Vehtari et al. (2021), the one that ArviZ computes, vectorised.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    scores = _normal_scores(_split(draws))
    flat = scores.reshape(*scores.shape[:2], -1)
    # Some thousand components at a time: the transforms of all at once may not fit into memory.
    blocks = [_ess(flat[:, :, i : i + 2000]) for i in range(0, max(flat.shape[2], 1), 2000)]
    return _labelled(np.concatenate(blocks).reshape(scores.shape[2:]), draws, "ess")


def _split(draws: xr.DataArray) -> np.ndarray:
    """Every chain as two of half its length."""
    array = draws.transpose("chain", "draw", ...).values
    half = array.shape[1] // 2
    return np.concatenate([array[:, :half], array[:, -half:]])


def _labelled(values: np.ndarray, draws: xr.DataArray, name: str) -> xr.DataArray:
    """One value for each component of the draws."""
    dims = [dim for dim in draws.dims if dim not in ("chain", "draw")]
    coords = {dim: draws.coords[dim] for dim in dims if dim in draws.coords}
    return xr.DataArray(values, dims=dims, coords=coords, name=name)


def _normal_scores(split: np.ndarray) -> np.ndarray:
    ranks = stats.rankdata(split.reshape(-1, *split.shape[2:]), axis=0)
    return special.ndtri((ranks - 0.375) / (len(ranks) + 0.25)).reshape(split.shape)


def _rhat(split: np.ndarray) -> np.ndarray:
    draws = split.shape[1]
    between = draws * split.mean(axis=1).var(axis=0, ddof=1)
    within = split.var(axis=1, ddof=1).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((between / within + draws - 1) / draws)


def _ess(split: np.ndarray) -> np.ndarray:
    """Effective sample size of chains (chain, draw, component), by Geyer's initial monotone sequence."""
    chains, length = split.shape[:2]
    autocovariance = _autocovariance(split).mean(axis=0)
    mean_variance = autocovariance[0] * length / (length - 1)
    variance = mean_variance * (length - 1) / length + split.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1.0 - (mean_variance - autocovariance) / variance
    correlation[0] = 1.0
    pairs = (length - 3) // 2
    sums = correlation[0 : 2 * pairs : 2] + correlation[1 : 2 * pairs : 2]
    # Pairs count until the first that is not positive, and never more than the pair before.
    counted = np.cumprod(sums > 0, axis=0).astype(bool)
    monotone = np.where(counted, np.minimum.accumulate(sums, axis=0), 0.0)
    ended = counted.sum(axis=0)
    after = np.take_along_axis(correlation, 2 * ended[None], axis=0)[0]
    time = -1.0 + 2.0 * monotone.sum(axis=0) + np.maximum(after, 0.0)
    most = chains * length * np.log10(chains * length)
    return np.minimum(chains * length / np.maximum(time, 1e-12), most)


def _autocovariance(split: np.ndarray) -> np.ndarray:
    length = split.shape[1]
    away = split - split.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(away, n=2 * length, axis=1)
    return np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :length] / length
