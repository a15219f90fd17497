"""The several-centres scenario: who decides, and with which weights."""

import numpy as np
import pytest

from icb_pymc import simulate
from icb_pymc.environments.several_centres import several_centres
from icb_pymc.errors import InputError
from icb_pymc.sample.simulation import default_arrivals


@pytest.fixture(scope="module")
def arrivals():
    return several_centres(adoption=(1.0, 0.5, 0.0), steps=20, seed=1)


def test_all_centres_decide_equally_often_in_random_order(arrivals):
    assert arrivals["agent"].values.tolist() == ["centre 1", "centre 2", "centre 3"]
    assert np.bincount(arrivals["decider"]).tolist() == [20, 20, 20]
    assert (np.diff(arrivals["decider"].values) < 0).any()


def test_belief_is_trend_plus_deviation_and_weights_sum_to_one(arrivals):
    np.testing.assert_allclose(arrivals["true_belief"], arrivals["true_trend"] + arrivals["true_deviation"])
    np.testing.assert_allclose(abs(arrivals["true_belief"]).sum("feature"), 1.0)


def test_centres_agree_before_the_guideline_and_adopt_it_to_their_own_degree_after(arrivals):
    waiting = arrivals["true_belief"].sel(feature="waiting_time").values
    decider = arrivals["decider"].values
    assert (waiting[:24] == 1.0).all()
    for centre, strength in enumerate((1.0, 0.5, 0.0)):
        np.testing.assert_allclose(waiting[36:][decider[36:] == centre], 1 - strength)


def test_decisions_of_the_switching_agent_carry_centres_and_truth(arrivals):
    decisions = simulate("switching", arrivals=arrivals, seed=1)
    for name in ("decider", "true_belief", "true_trend", "true_deviation"):
        np.testing.assert_array_equal(decisions[name], arrivals[name])
    assert decisions.attrs["environment"] == "several centres"


@pytest.mark.parametrize("adoption", [(), (0.5, 1.2), (-0.1,), (np.nan,)])
def test_a_strength_outside_zero_to_one_is_refused(adoption):
    with pytest.raises(InputError, match="strength between 0 and 1"):
        several_centres(adoption=adoption, steps=3)


def test_arrivals_for_the_hierarchical_model_have_centres_but_no_true_weights():
    arrivals = default_arrivals("hierarchical_nb_icb", steps=23, seed=1)
    assert arrivals.sizes["time"] == 23
    assert arrivals.sizes["agent"] == 5
    assert not [name for name in arrivals if str(name).startswith("true_")]
