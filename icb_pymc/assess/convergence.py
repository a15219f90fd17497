"""R-hat, effective sample sizes and standard errors of every component at once.

A path of thousands of beliefs has thousands of components: a kernel goes through them, a few hundred at a time.
"""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from scipy import special

from icb_pymc.kernels.chain_statistics import (
    BULK,
    COLUMNS,
    LOWER_TAIL,
    MEAN,
    RHAT,
    SCALE_RHAT,
    UNFINISHED,
    UPPER_TAIL,
    chain_statistics,
    score,
)

# Vehtari et al. (2021): chains agree below this R-hat, and R-hat itself and quantiles can be relied on from this ESS.
RHAT_LIMIT, ESS_LIMIT = 1.01, 400
# With fewer draws in a chain its halves are too short for any of these diagnostics.
LEAST_DRAWS = 10
TAILS = (0.05, 0.95)
QUANTITIES = ("rhat", "ess_bulk", "ess_tail", "mcse")
# Components at a time: a copy of all at once may not fit into memory.
_BLOCK = 256

# Above it the chains have not converged to the same distribution.
HIGHEST_RHAT = 1.05


def rank_rhat(draws: xr.DataArray) -> xr.DataArray:
    """Rank-normalised split R-hat of Vehtari et al. (2021), the one that ArviZ computes.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return _quantities(draws, ["rhat"])["rhat"]


def bulk_ess(draws: xr.DataArray) -> xr.DataArray:
    """Bulk effective sample size of Vehtari et al. (2021), the one that ArviZ computes.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return _quantities(draws, ["ess_bulk"])["ess_bulk"]


def tail_ess(draws: xr.DataArray) -> xr.DataArray:
    """The lesser effective sample size of the 5% and the 95% quantile (Vehtari et al., 2021), as ArviZ computes it.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return _quantities(draws, ["ess_tail"])["ess_tail"]


def mean_ess(draws: xr.DataArray) -> xr.DataArray:
    """Effective sample size of the mean, as ArviZ computes it.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return _quantities(draws, ["ess_mean"])["ess_mean"]


def mcse_of_mean(draws: xr.DataArray) -> xr.DataArray:
    """Monte-Carlo standard error of the mean, as ArviZ computes it.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return (_quantities(draws, ["mcse"])["mcse"] * draws.std(("chain", "draw"), ddof=1)).rename("mcse")


def convergence(draws: xr.DataArray) -> xr.Dataset:
    """All of the above of every component: `rhat`, `ess_bulk`, `ess_tail`, and `mcse` in standard deviations.

    Parameters
    ----------
    draws : DataArray (chain, draw, ...)
    """
    return _quantities(draws, QUANTITIES)


def is_constant(draws: xr.DataArray) -> xr.DataArray:
    """Which components have the same value in all draws, up to rounding: there is nothing to diagnose in them."""
    low, high = (getattr(draws, end)(("chain", "draw"), skipna=False) for end in ("min", "max"))
    return (high - low <= 1e-12 * np.maximum(abs(low), abs(high))).rename("constant")


def _quantities(draws: xr.DataArray, names: Sequence[str]) -> xr.Dataset:
    """Diagnostics by name of each component of draws (chain, draw, ...)."""
    array = draws.transpose("chain", "draw", ...).values
    flat = array.reshape(*array.shape[:2], -1)
    values = np.empty((flat.shape[2], COLUMNS))
    for begin in range(0, flat.shape[2], _BLOCK):
        rows = np.ascontiguousarray(flat[:, :, begin : begin + _BLOCK].transpose(2, 0, 1), dtype=np.float64)
        values[begin : begin + _BLOCK] = _statistics(rows)
    by_name = {
        # One of the two is undefined where draws differ only in their sign, for example.
        "rhat": np.fmax(values[:, RHAT], values[:, SCALE_RHAT]),
        "ess_bulk": values[:, BULK],
        "ess_tail": np.minimum(values[:, LOWER_TAIL], values[:, UPPER_TAIL]),
        "ess_mean": values[:, MEAN],
        "mcse": 1 / np.sqrt(values[:, MEAN]),
    }
    dims = [dim for dim in draws.dims if dim not in ("chain", "draw")]
    coords = {dim: draws.coords[dim] for dim in dims if dim in draws.coords}
    return xr.Dataset({name: (dims, by_name[name].reshape(array.shape[2:])) for name in names}, coords)


def _statistics(rows: np.ndarray) -> np.ndarray:
    """The columns of `chain_statistics` for draws (component, chain, draw)."""
    count, chains, length = rows.shape
    half = length // 2
    # Every chain as two of half its length; a draw in the middle belongs to neither, but counts for quantiles.
    split = rows if length == 2 * half else np.concatenate([rows[:, :, :half], rows[:, :, -half:]], axis=2)
    split = split.reshape(count, -1)
    size = split.shape[1]
    order = np.argsort(split, axis=1)
    all_rows = rows.reshape(count, -1)
    quantiles = _quantiles(all_rows, order if length == 2 * half else np.argsort(all_rows, axis=1))
    ranks = np.arange(1, size + 0.5, 0.5)
    scores = special.ndtri((ranks - 0.375) / (size + 0.25))
    constant, most = np.finfo(float).resolution, size * np.log10(size)
    values = np.empty((count, COLUMNS))
    chain_statistics(split, order, quantiles, scores, 2 * chains, constant, most, values)
    for row, column in np.argwhere(values == UNFINISHED):
        series = split[row]
        if column == BULK:
            series = np.empty(size)
            score(split[row], order[row], scores, series)
        elif column in (LOWER_TAIL, UPPER_TAIL):
            series = (split[row] <= quantiles[row, column - LOWER_TAIL]).astype(np.float64)
        values[row, column] = _ess_by_transform(series.reshape(2 * chains, half), most)
    return values


def _quantiles(rows: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The quantiles `TAILS` (component, quantile) of rows that `order` sorts, interpolated as NumPy does."""
    at = np.array(TAILS) * (rows.shape[1] - 1)
    below = np.floor(at).astype(int)
    above = np.minimum(below + 1, rows.shape[1] - 1)
    low, high = (np.take_along_axis(rows, order[:, ends], axis=1) for ends in (below, above))
    share = at - below
    quantiles = np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share))
    # Of one component and of many in the same order, so that the kernel is compiled once.
    return np.ascontiguousarray(quantiles)


def _ess_by_transform(chains: np.ndarray, most: float) -> float:
    """The effective sample size of `chain_statistics` for one component (chain, draw), from a Fourier transform."""
    count, length = chains.shape
    autocovariance = _mean_autocovariance(chains)
    mean_variance = autocovariance[0] * length / (length - 1)
    variance = mean_variance * (length - 1) / length + chains.mean(axis=1).var(ddof=1)
    correlation = 1.0 - (mean_variance - autocovariance) / variance
    correlation[0] = 1.0
    pairs = (length - 3) // 2
    sums = correlation[0 : 2 * pairs : 2] + correlation[1 : 2 * pairs : 2]
    # Pairs count until the first that is not positive, and never more than the pair before.
    ended = int(np.argmin(np.append(sums, -1.0) > 0))
    time = -1.0 + 2.0 * np.minimum.accumulate(sums[:ended]).sum() + max(correlation[2 * ended], 0.0)
    return min(count * length / max(time, 1e-12), most)


def _mean_autocovariance(chains: np.ndarray) -> np.ndarray:
    """By lag, averaged over chains."""
    length = chains.shape[1]
    spectrum = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), n=2 * length, axis=1)
    # Spectra are averaged first, so that only one inverse transform is needed.
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    return np.fft.irfft(power)[:length] / length
