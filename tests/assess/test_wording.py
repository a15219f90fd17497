"""Grades and sentences made from draws."""

import numpy as np
import pandas as pd
import pytest

from icb_pymc.assess.wording import (
    describe_accounts,
    describe_change,
    describe_decisiveness,
    describe_impact,
    format_probability,
    grade_of,
    probability_of_direction,
    supported_account,
)


@pytest.mark.parametrize(
    ("share_rising", "questions", "grade"),
    [
        (0.98, 1, "clear"),
        (0.98, 4, "probable"),
        (0.98, 8, "not clear"),
        (0.93, 1, "probable"),
        (0.6, 1, "not clear"),
        (0.0, 8, "clear"),
    ],
)
def test_the_grade_follows_the_probability_and_the_number_of_questions(share_rising, questions, grade):
    change = np.where(np.arange(1000) < 1000 * share_rising, 0.1, -0.1)
    assert grade_of(change, questions) == grade


def test_few_draws_cannot_make_a_change_clear_for_many_questions():
    assert grade_of(np.ones(100), questions=1) == "clear"
    assert grade_of(np.ones(100), questions=10) == "probable"
    assert grade_of(np.ones(1)) == "not clear"


def test_no_relevant_change_needs_nearly_all_draws_within_what_matters():
    change = np.linspace(-0.1, 0.1, 1001)
    assert grade_of(change, matters=0.2) == "no relevant change"
    assert grade_of(change, matters=0.05) == "not clear"


def test_under_no_change_clear_is_as_rare_as_its_probability_says():
    """The mean of a posterior around a noisy estimate of zero: clear in 5% of logs, both directions together."""
    rng = np.random.default_rng(1)
    estimates, noise = rng.standard_normal(2000), rng.standard_normal(400)
    grades = [grade_of(estimate + noise) for estimate in estimates]
    assert np.mean([grade == "clear" for grade in grades]) == pytest.approx(0.05, abs=0.02)
    of_four = [grade_of(estimate + noise, questions=4) for estimate in estimates]
    assert np.mean([grade == "clear" for grade in of_four]) < 0.025


def test_a_probability_is_never_rounded_up_to_certainty():
    assert format_probability(0.99949) == "99.9%"
    assert format_probability(0.9999) == format_probability(1.0) == "over 99.9%"
    assert probability_of_direction(np.array([-1.0, -1.0, 1.0, 0.0])) == 0.5


def test_sentences_are_signed():
    row = {"before": 0.5, "after": 0.2, "change": -0.3, "lower": -0.5, "upper": -0.1, "probability": 0.97}
    row |= {"flipped": 0.0, "chosen_before": 0.62, "chosen_after": 0.55, "verdict": "probable"}
    sentence = describe_change("age", row, 0.9)
    assert (
        "age: the weight probably fell, from +0.50 to +0.20 log-odds per sd (-0.30, 90% interval -0.50 to" in sentence
    )
    assert "is chosen over an otherwise equal one in 55% of decisions, before in 62%." in sentence


def test_where_drift_is_best_supported_nothing_is_said_to_have_happened_at_the_event():
    row = {"before": 0.42, "after": -0.16, "change": -0.58, "lower": -1.0, "upper": -0.2, "probability": 0.998}
    row |= {"flipped": 0.5, "chosen_before": 0.6, "chosen_after": 0.46, "verdict": "clear", "per_unit": -1.2}
    row |= {"importance_before": 0.4, "importance_after": 0.2}
    overall = {"ratio": 1.0, "one_factor": np.nan, "verdict": "not clear"}
    text = describe_impact("a placebo", (40, 36), pd.DataFrame([row], index=["hold"]), overall, 0.94, None, "drift")
    assert "- hold: the weight drifted down, from +0.42 to -0.16" in text
    accounts = describe_accounts({"step": 0.29, "drift": 0.7, "no change": 0.01}, None)
    assert accounts.endswith("A step and drift are too close to tell whether what changed did so by the event.")
    accounts = describe_accounts({"step": 0.19, "drift": 0.8, "no change": 0.01}, None)
    assert accounts.endswith("What changed did so gradually, and not by the event.")


@pytest.mark.parametrize(
    ("step", "drift", "account"),
    [
        (0.5, 0.4, "step or drift"),
        (0.4, 0.5, "step or drift"),
        (0.6, 0.1, "step"),
        (0.1, 0.6, "drift"),
        (0.3, 0.3, "no change"),
    ],
)
def test_a_step_is_claimed_only_where_it_is_told_from_drift(step, drift, account):
    assert supported_account({"step": step, "drift": drift, "no change": 1 - step - drift}) == account


def test_a_change_of_sign_is_said_only_if_both_signs_are_known():
    row = {"before": -0.07, "after": 1.1, "change": 1.17, "lower": 0.7, "upper": 1.7, "probability": 0.999}
    row |= {"chosen_before": 0.48, "chosen_after": 0.75, "verdict": "clear"}
    assert "changed its sign" not in describe_change("inr", row | {"flipped": 0.65}, 0.9)
    assert "rose and changed its sign" in describe_change("inr", row | {"flipped": 0.96}, 0.9)


def test_decisiveness_says_whether_it_is_all_that_changed():
    row = {"ratio": 0.5, "lower": 0.4, "upper": 0.6, "common": 0.9, "one_factor": np.nan, "verdict": "clear"}
    assert "fell by a factor of 0.50" in describe_decisiveness(row, 0.9)
    assert "all choices became less sharp" in describe_decisiveness(row, 0.9)
    assert "a common factor accounts for 30%" in describe_decisiveness(row | {"common": 0.3}, 0.9)
    assert "no clear change" in describe_decisiveness(row | {"verdict": "not clear"}, 0.9)


def test_where_a_step_is_supported_the_probability_of_one_factor_decides_whether_all_choices_became_sharper():
    row = {"ratio": 2.0, "lower": 1.6, "upper": 2.4, "common": 0.9, "one_factor": 0.97, "verdict": "clear"}
    assert "all choices became sharper. That one factor multiplied all weights" in describe_decisiveness(row, 0.9)
    assert "but not because all choices became sharper" in describe_decisiveness(row | {"one_factor": 0.05}, 0.9)
    assert "is open (probability 50.0%)" in describe_decisiveness(row | {"one_factor": 0.5}, 0.9)
    assert "probably rose" in describe_decisiveness(row | {"verdict": "probable"}, 0.9)
