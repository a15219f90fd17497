"""Learners whose log contains rewards, by the engine: compared with the definition; rewards set by do and observe."""

from functools import partial

import numpy as np
import pymc as pm
import pytest
from helpers.agreement import standard_error
from pymc.pytensorf import compile as compile_graph

from icb_pymc import fit, from_arrays
from icb_pymc.assess.forecasts import one_step_ahead
from icb_pymc.declare import PointBelief, decisions_model, learn
from icb_pymc.errors import InputError
from icb_pymc.kernels.state_space import path_from_noise
from icb_pymc.models import b_icb
from icb_pymc.results.inference_data import group
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

TIMES, K = 5, 2
KNOWN = {"rho_env_covariance": 1.0, "information": 1.0}
UNKNOWN = {"sigma": (np.log(0.7), 0.5), "strength": (np.log(2.0), 0.7)}
REWARDS = {"all": [1.0, -0.5, 0.8, 1.2, 0.1], "some": [1.0, np.nan, np.nan, 1.2, np.nan]}


def hyperparameters():
    return KNOWN | {name: pm.LogNormal.dist(*prior) for name, prior in UNKNOWN.items()}


def decisions_with(rewards):
    context = np.random.default_rng(1).normal(size=(TIMES, 2, K))
    return from_arrays(context, [0, 1, 1, 0, 1], reward=rewards)


@pytest.fixture(scope="module", params=REWARDS)
def decisions(request):
    return decisions_with(REWARDS[request.param])


def weighted_posterior(decisions, draws=200_000):
    """Means of (log sigma, log strength, rho_env, last belief): prior draws, weighted by rewards and choices."""
    rng = np.random.default_rng(0)
    context, chosen = decisions["context"].values, decisions["chosen"].values
    sigma, strength = (np.exp(mean + sd * rng.standard_normal(draws)) for mean, sd in UNKNOWN.values())
    rho_env = rng.standard_normal((draws, K))
    covariance = (sigma**2 / strength)[:, None, None] * np.eye(K)
    mean, log_weight = np.zeros((draws, K)), np.zeros(draws)
    for t in range(TIMES):
        belief = mean.copy()
        root = np.linalg.cholesky(covariance)
        rho = mean + np.einsum("nij,nj->ni", root, rng.standard_normal((draws, K)))
        x, other = context[t, chosen[t]], context[t, 1 - chosen[t]]
        log_weight -= np.logaddexp(0.0, rho @ (other - x))
        reward = rho_env @ x + sigma * rng.standard_normal(draws)
        if not np.isnan(seen := decisions["reward"].values[t]):
            reward = np.full(draws, seen)
            log_weight += -0.5 * ((seen - rho_env @ x) / sigma) ** 2 - np.log(sigma)
        projected = covariance @ x
        gain = projected / (sigma**2 + projected @ x)[:, None]
        mean = mean + gain * (reward - mean @ x)[:, None]
        covariance = covariance - gain[:, :, None] * projected[:, None, :]
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    quantities = np.column_stack([np.log(sigma), np.log(strength), rho_env, belief])
    expected = weight @ quantities
    return expected, np.sqrt(weight**2 @ (quantities - expected) ** 2)


@pytest.mark.slow
def test_the_posterior_is_that_of_the_definition(decisions):
    expected, error = weighted_posterior(decisions)
    trace = fit("b_icb", decisions, hyperparameters(), draws=2500, tune=300, chains=2, seed=1, progressbar=False)
    assert trace.attrs["sampler"] == "utility_hmc"
    posterior = group(trace, "posterior")
    logs = [np.log(posterior[name].values)[..., None] for name in UNKNOWN]
    draws = np.concatenate([*logs, posterior["rho_env"].values, posterior["belief"].values[:, :, -1]], axis=2)
    scores = (draws.mean(axis=(0, 1)) - expected) / np.hypot(standard_error(draws), error)
    assert np.abs(scores).max() < 4
    assert np.hypot(standard_error(draws), error).max() < 0.1


def test_only_rewards_that_were_not_observed_are_latent():
    names = {kind: {rv.name for rv in b_icb(decisions_with(REWARDS[kind])).free_RVs} for kind in REWARDS}
    assert names["some"] - names["all"] == {"reward_unobserved"}
    assert "reward" not in names["all"]
    model = b_icb(decisions_with(REWARDS["some"]))
    assert model.eval_rv_shapes()["reward_unobserved"] == (3,)


def test_the_evidence_of_observed_rewards_is_that_of_a_gaussian():
    decisions = decisions_with(REWARDS["some"])
    model = b_icb(decisions, sigma=0.7, strength=2.0, rho_env_mean=0.3, rho_env_covariance=[0.5, 2.0])
    reader = LinearGaussianModel(model, find_linear_gaussian(model))
    seen = ~np.isnan(decisions["reward"].values)
    contexts = decisions["context"].values[np.arange(TIMES), decisions["chosen"].values][seen]
    covariance = contexts @ np.diag([0.5, 2.0]) @ contexts.T + 0.49 * np.eye(seen.sum())
    normal = pm.MvNormal.dist(contexts.sum(axis=1) * 0.3, covariance)
    expected = pm.logp(normal, decisions["reward"].values[seen]).eval(mode="FAST_COMPILE")
    assert reader.log_evidence(reader.values(model.initial_point())) == pytest.approx(float(expected))


def delta_rule(decisions):
    with decisions_model(decisions) as model:

        def update(belief, context, reward):
            return PointBelief(belief.mean + 0.3 * (reward - (belief.mean * context).sum()) * context)

        learn(PointBelief(np.array([0.2, -0.1])), update=update, alpha=2.0, sigma=0.7)
    return model


@pytest.mark.parametrize("declare", [partial(b_icb, sigma=0.7, strength=2.0, start_mean=0.3), delta_rule])
def test_the_state_space_has_the_beliefs_of_the_graph_and_gives_back_the_latent_rewards(declare):
    model = declare(decisions_with(REWARDS["some"]))
    parts = find_linear_gaussian(model)
    reader = LinearGaussianModel(model, parts, with_rho=False)
    rng = np.random.default_rng(2)
    point = {name: rng.normal(size=np.shape(value)) for name, value in model.initial_point().items()}
    values = reader.values(point)
    dynamics, space = reader.state_space(values)
    noise = reader.to_noise(values, dynamics, space, point)
    states = np.empty((TIMES, len(space.start_mean)))
    path_from_noise(space, noise, 1.0, states, np.empty(len(space.offset)))
    beliefs = (dynamics.beliefs.loading @ states[:, :, None])[:, :, 0] + dynamics.beliefs.offset
    graphs = model.replace_rvs_by_values([model["belief"]])
    expected = compile_graph(model.value_vars, graphs, on_unused_input="ignore", mode="FAST_COMPILE")
    np.testing.assert_allclose(beliefs, expected(*(point[value.name] for value in model.value_vars))[0])
    again = reader.to_point(values, dynamics, space, noise, rng)
    np.testing.assert_allclose(again["rho_env"], point["rho_env"])
    # The last reward, on which no belief depends, is drawn anew.
    np.testing.assert_allclose(again["reward_unobserved"][:-1], point["reward_unobserved"][:-1])


def test_without_latent_rewards_and_draws_from_the_belief_parameters_are_left_to_nuts():
    assert find_linear_gaussian(delta_rule(decisions_with(REWARDS["all"]))) is None


@pytest.mark.parametrize("how", [pm.do, pm.observe])
def test_rewards_that_are_set_in_the_model_are_constants_of_the_engine(how):
    rewards = np.array(REWARDS["all"])
    hidden = b_icb(decisions_with(rewards).drop_vars("reward"), sigma=0.7, strength=2.0)
    parts = find_linear_gaussian(how(hidden, {"reward": rewards}))
    assert parts is not None
    assert "reward" not in [rv.name for rv in parts.variables]
    # An intervention tells nothing about rho_env, an observation does.
    assert [rv.name for rv in parts.source.observed] == (["reward"] if how is pm.observe else [])


def test_methods_that_would_ignore_observed_rewards_say_so():
    decisions = decisions_with(REWARDS["some"])
    with pytest.raises(InputError, match="method 'em' infers all rewards"):
        fit("b_icb", decisions, {"sigma": 0.7}, method="em")
    with pytest.raises(InputError, match="cannot forecast one step ahead where rewards were observed"):
        one_step_ahead("b_icb", decisions, {"sigma": 0.7, "strength": 2.0})


def test_nuts_has_a_gradient_for_set_rewards():
    """PyTensor cannot rewrite log |det| of a stack of matrices."""
    rewards = np.array(REWARDS["all"])
    model = pm.do(b_icb(decisions_with(rewards).drop_vars("reward"), sigma=0.7, strength=2.0), {"reward": rewards})
    gradient = model.compile_dlogp(mode="FAST_COMPILE")
    assert np.isfinite(gradient(model.initial_point())).all()
