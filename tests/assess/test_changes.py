"""When preferences changed: dates, intervals, sentences."""

import json

import numpy as np
import pytest
import xarray as xr
from helpers.arrivals import make_arrivals

from icb_pymc import from_arrays
from icb_pymc.assess.changes import changes, shortest_window, spread_of_candidates
from icb_pymc.errors import InputError, InputWarning

WEIGHTS = np.array([[3.0, 0.0, 0.0], [0.0, -3.0, 0.0], [0.0, 0.0, 3.0]])


def decided(preferences, ends, *, actions=2, seed=0, share_available=1.0):
    """Decisions of an agent who has these preferences up to these ends."""
    steps = ends[-1]
    arrivals = make_arrivals(steps, actions, 3, seed=seed, share_available=share_available)
    rho = preferences[np.searchsorted(ends, np.arange(steps), side="right")]
    utility = (arrivals["context"].values * rho[:, None]).sum(axis=-1)
    noise = np.random.default_rng(seed).gumbel(size=utility.shape)
    chosen = np.where(arrivals["available"], utility + noise, -np.inf).argmax(axis=1)
    return arrivals.assign(chosen=("time", chosen), true_belief=(("time", "feature"), rho))


@pytest.fixture(scope="module")
def twice():
    """300 decisions whose preference changes before the 101st and the 221st."""
    return decided(WEIGHTS, [100, 220, 300])


@pytest.fixture(scope="module")
def result(twice):
    return changes(twice, random_seed=0)


def test_the_true_dates_lie_in_their_intervals(result):
    assert len(result.dates) == 2
    for date, truth in zip(result.dates, (101, 221), strict=True):
        assert date.interval[0] <= truth <= date.interval[1]
        assert date.interval[0] <= date.date <= date.interval[1]
        assert date.probability > 0.8
    np.testing.assert_array_equal(result.true_dates, [101, 221])


def test_probabilities_are_consistent(result):
    assert float(result.number.sum()) == pytest.approx(1.0)
    expected_number = float((result.number * result.number["changes"]).sum())
    assert float(result.probability.sum()) == pytest.approx(expected_number)
    assert result.probability.sizes["time"] == 300
    assert float(result.probability[0]) == 0.0
    assert result.any_change == pytest.approx(1 - float(result.number[0]))


def test_beliefs_follow_the_changes(result, twice):
    mean = result.mean_belief
    assert mean.dims == ("time", "feature")
    truth = twice["true_belief"].values
    for at in (50, 160, 260):
        assert int(np.abs(mean.values[at]).argmax()) == int(np.abs(truth[at]).argmax())
        assert np.abs(mean.values[at] - truth[at]).max() < 1.5
    draws = result.beliefs()
    assert draws.dims == ("chain", "draw", "time", "feature")
    np.testing.assert_allclose(draws.mean(("chain", "draw")), mean)
    np.testing.assert_array_equal(result.beliefs(every=7)["time"], twice["time"][::7])
    np.testing.assert_array_equal(result.beliefs(every=7), draws[:, :, ::7])


def test_sentences_name_the_dates_and_what_changed(result):
    lines = str(result).splitlines()
    assert lines[0].startswith("Preferences changed: probability of at least one over 99.9%, a priori 50.0%")
    assert "2 times" in lines[0]
    assert len(lines) == 3
    assert f"At t = {result.dates[0].date} ({result.ci_prob:.0%} credible interval" in lines[1]
    assert "What changed most: feature_" in lines[1]


def test_a_constant_preference_is_reported_honestly():
    result = changes(decided(WEIGHTS[:1], [200]), random_seed=0)
    assert result.dates == ()
    assert result.any_change < 0.2
    assert result.log_bayes_factor < 0
    assert "no proof that nothing changed" in str(result)
    assert len(result.true_dates) == 0


@pytest.mark.filterwarnings("ignore::icb_pymc.InputWarning")
def test_with_many_changes_expected_and_choices_without_information_the_prior_remains():
    single = from_arrays(np.ones((50, 1, 2)), np.zeros(50, int))
    result = changes(single, expected_changes=3.0, length=1)
    assert result.any_change == pytest.approx(0.75)
    assert result.log_bayes_factor == pytest.approx(0.0, abs=1e-8)
    np.testing.assert_allclose(result.probability[1:], float(result.probability[1]))


@pytest.mark.filterwarnings("ignore::icb_pymc.InputWarning")
def test_without_information_weights_are_drawn_around_the_prior_mean():
    single = from_arrays(np.ones((50, 1, 2)), np.zeros(50, int))
    result = changes(single, prior_mean=-3.0, prior_scale=0.5, draws=2000, random_seed=0)
    np.testing.assert_allclose(result.mean_belief, -3.0, atol=0.06)
    np.testing.assert_allclose(result.weights.std("draw"), 0.5, rtol=0.1)


def test_a_prior_mean_that_is_right_brings_beliefs_of_few_decisions_closer_to_the_truth():
    few = decided(np.full((1, 3), -2.0), [30])
    errors = [
        float(np.abs(changes(few, prior_mean=mean, prior_scale=1.0, random_seed=0).mean_belief + 2.0).mean())
        for mean in (0.0, -2.0)
    ]
    assert errors[1] < 0.7 * errors[0]


def test_units_of_features_and_alpha_change_the_weights_only(twice, result):
    factors = xr.DataArray([10.0, 0.1, 1.0], dims="feature")
    scaled = changes(twice.assign(context=twice["context"] * factors), random_seed=0)
    np.testing.assert_allclose(scaled.probability, result.probability, atol=1e-6)
    np.testing.assert_allclose(scaled.mean_belief * factors.values, result.mean_belief, rtol=1e-4, atol=1e-4)
    sharper = changes(twice, alpha=20.0, random_seed=0)
    np.testing.assert_allclose(sharper.probability, result.probability, atol=1e-6)
    np.testing.assert_allclose(sharper.mean_belief * 20.0, result.mean_belief, rtol=1e-4, atol=1e-4)


def test_the_seed_determines_the_draws_and_nothing_else(twice):
    first, again, other = (changes(twice, length=20, draws=20, random_seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert not np.array_equal(first.weights, other.weights)
    np.testing.assert_array_equal(first.probability, other.probability)


def test_a_trace_gives_the_changes_of_its_decisions(trace, dated_decisions):
    of_trace, of_decisions = (changes(source, draws=10, random_seed=0) for source in (trace, dated_decisions))
    np.testing.assert_array_equal(of_trace.probability, of_decisions.probability)
    np.testing.assert_array_equal(of_trace.probability["time"], dated_decisions["time"])
    np.testing.assert_array_equal(of_trace.true_dates, dated_decisions["time"][[20]])


def test_dated_logs_report_days(twice):
    days = np.array("2001-01-01", "datetime64[ns]") + np.arange(300) * np.timedelta64(1, "D")
    result = changes(twice.assign_coords(time=days), draws=10, random_seed=0)
    assert "At 2001-04-1" in str(result)
    content = json.loads(json.dumps(result.as_dict()))
    assert content["dates"][0]["date"].startswith("2001-04-1")
    assert content["decisions"] == 300
    assert set(content["dates"][1]["after"]) == {"feature_0", "feature_1", "feature_2"}
    assert content["prior_any_change"] == 0.5


def test_empty_slots_and_several_candidates():
    decisions = decided(WEIGHTS[[0, 2]], [90, 180], actions=4, share_available=0.7)
    with pytest.warns(InputWarning, match="single candidate"):
        result = changes(decisions, draws=10, random_seed=0)
    assert any(date.interval[0] <= 91 <= date.interval[1] for date in result.dates)


def test_decisions_of_several_agents_are_warned_of(twice):
    both = twice.assign_coords(agent=["a", "b"]).assign(decider=("time", np.arange(300) % 2))
    with pytest.warns(InputWarning, match="decisions of 2 agents"):
        changes(both, length=50, draws=5)


def test_the_spread_is_the_root_mean_square_difference_between_candidates(twice):
    difference = twice["context"].values[:, 0] - twice["context"].values[:, 1]
    np.testing.assert_allclose(spread_of_candidates(twice), np.sqrt((difference**2).mean(axis=0)))
    three = make_arrivals(50, 3, 2)
    values = three["context"].values
    pairs = [((values[:, a] - values[:, b]) ** 2).mean(axis=0) for a, b in ((0, 1), (0, 2), (1, 2))]
    np.testing.assert_allclose(spread_of_candidates(three), np.sqrt(np.mean(pairs, axis=0)))
    np.testing.assert_array_equal(spread_of_candidates(three.assign(context=0 * three["context"])), [1.0, 1.0])


@pytest.mark.parametrize(
    ("mass", "probability", "expected"),
    [
        ([0.05, 0.1, 0.8, 0.05], 0.8, (2, 2)),
        ([0.05, 0.1, 0.8, 0.05], 0.9, (1, 2)),
        ([0.5, 0.0, 0.0, 0.5], 0.9, (0, 3)),
        ([0.25, 0.25, 0.25, 0.25], 0.999999999999, (0, 3)),
        ([1.0, 0.0, 0.0, 0.0], 0.9, (0, 0)),
        ([0.0, 0.0, 0.0, 1.0], 0.9, (3, 3)),
    ],
)
def test_the_shortest_window_holds_the_probability(mass, probability, expected):
    edges = np.arange(len(mass))
    assert shortest_window(np.array(mass), edges, edges, probability) == expected


def test_windows_are_measured_in_decisions_not_in_cells():
    first, last = np.array([0, 10, 11, 12]), np.array([9, 10, 11, 12])
    assert shortest_window(np.array([0.4, 0.2, 0.2, 0.2]), first, last, 0.6) == (1, 3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ci_prob": 1.5}, "ci_prob=1.5: give a number above 0"),
        ({"alpha": 0}, "alpha=0: give a positive number"),
        ({"expected_changes": -1.0}, "expected_changes=-1.0: give a positive number"),
        ({"prior_mean": np.nan}, "prior_mean=nan: give a number"),
        ({"prior_scale": "wide"}, "prior_scale=wide: give a positive number"),
        ({"length": 0}, "length=0"),
        ({"draws": 0}, "draws=0"),
    ],
)
def test_invalid_options_are_refused(twice, options, sentence):
    with pytest.raises(InputError, match=sentence):
        changes(twice, **options)


def test_a_single_decision_is_refused():
    with pytest.raises(InputError, match="one decision cannot show a change"):
        changes(from_arrays([[[1.0], [0.0]]], [0]))


def test_arrivals_without_choices_are_refused(twice):
    with pytest.raises(InputError, match="chosen"):
        changes(twice.drop_vars("chosen"))


def test_beliefs_that_do_not_fit_into_memory_are_refused(result, monkeypatch):
    monkeypatch.setattr("icb_pymc.io.machine.available_memory", lambda: 1_000)
    with pytest.raises(InputError, match="keep fewer times"):
        result.beliefs()
    with pytest.raises(InputError, match="every=0"):
        result.beliefs(every=0)
