"""The several-centres scenario: a MELD-based guideline is introduced, and each centre adopts it to its own degree."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.environments.sudden_change import sudden_change
from icb_pymc.errors import InputError

# The shares of decisions at which the guideline is introduced and at which its adoption is complete.
ADOPTION_PERIOD = (0.4, 0.6)


def several_centres(
    adoption: Sequence[float] = (1.0, 0.8, 0.6, 0.4, 0.2),
    steps: int = 200,
    actions: int = 2,
    seed: int = 0,
    transplants: pd.DataFrame | None = None,
) -> xr.Dataset:
    """Draw arrivals for centres that follow waiting time until a guideline recommends MELD.

    With g_t growing from 0 to 1 over the middle fifth of all decisions, centre j weighs features by
    (1 - s_j g_t) waiting + s_j g_t MELD. The trend is the same with the mean of all s_j. The order in which centres
    decide is random, and all decide equally often.

    Parameters
    ----------
    adoption : sequence of float
        s_j of each centre, from 0 (no change) to 1 (follows the guideline fully).
    steps : int
        Number of decisions of each centre.
    actions : int
        Number of candidates per decision.
    seed : int
        The same seed gives the same arrivals.
    transplants : pd.DataFrame, optional
        As in `sudden_change`, which defines the features.

    Returns
    -------
    xr.Dataset
        Arrivals with the centres along ``agent``, ``decider`` (time), ``true_belief`` (time, feature) of the
        centre that decides, ``true_trend`` (time, feature), ``true_deviation`` (time, feature), and ``adoption``
        (agent).
    """
    strength = np.asarray(adoption, dtype=np.float64)
    if not len(strength) or not ((strength >= 0) & (strength <= 1)).all():
        raise InputError(f"adoption={list(adoption)}: give each centre a strength between 0 and 1.")
    total = steps * len(strength)
    # In that scenario the policy changes twice, and the middle third follows MELD.
    arrivals = sudden_change(total, actions, seed, transplants)
    waiting, meld = (arrivals["true_belief"].values[t] for t in (0, total // 2))
    decider = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(strength)), steps))
    begin, end = ADOPTION_PERIOD
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
