"""Wide tables: one row per decision, a column for each alternative."""

import numpy as np
import pandas as pd
import pytest

from icb_pymc import Columns, InputError, InputWarning, from_table
from icb_pymc.cli import main

WIDE = pd.DataFrame(
    {
        "choice": ["bus", "car", None, "car"],
        "price_bus": [1.0, 2.0, 3.0, 4.0],
        "price_car": [5.0, 6.0, 7.0, 8.0],
        "wait_bus": [10, 20, 30, 40],
        "av_bus": [1, 1, 1, 0],
        "income": [3.0, 1.0, 2.0, 4.0],
    }
)


@pytest.fixture(autouse=True)
def _single_candidates(recwarn):
    """One bus was not available, so that a decision has a single candidate: that is meant."""


def test_columns_by_alternative_become_features_and_each_alternative_but_the_first_gets_a_constant():
    decisions = from_table(WIDE)
    assert decisions["feature"].values.tolist() == ["alternative[car]", "price", "wait"]
    assert decisions["context"].values[0].tolist() == [[0.0, 1.0, 10.0], [1.0, 5.0, 0.0]]
    assert decisions["chosen"].values.tolist() == [0, 1, 0, 1]
    assert decisions["available"].values.tolist() == [[True, True], [True, True], [True, False], [False, True]]
    assert decisions["missed"].values.tolist() == [False, False, True, False]
    assert decisions["candidate"].values[0].tolist() == ["bus", "car"]


def test_alternatives_before_the_feature_and_codes_with_names_are_read_as_biogeme_users_write_them():
    table = pd.DataFrame({"CHOICE": [1, 2], "TRAIN_TT": [5, 6], "CAR_TT": [7, 8], "CAR_AV": [1, 1], "TRAIN_AV": [1, 1]})
    columns = Columns(choice="CHOICE", alternatives={"1": "TRAIN", "2": "CAR"})
    decisions = from_table(table, columns)
    assert decisions["feature"].values.tolist() == ["alternative[CAR]", "TT"]
    assert decisions["context"].values[:, :, 1].tolist() == [[5, 7], [6, 8]]


def test_what_is_the_same_for_all_alternatives_is_crossed_with_them():
    decisions = from_table(WIDE, Columns(features="0 + log(price) + income"))
    assert decisions["feature"].values.tolist() == ["log(price)", "alternative[car]:income"]
    np.testing.assert_allclose(decisions["context"].values[1], [[np.log(2.0), 0.0], [np.log(6.0), 1.0]])


def test_an_alternative_that_was_never_chosen_is_asked_for():
    with pytest.warns(InputWarning, match="'price_tram' looks like 'price' of an alternative that was never chosen"):
        from_table(WIDE.assign(price_tram=1.0))
    named = from_table(WIDE.assign(price_tram=1.0), Columns(alternatives=["bus", "car", "tram"]))
    assert named.sizes["action"] == 3


def test_two_numbered_alternatives_could_be_trials_so_the_form_is_asked_for():
    table = pd.DataFrame({"choice": [1, 2], "s_1": [0.5, 0.1], "s_2": [0.2, 0.3]})
    with pytest.raises(
        InputError, match=r"column 'choice' holds 1 and 2, and there are columns like s_1: .*--wide.*--trials"
    ):
        from_table(table)
    assert from_table(table, Columns(form="wide"))["feature"].values.tolist() == ["alternative[2]", "s"]
    assert from_table(table, Columns(form="trials"))["feature"].values.tolist() == ["bias", "s_1", "s_2"]


BROKEN = {
    "unavailable": (WIDE.assign(av_car=[1, 0, 1, 1]), [], ["line 3", "unavailable", "av_car"]),
    "not a flag": (WIDE.assign(av_car=[1, 7, 1, 1]), [], ["line 3", "'av_car'", "7"]),
    "a missing feature": (WIDE.assign(price_car=[5, None, 7, 8]), [], ["line 3", "price_car", "missing"]),
    "no columns by alternative": (WIDE, ["--wide", "--alternatives", "tram,bus,car", "--choice", "income"], ["line"]),
    "an unknown alternative": (WIDE, ["--alternatives", "bus,tram"], ["line 3", "'car'", "bus, tram"]),
    "a name of two things": (WIDE.assign(price=1), [], ["'price'", "price_bus, price_car", "rename"]),
    "half a pair": (WIDE, ["--alternatives", "1=bus,car"], ["--alternatives", "1=A,2=B"]),
    "a column that does not exist": (WIDE, ["--choice", "mode"], ["no column 'mode'", "price_bus"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_wide_table_is_reported_in_one_sentence_with_exit_code_2(case, tmp_path, capsys):
    table, options, words = BROKEN[case]
    table.to_csv(tmp_path / "wide.csv", index=False)
    assert main(["show", str(tmp_path / "wide.csv"), *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    sentence = [line for line in printed.err.splitlines() if not line.startswith("warning")]
    assert len(sentence) == 1
    for word in words:
        assert word in sentence[0]
