"""The sudden-change scenario: a MELD-based policy is introduced and later withdrawn."""

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.environments.arrivals import default_transplants, draw_arrivals
from icb_pymc.environments.optn import require_columns

# Weights of the logarithms in the MELD score.
MELD_WEIGHTS = {"creatinine": 9.57, "inr": 11.2, "bilirubin": 3.78}
FEATURES = ("waiting_time", *MELD_WEIGHTS)


def sudden_change(
    steps: int = 2500, actions: int = 2, seed: int = 0, transplants: pd.DataFrame | None = None
) -> xr.Dataset:
    """Draw arrivals for clinicians who follow waiting time, then MELD, then waiting time again.

    Decisions are numbered t = 1, ..., T. The policy is MELD for ceil(T/3) <= t <= floor(2T/3), both ends
    included, and waiting time alone before and after. With T = 2500 it is MELD from t = 834 to t = 1666.
    Weights are positive: a longer wait, or worse laboratory values, give a higher priority.

    Parameters
    ----------
    steps : int
        Number of decisions T.
    actions : int
        Number of candidates per decision.
    seed : int
        The same seed gives the same arrivals.
    transplants : pd.DataFrame, optional
        Transplants from `optn.prepare`; by default those of the synthetic cohort. Those with unknown
        waiting time are left out.

    Returns
    -------
    xr.Dataset
        ``context`` (time, action, feature) with waiting time in days and the logarithms of creatinine, INR
        and bilirubin, all standardised by ``feature_mean`` and ``feature_scale`` (feature); ``available``
        (time, action); ``true_belief`` (time, feature), the weights rho_t of these standardised features with
        unit L1 norm.
    """
    cohort = default_transplants() if transplants is None else transplants
    require_columns(cohort, ("waiting_days", *MELD_WEIGHTS), "transplants", "take them from `prepare`")
    cohort = cohort[cohort["waiting_days"].notna()]
    arrivals = draw_arrivals(cohort, _features, steps, actions, seed)

    # A weight per unit of log value becomes one per standard deviation; constants cancel between candidates.
    scale = arrivals["feature_scale"].to_series()
    meld = np.array([MELD_WEIGHTS.get(feature, 0.0) * scale[feature] for feature in FEATURES])
    waiting = np.array([1.0, 0.0, 0.0, 0.0])
    first, last = -(-steps // 3), 2 * steps // 3
    under_meld = (arrivals["time"] >= first) & (arrivals["time"] <= last)
    belief = np.where(under_meld.to_numpy()[:, None], meld / meld.sum(), waiting)
    arrivals["true_belief"] = (("time", "feature"), belief)
    return arrivals.assign_attrs(environment="sudden change", meld_first=first, meld_last=last)


def _features(recipients: pd.DataFrame, donors: pd.DataFrame) -> pd.DataFrame:
    """Compute the four features, all of the recipient."""
    logarithms = {laboratory: np.log(recipients[laboratory]) for laboratory in MELD_WEIGHTS}
    return pd.DataFrame({"waiting_time": recipients["waiting_days"], **logarithms})
