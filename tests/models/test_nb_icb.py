"""NB-ICB: the declared graph in all its forms, and the steps that sample it."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals
from scipy.stats import multivariate_normal

from icb_pymc.errors import InputError
from icb_pymc.models import nb_icb
from icb_pymc.models.nb_icb import paper
from icb_pymc.results.inference_data import group
from icb_pymc.steps import BeliefGibbs, RhoMetropolis, UtilityHMC


@pytest.fixture(scope="module")
def decisions():
    arrivals = make_arrivals(12, 3, 2, seed=1, share_available=0.8)
    return arrivals.assign(chosen=("time", np.argmax(arrivals["available"].values, axis=1)))


GIVEN = {"innovation_covariance": 0.1, "sampling_covariance": 0.2, "alpha": 20.0, "start_covariance": 0.1}


def draws_of(model, **options):
    options = {"draws": 40, "tune": 5, "chains": 2, "cores": 1, "random_seed": 3} | options
    with model:
        sampled = pm.sample(progressbar=False, compute_convergence_checks=False, quiet=True, **options)
    return group(sampled, "posterior")


def steps_of(model, kernel="exact"):
    with model:
        return [BeliefGibbs([model["belief"]]), RhoMetropolis([model["rho"]], kernel=kernel)]


def test_the_log_density_is_that_of_algorithm_2(decisions):
    innovation, sampling, alpha = np.array([[0.3, 0.1], [0.1, 0.2]]), np.array([0.5, 0.4]), 2.0
    model = nb_icb(
        decisions,
        innovation_covariance=innovation,
        sampling_covariance=sampling,
        alpha=alpha,
        start_mean=-0.5,
        start_covariance=innovation,
    )
    rng = np.random.default_rng(0)
    point = {"belief": rng.normal(size=(12, 2)), "rho": rng.normal(size=(12, 2))}
    increments = np.diff(point["belief"], axis=0, prepend=np.full((1, 2), -0.5))
    expected = multivariate_normal(np.zeros(2), innovation).logpdf(increments).sum()
    expected += multivariate_normal(np.zeros(2), np.diag(sampling)).logpdf(point["rho"] - point["belief"]).sum()
    utility = alpha * np.einsum("tak,tk->ta", decisions["context"], point["rho"])
    utility = np.where(decisions["available"], utility, -np.inf)
    taken = utility[np.arange(12), decisions["chosen"]]
    expected += (taken - np.logaddexp.reduce(utility, axis=1)).sum()
    assert model.compile_logp(mode="FAST_COMPILE")(point) == pytest.approx(expected)


def test_plain_sample_assigns_the_engine_with_the_draws_of_passing_it_explicitly(decisions):
    model = nb_icb(decisions, **GIVEN)
    with model:
        engine = UtilityHMC([model["belief"], model["rho"]])
    assigned, explicit = draws_of(model), draws_of(model, step=engine)
    np.testing.assert_array_equal(assigned["belief"], explicit["belief"])
    np.testing.assert_array_equal(assigned["rho"], explicit["rho"])


@pytest.mark.compiled
def test_one_core_and_two_give_the_same_draws_and_chains_differ(decisions):
    model = nb_icb(decisions, **GIVEN)
    one, two = draws_of(model, cores=1), draws_of(model, cores=2)
    np.testing.assert_array_equal(one["belief"], two["belief"])
    assert not np.array_equal(one["belief"].values[0], one["belief"].values[1])


def test_the_steps_use_choices_given_by_observe(decisions):
    model = nb_icb(decisions, **GIVEN)
    other = np.array([np.flatnonzero(row)[-1] for row in decisions["available"].values])
    unobserved = pm.observe(_free_choice(decisions), {"chosen": other})
    again = nb_icb(decisions.assign(chosen=("time", other)), **GIVEN)
    np.testing.assert_array_equal(draws_of(unobserved)["rho"], draws_of(again)["rho"])
    assert not np.array_equal(draws_of(model)["rho"], draws_of(again)["rho"])


def _free_choice(decisions):
    """The same graph with the choice not observed yet."""
    from icb_pymc.declare.beliefs import BeliefSample
    from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
    from icb_pymc.declare.model import decisions_model
    from icb_pymc.declare.processes import WienerProcess

    with decisions_model(decisions) as model:
        belief = WienerProcess("belief", np.zeros(2), 0.1 * np.eye(2), 0.1 * np.eye(2), np.ones(11))
        rho = BeliefSample("rho", belief, np.sqrt(0.2) * np.eye(2), dims=("time", "feature"))
        SoftmaxChoice("chosen", linear_utility(rho, model["context"], 20.0), model["available"], dims="time")
    return model


def test_a_mean_reward_written_as_a_graph_gives_the_same_draws_as_the_linear_kernel(decisions):
    linear = nb_icb(decisions, **GIVEN)
    written = nb_icb(decisions, **GIVEN, mean_reward=lambda rho, context: (context * rho[:, None, :]).sum(-1))
    by_kernel = draws_of(linear, step=steps_of(linear))
    np.testing.assert_allclose(by_kernel["rho"], draws_of(written)["rho"], atol=1e-12)


def test_a_reward_that_is_not_linear_changes_the_posterior(decisions):
    linear = nb_icb(decisions, **GIVEN)
    curved = nb_icb(decisions, **GIVEN, mean_reward=lambda rho, context: (context**2 * rho[:, None, :]).sum(-1))
    assert not np.allclose(draws_of(linear)["rho"], draws_of(curved)["rho"])


def test_hyperparameters_may_be_random_variables_and_the_steps_follow_them(decisions):
    with nb_icb_with_scale(decisions) as model:
        step = BeliefGibbs([model["belief"]], rng=1)
        choose = RhoMetropolis([model["rho"]], rng=1)
    point = model.initial_point()
    small, large = ({**point, "scale_log__": np.array(np.log(scale))} for scale in (1e-6, 1.0))
    assert (
        np.ptp(step.step(small)[0]["belief"], axis=0).max() < 0.1 < np.ptp(step.step(large)[0]["belief"], axis=0).max()
    )
    assert choose.step(small)[1][0]["rho_accept"] > choose.step(large)[1][0]["rho_accept"]


def nb_icb_with_scale(decisions):
    """One scale for the innovations of beliefs and for alpha."""
    with pm.Model():
        scale = pm.Exponential("scale", 1.0)
        return nb_icb(decisions, **GIVEN | {"innovation_covariance": 0.1 * scale, "alpha": 20.0 * scale})


def test_a_distribution_given_as_hyperparameter_becomes_a_variable_of_the_model(decisions):
    priors = {"innovation_covariance": pm.HalfNormal.dist(0.1, shape=2), "alpha": pm.Exponential.dist(0.1)}
    model = nb_icb(decisions, **GIVEN | priors)
    assert {rv.name for rv in model.free_RVs} == {"alpha", "innovation_covariance", "belief", "rho"}
    assert np.isfinite(model.compile_logp(mode="FAST_COMPILE")(model.initial_point()))


def test_with_zero_sampling_covariance_rho_is_the_belief_and_the_engine_samples_it(decisions):
    model = nb_icb(decisions, **GIVEN | {"sampling_covariance": 0.0})
    assert [rv.name for rv in model.free_RVs] == ["belief"]
    assert "rho" in model.named_vars
    with model:
        assert UtilityHMC.competence(model["belief"], True) == 3
        assert BeliefGibbs.competence(model["belief"], True) == 0
        with pytest.raises(ValueError, match="Sample it with NUTS"):
            BeliefGibbs([model["belief"]])


def test_a_gap_in_time_counts_as_more_than_one_step(decisions):
    dates = np.array("2001-01-01", "datetime64[D]") + np.array([0, *range(30, 41)])
    dated = decisions.assign_coords(time=dates.astype("datetime64[ns]"))
    point = nb_icb(dated, **GIVEN).initial_point()
    point["belief"] = np.concatenate([np.zeros((1, 2)), np.ones((11, 2))])
    log_density = {
        unit: float(nb_icb(dated, unit_of_time=unit, **GIVEN).compile_logp(mode="FAST_COMPILE")(point))
        for unit in (None, "1D")
    }
    # With 30 times the variance, the square of the jump over the gap counts a thirtieth.
    gained = 0.5 * 2 / 0.1 * (1 - 1 / 30) - 0.5 * 2 * np.log(30)
    assert log_density["1D"] - log_density[None] == pytest.approx(gained)


def test_the_paper_preset_damps_common_shifts_of_all_weights(decisions):
    preset = paper(decisions)
    common = np.ones(2) / np.sqrt(2)
    moves = preset.hyperparameters["innovation_covariance"]
    assert common @ moves @ common == pytest.approx(0.01 * 5e-5)
    assert np.linalg.eigvalsh(moves).max() == pytest.approx(5e-5)
    assert preset.hyperparameters["start_mean"] == -0.5
    assert preset.sampling == {"draws": 1000, "tune": 1000, "sweeps": 10, "chains": 1, "kernel": "paper"}


def test_invalid_decisions_are_refused(decisions):
    with pytest.raises(InputError, match="'available' is missing"):
        nb_icb(decisions.drop_vars("available"))
