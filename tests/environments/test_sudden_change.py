"""The scenario in which a MELD-based policy is introduced and withdrawn."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from icb_pymc.environments.liver_cohort import synthesise
from icb_pymc.environments.optn import prepare
from icb_pymc.environments.sudden_change import sudden_change
from icb_pymc.errors import InputError

WAITING = [1.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def transplants() -> pd.DataFrame:
    return prepare(synthesise(1_000, seed=1)).transplants


@pytest.mark.parametrize(("steps", "first", "last"), [(2500, 834, 1666), (9, 3, 6), (10, 4, 6), (11, 4, 7)])
def test_the_policy_is_meld_exactly_from_a_third_to_two_thirds(
    transplants: pd.DataFrame, steps: int, first: int, last: int
) -> None:
    belief = sudden_change(steps, transplants=transplants)["true_belief"]
    by_waiting = (belief == WAITING).all("feature")
    meld = belief["time"].values[~by_waiting.values]
    np.testing.assert_array_equal(meld, np.arange(first, last + 1))
    assert (belief.sel(time=meld, feature="waiting_time") == 0).all()


def test_beliefs_have_unit_norm(transplants: pd.DataFrame) -> None:
    belief = sudden_change(30, transplants=transplants)["true_belief"]
    np.testing.assert_allclose(abs(belief).sum("feature"), 1)


def test_under_meld_utilities_differ_as_meld_scores_do(transplants: pd.DataFrame) -> None:
    arrivals = sudden_change(30, actions=2, transplants=transplants)
    values = arrivals["context"] * arrivals["feature_scale"] + arrivals["feature_mean"]
    score = (
        9.57 * values.sel(feature="creatinine")
        + 11.2 * values.sel(feature="inr")
        + 3.78 * values.sel(feature="bilirubin")
    )
    utility = (arrivals["context"] * arrivals["true_belief"]).sum("feature")
    under_meld = slice(10, 20)
    ratio = (utility.diff("action") / score.diff("action")).sel(time=under_meld)
    np.testing.assert_allclose(ratio, float(ratio[0, 0]))
    assert float(ratio[0, 0]) > 0


def test_laboratory_values_enter_as_logarithms_and_waiting_time_as_days(transplants: pd.DataFrame) -> None:
    arrivals = sudden_change(200, transplants=transplants)
    assert arrivals["feature"].values.tolist() == ["waiting_time", "creatinine", "inr", "bilirubin"]
    values = arrivals["context"] * arrivals["feature_scale"] + arrivals["feature_mean"]
    inr = np.exp(values.sel(feature="inr").values.ravel()).round(6)
    assert set(inr) <= set(transplants["inr"].round(6))
    waited = values.sel(feature="waiting_time").values.ravel().round(6)
    assert set(waited) <= set(transplants["waiting_days"])


def test_no_context_lies_beyond_five_standard_deviations(transplants: pd.DataFrame) -> None:
    assert (
        transplants["waiting_days"].max() > 5 * transplants["waiting_days"].std() + transplants["waiting_days"].mean()
    )
    assert float(abs(sudden_change(2_000, transplants=transplants)["context"]).max()) <= 5


def test_the_same_seed_gives_the_same_arrivals_and_another_seed_others(transplants: pd.DataFrame) -> None:
    first = sudden_change(20, seed=1, transplants=transplants)
    assert first.identical(sudden_change(20, seed=1, transplants=transplants))
    assert not first["context"].equals(sudden_change(20, seed=2, transplants=transplants)["context"])


def test_transplants_with_unknown_waiting_time_are_left_out(transplants: pd.DataFrame) -> None:
    unknown = transplants["waiting_days"].where(transplants["waiting_days"] > 100)
    arrivals = sudden_change(50, transplants=transplants.assign(waiting_days=unknown))
    assert float(arrivals["feature_mean"].sel(feature="waiting_time")) == pytest.approx(unknown.mean())
    assert arrivals["context"].notnull().all()


def test_missing_columns_are_named(transplants: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="lacks the columns waiting_days, inr"):
        sudden_change(5, transplants=transplants.drop(columns=["inr", "waiting_days"]))


def test_it_survives_a_netcdf_file(transplants: pd.DataFrame, tmp_path: Path) -> None:
    written = sudden_change(10, transplants=transplants)
    written.to_netcdf(tmp_path / "arrivals.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "arrivals.nc", engine="h5netcdf") as read:
        xr.testing.assert_equal(read, written)
        assert read.attrs["synthetic"] == 1
