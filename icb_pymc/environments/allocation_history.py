"""A history of liver allocation, 1995 to 2020, by known and dated policies, for the explainability study."""

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
    lose_values,
    raw_table,
)
from icb_pymc.environments.optn import ABO_GROUP, ADULT_AGE, SYNTHETIC_PREFIX, prepare
from icb_pymc.environments.waiting_list import FEATURES, waiting_list_decisions
from icb_pymc.errors import InputError
from icb_pymc.io.attributes import as_json

HISTORY_PREFIX = f"{SYNTHETIC_PREFIX}HISTORY-"

# When allocation changed. MELD came on 27 February 2002; the score given for hepatocellular carcinoma was capped at 34
# on 8 October 2015 (policies of the OPTN; the paper tells of both, and of the growing use of exceptions between
# them). That it grows evenly from 2005 on is our choice.
EXCEPTIONS_GROW = np.datetime64("2005-01-01")
EXCEPTIONS_CAPPED = np.datetime64("2015-10-08")
EVENTS = {
    str(MELD_START): "MELD",
    str(EXCEPTIONS_GROW): "exceptions grow",
    str(EXCEPTIONS_CAPPED): "cap on exceptions",
}

# The weights are invented. Urgency status before MELD is told by life support, the feature nearest to it. Exception
# points grow with the time on the list, so their growing use is told as a growing weight of waiting time.
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
# What the weights are per: about a standard deviation of each feature, in the units of the file.
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
# Milder than the paper's 20: over a whole list that would leave three candidates with hardly a choice to explain.
ALPHA = 6.0
PAIRED = ("abo_mismatch", "weight_difference", "waiting_time")


def allocation_history(
    steps: int = 2_500, actions: int = 3, seed: int = 0, transplants: pd.DataFrame | None = None
) -> xr.Dataset:
    """Make the decisions of the explainability study: the synthetic history, or the user's own file.

    Parameters
    ----------
    steps : int
        Number of livers T.
    actions : int
        Number of candidates for each.
    seed : int
        Same seed, same decisions.
    transplants : pd.DataFrame, optional
        Transplants of a real file, as ``prepare(read_raw(path), path).transplants``; by default those of the synthetic
        history.

    Returns
    -------
    xr.Dataset
        See `waiting_list_decisions`. Those of a synthetic history carry ``true_belief`` (time, feature), the weights of
        the standardised features in force on each date, near unit L1 norm, and `ALPHA`, with which they are best
        fitted, in their attributes; those of a real file carry no truth.
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
    """Give the transplants of the default synthetic history; shared, so never change them in place."""
    return prepare(synthesise_history()).transplants


def policy_in_force(dates: np.ndarray) -> np.ndarray:
    """Tell the weights of the `FEATURES`, per `UNITS`, that allocation followed on each date (date, feature)."""
    first, meld, exceptions, capped = WEIGHTS.loc[list(FEATURES)].to_numpy().T
    grown = (dates - EXCEPTIONS_GROW) / (EXCEPTIONS_CAPPED - EXCEPTIONS_GROW)
    use = np.clip(grown, 0, 1)[:, None]
    eras = [(dates < MELD_START)[:, None], (dates < EXCEPTIONS_CAPPED)[:, None]]
    return np.select(eras, [first, (1 - use) * meld + use * exceptions], capped)


def synthesise_history(patients: int = 10_000, seed: int = 0) -> pd.DataFrame:
    """Make up a liver waiting list whose livers went by dated policies, in the raw columns of the OPTN file.

    Patients and donors are those of `liver_cohort`. A liver comes on a day of its own, and goes to one of the adults
    who wait for it by the softmax of ``ALPHA <policy_in_force(day), x>``, so that the truth is known; blood groups
    only weigh, they do not bar. Children keep a list of their own. Those who leave the list without a liver were
    not in the running. Values are missing as rarely before 2002 as since: if more were missing of those transplanted
    early, the candidates known before 2002 would be those who waited past it.

    Parameters
    ----------
    patients : int
        Registrations to make, transplanted or not; at most a liver a day has room for about 11,000.
    seed : int
        Same seed, same patients.

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
    running = np.flatnonzero(stay.transplanted & (recipients["age"] >= ADULT_AGE).to_numpy())
    livers, days = _one_a_day(running, stay.left[running])
    winners = _allocate(rng, recipients.iloc[running], stay.listed[running], donors.iloc[livers], days)

    # Those for whom no liver came before the data cut are still waiting then.
    left, transplanted = stay.left.copy(), stay.transplanted.copy()
    left[running], transplanted[running] = DATA_CUT + np.timedelta64(1, "D"), False
    left[running[winners]], transplanted[running[winners]] = days, True
    donor = np.arange(patients)
    donor[running[winners]] = livers
    history = raw_table(
        rng,
        recipients,
        donors.iloc[donor].reset_index(drop=True),
        Stays(stay.listed, left, transplanted, stay.removal),
        prefix=HISTORY_PREFIX,
    )
    lose_values(rng, history, often=np.zeros(patients, dtype=bool))
    return history


def _one_a_day(livers: np.ndarray, arrived: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Put livers in order of arrival and each on a day of its own, by delay; those past the data cut are lost.

    With two livers on a day the file would not tell who was still waiting when the first of them came.
    """
    order = np.argsort(arrived, kind="stable")
    rank = np.arange(len(order)).astype("timedelta64[D]")
    days = np.maximum.accumulate(arrived[order] - rank) + rank
    in_time = days <= DATA_CUT
    if np.sum(~in_time) > 1 + len(order) / 100:
        raise InputError(
            f"patients: {len(order)} adults cannot each have a liver that comes on a day of its own from "
            f"{FIRST_LISTING} to {DATA_CUT}; give fewer patients."
        )
    return livers[order][in_time], days[in_time]


def _allocate(
    rng: np.random.Generator, patients: pd.DataFrame, listed: np.ndarray, livers: pd.DataFrame, days: np.ndarray
) -> np.ndarray:
    """Give each liver in turn to one of those waiting, by softmax; returns the position of each recipient."""
    weights = pd.DataFrame(ALPHA * policy_in_force(days), columns=list(FEATURES)) / UNITS
    # What depends on the liver and the day is added as they come; the rest is the patient's own.
    mismatch, difference, waiting = (weights.pop(name).to_numpy() for name in PAIRED)
    own, own_weights = patients[list(weights)].to_numpy(dtype=float), weights.to_numpy()
    group, kilograms = patients["blood_group"].map(ABO_GROUP).to_numpy(), patients["weight"].to_numpy()
    donor_group = livers["donor_blood_group"].map(ABO_GROUP).to_numpy()
    donor_kilograms = livers["donor_weight"].to_numpy()

    waits = np.ones(len(patients), dtype=bool)
    winners = np.empty(len(days), dtype=np.int64)
    for i, day in enumerate(days):
        list_today = np.flatnonzero(waits & (listed <= day))
        utility = own[list_today] @ own_weights[i]
        utility += mismatch[i] * (group[list_today] != donor_group[i])
        utility += difference[i] * abs(kilograms[list_today] - donor_kilograms[i])
        utility += waiting[i] * (day - listed[list_today]).astype(float)
        # A softmax choice is the highest utility after Gumbel noise. Everyone's liver was once another's, who
        # was listed before it came: so somebody always waits.
        winners[i] = list_today[np.argmax(utility + rng.gumbel(size=len(list_today)))]
        waits[winners[i]] = False
    return winners
