"""Synthetic patients in the format of the OPTN liver file."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from icb_pymc.environments.optn import FEATURES, SYNTHETIC_PREFIX, pair_features
from icb_pymc.errors import InputError

FIRST_LISTING = np.datetime64("1995-01-01")
DATA_CUT = np.datetime64("2020-12-04")
# With MELD (27 February 2002) reporting laboratory values became mandatory.
MELD_START = np.datetime64("2002-02-27")

# Frequencies of the ABO groups, close to those of the population of the United States.
GROUPS = np.array(["O", "A", "B", "AB"])
GROUP_FREQUENCY = np.array([0.455, 0.375, 0.125, 0.045])
IDENTICAL, COMPATIBLE, INCOMPATIBLE = 1, 2, 3
# Groups other than the recipient's own that the recipient can accept.
COMPATIBLE_DONORS = {"O": [], "A": ["O"], "B": ["O"], "AB": ["A", "B", "O"]}
COMPATIBLE_SHARE = {"O": 0.00, "A": 0.08, "B": 0.15, "AB": 0.40}
INCOMPATIBLE_SHARE = 0.012

# Reasons why a registration ends without a transplant: died, too sick, unsuitable, improved, refused,
# transferred, other.
REMOVAL_CODES = np.array([8, 13, 5, 12, 6, 7, 9])
REMOVAL_FREQUENCY = np.array([0.36, 0.22, 0.10, 0.12, 0.04, 0.06, 0.10])
TRANSPLANTED_CODE = 4

# Days of survival that one unit of each feature costs. Costs are far larger, and noise far smaller, than in
# real patients, so that a cohort of this size determines rho_env well.
# They were chosen so that ||rho_env + 1/k||_1 is close to the paper's 0.477, so that value is not a result here.
DAYS_LOST = {
    "abo_mismatch": 600.0,
    "age": 41.5,
    "creatinine": 475.0,
    "dialysis": 490.0,
    "inr": 425.0,
    "life_support": 1600.0,
    "bilirubin": 15.0,
    "weight_difference": 9.3,
}
SURVIVAL_WITHOUT_COSTS = 7600.0
SURVIVAL_NOISE = 350.0


def synthesise(patients: int = 20_000, seed: int = 0) -> pd.DataFrame:
    """Simulate a liver waiting list in the raw columns and codes of the OPTN file, without any real patient.

    Severity of illness is one hidden number per patient that raises creatinine, INR, bilirubin, dialysis
    and life support together. Survival after transplant decreases linearly with the eight features and is
    censored at the data cut of 4 December 2020. Values are missing as in a registry: mostly before
    2002, and coded in several ways.

    Parameters
    ----------
    patients : int
        Number of registrations, transplanted or not.
    seed : int
        The same seed gives the same patients.

    Returns
    -------
    pd.DataFrame
        One row per registration; every ``PT_CODE`` begins with `SYNTHETIC_PREFIX`, so that a file of them can
        be recognised as synthetic.
    """
    if patients < 1:
        raise InputError(f"patients must be at least 1, not {patients}.")
    rng = np.random.default_rng(seed)
    recipients = draw_recipients(rng, patients)
    donors = draw_donors(rng, recipients)
    stay = draw_stays(rng, recipients)
    raw = raw_table(rng, recipients, donors, stay)
    remove_values(rng, raw, often=(raw["TX_DATE"] < MELD_START).to_numpy())
    return raw


class Stays(NamedTuple):
    """How long patients were on the list, and how they left it; arrays with one value per patient.

    Attributes
    ----------
    listed : array of dates
        Day on which the patient joined the list.
    left : array of dates
        Day on which the patient left it; after the data cut for those still waiting then.
    transplanted : array of bool
        Whether the patient left it with a new liver.
    removal : array of int
        Code of the reason for leaving.
    """

    listed: np.ndarray
    left: np.ndarray
    transplanted: np.ndarray
    removal: np.ndarray


def raw_table(
    rng: np.random.Generator,
    recipients: pd.DataFrame,
    donors: pd.DataFrame,
    stay: Stays,
    prefix: str = SYNTHETIC_PREFIX,
) -> pd.DataFrame:
    """Convert patients, their donors and their outcomes to the columns and codes of the OPTN file.

    Parameters
    ----------
    rng : Generator
    recipients, donors : pd.DataFrame
        From `draw_recipients` and `draw_donors`; the donor of each patient is in the same row.
    stay : Stays
        From `draw_stays`.
    prefix : str
        The beginning of every ``PT_CODE``.
    """
    patients = len(recipients)
    outcomes = _outcomes(rng, stay, pair_features(recipients, donors))
    raw = pd.DataFrame(
        {
            "PT_CODE": [f"{prefix}{code}" for code in rng.permutation(patients) + 100_001],
            "WL_ID_CODE": rng.permutation(patients) + 500_001,
            "DONOR_ID": pd.array(rng.permutation(patients) + 900_001, dtype="Int64"),
            "ABO": recipients["blood_group"],
            "ABO_DON": donors["donor_blood_group"],
            "ABO_MAT": pd.array(_match_codes(recipients["blood_group"], donors["donor_blood_group"]), dtype="Int64"),
            "AGE": recipients["age"],
            "AGE_DON": donors["donor_age"],
            "GENDER": recipients["gender"],
            "CREAT_TX": recipients["creatinine"],
            "DIAL_TX": np.where(recipients["dialysis"], "Y", "N"),
            "INR_TX": recipients["inr"],
            "LIFE_SUP_TRR": np.where(recipients["life_support"], "Y", "N"),
            "TBILI_TX": recipients["bilirubin"],
            "WGT_KG_CALC": recipients["weight"],
            "WGT_KG_DON_CALC": donors["donor_weight"],
            **outcomes,
        }
    )
    _blank_values_without_transplant(raw)
    return raw


def draw_recipients(rng: np.random.Generator, size: int) -> pd.DataFrame:
    """Draw patients: blood group, age, gender, weight, laboratory values and hidden severity."""
    child = rng.random(size) < 0.08
    male = rng.random(size) < 0.62
    adult_age = _clip(rng.normal(53.0, 11.0, size), 18, 78)
    age = np.floor(np.where(child, 18 * rng.beta(0.6, 1.3, size), adult_age))

    severity = rng.normal(size=size)
    kidney = 0.6 * severity + 0.8 * rng.normal(size=size)
    coagulation = 0.65 * severity + 0.76 * rng.normal(size=size)
    cholestasis = 0.65 * severity + 0.76 * rng.normal(size=size)
    dialysis = rng.random(size) < _logistic(-3.3 + 1.6 * kidney)
    life_support = rng.random(size) < _logistic(-3.3 + 1.3 * severity)
    creatinine = np.exp(0.05 + 0.42 * kidney + 0.6 * dialysis - 0.7 * child)
    return pd.DataFrame(
        {
            "blood_group": _with_subtypes(rng, rng.choice(GROUPS, size, p=GROUP_FREQUENCY), typed=0.1),
            "age": age,
            "gender": np.where(male, "M", "F"),
            "weight": _weight(rng, age, child, male),
            "creatinine": _clip(creatinine, 0.1, 15).round(2),
            "dialysis": dialysis.astype(float),
            "inr": _clip(0.8 + np.exp(-0.3 + 0.75 * coagulation), 0.8, 15).round(2),
            "life_support": life_support.astype(float),
            "bilirubin": _clip(np.exp(1.3 + 1.1 * cholestasis), 0.1, 60).round(1),
            "severity": severity,
        }
    )


def draw_donors(rng: np.random.Generator, recipients: pd.DataFrame) -> pd.DataFrame:
    """Draw a donor for each patient: blood group, age and weight."""
    size = len(recipients)
    child = rng.random(size) < np.where(recipients["age"] < 18, 0.75, 0.06)
    male = rng.random(size) < 0.59
    adult_age = _clip(rng.normal(42.0, 16.0, size), 18, 85)
    age = np.floor(np.where(child, 18 * rng.beta(1.4, 0.9, size), adult_age))
    # Livers are given to patients of about the same size.
    own_weight = _weight(rng, age, child, male)
    weight = np.where(child, own_weight, 0.85 * own_weight + 0.15 * _clip(recipients["weight"], 45, 200))

    recipient_group = _fold_subtypes(recipients["blood_group"].to_numpy())
    group = recipient_group.copy()
    uniform = rng.random(size)
    for own, compatible in COMPATIBLE_DONORS.items():
        incompatible = [donor for donor in GROUPS if donor not in (own, *compatible)]
        own_group = recipient_group == own
        for others, mismatched in (
            (compatible, own_group & (uniform < COMPATIBLE_SHARE[own])),
            (incompatible, own_group & (uniform > 1 - INCOMPATIBLE_SHARE)),
        ):
            if others:
                group[mismatched] = rng.choice(others, mismatched.sum())
    return pd.DataFrame(
        {
            "donor_blood_group": _with_subtypes(rng, group, typed=0.4),
            "donor_age": age,
            "donor_weight": weight.round(1),
        }
    )


def draw_stays(rng: np.random.Generator, recipients: pd.DataFrame) -> Stays:
    """Draw when each patient was listed, when they left the list, and whether they were transplanted."""
    size = len(recipients)
    span = (DATA_CUT - FIRST_LISTING).astype(int)
    # An exponent below one puts more listings in later years, as the list grew.
    listed = FIRST_LISTING + (span * rng.random(size) ** 0.8).astype("timedelta64[D]")
    waited = np.exp(rng.normal(4.6 - 0.5 * recipients["severity"], 1.3)).astype("timedelta64[D]")
    left = listed + waited
    transplanted = (left <= DATA_CUT) & (rng.random(size) < 0.62)
    removal = np.where(transplanted, TRANSPLANTED_CODE, rng.choice(REMOVAL_CODES, size, p=REMOVAL_FREQUENCY))
    return Stays(listed, left, transplanted, removal)


def _outcomes(rng: np.random.Generator, stay: Stays, features: pd.DataFrame) -> dict[str, np.ndarray]:
    """Dates and codes of what happened to each patient: listing, transplant or removal, and survival."""
    listed, left, transplanted, removal = stay
    size = len(listed)
    still_waiting = left > DATA_CUT
    costs = features[list(FEATURES)].to_numpy() @ np.array([DAYS_LOST[feature] for feature in FEATURES])
    survival = SURVIVAL_WITHOUT_COSTS - costs + SURVIVAL_NOISE * rng.normal(size=size)
    death = left + np.maximum(survival, 1).astype("timedelta64[D]")
    last_contact = DATA_CUT - rng.integers(0, 365, size).astype("timedelta64[D]")
    observed = np.maximum(last_contact, left)
    died = death <= DATA_CUT
    end = np.where(died, death, observed)
    status = np.where(died, "D", "A")
    # Some leave follow-up early, for a second transplant or for unknown reasons.
    leaves = rng.random(size)
    early = left + ((end - left) * rng.random(size)).astype("timedelta64[D]")
    status = np.where(leaves < 0.04, "R", np.where(leaves < 0.09, "L", status))
    end = np.where(leaves < 0.09, early, end)
    return {
        "INIT_DATE": listed,
        "END_DATE": np.where(still_waiting, np.datetime64("NaT", "D"), left),
        "TX_DATE": np.where(transplanted, left, np.datetime64("NaT", "D")),
        "REM_CD": pd.array(removal, dtype="Int64"),
        "PX_STAT": status,
        "PX_STAT_DATE": end,
        "DAYSWAIT_CHRON": (np.minimum(left, DATA_CUT) - listed).astype(int),
    }


def _blank_values_without_transplant(raw: pd.DataFrame) -> None:
    at_transplant = [
        "DONOR_ID",
        "ABO_DON",
        "ABO_MAT",
        "AGE_DON",
        "CREAT_TX",
        "DIAL_TX",
        "INR_TX",
        "LIFE_SUP_TRR",
        "TBILI_TX",
        "WGT_KG_DON_CALC",
        "PX_STAT",
        "PX_STAT_DATE",
    ]
    raw.loc[raw["TX_DATE"].isna(), at_transplant] = None
    raw.loc[raw["END_DATE"].isna(), "REM_CD"] = None


def remove_values(rng: np.random.Generator, raw: pd.DataFrame, often: np.ndarray) -> None:
    """Remove values of transplanted patients in place, coded in the various ways of a registry.

    Parameters
    ----------
    rng : Generator
    raw : pd.DataFrame
        From `raw_table`.
    often : array of bool
        Rows in which values are missing as often as before 2002; in the others as rarely as after it.
    """
    size = len(raw)
    received = raw["TX_DATE"].notna().to_numpy()

    def draw_rows(before_meld: float, since: float) -> np.ndarray:
        return received & (rng.random(size) < np.where(often, before_meld, since))

    raw.loc[draw_rows(0.15, 0.01), "CREAT_TX"] = None
    raw.loc[draw_rows(0.60, 0.015), "INR_TX"] = None
    raw.loc[draw_rows(0.12, 0.01), "TBILI_TX"] = None
    raw.loc[draw_rows(0.45, 0.01), "DIAL_TX"] = None
    raw.loc[draw_rows(0.10, 0.005), "DIAL_TX"] = ""
    raw.loc[draw_rows(0.05, 0.01), "DIAL_TX"] = "A"
    raw.loc[draw_rows(0.03, 0.01), "DIAL_TX"] = "U"
    raw.loc[draw_rows(0.06, 0.01), "LIFE_SUP_TRR"] = "U"
    raw.loc[draw_rows(0.04, 0.005), "LIFE_SUP_TRR"] = ""
    raw.loc[draw_rows(0.03, 0.005), "WGT_KG_CALC"] = None
    raw.loc[draw_rows(0.03, 0.005), "WGT_KG_DON_CALC"] = None
    raw.loc[draw_rows(0.002, 0.002), "WGT_KG_DON_CALC"] = 0.0
    raw.loc[draw_rows(0.002, 0.001), "ABO_DON"] = "U"


def _weight(rng: np.random.Generator, age: np.ndarray, child: np.ndarray, male: np.ndarray) -> np.ndarray:
    typical = np.where(child, 4.5 + 3.0 * age, np.where(male, 86.0, 72.0))
    return _clip(typical * np.exp(rng.normal(0.0, 0.22, len(age))), 2.5, 200).round(1)


def _with_subtypes(rng: np.random.Generator, group: np.ndarray, typed: float) -> np.ndarray:
    """Give some of the groups A and AB their subtype; four in five are A1."""
    subtype = np.where(rng.random(len(group)) < 0.8, "1", "2")
    detailed = np.isin(group, ["A", "AB"]) & (rng.random(len(group)) < typed)
    named = np.strings.add(np.strings.add("A", subtype), np.where(group == "AB", "B", ""))
    return np.where(detailed, named, group)


def _match_codes(recipient: pd.Series, donor: pd.Series) -> np.ndarray:
    recipient_group, donor_group = _fold_subtypes(recipient.to_numpy()), _fold_subtypes(donor.to_numpy())
    is_compatible = np.zeros(len(recipient), dtype=bool)
    for own, compatible in COMPATIBLE_DONORS.items():
        is_compatible |= (recipient_group == own) & np.isin(donor_group, compatible)
    return np.where(recipient_group == donor_group, IDENTICAL, np.where(is_compatible, COMPATIBLE, INCOMPATIBLE))


def _fold_subtypes(codes: np.ndarray) -> np.ndarray:
    return np.strings.replace(np.strings.replace(codes.astype(str), "1", ""), "2", "")


def _clip(values: np.ndarray | pd.Series, low: float, high: float) -> np.ndarray:
    return np.clip(np.asarray(values), low, high)


def _logistic(log_odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-log_odds))
