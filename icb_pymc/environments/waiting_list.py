"""Decisions from a file of transplants: each liver that arrived, who received it, and who else was waiting."""

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.data.decisions import validate
from icb_pymc.data.schema import CONTEXT_DIMS
from icb_pymc.environments import optn
from icb_pymc.environments.arrivals import Z_LIMIT, Standardisation
from icb_pymc.environments.optn import pair_features, require_columns
from icb_pymc.errors import InputError

# The eight of the paper, and the days on the list, by which livers were allocated before MELD.
FEATURES = (*optn.FEATURES, "waiting_time")
NEEDED_COLUMNS = (
    "listed",
    "transplanted",
    "waiting_days",
    "blood_group",
    "donor_blood_group",
    "weight",
    "donor_weight",
    *optn.FEATURES,
)


def waiting_list_decisions(
    transplants: pd.DataFrame, steps: int = 2_500, actions: int = 3, seed: int = 0
) -> xr.Dataset:
    """Draw dated decisions from transplants: the recipient, and others who were on the list on that day.

    The livers are drawn uniformly and without replacement, and for each of them ``actions - 1`` patients, uniformly
    among those who were listed by that day and received another liver on a later one (the paper's appendix on
    its decision environments). Features are standardised by the pairs that were really matched; a liver with a
    candidate more than five standard deviations from the mean in some feature is left out.

    Where livers are allocated by a softmax over the whole list, the choice among the recipient and others drawn
    uniformly is a softmax with the same weights (McFadden 1978, the uniform conditioning property). The file has no
    laboratory values of patients who never received a liver, so they are never drawn; if these are mostly patients of
    low priority, weights are underestimated.

    Parameters
    ----------
    transplants : pd.DataFrame
        Transplants from `optn.prepare`; those with unknown waiting time are left out.
    steps : int
        Number of livers T.
    actions : int
        Number of candidates for each.
    seed : int
        The same seed gives the same decisions.

    Returns
    -------
    xr.Dataset
        Decisions in order of date. ``sel(feature=list(optn.FEATURES))`` selects the eight features of the paper.
    """
    if steps < 1 or actions < 2:
        raise InputError(f"steps={steps}, actions={actions}: give at least one step and two candidates.")
    require_columns(transplants, NEEDED_COLUMNS, "transplants", "take them from `prepare`")
    known = transplants[transplants["waiting_days"].notna()]
    listed, received = (known[name].to_numpy("datetime64[ns]") for name in ("listed", "transplanted"))
    standardisation = Standardisation.of(_features(known, known))

    rng = np.random.default_rng(seed)
    livers = rng.permutation(len(known))
    slates, contexts = np.empty((0, actions), dtype=np.int64), np.empty((0, actions, len(FEATURES)))
    while len(slates) < steps and len(livers):
        batch, livers = np.split(livers, [steps - len(slates)])
        drawn = _slates(rng, batch, listed, received, actions)
        donors = known.iloc[np.repeat(drawn[:, 0], actions)]
        pairs = standardisation.z(_features(known.iloc[drawn.ravel()], donors)).reshape(*drawn.shape, len(FEATURES))
        usable = (abs(pairs) <= Z_LIMIT).all(axis=(1, 2))
        slates, contexts = np.concatenate([slates, drawn[usable]]), np.concatenate([contexts, pairs[usable]])
    if len(slates) < steps:
        raise InputError(
            f"transplants: only {len(slates)} livers arrived while {actions - 1} or more other patients were "
            f"waiting, not {steps}; ask for fewer decisions or candidates, or give more transplants."
        )

    recipient = slates[:, 0]
    order = np.lexsort((recipient, received[recipient]))
    # The recipient is in the first slot so far; the slot must not reveal who was chosen.
    slots = rng.permuted(np.tile(np.arange(actions), (steps, 1)), axis=1)
    context = np.take_along_axis(contexts[order], slots[:, :, None], axis=1)
    return validate(
        xr.Dataset(
            {
                "context": (CONTEXT_DIMS, context),
                "chosen": ("time", np.argmin(slots, axis=1)),
                "available": (("time", "action"), np.ones((steps, actions), dtype=bool)),
                "feature_mean": ("feature", standardisation.mean.to_numpy()),
                "feature_scale": ("feature", standardisation.scale.to_numpy()),
            },
            coords={
                "time": received[recipient[order]],
                "action": np.arange(actions),
                "feature": np.array(FEATURES),
            },
            attrs={"synthetic": int(transplants.attrs.get("synthetic", False)), "seed": seed},
        )
    )


def _features(candidates: pd.DataFrame, livers: pd.DataFrame) -> pd.DataFrame:
    """Compute the features of candidates for livers, row by row, on the day of the liver."""
    waited = livers["transplanted"].to_numpy() - candidates["listed"].to_numpy()
    return pair_features(candidates, livers).assign(waiting_time=waited / np.timedelta64(1, "D"))


def _slates(
    rng: np.random.Generator, livers: np.ndarray, listed: np.ndarray, received: np.ndarray, actions: int
) -> np.ndarray:
    """Draw the other candidates for each liver; livers for which too few were waiting are left out."""
    slates = []
    for liver in livers:
        day = received[liver]
        waiting = np.flatnonzero((listed <= day) & (received > day))
        if len(waiting) >= actions - 1:
            slates.append([liver, *rng.choice(waiting, actions - 1, replace=False)])
    return np.array(slates, dtype=np.int64).reshape(-1, actions)
