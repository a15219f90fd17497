"""Decisions from a file of transplants."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from icb_pymc.data.standardisation import user_context
from icb_pymc.environments import optn
from icb_pymc.environments.liver_cohort import synthesise
from icb_pymc.environments.optn import prepare
from icb_pymc.environments.waiting_list import FEATURES, waiting_list_decisions
from icb_pymc.errors import InputError


@pytest.fixture(scope="module")
def transplants() -> pd.DataFrame:
    return prepare(synthesise(3_000, seed=1)).transplants


@pytest.fixture(scope="module")
def decisions(transplants: pd.DataFrame) -> xr.Dataset:
    return waiting_list_decisions(transplants, steps=150, seed=2)


def in_units(decisions: xr.Dataset) -> xr.DataArray:
    return user_context(decisions).round(6)


def test_the_chosen_is_the_recipient_on_the_day_of_the_transplant(
    decisions: xr.Dataset, transplants: pd.DataFrame
) -> None:
    taken = in_units(decisions).isel(action=decisions["chosen"]).to_pandas().reset_index()
    facts = transplants.assign(waiting_time=transplants["waiting_days"])[list(FEATURES)].round(6)
    matches = taken.merge(facts.assign(time=transplants["transplanted"]), on=["time", *FEATURES])
    assert len(matches) == decisions.sizes["time"]
    assert (np.diff(decisions["time"].values) >= np.timedelta64(0, "ns")).all()


def test_the_others_were_listed_by_then_and_received_another_liver_later(
    decisions: xr.Dataset, transplants: pd.DataFrame
) -> None:
    values = in_units(decisions)
    own = ["age", "creatinine", "inr", "bilirubin", "dialysis", "life_support"]
    for step in range(0, 150, 10):
        day = decisions["time"].values[step]
        for slot in {0, 1, 2} - {int(decisions["chosen"][step])}:
            other = values[step, slot].to_series()
            same = (transplants[own].round(6) == other[own]).all(axis=1)
            waited = (day - transplants["listed"]).dt.days == other["waiting_time"]
            assert (same & waited & (transplants["transplanted"] > day)).sum() >= 1
    assert (values.sel(feature="waiting_time") >= 0).all()


def test_features_of_the_pair_are_those_of_the_arriving_liver(decisions: xr.Dataset, transplants: pd.DataFrame) -> None:
    values = in_units(decisions)
    step = 75
    day = decisions["time"].values[step]
    liver_weights = transplants.loc[transplants["transplanted"] == day, "donor_weight"]
    for slot in range(3):
        candidate = values[step, slot].to_series()
        own = ["age", "creatinine", "inr", "bilirubin"]
        weight = transplants.loc[(transplants[own].round(6) == candidate[own]).all(axis=1), "weight"].iloc[0]
        assert (abs(abs(liver_weights - weight) - candidate["weight_difference"]) < 1e-6).any()


def test_the_slot_does_not_reveal_who_was_chosen(transplants: pd.DataFrame) -> None:
    chosen = waiting_list_decisions(transplants, steps=600)["chosen"]
    assert np.bincount(chosen, minlength=3) == pytest.approx([200, 200, 200], abs=60)


def test_no_context_lies_beyond_five_standard_deviations(transplants: pd.DataFrame) -> None:
    assert float(abs(waiting_list_decisions(transplants, steps=600)["context"]).max()) <= 5


def test_the_same_seed_gives_the_same_decisions_and_another_seed_others(
    transplants: pd.DataFrame, decisions: xr.Dataset
) -> None:
    assert decisions.identical(waiting_list_decisions(transplants, steps=150, seed=2))
    assert not decisions["context"].equals(waiting_list_decisions(transplants, steps=150, seed=3)["context"])


def test_the_paper_s_eight_features_come_first(decisions: xr.Dataset) -> None:
    assert tuple(decisions["feature"].values[:8]) == optn.FEATURES
    assert decisions.sel(feature=list(optn.FEATURES)).sizes["feature"] == 8


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"steps": 100_000}, "ask for fewer decisions or candidates"),
        ({"actions": 3_000}, "only 0 livers arrived while 2999 or more"),
        ({"actions": 1}, "two candidates"),
        ({"steps": 0}, "at least one step"),
    ],
)
def test_requests_that_the_file_cannot_meet_are_refused(
    transplants: pd.DataFrame, options: dict[str, int], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        waiting_list_decisions(transplants, **options)


def test_missing_columns_are_named(transplants: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="lacks the columns listed, inr"):
        waiting_list_decisions(transplants.drop(columns=["inr", "listed"]))
