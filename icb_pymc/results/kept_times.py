"""Which times of a path of draws are kept, and in which precision, both in a fit and in a shared trace."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from icb_pymc.errors import InputError

DTYPES = ("float64", "float32")


def positions_to_keep(time: np.ndarray, every: int = 1, times: Sequence[Any] | None = None) -> np.ndarray:
    """Positions of the times to keep: every n-th, or those named.

    Parameters
    ----------
    time : array (time,)
        The times of the log, as integers or dates.
    every : int
        Keep every n-th time.
    times : sequence, optional
        Keep these instead, written as in `time`.

    Returns
    -------
    array of int

    Raises
    ------
    InputError
        If `every` is not a whole number from 1, both are given, or a time is not in the log.

    Examples
    --------
    >>> positions_to_keep(np.arange(1, 11), every=4)
    array([0, 4, 8])
    >>> positions_to_keep(np.arange(1, 11), times=[2, 10])
    array([1, 9])
    """
    if not isinstance(every, (int, np.integer)):
        raise InputError(f"every={every}: give a whole number.")
    if every < 1:
        raise InputError(f"every={every}: give at least one.")
    if times is None:
        return np.arange(0, len(time), every)
    if every > 1:
        raise InputError("give every or times, not both.")
    try:
        wanted = np.asarray(times, dtype=time.dtype if time.dtype.kind == "M" else None)
    except ValueError:
        raise InputError(f"times={times!r}: give dates as the decisions have them.") from None
    missing = ~np.isin(wanted, time)
    if wanted.ndim != 1 or not len(wanted) or missing.any():
        reason = f"there is no decision at {wanted[missing][0]}" if missing.any() else "the list is empty"
        raise InputError(f"times: {reason}; choose from the times of the decisions.")
    return np.flatnonzero(np.isin(time, wanted))


def spread_positions(times: int, most: int) -> np.ndarray:
    """At most so many positions, evenly spaced from the first time to the last.

    Examples
    --------
    >>> spread_positions(10, 4)
    array([0, 3, 6, 9])
    >>> spread_positions(3, 4)
    array([0, 1, 2])
    """
    return np.unique(np.linspace(0, times - 1, min(times, most)).round().astype(np.int64))


def check_dtype(dtype: str) -> None:
    """Raise `InputError` unless draws can be kept as `dtype`."""
    if dtype not in DTYPES:
        raise InputError(f"dtype={dtype!r}: it must be {' or '.join(repr(word) for word in DTYPES)}.")
