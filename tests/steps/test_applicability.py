"""The steps are assigned to variables that they can sample, and to no others."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
import xarray as xr
from helpers.arrivals import make_arrivals

from icb_pymc.declare.beliefs import BeliefSample, bayesian_learning, isotropic_belief
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.processes import WienerProcess
from icb_pymc.declare.rewards import LinearReward
from icb_pymc.models import b_icb
from icb_pymc.sample.learner_beliefs import learnt_beliefs
from icb_pymc.steps import BeliefGibbs, LearnerMetropolis, RewardGibbs, RhoMetropolis
from icb_pymc.steps.assign import alternating_steps
from icb_pymc.steps.belief_readers import belief_reader

ARRIVALS = make_arrivals(6, 2, 2)
DECISIONS = ARRIVALS.assign(chosen=("time", np.zeros(6, int)))
CONTEXT, AVAILABLE = ARRIVALS["context"].values, ARRIVALS["available"].values


def walk(name, steps=6):
    return WienerProcess(name, np.zeros(2), np.eye(2), np.eye(2), np.ones(steps - 1))


def learner(scale_of_root=1.0):
    with pm.Model() as model:
        context = pt.as_tensor(CONTEXT[:, 0])
        rho_env = pm.MvNormal("rho_env", np.zeros(2), np.eye(2))
        reward = LinearReward("reward", rho_env, context, 0.5)
        beliefs = bayesian_learning(isotropic_belief(0.0, 1.0, 2), context, reward, 0.5)
        rho = BeliefSample("rho", beliefs.mean, scale_of_root * beliefs.root)
        SoftmaxChoice("chosen", linear_utility(rho, CONTEXT, 2.0), AVAILABLE, observed=np.zeros(6, int))
    return model


def test_a_choice_that_depends_on_rho_at_another_time_is_rejected():
    with pm.Model() as model:
        rho = BeliefSample("rho", walk("belief", 2), np.eye(2))
        utility = linear_utility(rho[np.repeat([0, 1], 3)], CONTEXT, 2.0)
        SoftmaxChoice("chosen", utility, AVAILABLE, observed=np.zeros(6, int))
    step = RhoMetropolis([model["rho"]], model=model)
    with pytest.raises(ValueError, match="depend on 'rho' only at t"):
        step.step(model.initial_point())


def test_a_constant_preference_is_sampled_by_pymc():
    with pm.Model() as model:
        rho = BeliefSample("rho", np.zeros(2), np.eye(2))
        SoftmaxChoice("chosen", linear_utility(rho, CONTEXT, 2.0), AVAILABLE, observed=np.zeros(6, int))
        assert RhoMetropolis.competence(model["rho"], True) == 0


def test_two_paths_in_one_model_are_sampled_by_pymc():
    with pm.Model() as model:
        for label in "ab":
            rho = BeliefSample(f"rho_{label}", walk(f"belief_{label}"), np.eye(2))
            utility = linear_utility(rho, CONTEXT, 2.0)
            SoftmaxChoice(f"chosen_{label}", utility, AVAILABLE, observed=np.zeros(6, int))
        assert BeliefGibbs.competence(model["belief_a"], True) == 0
        assert RhoMetropolis.competence(model["rho_b"], True) == 0
    assert alternating_steps(model) == []


def test_an_alpha_for_each_decision_is_evaluated_from_the_graph():
    with pm.Model() as model:
        rho = BeliefSample("rho", walk("belief"), np.eye(2))
        utility = linear_utility(rho, CONTEXT, np.linspace(1, 2, 6)[:, None])
        SoftmaxChoice("chosen", utility, AVAILABLE, observed=np.zeros(6, int))
    point, _ = RhoMetropolis([model["rho"]], model=model).step(model.initial_point())
    assert point["rho"].shape == (6, 2)


def test_with_observed_rewards_or_observed_rho_the_other_variables_are_sampled():
    rewards = np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0])
    with pm.observe(b_icb(DECISIONS, sigma=0.1), {"reward": rewards}) as model:
        posterior = pm.draw([model["rho_env"], model["strength"]], random_seed=1)
    draws = xr.Dataset(
        {
            "rho_env": (("chain", "draw", "feature"), np.tile(posterior[0], (1, 2, 1))),
            "strength": (("chain", "draw"), np.full((1, 2), posterior[1])),
        }
    )
    belief = learnt_beliefs(draws, model, np.arange(6), "float64").belief[0]
    np.testing.assert_array_equal(belief[0], belief[1])

    with pm.observe(b_icb(DECISIONS), {"rho": np.ones((6, 2))}) as model:
        assert LearnerMetropolis.competence(model["strength"], True) == 0
        step = RewardGibbs([model["rho_env"], model["reward"]])
    point, _ = step.step(model.initial_point())
    assert np.isfinite(point["reward"]).all()


def test_a_modified_root_is_not_mistaken_for_that_of_the_learner():
    model = learner(scale_of_root=3.0)
    with model:
        assert RewardGibbs.competence(model["reward"], True) == 0
    _, root = belief_reader(model, model["rho"]).beliefs(model.initial_point())
    np.testing.assert_allclose(root[0], 3 * np.eye(2))


def test_covariances_are_updated_if_the_context_depends_on_a_variable():
    with pm.Model() as model:
        context = pt.as_tensor(CONTEXT[:, 0]) * pm.LogNormal("scale")
        reward = LinearReward("reward", np.ones(2), context, 0.5)
        beliefs = bayesian_learning(isotropic_belief(0.0, 1.0, 2), context, reward, 0.5)
        rho = BeliefSample("rho", beliefs.mean, beliefs.root)
    reader = belief_reader(model, rho)
    point = model.initial_point()
    before = reader.beliefs(point)[1][-1]
    after = reader.beliefs({**point, "scale_log__": np.asarray(2.0)})[1][-1]
    assert np.linalg.norm(after) < np.linalg.norm(before)
