"""Numbers that reports need: judged changes, collinear features, spread of a change, sensitivity to the prior."""

import numpy as np
import pytest
from helpers.made_traces import made_trace
from scipy.special import expit

from icb_pymc.assess.accounts import compare_accounts
from icb_pymc.assess.impact import impact
from icb_pymc.assess.judged_changes import judged_changes, typical_differences, weights_around
from icb_pymc.assess.prior_sensitivity import prior_sensitivity
from icb_pymc.assess.smoothing import spread_of_change
from icb_pymc.data.collinearity import collinear_pairs
from icb_pymc.data.decisions import from_arrays
from icb_pymc.results.posterior import decisions_in


@pytest.fixture(scope="module")
def flipped():
    return made_trace(after=(-1.0, 0.5, 0.0))


@pytest.fixture(scope="module")
def result(flipped):
    return impact(flipped, 201)


def test_the_judged_change_is_that_of_the_account_that_the_verdict_rests_on(flipped, result):
    rows = judged_changes(flipped, result, 0)
    account = result.accounts[0]
    assert account.best == "step"
    expected = account.draws["after"] - account.draws["before"]
    assert rows.loc["age", "change"] == pytest.approx(expected[:, 0].mean())
    assert rows.loc["age", "verdict"] == result.table.loc[(0, "age"), "verdict"] == "clear"
    assert (rows.loc["age", "counted_before"], rows.loc["age", "counted_after"]) == (1, -1)


def test_without_a_step_it_is_that_of_the_trace():
    trace = made_trace()
    result = impact(trace, 201)
    assert result.accounts[0].best == "no change"
    rows = judged_changes(trace, result, 0)
    assert rows.loc["age", "before"] == pytest.approx(result.table.loc[(0, "age"), "before"])
    assert weights_around(trace, result, 0)[0].shape == (800, 3)


def test_a_typical_difference_is_a_standard_deviation_or_that_of_two_values(flipped, result):
    rng = np.random.default_rng(0)
    context = np.stack([rng.normal(50, 10, (300, 2)), rng.choice([2.0, 5.0], (300, 2))], axis=-1)
    table = typical_differences(from_arrays(context, np.zeros(300, int), features=["age", "group"]))
    assert table.loc["age", "difference"] == pytest.approx(10, rel=0.1)
    assert table.loc["group", "difference"] == pytest.approx(3.0)
    assert table["two_valued"].tolist() == [False, True]
    rows = judged_changes(flipped, result, 0)
    drawn = result.accounts[0].draws["after"][:, 0]
    assert rows.loc["age", "chosen_after"] == pytest.approx(expit(drawn).mean())


def test_collinear_features_are_found_among_the_candidates_of_a_decision_alone():
    rng = np.random.default_rng(0)
    own = rng.normal(size=(300, 2, 3))
    # The first two share what differs between decisions, which says nothing; the last two what differs within one.
    common = 10 * rng.normal(size=(300, 1))
    context = np.stack([own[..., 0] + common, own[..., 1] + common, own[..., 2], 0.2 * own[..., 0] - own[..., 2]], -1)
    decisions = from_arrays(context, np.zeros(300, int), features=["a", "b", "c", "d"])
    (pair,) = collinear_pairs(decisions)
    assert (pair.first, pair.second) == ("c", "d")
    assert pair.correlation < -0.9


def test_a_constant_feature_is_not_collinear_with_anything():
    context = np.random.default_rng(0).normal(size=(50, 2, 2)) * [1.0, 0.0]
    assert collinear_pairs(from_arrays(context, np.zeros(50, int))) == []


def test_a_smooth_curve_takes_as_long_as_it_takes():
    trace = made_trace(spread=0.0)
    belief = trace["posterior"]["belief"]
    belief.values[...] = np.clip((np.arange(400) - 150) / 100, 0, 1)[:, None] + 0 * belief.values
    (event,) = impact(trace, 201).events
    spread = spread_of_change(trace, event, "age")
    # From decision 161 to 241, but for rounding.
    assert abs(spread.start - 161) <= 1
    assert abs(spread.end - 241) <= 1
    assert spread.decisions == spread.end - spread.start


def test_a_curve_that_does_not_move_has_no_spread():
    trace = made_trace(spread=0.0)
    (event,) = impact(trace, 201).events
    assert spread_of_change(trace, event, "age") is None


def test_the_prior_scale_of_accounts_matters_where_the_choices_say_little(flipped):
    decisions = decisions_in(made_trace(steps=60, draws=2))
    narrow, wide = (compare_accounts(decisions, 30, prior_scale=scale, draws=200) for scale in (0.1, 3.0))
    assert np.abs(narrow.steps["step"]).mean() < np.abs(wide.steps["step"]).mean()
    # A prior that allows much is punished where nothing happens.
    assert narrow.probability["no change"] < wide.probability["no change"]


def test_a_large_change_is_found_whatever_the_prior_scale(flipped, result):
    table = prior_sensitivity(flipped, result.events, ["age", "inr"])
    assert set(table["account"]) == {"step"}
    assert (table.xs("age", level="feature")["verdict"] == "clear").all()
    assert not table.xs("inr", level="feature")["verdict"].isin(["clear"]).any()


def test_events_with_too_few_decisions_are_left_out(flipped):
    events = impact(flipped, 5).events
    assert not len(prior_sensitivity(flipped, events, ["age"]))
