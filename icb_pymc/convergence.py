"""R-hat of every component at once: a path of thousands of beliefs has thousands of them."""

import numpy as np
import xarray as xr
from scipy import special, stats


def rank_rhat(draws: xr.DataArray) -> xr.DataArray:
    """Rank-normalised split R-hat of Vehtari et al. (2021), the one that ArviZ computes, vectorised.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    values = draws.transpose("chain", "draw", ...)
    half = values.sizes["draw"] // 2
    array = values.values
    split = np.concatenate([array[:, :half], array[:, -half:]])
    folded = np.abs(split - np.median(split, axis=(0, 1)))
    rhat = np.maximum(_rhat(_normal_scores(split)), _rhat(_normal_scores(folded)))
    dims = values.dims[2:]
    return xr.DataArray(rhat, dims=dims, coords={d: values.coords[d] for d in dims if d in values.coords}, name="rhat")


def _normal_scores(split: np.ndarray) -> np.ndarray:
    ranks = stats.rankdata(split.reshape(-1, *split.shape[2:]), axis=0)
    return special.ndtri((ranks - 0.375) / (len(ranks) + 0.25)).reshape(split.shape)


def _rhat(split: np.ndarray) -> np.ndarray:
    draws = split.shape[1]
    between = draws * split.mean(axis=1).var(axis=0, ddof=1)
    within = split.var(axis=1, ddof=1).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((between / within + draws - 1) / draws)
