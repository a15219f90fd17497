"""The change of signed weights around dated events."""

import json
import warnings

import numpy as np
import pytest
import xarray as xr
from scipy.special import expit

from icb_pymc.assess.impact import impact
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.results.inference_data import from_groups, group

DAYS = np.array(["2001-01-01", "2001-07-01", "2002-02-26", "2002-02-27", "2002-08-01", "2005-01-01"], "datetime64[ns]")


def trace_of(weights, time=DAYS, features=("inr", "age"), alpha=1.0, scale=None, kept=slice(None)):
    """A trace of two equal chains with these weights (draw, time, feature); features of the log have unit sd."""
    weights = np.asarray(weights, dtype=float)
    posterior = xr.Dataset(
        {"belief": (("chain", "draw", "time", "feature"), np.stack([weights, weights]) / alpha)},
        coords={"time": time, "feature": list(features)},
    )
    # Two candidates one above and one below the mean: every feature has standard deviation one.
    context = np.tile([1.0, -1.0], (len(time), 1))[:, :, None] * np.ones(len(features))
    context[::2, :, 1:] *= -1
    data = xr.Dataset(
        {
            "context": (("time", "action", "feature"), context),
            "available": (("time", "action"), np.ones((len(time), 2), bool)),
        },
        coords={"time": time, "feature": list(features)},
    )
    if scale is not None:
        data["feature_scale"] = ("feature", np.asarray(scale, float))
    attrs = {"model": "nb_icb", "hyperparameters": f'{{"alpha": {alpha}}}'}
    return from_groups({"posterior": posterior.isel(time=kept), "constant_data": data}, attrs)


def constant(before, after, spread=0.1, draws=400, times=(20, 20)):
    """Weights (draw, time, feature) that are N(before, spread) until the event and N(after, spread) from it on."""
    noise = spread * np.random.default_rng(0).standard_normal((2, draws, 1, len(before)))
    parts = [np.repeat(np.asarray(mean) + noise[i], times[i], axis=1) for i, mean in enumerate((before, after))]
    return np.concatenate(parts, axis=1)


def numbered(*means, **options):
    return trace_of(constant(*means, **options), time=np.arange(40))


def test_the_event_belongs_to_the_window_after_it_and_the_end_of_the_window_does_not():
    path = np.array([[0.1, 0.1, 0.2, 0.5, 0.7, 0.9], [0.2, 0.2, 0.2, 0.3, 0.3, 0.9]])
    trace = trace_of(np.stack([path, -path], axis=-1))
    result = impact(trace, "2002-02-27", before="300D", after="155D")
    np.testing.assert_allclose(result.draws["before"].sel(feature="inr").values.ravel()[:2], [0.15, 0.2])
    np.testing.assert_allclose(result.draws["after"].sel(feature="inr").values.ravel()[:2], [0.5, 0.3])
    assert result.events[0].decisions == (2, 1)
    longer = impact(trace, "2002-02-27", before="300D", after="156D")
    np.testing.assert_allclose(longer.draws["after"].sel(feature="inr").values.ravel()[:2], [0.6, 0.3])
    assert result.table.loc[(0, "age"), "change"] == pytest.approx(-result.table.loc[(0, "inr"), "change"])


def test_without_lengths_a_window_reaches_to_the_next_event_or_the_end_of_the_log():
    result = impact(numbered([0, 0], [1, 0]), [10, 20])
    assert [event.decisions for event in result.events] == [(10, 10), (10, 20)]
    assert impact(trace_of(np.zeros((3, 6, 2))), "2002-02-27").events[0].decisions == (3, 3)


def test_a_window_that_ends_at_the_last_decision_does_not_hold_it():
    weights = np.zeros((3, 40, 2))
    weights[:, -1] = 100.0
    trace = trace_of(weights, time=np.arange(40))
    short, whole = impact(trace, 20, after=19), impact(trace, 20)
    assert (short.events[0].decisions, whole.events[0].decisions) == ((20, 19), (20, 20))
    assert (short.table["after"] == 0).all()
    assert whole.table["after"].to_numpy() == pytest.approx([5.0, 5.0])


def test_calendar_years_and_months_are_understood():
    trace = trace_of(np.zeros((3, 6, 2)))
    assert impact(trace, "2002-02-27", before="1y", after="6M").events[0].decisions == (2, 2)
    assert impact(trace, "2002-02-27", before="8W", after="3y").events[0].decisions == (1, 3)


def test_weights_are_in_log_odds_per_standard_deviation_and_per_unit_of_the_user():
    trace = trace_of(constant([1, 0], [3, 0], spread=0.0), time=np.arange(40), alpha=4.0, scale=[10.0, 1.0])
    row = impact(trace, 20).table.loc[(0, "inr")]
    assert (row["before"], row["after"], row["change"]) == pytest.approx((1.0, 3.0, 2.0))
    assert row["per_unit"] == pytest.approx(0.2)
    assert row["chosen_after"] == pytest.approx(1 / (1 + np.exp(-3.0)))


def test_how_often_a_higher_candidate_is_chosen_is_averaged_over_the_noise_of_sampling():
    trace = trace_of(constant([1, 0], [2, 0], spread=0.0), time=np.arange(40), alpha=4.0)
    exact = {which: expit(weight) for which, weight in (("before", 1.0), ("after", 2.0))}
    row = impact(trace, 20).table.loc[(0, "inr")]
    assert {which: row[f"chosen_{which}"] for which in exact} == pytest.approx(exact)
    # A standard deviation of rho of 0.3 is one of 4 x 0.3 log-odds.
    noise = 1.2 * np.random.default_rng(0).standard_normal(1_000_000)
    for stored in (0.09, [0.09, 0.0], [[0.09, 0.0], [0.0, 1.0]]):
        trace.attrs["hyperparameters"] = json.dumps({"alpha": 4.0, "sampling_covariance": stored})
        row = impact(trace, 20).table.loc[(0, "inr")]
        assert row["chosen_before"] == pytest.approx(expit(1.0 + noise).mean(), abs=2e-3)
        assert row["chosen_after"] == pytest.approx(expit(2.0 + noise).mean(), abs=2e-3)


def test_a_sampling_covariance_that_was_learnt_is_counted_draw_by_draw():
    trace = trace_of(constant([1, 0], [2, 0], spread=0.0, draws=2), time=np.arange(40))
    learnt = xr.DataArray([[0.0, 4.0], [0.0, 4.0]], dims=("chain", "draw"))
    posterior = group(trace, "posterior").assign(sampling_covariance=learnt)
    row = impact(from_groups({"posterior": posterior, "constant_data": group(trace, "constant_data")}, trace.attrs), 20)
    noise = 2.0 * np.random.default_rng(0).standard_normal(1_000_000)
    expected = (expit(1.0) + expit(1.0 + noise).mean()) / 2
    assert row.table.loc[(0, "inr"), "chosen_before"] == pytest.approx(expected, abs=2e-3)


def test_a_change_of_sign_is_seen_though_importance_stays():
    result = impact(numbered([-1, 1], [1, 1]), 20)
    row = result.table.loc[(0, "inr")]
    assert row["verdict"] == "clear"
    assert row["change"] == pytest.approx(2.0, abs=0.05)
    assert abs(row["importance_change"]) < 0.02
    assert "rose and changed its sign" in str(result)
    assert result.table.loc[(0, "age"), "verdict"] == "not clear"


def test_the_rise_of_one_weight_is_no_fall_of_another():
    result = impact(numbered([1, 1], [3, 1]), 20)
    assert result.table.loc[(0, "inr"), "verdict"] == "clear"
    age = result.table.loc[(0, "age")]
    assert age["verdict"] == "not clear"
    assert age["importance_change"] < -0.2


def test_choices_that_all_become_sharper_have_a_line_of_their_own():
    result = impact(numbered([2, 1], [4, 2]), 20)
    row = result.decisiveness.loc[0]
    assert row["verdict"] == "clear"
    assert row["ratio"] == pytest.approx(2.0, rel=0.1)
    assert row["common"] > 0.95
    assert "all choices became sharper" in str(result)
    other = impact(numbered([2, 1], [2, -1]), 20).decisiveness.loc[0]
    assert other["common"] < 0.5


def test_the_more_is_asked_the_surer_each_answer_must_be():
    trace = numbered([0, 0], [0.3, 0])
    alone = impact(trace, 20, features=["inr"]).table.loc[(0, "inr")]
    many = impact(trace, [15, 20, 25, 30], features=["inr"]).table.loc[(1, "inr")]
    assert alone["verdict"] == "clear"
    assert alone["probability"] == pytest.approx(many["probability"], abs=0.05)
    assert many["verdict"] != "clear"


def test_a_small_change_that_is_known_well_is_no_relevant_change():
    trace = numbered([1, 0], [1.04, 0], spread=0.01)
    assert impact(trace, 20, matters=0.1).table.loc[(0, "inr"), "verdict"] == "no relevant change"
    assert impact(trace, 20, matters=0.001).table.loc[(0, "inr"), "verdict"] == "clear"
    with pytest.raises(InputError, match="matters=0: give a positive change"):
        impact(trace, 20, matters=0)


def test_direction_and_interval_are_those_of_the_draws():
    result = impact(numbered([0, 0], [0.1, 0]), 20, ci_prob=0.8)
    change = (result.draws["after"] - result.draws["before"]).sel(feature="inr").values.ravel()
    row = result.table.loc[(0, "inr")]
    assert row["probability"] == pytest.approx(np.mean(change > 0))
    assert (row["lower"], row["upper"]) == pytest.approx(tuple(np.quantile(change, [0.1, 0.9])))


def test_an_alpha_that_was_learnt_is_counted_draw_by_draw():
    trace = numbered([1, 0], [2, 0], spread=0.0)
    alpha = xr.DataArray(np.full((2, 400), 3.0), dims=("chain", "draw"))
    groups = {
        "posterior": group(trace, "posterior").assign(alpha=alpha),
        "constant_data": group(trace, "constant_data"),
    }
    learnt = from_groups(groups, trace.attrs)
    assert impact(learnt, 20).table.loc[(0, "inr"), "change"] == pytest.approx(3.0)


def test_records_are_plain_and_name_event_and_feature():
    (first, *_) = impact(numbered([0, 0], [1, 0]), {20: "rule"}).records()
    assert (first["event"], first["label"], first["feature"], first["verdict"]) == (20, "rule", "inr", "clear")
    assert {"before", "after", "change", "lower", "upper", "probability", "importance_change"} <= set(first)
    (dated, *_) = impact(trace_of(np.zeros((3, 6, 2))), {"2002-02-27": "MELD"}).records()
    assert dated["event"].startswith("2002-02-27")


@pytest.mark.parametrize(
    ("event", "options", "sentence"),
    [
        (20, {"features": ["imr"]}, "no feature 'imr' in the log: did you mean 'inr'"),
        (99, {}, "99 lies outside the decisions"),
        (20, {"before": "2y"}, "before '2y': the decisions are not dated"),
        ([], {}, "give at least one event"),
        (0, {}, "no decision in the window before t = 0"),
        (20, {"ci_prob": 2.0}, "ci_prob=2.0"),
    ],
)
def test_what_cannot_be_asked_is_refused(event, options, sentence):
    with pytest.raises(InputError, match=sentence):
        impact(numbered([0, 0], [1, 0]), event, **options)


def test_chains_that_disagree_are_warned_of():
    weights = np.stack([constant([0, 0], [0, 0]), constant([0, 0], [2, 0])])
    trace = numbered([0, 0], [0, 0])
    posterior = xr.Dataset(
        {"belief": (("chain", "draw", "time", "feature"), weights)},
        coords={"time": np.arange(40), "feature": ["inr", "age"]},
    )
    groups = {"posterior": posterior, "constant_data": group(trace, "constant_data")}
    with pytest.warns(InputWarning, match="the chains disagree on the change of inr"):
        impact(from_groups(groups, trace.attrs), 20)


def test_agreeing_chains_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        impact(numbered([0, 0], [1, 0]), 20)
