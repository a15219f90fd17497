"""Features on one scale, and weights in the user's units."""

import numpy as np
import pytest
import xarray as xr
from helpers.arrivals import make_arrivals

from icb_pymc import InputError, InputWarning, from_arrays, simulate
from icb_pymc.data.standardisation import contrast_spread, deviation_within, in_user_units, standardise, user_context
from icb_pymc.environments.several_centres import several_centres


def test_numbers_get_mean_zero_and_a_spread_of_one_within_decisions_and_user_units_can_be_restored(arrivals):
    between = np.random.default_rng(1).normal(scale=50, size=(arrivals.sizes["time"], 1, 1))
    scaled = arrivals.assign(context=arrivals["context"] * 7 + 3 + between)
    once = standardise(scaled)
    values = once["context"].values[once["available"].values]
    np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-12)
    # What differs between decisions but not within them does not count.
    np.testing.assert_allclose(deviation_within(once), 1)
    assert (values.std(axis=0) > 5).all()
    restored = user_context(standardise(once)).values
    mask = scaled["available"].values
    np.testing.assert_allclose(restored[mask], scaled["context"].values[mask])


def test_constants_and_features_of_two_values_stay_as_they_are_unless_asked():
    rng = np.random.default_rng(0)
    columns = [np.tile([0, 1], (30, 1)), rng.integers(0, 2, (30, 2)), rng.integers(1, 3, (30, 2))]
    columns += [
        rng.integers(-1, 2, (30, 2)),
        np.full((30, 2), 7),
        rng.normal(5, 3, (30, 2)),
        rng.integers(0, 4, (30, 2)),
    ]
    names = ["bias", "flag", "sex", "sign", "constant", "price", "count"]
    with pytest.warns(InputWarning, match="'constant' never varies"):
        decisions = from_arrays(np.stack(columns, -1), np.zeros(30, int), features=names)
    kept = standardise(decisions)
    np.testing.assert_array_equal(kept["context"].values[..., :5], decisions["context"].values[..., :5])
    assert kept["feature_scale"].values[:5].tolist() == [1.0] * 5
    assert kept["feature_mean"].values[:5].tolist() == [0.0] * 5
    np.testing.assert_allclose(deviation_within(kept)[5:], 1)
    asked = standardise(decisions, binary=True)
    np.testing.assert_allclose(deviation_within(asked), [1, 1, 1, 1, 0, 1, 1])


def test_missed_decisions_stay_empty_and_do_not_count():
    rng = np.random.default_rng(0)
    context, missed = rng.normal(5, 3, (20, 2, 2)), np.arange(20) % 4 == 0
    decisions = from_arrays(context, np.zeros(20, int), missed=missed)
    standardised = standardise(decisions)
    np.testing.assert_array_equal(standardised["context"].values[missed], 0)
    np.testing.assert_allclose(standardised["context"].values[~missed].mean((0, 1)), 0, atol=1e-12)
    np.testing.assert_allclose(user_context(standardised), decisions["context"])


def test_new_decisions_are_standardised_like_the_first():
    rng = np.random.default_rng(0)
    first, later = (from_arrays(rng.normal(m, 3, (20, 2, 2)), np.zeros(20, int)) for m in (5, 6))
    scaled = standardise(first)
    np.testing.assert_allclose(user_context(standardise(later, like=scaled)), later["context"])
    np.testing.assert_array_equal(standardise(later, like=scaled)["feature_mean"], scaled["feature_mean"])
    with pytest.raises(InputError, match="are to be like are not"):
        standardise(later, like=first)
    with pytest.raises(InputError, match="these are already"):
        standardise(scaled, like=scaled)
    with pytest.raises(InputError, match="other features than those that they are to be like, feature_0, feature_1"):
        standardise(later.isel(feature=[0]), like=scaled)


def test_utilities_differ_by_a_constant_between_the_two_units(arrivals):
    scaled = arrivals.assign(context=arrivals["context"] * np.array([1.0, 10.0, 0.1, 5.0]) + 2)
    standardised = standardise(scaled)
    weights = xr.DataArray([1.0, -2.0, 3.0, 0.5], dims="feature", coords={"feature": scaled["feature"]})
    here = (standardised["context"] * weights).sum("feature")
    there = (scaled["context"] * in_user_units(weights, standardised)).sum("feature")
    gap = (here - there).where(scaled["available"])
    np.testing.assert_allclose(gap - gap.mean(), xr.zeros_like(gap).where(scaled["available"]), atol=1e-10)


@pytest.fixture
def unscaled():
    """Decisions with known weights of features that are far from standardised; the last is constant."""
    arrivals = several_centres(adoption=(1.0, 0.5), steps=15, seed=1)
    factor = xr.DataArray([100.0, 0.01, 5.0, 1.0], coords={"feature": arrivals["feature"]})
    context = arrivals["context"] * factor + 3
    context[..., 3] = 2.0
    weights = {name: arrivals[name] / factor for name in ("true_belief", "true_trend", "true_deviation")}
    weights["true_rho_env"] = weights["true_belief"].isel(time=0, drop=True) + 0.1
    return arrivals.assign(context=context.transpose(*arrivals["context"].dims), **weights)


def utility_differences(decisions, name):
    return (decisions["context"] * decisions[name]).sum("feature").diff("action")


@pytest.mark.parametrize("name", ["true_belief", "true_trend", "true_deviation", "true_rho_env"])
def test_true_weights_are_standardised_with_the_features(name, unscaled):
    standardised = standardise(unscaled)
    assert standardised[name].dims == unscaled[name].dims
    assert abs(standardised[name] - unscaled[name]).max() > 0.01
    np.testing.assert_allclose(utility_differences(standardised, name), utility_differences(unscaled, name), atol=1e-12)
    # The arrivals were themselves standardised, from the units of the liver file.
    user_weights = in_user_units(unscaled[name], unscaled)
    np.testing.assert_allclose(in_user_units(standardised[name], standardised), user_weights)
    twice = standardise(standardised)
    np.testing.assert_allclose(in_user_units(twice[name], twice), user_weights)


@pytest.mark.filterwarnings("ignore::icb_pymc.errors.InputWarning")
def test_the_truth_of_a_simulated_agent_is_standardised_too(arrivals):
    scaled = arrivals.assign(context=arrivals["context"] * np.array([1.0, 10.0, 0.1, 5.0]))
    decisions = simulate("sampling", arrivals=scaled, seed=1)
    standardised = standardise(decisions)
    scale = standardised["feature_scale"]
    for name in ("true_belief", "true_rho"):
        np.testing.assert_allclose(standardised[name], decisions[name] * scale)
    # Rewards are not weights: they keep the units in which the agent received them.
    np.testing.assert_array_equal(standardised["true_reward"], decisions["true_reward"])


def test_whole_numbers_per_feature_are_not_weights(unscaled):
    decisions = unscaled.assign(true_included=("feature", [1, 0, 1, 1]))
    np.testing.assert_array_equal(standardise(decisions)["true_included"], [1, 0, 1, 1])


def test_weights_of_features_that_were_not_recorded_stay_as_they_are(unscaled):
    decisions = unscaled.assign(reward_context=unscaled["context"] ** 2)
    standardised = standardise(decisions)
    for name in ("reward_context", "true_belief", "true_rho_env"):
        np.testing.assert_array_equal(standardised[name], decisions[name])


def test_the_spread_of_contrasts_is_the_typical_difference_between_two_candidates():
    rng = np.random.default_rng(0)
    arrivals = make_arrivals(40, 4, 3, seed=2, share_available=0.6)
    arrivals["context"][:, :, 2] = rng.normal(size=(40, 1))
    context, available = arrivals["context"].values, arrivals["available"].values
    squares = []
    for candidates, mask in zip(context, available, strict=True):
        shown = candidates[mask]
        if len(shown) > 1:
            pairs = [(one - two) ** 2 for i, one in enumerate(shown) for two in shown[:i]]
            squares.append(np.mean(pairs, axis=0))
    expected = np.sqrt(np.mean(squares, axis=0))
    np.testing.assert_allclose(contrast_spread(arrivals)[:2], expected[:2])
    # Candidates never differ in the last feature.
    assert contrast_spread(arrivals)[2] == 1.0
    assert (contrast_spread(arrivals.isel(action=[0])) == 1.0).all()
