"""A history of liver allocation, 1995 to 2020, under known, dated policies, for the explainability study."""

from functools import lru_cache

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.environments.liver_cohort import (
    DATA_CUT,
    FIRST_LISTING,
    MELD_START,
    Stays,
    draw_donors,
    draw_recipients,
    draw_stays,
    raw_table,
    remove_values,
)
from icb_pymc.environments.optn import ABO_GROUP, ADULT_AGE, SYNTHETIC_PREFIX, prepare
from icb_pymc.environments.waiting_list import FEATURES, waiting_list_decisions
from icb_pymc.errors import InputError
from icb_pymc.io.attributes import as_json

HISTORY_PREFIX = f"{SYNTHETIC_PREFIX}HISTORY-"

# When allocation changed. MELD was introduced on 27 February 2002; the score given for hepatocellular carcinoma was
# capped at 34 on 8 October 2015 (policies of the OPTN; the paper describes both, and the growing use of exceptions
# between them). That this use grows linearly from 2005 on is our choice.
EXCEPTIONS_GROW = np.datetime64("2005-01-01")
EXCEPTIONS_CAPPED = np.datetime64("2015-10-08")
EVENTS = {
    str(MELD_START): "MELD",
    str(EXCEPTIONS_GROW): "exceptions grow",
    str(EXCEPTIONS_CAPPED): "cap on exceptions",
}

# The weights are invented. Urgency status before MELD is represented by life support, the closest feature. Exception
# points grow with the time on the list, so their growing use is represented by a growing weight of waiting time.
WEIGHTS = pd.DataFrame.from_dict(
    {
        "abo_mismatch": [-0.15, -0.15, -0.15, -0.15],
        "age": [-0.03, -0.02, -0.02, -0.02],
        "creatinine": [0.02, 0.20, 0.12, 0.19],
        "dialysis": [0.03, 0.07, 0.05, 0.07],
        "inr": [0.01, 0.25, 0.13, 0.23],
        "life_support": [0.20, 0.06, 0.06, 0.06],
        "bilirubin": [0.06, 0.11, 0.08, 0.11],
        "weight_difference": [-0.08, -0.08, -0.08, -0.08],
        "waiting_time": [0.42, 0.06, 0.31, 0.09],
    },
    orient="index",
    columns=["status and waiting time", "MELD", "MELD and exceptions", "MELD and capped exceptions"],
)
# Weights are per these amounts: about a standard deviation of each feature, in the units of the file.
UNITS = pd.Series(
    {
        "abo_mismatch": 0.4,
        "age": 11.0,
        "creatinine": 0.85,
        "dialysis": 0.28,
        "inr": 0.85,
        "life_support": 0.25,
        "bilirubin": 8.5,
        "weight_difference": 15.0,
        "waiting_time": 250.0,
    },
    name="unit",
)
# Lower than the paper's 20: over a whole list that would make almost every choice among three candidates certain.
ALPHA = 6.0
PAIR_FEATURES = ("abo_mismatch", "weight_difference", "waiting_time")


def allocation_history(
    steps: int = 2_500, actions: int = 3, seed: int = 0, transplants: pd.DataFrame | None = None
) -> xr.Dataset:
    """Decisions of the explainability study, from the synthetic history or from the user's own file.

    Parameters
    ----------
    steps : int
        Number of livers T.
    actions : int
        Number of candidates for each.
    seed : int
        The same seed gives the same decisions.
    transplants : pd.DataFrame, optional
        Transplants of a real file, as ``prepare(read_raw(path), path).transplants``; by default those of the synthetic
        history.

    Returns
    -------
    xr.Dataset
        See `waiting_list_decisions`. Those of a synthetic history have ``true_belief`` (time, feature), the weights of
        the standardised features in force on each date, with an L1 norm close to one, and in their attributes
        `ALPHA`, with which they should be fitted; those of a real file have neither.
    """
    cohort = default_history() if transplants is None else transplants
    decisions = waiting_list_decisions(cohort, steps, actions, seed).assign_attrs(environment="allocation history")
    if not cohort["patient"].astype(str).str.startswith(HISTORY_PREFIX).all():
        return decisions
    per_unit = policy_in_force(decisions["time"].values) / UNITS[list(FEATURES)].to_numpy()
    decisions["true_belief"] = (("time", "feature"), per_unit * decisions["feature_scale"].values)
    return decisions.assign_attrs(agent="dated policies", hyperparameters=as_json({"alpha": ALPHA}))


@lru_cache(maxsize=1)
def default_history() -> pd.DataFrame:
    """The transplants of the default synthetic history; the table is shared, so do not modify it."""
    return prepare(synthesise_history()).transplants


def policy_in_force(dates: np.ndarray) -> np.ndarray:
    """The weights of the `FEATURES`, per `UNITS`, that allocation followed on each date (date, feature)."""
    first, meld, exceptions, capped = WEIGHTS.loc[list(FEATURES)].to_numpy().T
    grown = (dates - EXCEPTIONS_GROW) / (EXCEPTIONS_CAPPED - EXCEPTIONS_GROW)
    use = np.clip(grown, 0, 1)[:, None]
    eras = [(dates < MELD_START)[:, None], (dates < EXCEPTIONS_CAPPED)[:, None]]
    return np.select(eras, [first, (1 - use) * meld + use * exceptions], capped)


def synthesise_history(patients: int = 10_000, seed: int = 0) -> pd.DataFrame:
    """Simulate a liver waiting list under dated policies, in the raw columns of the OPTN file.

    Patients and donors are those of `liver_cohort`. At most one liver arrives per day, and it is given to one of the
    waiting adults by the softmax of ``ALPHA <policy_in_force(day), x>``, so that the truth is known; a different blood
    group lowers the utility but does not exclude a patient. Children have a separate list. Patients who leave the list
    without a liver do not compete for one. Values are missing as rarely before 2002 as after it: if more were missing
    for early transplants, the known candidates before 2002 would mostly be those who were still waiting after it.

    Parameters
    ----------
    patients : int
        Number of registrations, transplanted or not; with one liver a day at most about 11,000 are possible.
    seed : int
        The same seed gives the same patients.

    Returns
    -------
    pd.DataFrame
        One row per registration; every ``PT_CODE`` begins with `HISTORY_PREFIX`.
    """
    if patients < 1:
        raise InputError(f"patients must be at least 1, not {patients}.")
    rng = np.random.default_rng(seed)
    recipients = draw_recipients(rng, patients)
    donors = draw_donors(rng, recipients)
    stay = draw_stays(rng, recipients)
    competing = np.flatnonzero(stay.transplanted & (recipients["age"] >= ADULT_AGE).to_numpy())
    livers, days = _one_liver_per_day(competing, stay.left[competing])
    winners = _allocate(rng, recipients.iloc[competing], stay.listed[competing], donors.iloc[livers], days)

    # Those who got no liver before the data cut are still waiting then.
    left, transplanted = stay.left.copy(), stay.transplanted.copy()
    left[competing], transplanted[competing] = DATA_CUT + np.timedelta64(1, "D"), False
    left[competing[winners]], transplanted[competing[winners]] = days, True
    donor = np.arange(patients)
    donor[competing[winners]] = livers
    history = raw_table(
        rng,
        recipients,
        donors.iloc[donor].reset_index(drop=True),
        Stays(stay.listed, left, transplanted, stay.removal),
        prefix=HISTORY_PREFIX,
    )
    remove_values(rng, history, often=np.zeros(patients, dtype=bool))
    return history


def _one_liver_per_day(livers: np.ndarray, arrived: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort livers by arrival and delay them to one per day; those delayed past the data cut are dropped.

    With two livers on one day the file would not show who was still waiting when the first of them arrived.
    """
    order = np.argsort(arrived, kind="stable")
    rank = np.arange(len(order)).astype("timedelta64[D]")
    days = np.maximum.accumulate(arrived[order] - rank) + rank
    in_time = days <= DATA_CUT
    if np.sum(~in_time) > 1 + len(order) / 100:
        raise InputError(
            f"patients: {len(order)} adults cannot each receive a liver from {FIRST_LISTING} to {DATA_CUT} with "
            "at most one liver per day; give fewer patients."
        )
    return livers[order][in_time], days[in_time]


def _allocate(
    rng: np.random.Generator, patients: pd.DataFrame, listed: np.ndarray, livers: pd.DataFrame, days: np.ndarray
) -> np.ndarray:
    """Give each liver in turn to a waiting patient, by softmax; returns the positions of the recipients."""
    weights = pd.DataFrame(ALPHA * policy_in_force(days), columns=list(FEATURES)) / UNITS
    # What depends on the liver and the day is added liver by liver; the other features are the patient's own.
    mismatch, difference, waiting = (weights.pop(name).to_numpy() for name in PAIR_FEATURES)
    own, own_weights = patients[list(weights)].to_numpy(dtype=float), weights.to_numpy()
    group, kilograms = patients["blood_group"].map(ABO_GROUP).to_numpy(), patients["weight"].to_numpy()
    donor_group = livers["donor_blood_group"].map(ABO_GROUP).to_numpy()
    donor_kilograms = livers["donor_weight"].to_numpy()

    is_waiting = np.ones(len(patients), dtype=bool)
    winners = np.empty(len(days), dtype=np.int64)
    for i, day in enumerate(days):
        waiting_today = np.flatnonzero(is_waiting & (listed <= day))
        utility = own[waiting_today] @ own_weights[i]
        utility += mismatch[i] * (group[waiting_today] != donor_group[i])
        utility += difference[i] * abs(kilograms[waiting_today] - donor_kilograms[i])
        utility += waiting[i] * (day - listed[waiting_today]).astype(float)
        # A softmax choice is the highest utility after adding Gumbel noise. The list is never empty: each liver was
        # drawn for a patient who was listed before it arrived.
        winners[i] = waiting_today[np.argmax(utility + rng.gumbel(size=len(waiting_today)))]
        is_waiting[winners[i]] = False
    return winners
