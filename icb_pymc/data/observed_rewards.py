"""Rewards that a log contains: `reward` (time), NaN where none was observed."""

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from icb_pymc.errors import InputError


def as_rewards(reward: ArrayLike) -> np.ndarray:
    """Rewards as real numbers, None as NaN, or an `InputError` that names the first that is not a number."""
    given = np.asarray(reward)
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"reward of decision number {_first_text(given) + 1} is not a number; correct it, or leave it empty."
        ) from None


def check_rewards(decisions: xr.Dataset, source: str) -> None:
    """Raise `InputError` if decisions have rewards that do not follow the schema."""
    if "reward" not in decisions:
        return
    reward = decisions["reward"]
    if reward.dims != ("time",):
        raise InputError(f"{source}: 'reward' has dims {reward.dims}, expected ('time',).")
    if reward.dtype.kind != "f":
        raise InputError(
            f"{source}: 'reward' holds {reward.dtype}, expected real numbers, NaN where none was observed."
        )
    infinite = np.isinf(reward.values)
    if infinite.any():
        raise InputError(
            f"{source}: the reward of decision number {int(np.argmax(infinite)) + 1} is infinite; "
            "correct it, or leave it empty."
        )


def rewards_of(decisions: xr.Dataset) -> np.ndarray:
    """Rewards (time,), NaN where none was observed.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.data.observed_rewards import rewards_of
    >>> context = [[[1.0], [0.0]], [[0.0], [1.0]]]
    >>> rewards_of(icb_pymc.from_arrays(context, [0, 1], reward=[1.0, None]))
    array([ 1., nan])
    """
    if "reward" in decisions:
        return decisions["reward"].values
    return np.full(decisions.sizes["time"], np.nan)


def _first_text(values: np.ndarray) -> int:
    for position, value in enumerate(values.flat):
        try:
            float(np.nan if value is None else value)
        except (TypeError, ValueError):
            return position
    return 0
