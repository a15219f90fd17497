"""The history of allocation under known, dated policies."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from icb_pymc.environments.allocation_history import (
    ALPHA,
    EVENTS,
    HISTORY_PREFIX,
    WEIGHTS,
    allocation_history,
    policy_in_force,
    synthesise_history,
)
from icb_pymc.environments.liver_cohort import DATA_CUT, synthesise
from icb_pymc.environments.optn import RAW_COLUMNS, prepare, read_raw
from icb_pymc.errors import InputError


@pytest.fixture(scope="module")
def raw() -> pd.DataFrame:
    return synthesise_history(seed=1)


@pytest.fixture(scope="module")
def transplants(raw: pd.DataFrame) -> pd.DataFrame:
    return prepare(raw).transplants


@pytest.fixture(scope="module")
def history(transplants: pd.DataFrame) -> xr.Dataset:
    return allocation_history(3_500, seed=1, transplants=transplants)


def scores(decisions: xr.Dataset, belief: xr.DataArray) -> np.ndarray:
    """Derivative of the log-likelihood by each weight, in standard deviations: N(0, 1) at the truth."""
    utility = ALPHA * (decisions["context"] * belief).sum("feature")
    probability = np.exp(utility - utility.max("action"))
    probability = probability / probability.sum("action")
    mean = (probability * decisions["context"]).sum("action")
    variance = (probability * (decisions["context"] - mean) ** 2).sum("action")
    taken = decisions["context"].isel(action=decisions["chosen"])
    return ((taken - mean).sum("time") / np.sqrt(variance.sum("time"))).values


@pytest.mark.parametrize(
    "era", [("1995", "2002-02-26"), ("2002-02-27", "2004"), ("2005", "2015-10-07"), ("2015-10-08", "2020")]
)
def test_choices_among_three_follow_the_weights_in_force(history: xr.Dataset, era: tuple[str, str]) -> None:
    decisions = history.sel(time=slice(*era))
    assert decisions.sizes["time"] > 250
    assert abs(scores(decisions, decisions["true_belief"])).max() < 3.5


def test_the_weights_of_another_era_do_not_explain_the_choices(history: xr.Dataset) -> None:
    before, after = history.sel(time=slice("1995", "2002-02-26")), history.sel(time=slice("2002-02-27", "2004"))
    misfit = abs(scores(before, after["true_belief"].isel(time=0)))
    assert misfit.max() > 8


def test_policies_change_on_their_dates_and_exceptions_grow_in_between() -> None:
    dates = np.array(
        ["2002-02-26", "2002-02-27", "2005-01-01", "2010-05-21", "2015-10-07", "2015-10-08"], "datetime64[D]"
    )
    weights = pd.DataFrame(policy_in_force(dates), index=dates, columns=WEIGHTS.index)
    first, meld, exceptions, capped = (WEIGHTS[name].to_numpy() for name in WEIGHTS)
    np.testing.assert_allclose(weights.iloc[[0, 1, 2, 5]], [first, meld, meld, capped])
    np.testing.assert_allclose(weights.iloc[3], (meld + exceptions) / 2, atol=1e-3)
    np.testing.assert_allclose(weights.iloc[4], exceptions, atol=1e-3)
    np.testing.assert_allclose(abs(weights).sum(axis=1), 1)
    assert set(EVENTS) == {"2002-02-27", "2005-01-01", "2015-10-08"}


def test_true_beliefs_are_weights_of_standardised_features_with_about_unit_norm(history: xr.Dataset) -> None:
    np.testing.assert_allclose(abs(history["true_belief"]).sum("feature"), 1, atol=0.15)
    per_unit = history["true_belief"] / history["feature_scale"]
    early = per_unit.isel(time=0).to_series()
    assert early["waiting_time"] * 250 == pytest.approx(WEIGHTS.loc["waiting_time", "status and waiting time"])


def test_it_has_the_format_of_the_liver_file_and_is_marked_as_synthetic(raw: pd.DataFrame) -> None:
    assert set(RAW_COLUMNS) <= set(raw.columns)
    assert raw["PT_CODE"].str.startswith(HISTORY_PREFIX).all()
    assert prepare(raw).transplants.attrs["synthetic"]
    received = raw.dropna(subset=["TX_DATE"])
    assert received["DONOR_ID"].is_unique
    assert (received["INIT_DATE"] <= received["TX_DATE"]).all()
    assert (received["TX_DATE"] <= received["PX_STAT_DATE"]).all()
    assert (received["TX_DATE"] <= DATA_CUT).all()
    waited = (received["TX_DATE"] - received["INIT_DATE"]).dt.days
    np.testing.assert_array_equal(received["DAYSWAIT_CHRON"], waited)


def test_at_most_one_adult_receives_a_liver_per_day(raw: pd.DataFrame) -> None:
    adults = raw[(raw["AGE"] >= 18) & raw["TX_DATE"].notna()]
    assert adults["TX_DATE"].is_unique


def test_a_file_gives_the_same_decisions_as_the_table(raw: pd.DataFrame, history: xr.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    raw.to_csv(path, index=False)
    read = prepare(read_raw(path), str(path)).transplants
    xr.testing.assert_allclose(allocation_history(3_500, seed=1, transplants=read), history)


def test_other_files_are_converted_the_same_way_without_a_truth() -> None:
    decisions = allocation_history(50, transplants=prepare(synthesise(2_000, seed=3)).transplants)
    assert decisions.sizes == {"time": 50, "action": 3, "feature": 9}
    assert "true_belief" not in decisions
    assert "agent" not in decisions.attrs


def test_the_default_size_is_that_of_the_study_in_the_paper() -> None:
    decisions = allocation_history()
    assert decisions.sizes == {"time": 2_500, "action": 3, "feature": 9}
    assert decisions["time"].dtype.kind == "M"
    assert decisions["time"].values[0] < np.datetime64("1996") < np.datetime64("2020") < decisions["time"].values[-1]


def test_the_same_seed_gives_the_same_history_and_another_seed_another() -> None:
    pd.testing.assert_frame_equal(synthesise_history(300, seed=3), synthesise_history(300, seed=3))
    assert not synthesise_history(300, seed=3).equals(synthesise_history(300, seed=4))


@pytest.mark.parametrize(("patients", "sentence"), [(0, "at least 1"), (20_000, "give fewer patients")])
def test_impossible_numbers_of_patients_are_refused(patients: int, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        synthesise_history(patients)
