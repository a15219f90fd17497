"""Columns that count rows or trials are no features unless the user says so."""

import numpy as np
import pandas as pd
import pytest

from icb_pymc.data.columns import Columns
from icb_pymc.data.counters import is_counter
from icb_pymc.data.tables import from_table
from icb_pymc.data.understanding import summarise
from icb_pymc.errors import InputWarning


def trials(count=24):
    rng = np.random.default_rng(0)
    columns = {"row": np.arange(count), "trial": np.tile(np.arange(1, count // 2 + 1), 2)}
    return pd.DataFrame(columns | {"choice": rng.integers(2, size=count), "contrast": rng.normal(size=count)})


def test_counters_of_rows_and_of_the_trials_of_a_session_are_left_out_with_a_warning():
    with pytest.warns(InputWarning) as warned:
        decisions = from_table(trials())
    assert [str(warning.message).split("'")[1] for warning in warned] == ["row", "trial"]
    assert decisions["feature"].values.tolist() == ["bias", "contrast"]
    assert summarise(decisions)["unused"] == ["row", "trial"]


@pytest.mark.parametrize("features", ["contrast + trial", ["contrast", "trial"]])
def test_a_counter_that_is_named_is_a_feature(features):
    decisions = from_table(trials(), Columns(features=features))
    assert "trial" in decisions["feature"].values
    assert summarise(decisions)["unused"] == ["row"]


@pytest.mark.parametrize("values", [np.arange(12) / 2, [0, 1] * 6, [5, 5] * 6, [3, 1, 2, 0] * 3, range(9), [0] * 12])
def test_numbers_that_do_not_count_stay_features(values):
    assert not is_counter(pd.Series(values))
