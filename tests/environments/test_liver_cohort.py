"""The synthetic cohort resembles the OPTN file."""

import numpy as np
import pandas as pd
import pytest

from icb_pymc.environments.liver_cohort import DATA_CUT, synthesise
from icb_pymc.environments.optn import ABO_GROUP, RAW_COLUMNS, SYNTHETIC_PREFIX, prepare
from icb_pymc.environments.semi_synthetic import reward_parameter
from icb_pymc.errors import InputError


@pytest.fixture(scope="module")
def raw() -> pd.DataFrame:
    return synthesise(5_000, seed=1)


def test_the_same_seed_gives_the_same_patients_and_another_seed_others() -> None:
    pd.testing.assert_frame_equal(synthesise(200, seed=3), synthesise(200, seed=3))
    assert not synthesise(200, seed=3).equals(synthesise(200, seed=4))


def test_it_is_marked_as_synthetic(raw: pd.DataFrame) -> None:
    assert raw["PT_CODE"].str.startswith(SYNTHETIC_PREFIX).all()


def test_it_has_every_column_that_the_preparation_needs(raw: pd.DataFrame) -> None:
    assert set(RAW_COLUMNS) <= set(raw.columns)
    assert raw["PT_CODE"].is_unique
    assert raw["WL_ID_CODE"].is_unique


def test_blood_groups_have_the_given_frequencies(raw: pd.DataFrame) -> None:
    share = raw["ABO"].map(ABO_GROUP).value_counts(normalize=True)
    assert share["O"] == pytest.approx(0.455, abs=0.03)
    assert share["A"] == pytest.approx(0.375, abs=0.03)
    assert share["AB"] == pytest.approx(0.045, abs=0.015)


def test_match_codes_agree_with_the_groups(raw: pd.DataFrame) -> None:
    given = raw[raw["ABO_DON"].isin(list(ABO_GROUP))]
    recipient, donor = given["ABO"].map(ABO_GROUP), given["ABO_DON"].map(ABO_GROUP)
    identical = recipient == donor
    compatible = ~identical & ((donor == "O") | (recipient == "AB"))
    expected = np.where(identical, 1, np.where(compatible, 2, 3))
    np.testing.assert_array_equal(given["ABO_MAT"], expected)
    assert set(expected) == {1, 2, 3}
    assert identical.mean() > 0.85


@pytest.mark.parametrize(("one", "other"), [("INR_TX", "TBILI_TX"), ("CREAT_TX", "TBILI_TX")])
def test_laboratory_values_are_positively_correlated(raw: pd.DataFrame, one: str, other: str) -> None:
    assert raw[one].corr(raw[other], method="spearman") > 0.2


def test_patients_on_dialysis_have_more_creatinine(raw: pd.DataFrame) -> None:
    creatinine = raw.groupby("DIAL_TX")["CREAT_TX"].median()
    assert creatinine["Y"] > 1.5 * creatinine["N"]


def test_patients_on_life_support_have_worse_coagulation(raw: pd.DataFrame) -> None:
    inr = raw.groupby("LIFE_SUP_TRR")["INR_TX"].median()
    assert inr["Y"] > inr["N"]


def test_laboratory_values_are_skewed_and_within_their_ranges(raw: pd.DataFrame) -> None:
    for column, low, high in (("CREAT_TX", 0.1, 15), ("INR_TX", 0.8, 15), ("TBILI_TX", 0.1, 60)):
        assert raw[column].dropna().between(low, high).all()
        assert raw[column].mean() > raw[column].median()


def test_dates_are_in_order_and_end_at_the_data_cut(raw: pd.DataFrame) -> None:
    received = raw.dropna(subset=["TX_DATE"])
    assert (received["INIT_DATE"] <= received["TX_DATE"]).all()
    assert (received["TX_DATE"] <= received["PX_STAT_DATE"]).all()
    assert (received["PX_STAT_DATE"] <= DATA_CUT).all()
    waited = (received["TX_DATE"] - received["INIT_DATE"]).dt.days
    np.testing.assert_array_equal(received["DAYSWAIT_CHRON"], waited)


def test_patients_without_a_transplant_have_no_donor_and_no_follow_up(raw: pd.DataFrame) -> None:
    never = raw[raw["TX_DATE"].isna()]
    assert len(never) > 0.2 * len(raw)
    assert never[["DONOR_ID", "ABO_DON", "INR_TX", "PX_STAT"]].isna().all(axis=None)
    assert not (never["REM_CD"] == 4).any()


def test_values_are_missing_more_often_before_2002_and_are_coded_in_several_ways(raw: pd.DataFrame) -> None:
    received = raw.dropna(subset=["TX_DATE"])
    early = received["TX_DATE"] < pd.Timestamp("2002-02-27")
    missing = received["INR_TX"].isna()
    assert missing[early].mean() > 5 * missing[~early].mean() > 0
    assert {"Y", "N", "U", "A", ""} <= set(received["DIAL_TX"].dropna())
    assert received["DIAL_TX"].isna().any()
    assert (received["WGT_KG_DON_CALC"] == 0).any()


@pytest.mark.parametrize(("seed", "tolerance"), [(0, 0.023), (1, 0.05), (2, 0.05)])
def test_every_feature_shortens_survival_with_about_the_spread_of_the_paper(seed: int, tolerance: float) -> None:
    rho_env = reward_parameter(prepare(synthesise(seed=seed)).transplants)
    assert (rho_env < 0).all()
    assert float(abs(rho_env + 1 / 8).sum()) == pytest.approx(0.477, abs=tolerance)


def test_zero_patients_are_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        synthesise(0)
