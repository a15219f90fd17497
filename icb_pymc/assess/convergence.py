"""R-hat, effective sample sizes and standard errors of every component at once.

A path of thousands of beliefs has thousands of components, so everything is vectorised, a few hundred components at a
time.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr
from scipy import special

from icb_pymc.kernels.rank_scores import scores_by_rank

# Vehtari et al. (2021): chains agree below this R-hat, and R-hat itself and quantiles can be relied on from this ESS.
RHAT_LIMIT, ESS_LIMIT = 1.01, 400
# With fewer draws in a chain its halves are too short for any of these diagnostics.
LEAST_DRAWS = 10
TAILS = (0.05, 0.95)
QUANTITIES = ("rhat", "ess_bulk", "ess_tail", "mcse")
# Components at a time: the transforms of all at once may not fit into memory.
_BLOCK = 500

# Above it the chains have not converged to the same distribution.
HIGHEST_RHAT = 1.05


def rank_rhat(draws: xr.DataArray) -> xr.DataArray:
    """Rank-normalised split R-hat of Vehtari et al. (2021), the one that ArviZ computes.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return _in_blocks(lambda block: _rank_rhat(*_scores(block)), draws, "rhat")


def bulk_ess(draws: xr.DataArray) -> xr.DataArray:
    """Bulk effective sample size of Vehtari et al. (2021), the one that ArviZ computes.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return _in_blocks(lambda block: _ess(_normal_scores(_split(block))), draws, "ess_bulk")


def tail_ess(draws: xr.DataArray) -> xr.DataArray:
    """The lesser effective sample size of the 5% and the 95% quantile (Vehtari et al., 2021), as ArviZ computes it.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return _in_blocks(_tail_ess, draws, "ess_tail")


def mean_ess(draws: xr.DataArray) -> xr.DataArray:
    """Effective sample size of the mean, as ArviZ computes it.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return _in_blocks(lambda block: _ess(_split(block)), draws, "ess_mean")


def mcse_of_mean(draws: xr.DataArray) -> xr.DataArray:
    """Monte-Carlo standard error of the mean, as ArviZ computes it.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return _in_blocks(lambda block: block.std(axis=(0, 1), ddof=1) / np.sqrt(_ess(_split(block))), draws, "mcse")


def convergence(draws: xr.DataArray) -> xr.Dataset:
    """All of the above of every component: `rhat`, `ess_bulk`, `ess_tail`, and `mcse` in standard deviations.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """

    def of_block(block: np.ndarray) -> np.ndarray:
        location, scale = _scores(block)
        plain = _ess(_split(block))
        return np.stack([_rank_rhat(location, scale), _ess(location), _tail_ess(block), 1 / np.sqrt(plain)], axis=-1)

    values = _in_blocks(of_block, draws, "convergence", ("quantity",))
    return xr.Dataset({name: values.isel(quantity=i) for i, name in enumerate(QUANTITIES)})


def is_constant(draws: xr.DataArray) -> xr.DataArray:
    """Which components have the same value in all draws, up to rounding: there is nothing to diagnose in them."""
    low, high = (getattr(draws, end)(("chain", "draw")) for end in ("min", "max"))
    return (high - low <= 1e-12 * np.maximum(abs(low), abs(high))).rename("constant")


def _in_blocks(
    of_block: Callable[[np.ndarray], np.ndarray], draws: xr.DataArray, name: str, more: tuple[str, ...] = ()
) -> xr.DataArray:
    """Apply a function of arrays (chain, draw, component) to each component; `more` are dimensions that it adds."""
    array = draws.transpose("chain", "draw", ...).values
    flat = array.reshape(*array.shape[:2], -1)
    # At least one block, even if it is empty, so that the result has its dimensions.
    blocks = [of_block(flat[:, :, i : i + _BLOCK].astype(np.float64)) for i in range(0, max(flat.shape[2], 1), _BLOCK)]
    values = np.concatenate(blocks)
    dims = [dim for dim in draws.dims if dim not in ("chain", "draw")]
    coords = {dim: draws.coords[dim] for dim in dims if dim in draws.coords}
    return xr.DataArray(values.reshape((*array.shape[2:], *values.shape[1:])), coords, [*dims, *more], name)


def _split(array: np.ndarray) -> np.ndarray:
    """Every chain as two of half its length."""
    half = array.shape[1] // 2
    return np.concatenate([array[:, :half], array[:, -half:]])


def _scores(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normal scores of the draws, and of their distances from the median."""
    split = _split(array)
    return _normal_scores(split), _normal_scores(np.abs(split - np.median(split, axis=(0, 1))))


def _rank_rhat(location: np.ndarray, scale: np.ndarray) -> np.ndarray:
    # One of the two is undefined where draws differ only in their sign, for example.
    return np.fmax(_rhat(location), _rhat(scale))


def _tail_ess(array: np.ndarray) -> np.ndarray:
    quantiles = np.quantile(array, TAILS, axis=(0, 1))
    return np.minimum(*(_ess(_split((array <= quantile).astype(np.float64))) for quantile in quantiles))


def _normal_scores(split: np.ndarray) -> np.ndarray:
    draws = split.shape[0] * split.shape[1]
    rows = np.ascontiguousarray(split.reshape(draws, -1).T)
    ranks = np.arange(1, draws + 0.5, 0.5)
    scores = np.empty_like(rows)
    scores_by_rank(rows, np.argsort(rows, axis=1), special.ndtri((ranks - 0.375) / (draws + 0.25)), scores)
    return scores.T.reshape(split.shape)


def _rhat(split: np.ndarray) -> np.ndarray:
    draws = split.shape[1]
    between = draws * split.mean(axis=1).var(axis=0, ddof=1)
    within = split.var(axis=1, ddof=1).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((between / within + draws - 1) / draws)


def _ess(split: np.ndarray) -> np.ndarray:
    """Effective sample size of chains (chain, draw, component), by Geyer's initial monotone sequence."""
    chains, length = split.shape[:2]
    autocovariance = _mean_autocovariance(split)
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
    ess = np.minimum(chains * length / np.maximum(time, 1e-12), most)
    # A constant is known exactly from any draw.
    return np.where(np.ptp(split, axis=(0, 1)) < np.finfo(float).resolution, float(chains * length), ess)


def _mean_autocovariance(split: np.ndarray) -> np.ndarray:
    """Of each component, averaged over chains: (lag, component)."""
    length = split.shape[1]
    centred = split - split.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * length, axis=1)
    # Spectra are averaged first, so that only one inverse transform is needed.
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    return np.fft.irfft(power, axis=0)[:length] / length
