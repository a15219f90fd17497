"""Example choices: probabilities before and after, and what moved them."""

import numpy as np
import pytest
from helpers.made_traces import made_trace

from icb_pymc.assess.example_choices import MOST_CANDIDATES, QUANTILES, example_choices
from icb_pymc.data.decisions import from_arrays
from icb_pymc.data.standardisation import standardise
from icb_pymc.errors import InputError
from icb_pymc.results.posterior import decisions_in

DECISIONS = decisions_in(made_trace(steps=200, draws=2))
# Within decisions: of two candidates, the difference divided by the root of two.
SD = np.sqrt((DECISIONS["context"].diff("action").squeeze("action") ** 2).mean("time") / 2).values
OLD, NEW = np.array([[1.0, 0.0, 0.0]]), np.array([[-1.0, 0.5, 0.0]])


def test_probabilities_are_those_of_the_softmax():
    (choice,) = example_choices(DECISIONS, OLD, NEW, times=[7])
    for candidate in choice.candidates:
        utility = DECISIONS["context"].sel(time=7).values @ (NEW[0] / SD)
        expected = np.exp(utility[candidate.slot]) / np.exp(utility).sum()
        assert candidate.after == pytest.approx((expected,) * 3)


def test_the_parts_of_features_add_up_to_the_change_of_the_log_odds():
    (choice,) = example_choices(DECISIONS, OLD, NEW, times=[7])
    for candidate in choice.candidates:
        odds = [np.log(p[0] / (1 - p[0])) for p in (candidate.before, candidate.after)]
        assert sum(candidate.moved_by.values()) == pytest.approx(odds[1] - odds[0])


def test_examples_are_altered_much_somewhat_and_little():
    choices = example_choices(DECISIONS, OLD, NEW)
    assert [choice.changed_more_than for choice in choices] == list(QUANTILES)
    sizes = [abs(choice.candidates[0].change) for choice in choices]
    assert sizes == sorted(sizes, reverse=True)


def test_values_are_in_the_units_of_the_user():
    scaled = DECISIONS.assign(context=10 * DECISIONS["context"] + 3)
    for decisions in (scaled, standardise(scaled)):
        (choice,) = example_choices(decisions, OLD, NEW, times=[7])
        slot = choice.candidates[0].slot
        expected = scaled["context"].sel(time=7).values[slot]
        assert list(choice.candidates[0].values.values()) == pytest.approx(expected)


def test_of_many_candidates_those_that_changed_most_are_shown():
    rng = np.random.default_rng(0)
    decisions = from_arrays(rng.normal(size=(5, 9, 1)), np.zeros(5, int))
    choice = example_choices(decisions, np.array([[0.0]]), np.array([[2.0]]))[0]
    assert len(choice.candidates) == MOST_CANDIDATES
    assert choice.left_out == 9 - MOST_CANDIDATES


def test_a_choice_of_one_candidate_is_no_example():
    decisions = from_arrays(np.ones((2, 2, 1)), [0, 0], available=[[True, False], [True, False]])
    assert example_choices(decisions, np.array([[0.0]]), np.array([[2.0]])) == []
    both = from_arrays(np.ones((2, 2, 1)), [0, 0], available=[[True, True], [True, False]])
    with pytest.raises(InputError, match="only one candidate"):
        example_choices(both, np.array([[0.0]]), np.array([[2.0]]), times=[2])
