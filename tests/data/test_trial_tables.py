"""Tables with one row per trial of a task with two alternatives."""

import numpy as np
import pandas as pd
import pytest

from icb_pymc import Columns, InputError, from_table
from icb_pymc.cli import main
from icb_pymc.data.standardisation import contrast_spread

TRIALS = pd.DataFrame(
    {"choice": [0, 1, 1, 0], "s1": [0.1, 0.4, 0.3, 0.2], "s2": [0.3, 0.2, 0.1, 0.5], "note": list("abab")}
)


def test_the_second_answer_has_the_features_so_that_a_weight_above_zero_speaks_for_it():
    decisions = from_table(TRIALS)
    assert decisions["feature"].values.tolist() == ["bias", "s1", "s2"]
    np.testing.assert_array_equal(decisions["context"].values[:, 0], 0)
    np.testing.assert_array_equal(decisions["context"].values[:, 1], np.c_[np.ones(4), TRIALS[["s1", "s2"]]])
    assert decisions["chosen"].values.tolist() == [0, 1, 1, 0]
    assert decisions["candidate"].values[0].tolist() == ["0", "1"]


@pytest.mark.parametrize("answers", [["left", "right"], ["L", "R"], [False, True], [1, 2], [-1, 1], ["no", "yes"]])
def test_any_two_answers_are_read(answers):
    table = TRIALS.assign(choice=[answers[i] for i in TRIALS["choice"]])
    assert from_table(table)["chosen"].values.tolist() == [0, 1, 1, 0]


def test_the_order_of_the_answers_can_be_given():
    table = TRIALS.assign(choice=["go", "nogo", "nogo", "go"])
    assert from_table(table, Columns(alternatives=["nogo", "go"]))["chosen"].values.tolist() == [1, 0, 0, 1]


def test_a_trial_without_an_answer_is_missed_and_only_time_passes():
    decisions = from_table(TRIALS.assign(choice=["left", None, "right", "left"]))
    assert decisions["missed"].values.tolist() == [False, True, False, False]
    assert decisions["available"].values[1].tolist() == [True, False]
    np.testing.assert_array_equal(decisions["context"].values[1], 0)
    assert decisions.sizes["time"] == 4


def test_lags_of_the_answer_are_one_and_minus_one_and_start_anew_in_each_session():
    table = TRIALS.assign(choice=["left", "right", None, "right"], day=[1, 1, 1, 1])
    lag = from_table(table, Columns(features="lag(choice)"))["context"].sel(feature="lag(choice)")
    # After the missed trial the last answer is not known; the missed trial itself is empty.
    assert lag.values[:, 1].tolist() == [0, -1, 0, 0]
    table = TRIALS.assign(day=[1, 1, 2, 2])
    lag = from_table(table, Columns(features="lag(choice)", session="day"))["context"].sel(feature="lag(choice)")
    assert lag.values[:, 1].tolist() == [0, -1, 0, 1]


def test_a_reward_is_never_a_feature_but_its_lag_can_be():
    table = TRIALS.assign(reward=[1.0, None, 0.0, 1.0])
    decisions = from_table(table)
    assert "reward" not in decisions["feature"].values
    np.testing.assert_array_equal(decisions["reward"], [1.0, np.nan, 0.0, 1.0])
    lagged = from_table(table, Columns(features="s1 + lag(choice):lag(reward)"))
    assert lagged["context"].sel(feature="lag(choice):lag(reward)").values[:, 1].tolist() == [0, -1, 0, 0]
    with pytest.raises(InputError, match=r"'reward' is only known after the choice.*lag\(reward\)"):
        from_table(table, Columns(features="s1 + reward"))


def test_stimuli_are_one_typical_difference_apart(tmp_path):
    decisions = from_table(TRIALS)
    np.testing.assert_allclose(contrast_spread(decisions)[1:], np.sqrt((TRIALS[["s1", "s2"]] ** 2).mean()))


BROKEN = {
    "three answers": (TRIALS.assign(choice=["left", "right", "none of them", "left"]), [], ["'right'"]),
    "one answer": (TRIALS.assign(choice="left"), [], ["only 'left'", "--alternatives"]),
    "no answer": (TRIALS.assign(choice=None), [], ["empty"]),
    "no choice": (TRIALS.drop(columns="choice"), [], ["no column 'chosen'", "s1, s2", "--choice"]),
    "an unknown feature": (TRIALS, ["--features", "s1,s3"], ["'s3'", "s1, s2"]),
    "words as a number": (TRIALS, ["--features", "log(note)"], ["line 2", "'note'", "'a'"]),
    "sessions out of order": (TRIALS.assign(day=[1, 2, 1, 2]), ["--session", "day"], ["session 1", "number 3", "sort"]),
    "a missing session": (TRIALS.assign(day=[1, None, 1, 2]), ["--session", "day"], ["line 3", "'day'", "empty"]),
    "a reward that is no number": (TRIALS.assign(reward=["1", "much", "0", "1"]), [], ["line 3", "'reward'", "'much'"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_trials_are_reported_in_one_sentence_with_exit_code_2(case, tmp_path, capsys):
    table, options, words = BROKEN[case]
    table.to_csv(tmp_path / "trials.csv", index=False)
    assert main(["show", str(tmp_path / "trials.csv"), *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    for word in words:
        assert word in printed.err
