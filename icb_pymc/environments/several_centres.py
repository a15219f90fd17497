"""The scenario of several centres: a MELD-based guideline comes, and each centre adopts it with its own strength."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.environments.sudden_change import sudden_change
from icb_pymc.errors import InputError

# The share of decisions after which the guideline comes, and after which it is adopted as far as it will be.
ADOPTION = (0.4, 0.6)


def several_centres(
    adoption: Sequence[float] = (1.0, 0.8, 0.6, 0.4, 0.2),
    steps: int = 200,
    actions: int = 2,
    seed: int = 0,
    transplants: pd.DataFrame | None = None,
) -> xr.Dataset:
    """Draw arrivals for centres that go by waiting time until a guideline tells them to go by MELD.

    With g_t growing from 0 to 1 over the middle fifth of all decisions, centre j weighs features by
    (1 - s_j g_t) waiting + s_j g_t MELD. The trend is the same with the mean of all s_j. Who decides next is random,
    and all centres decide equally often.

    Parameters
    ----------
    adoption : sequence of float
        s_j of each centre, from 0 (goes on as before) to 1 (follows the guideline to the letter).
    steps : int
        Number of decisions of each centre.
    actions : int
        Number of candidates per decision.
    seed : int
        Same seed, same arrivals.
    transplants : pd.DataFrame, optional
        As in `sudden_change`, whose features these are.

    Returns
    -------
    xr.Dataset
        Arrivals with the centres along ``agent``, ``decider`` (time), ``true_belief`` (time, feature) of whoever
        decides, ``true_trend`` (time, feature), ``true_deviation`` (time, feature) and ``adoption`` (agent).
    """
    strength = np.asarray(adoption, dtype=np.float64)
    if not len(strength) or not ((strength >= 0) & (strength <= 1)).all():
        raise InputError(f"adoption={list(adoption)}: give each centre a strength between 0 and 1.")
    total = steps * len(strength)
    # There policies change twice: the middle third goes by MELD.
    arrivals = sudden_change(total, actions, seed, transplants)
    waiting, meld = (arrivals["true_belief"].values[t] for t in (0, total // 2))
    decider = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(strength)), steps))
    begin, end = ADOPTION
    adopted = np.clip((np.arange(total) / total - begin) / (end - begin), 0, 1)[:, None]

    def weights(share: np.ndarray) -> np.ndarray:
        return waiting + share * (meld - waiting)

    belief, trend = weights(adopted * strength[decider, None]), weights(adopted * strength.mean())
    digits = len(str(len(strength)))
    names = [f"centre {i:0{digits}d}" for i in range(1, len(strength) + 1)]
    arrivals = arrivals.assign_coords(agent=names).assign(
        decider=("time", decider.astype(np.int64)),
        adoption=("agent", strength),
        true_belief=(("time", "feature"), belief),
        true_trend=(("time", "feature"), trend),
        true_deviation=(("time", "feature"), belief - trend),
    )
    kept = {name: value for name, value in arrivals.attrs.items() if not name.startswith("meld_")}
    return arrivals.drop_attrs(deep=False).assign_attrs(kept, environment="several centres")
