"""NB-ICB with shrinkage on innovations: the declared graph, and the steps that sample it."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals
from scipy.stats import halfcauchy, multivariate_normal

from icb_pymc import fit, read_trace, simulate, write_trace
from icb_pymc.errors import InputError
from icb_pymc.models import shrinkage_nb_icb
from icb_pymc.results.inference_data import group
from icb_pymc.steps import ShrinkageGibbs, UtilityHMC


@pytest.fixture(scope="module")
def decisions():
    arrivals = make_arrivals(12, 3, 2, seed=1, share_available=0.8)
    return arrivals.assign(chosen=("time", np.argmax(arrivals["available"].values, axis=1)))


def draws_of(model, **options):
    options = {"draws": 40, "tune": 10, "chains": 2, "cores": 1, "random_seed": 3} | options
    with model:
        sampled = pm.sample(progressbar=False, compute_convergence_checks=False, quiet=True, **options)
    return group(sampled, "posterior")


def test_the_log_density_is_that_of_the_equation(decisions):
    sigma = np.array([[0.3, 0.1], [0.1, 0.2]])
    model = shrinkage_nb_icb(decisions, innovation_covariance=sigma, start_covariance=0.5, start_mean=-0.5, alpha=2.0)
    rng = np.random.default_rng(0)
    tau, scale, belief = 0.3, rng.uniform(0.1, 3.0, 11), rng.normal(size=(12, 2))
    point = {"global_scale_log__": np.log(tau), "local_scale_log__": np.log(scale), "belief": belief}
    expected = halfcauchy(scale=1 / 11).logpdf(tau) + np.log(tau) + (halfcauchy.logpdf(scale) + np.log(scale)).sum()
    expected += multivariate_normal(np.full(2, -0.5), 0.5 * np.eye(2)).logpdf(belief[0])
    whitened = np.diff(belief, axis=0) / (tau * scale)[:, None]
    expected += (multivariate_normal(np.zeros(2), sigma).logpdf(whitened) - 2 * np.log(tau * scale)).sum()
    utility = 2.0 * np.einsum("tak,tk->ta", decisions["context"], belief)
    utility = np.where(decisions["available"], utility, -np.inf)
    taken = utility[np.arange(12), decisions["chosen"]]
    expected += (taken - np.logaddexp.reduce(utility, axis=1)).sum()
    assert model.compile_logp(mode="FAST_COMPILE")(point) == pytest.approx(expected)


def test_plain_sample_and_fit_assign_the_engine_and_the_step_for_scales(decisions):
    model = shrinkage_nb_icb(decisions)
    with model:
        steps = [
            ShrinkageGibbs([model["local_scale"], model["global_scale"]]),
            UtilityHMC([model["belief"], model["start_scale"]]),
        ]
    assigned, explicit = draws_of(model), draws_of(model, step=steps)
    for name in ("belief", "start_scale", "local_scale", "global_scale"):
        np.testing.assert_array_equal(assigned[name], explicit[name])
    trace = fit("shrinkage_nb_icb", decisions, draws=20, tune=10, chains=1, random_seed=0, progressbar=False)
    assert trace.attrs["sampler"] == "shrinkage_gibbs, utility_hmc"


def test_one_core_and_two_give_the_same_draws_and_chains_differ(decisions):
    model = shrinkage_nb_icb(decisions)
    one, two = draws_of(model, cores=1), draws_of(model, cores=2)
    for name in ("belief", "local_scale", "global_scale"):
        np.testing.assert_array_equal(one[name], two[name])
        assert not np.array_equal(one[name].values[0], one[name].values[1])


@pytest.mark.parametrize(
    "options",
    [
        {"global_scale": 0.05},
        {"global_scale": pm.HalfNormal.dist(0.1)},
        {"sampling_covariance": 0.1},
        {"alpha": pm.HalfNormal.dist(2.0)},
        {"start_scale": 2.0},
        {"innovation_covariance": pm.HalfNormal.dist(1.0, shape=2)},
        {"unit_of_time": "2"},
    ],
)
def test_every_form_of_the_model_is_sampled_by_both_steps(decisions, options):
    short = {"draws": 20, "tune": 20, "chains": 1, "random_seed": 0, "log_likelihood": False, "progressbar": False}
    trace = fit("shrinkage_nb_icb", decisions, options, **short)
    assert trace.attrs["sampler"] == "shrinkage_gibbs, utility_hmc"
    assert np.isfinite(group(trace, "posterior")["belief"]).all()


def test_the_default_does_not_depend_on_the_units_of_the_features(decisions):
    other = decisions.assign(context=decisions["context"] * np.array([100.0, 0.01]))
    one, two = (draws_of(shrinkage_nb_icb(data))["belief"].values for data in (decisions, other))
    np.testing.assert_allclose(one, two * np.array([100.0, 0.01]), rtol=1e-6)


@pytest.mark.compiled
def test_total_movement_is_spread_over_the_log_whatever_its_length():
    """The median total movement of a weight is about 0.8 s tau / (s / T)."""
    medians = []
    for steps in (50, 500):
        model = shrinkage_nb_icb(make_arrivals(steps, 2, 1), global_scale=2.0 / steps, innovation_covariance=1.0)
        belief = pm.draw(model["belief"], draws=1000, random_seed=1)
        medians.append(np.median(np.abs(belief[:, -1] - belief[:, 0])))
    np.testing.assert_allclose(medians, 1.6, rtol=0.15)


def test_a_gap_in_time_multiplies_the_variance(decisions):
    dates = np.array("2001-01-01", "datetime64[D]") + np.array([0, *range(30, 41)])
    dated = decisions.assign_coords(time=dates.astype("datetime64[ns]"))
    model = shrinkage_nb_icb(dated, unit_of_time="1D", global_scale=0.1)
    elapsed = model["belief"].owner.inputs[-1].eval({model["local_scale"]: np.ones(11)})
    gaps = np.array([30.0, *np.ones(10)])
    # Relative to the mean gap, so that the scale is one of the log, whatever the unit.
    np.testing.assert_allclose(elapsed, 0.01 * gaps / gaps.mean())


def test_it_simulates_and_its_trace_can_be_written_and_read(tmp_path):
    decisions = simulate("shrinkage_nb_icb", steps=15, random_seed=1)
    trace = fit("shrinkage_nb_icb", decisions, draws=20, tune=20, chains=2, random_seed=0, progressbar=False)
    write_trace(trace, tmp_path / "trace.nc")
    again = group(read_trace(tmp_path / "trace.nc"), "posterior")
    np.testing.assert_array_equal(again["local_scale"], group(trace, "posterior")["local_scale"])
    assert again["local_scale"].dims == ("chain", "draw", "innovation")


def test_a_log_of_one_decision_is_possible(decisions):
    trace = fit(
        "shrinkage_nb_icb",
        decisions.isel(time=[0]),
        draws=20,
        tune=20,
        chains=1,
        random_seed=0,
        progressbar=False,
    )
    assert np.isfinite(group(trace, "posterior")["belief"]).all()


def test_it_finds_a_jump_where_it_was():
    rng = np.random.default_rng(1)
    arrivals = make_arrivals(300, 2, 2, seed=3)
    weights = np.where(np.arange(300)[:, None] < 150, [2.0, 0.0], [-2.0, 0.0])
    utility = np.einsum("tak,tk->ta", arrivals["context"].values, weights)
    decisions = arrivals.assign(chosen=("time", (utility + rng.gumbel(size=utility.shape)).argmax(axis=1)))
    options = {"draws": 200, "tune": 200, "chains": 2, "random_seed": 0, "log_likelihood": False, "progressbar": False}
    trace = fit("shrinkage_nb_icb", decisions, **options)
    mean = group(trace, "posterior")["belief"].mean(("chain", "draw")).values
    moved = np.abs(np.diff(mean, axis=0)).sum(axis=1)
    assert abs(int(np.argmax(moved)) - 149) <= 5
    # Most of the movement is in the jump.
    assert moved[139:160].sum() > 0.6 * moved.sum()


def test_laplace_and_invalid_decisions_are_refused(decisions):
    with pytest.raises(InputError, match="use method 'mcmc'"):
        fit("shrinkage_nb_icb", decisions, method="laplace")
    with pytest.raises(InputError, match="'available' is missing"):
        shrinkage_nb_icb(decisions.drop_vars("available"))
