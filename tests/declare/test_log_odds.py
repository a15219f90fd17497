"""Default priors that fit features of any scale and logs of any length."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc import fit
from icb_pymc.data.clocks import shares_of_time
from icb_pymc.data.standardisation import contrast_spread
from icb_pymc.declare import first_covariance, innovations, log_odds_unit
from icb_pymc.errors import InputError
from icb_pymc.models import hierarchical_nb_icb, nb_icb, shrinkage_nb_icb
from icb_pymc.models.irl import b_irl
from icb_pymc.results.inference_data import group
from icb_pymc.steps.assign import engine_step


@pytest.fixture(scope="module")
def decisions():
    """Thirty decisions that follow the first feature."""
    arrivals = make_arrivals(30, 2, 3, seed=1)
    return arrivals.assign(chosen=arrivals["context"][:, :, 0].argmax("action"))


def test_a_weight_of_one_unit_changes_log_odds_by_one_for_a_typical_difference(decisions):
    np.testing.assert_allclose(4.0 * contrast_spread(decisions) * log_odds_unit(decisions, 4.0), 1.0)


@pytest.mark.parametrize("steps", [2, 20, 2000])
def test_the_total_movement_does_not_depend_on_the_number_of_decisions(steps):
    decisions = make_arrivals(steps, 2, 1).assign(chosen=("time", np.zeros(steps, int)))
    covariance, elapsed = innovations(decisions, np.ones(1), total_movement=0.7)
    assert covariance.eval().item() * elapsed.sum() == pytest.approx(0.7**2)


def test_dated_decisions_move_with_real_time_unless_decisions_are_counted(dated_decisions):
    dates = dated_decisions["time"].values.copy()
    dates[20:] += np.timedelta64(365, "D")
    gap = dated_decisions.assign_coords(time=dates)
    shares = shares_of_time(gap)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[19] / shares[18] == pytest.approx((365 + 30) / 30)
    np.testing.assert_allclose(shares_of_time(gap, "decision"), 1 / 39)
    np.testing.assert_allclose(shares_of_time(gap, "30D"), shares)


def test_decisions_on_one_date_are_a_thousandth_of_the_mean_gap_apart(dated_decisions):
    dates = dated_decisions["time"].values.copy()
    dates[1] = dates[0]
    shares = shares_of_time(dated_decisions.assign_coords(time=dates))
    assert shares[0] == pytest.approx(1e-3 / 39, rel=0.01)
    same = dated_decisions.assign_coords(time=np.full(40, dates[0]))
    np.testing.assert_allclose(shares_of_time(same), 1 / 39)


@pytest.mark.parametrize(
    ("contradiction", "sentence"),
    [
        ({"total_movement": 1.0, "innovation_covariance": 0.1}, "give one of them"),
        ({"start_scale": 1.0, "start_covariance": 0.1}, "both describe the first belief"),
        ({"total_movement": 0.0}, "fit 'b_irl'"),
    ],
)
def test_scales_that_contradict_each_other_are_refused(decisions, contradiction, sentence):
    with pytest.raises(InputError, match=sentence):
        nb_icb(decisions, **contradiction)


def test_the_deviations_of_agents_have_a_scale_or_a_covariance(decisions):
    agents = decisions.assign(decider=("time", np.arange(30) % 2)).assign_coords(agent=["a", "b"])
    names = [rv.name for rv in hierarchical_nb_icb(agents).free_RVs]
    assert names == ["total_movement", "start_scale", "population", "deviation_scale", "deviation"]
    names = [rv.name for rv in hierarchical_nb_icb(agents, clock="calendar").free_RVs]
    assert names == ["total_movement", "start_scale", "trend", "deviation_scale", "deviation"]
    with pytest.raises(InputError, match="both describe deviations"):
        hierarchical_nb_icb(agents, deviation_scale=1.0, deviation_covariance=0.1)


@pytest.mark.parametrize("declare", [nb_icb, shrinkage_nb_icb, b_irl])
def test_features_in_other_units_give_the_same_posterior_in_these_units(decisions, declare):
    factor = np.array([10.0, 0.01, 3.0])
    options = {"draws": 40, "tune": 40, "chains": 1, "random_seed": 0, "log_likelihood": False, "progressbar": False}
    ours = group(fit(declare, decisions, **options), "posterior")["belief"]
    rescaled = decisions.assign(context=decisions["context"] * factor)
    theirs = group(fit(declare, rescaled, **options), "posterior")["belief"]
    # The same noise, so the same draws up to rounding, which grows along the chain.
    np.testing.assert_allclose(theirs.isel(draw=slice(5)) * factor, ours.isel(draw=slice(5)), rtol=1e-3, atol=1e-6)


def test_a_movement_for_each_feature_has_the_names_of_the_features(decisions):
    model = nb_icb(decisions, total_movement=pm.LogNormal.dist(np.log(0.5), 0.7, shape=3))
    assert model.named_vars_to_dims["total_movement"] == ("feature",)


def test_the_first_covariance_is_learnt_around_its_scale():
    with pm.Model() as model:
        covariance = first_covariance(np.array([1.0, 2.0]))
    ratio = covariance.eval({model["start_scale"]: 3.0})
    np.testing.assert_allclose(np.diag(ratio), [9.0, 36.0])


def test_without_information_many_scales_keep_their_prior():
    """Equal candidates say nothing: what the moves of the hyperparameters leave invariant is then their prior."""
    decisions = make_arrivals(4, 2, 4).assign(chosen=("time", np.zeros(4, int)))
    decisions = decisions.assign(context=0 * decisions["context"])
    model = nb_icb(decisions, total_movement=pm.LogNormal.dist(0.3, 0.7, shape=4), start_scale=pm.LogNormal.dist(-1, 1))
    with model:
        (step,) = engine_step(model, with_rho=False)
    step.rng = np.random.default_rng(4)
    point, path = model.initial_point(), []
    for i in range(8_000):
        if i == 2000:
            step.stop_tuning()
        point, _ = step.step(point)
        path.append(np.append(point["total_movement_log__"], point["start_scale_log__"]))
    drawn = np.array(path[2000:])
    np.testing.assert_allclose(drawn.mean(axis=0), [0.3] * 4 + [-1], atol=0.12)
    np.testing.assert_allclose(drawn.std(axis=0), [0.7] * 4 + [1], rtol=0.12)
