"""One declaration of a learner both simulates it and infers its beliefs."""

from functools import partial

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
import xarray as xr
from helpers.agreement import standard_error
from helpers.arrivals import make_arrivals
from pymc.pytensorf import compile as compile_graph

from icb_pymc import fit, simulate
from icb_pymc.declare.beliefs import GaussianBelief, PointBelief, bayesian_update
from icb_pymc.declare.choice import with_lapses
from icb_pymc.declare.learning import learn, starting_belief
from icb_pymc.declare.model import decisions_model, hyperparameter, uniform_preferences
from icb_pymc.models import agents, b_icb
from icb_pymc.results.inference_data import group
from icb_pymc.sample.pointwise import pointwise
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

ALPHA, SIGMA = 5.0, 0.3
ARRIVALS = make_arrivals(25, 3, 2, seed=3, share_available=0.9)
OPTIONS = {"tune": 200, "chains": 2, "cores": 1, "seed": 1, "progressbar": False}


def delta_rule(decisions, *, rate=0.2, loss=1.0, rule=None, limit=None):
    """A delta rule that learns from losses `loss` times as fast as from gains."""
    with decisions_model(decisions) as model:
        rate = hyperparameter("rate", rate)

        def update(belief, context, reward):
            error = reward - (belief.mean * context).sum()
            gain = rate if loss == 1 else rate * pt.where(error < 0, loss, 1.0)
            mean = belief.mean + gain * error * context
            return PointBelief(mean if limit is None else pt.clip(mean, -limit, limit))

        learn(PointBelief(uniform_preferences()), update=update, alpha=ALPHA, sigma=SIGMA, rule=rule)
    return model


def forgetting(decisions, *, memory=0.8, strength=2.0, act_on=GaussianBelief.draw, bonus=None):
    with decisions_model(decisions) as model:
        memory, strength = hyperparameter("memory", memory), hyperparameter("strength", strength)

        def update(belief, context, reward):
            return bayesian_update(belief._replace(root=belief.root / pt.sqrt(memory)), context, reward, SIGMA)

        initial = starting_belief(SIGMA, strength)
        learn(initial, update=update, act_on=act_on, bonus=bonus, alpha=ALPHA, sigma=SIGMA)
    return model


def optimism(belief, context):
    return 3 * belief.variance(context)


@pytest.fixture(scope="module")
def decisions():
    return simulate(forgetting, arrivals=ARRIVALS, seed=2)


LINEAR = {
    "a delta rule": delta_rule,
    "a delta rule of unknown rate": partial(delta_rule, rate=pm.Beta.dist(2, 8)),
    "forgetting": forgetting,
    "optimistic and forgetting": partial(forgetting, act_on=lambda belief, noise: belief.mean, bonus=optimism),
    "greedy": agents.greedy,
    "optimistic": agents.optimistic,
    "sampling": agents.sampling,
}
OTHERS = {
    "losses count twice": partial(delta_rule, loss=2.0),
    "beliefs clipped at a large value": partial(delta_rule, limit=1e4),
    "lapses": partial(delta_rule, rule=with_lapses(0.1)),
    "half a draw": partial(forgetting, act_on=lambda belief, noise: belief.draw(0.5 * noise)),
}


@pytest.mark.parametrize("name", LINEAR)
def test_the_engine_recognises_learners_by_prediction_errors(name, decisions):
    block = find_linear_gaussian(LINEAR[name](decisions))
    assert block is not None
    assert {rv.name for rv in block.variables} >= {"reward", "rho_env"}


@pytest.mark.parametrize("name", OTHERS)
def test_other_learners_are_declared_with_standard_normal_noise(name, decisions):
    model = OTHERS[name](decisions)
    assert find_linear_gaussian(model) is None
    assert "reward_noise" in {rv.name for rv in model.free_RVs}
    assert {"belief", "rho", "reward"} <= {variable.name for variable in model.deterministics}


@pytest.mark.parametrize("name", [*LINEAR, *OTHERS])
def test_given_the_simulated_rewards_inference_has_the_beliefs_of_the_simulation(name):
    declare = (LINEAR | OTHERS)[name]
    # Compiling each model would take longer than running it slowly.
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        decisions = simulate(declare, arrivals=ARRIVALS, seed=5)
    model = declare(decisions)
    given = {rv.name: decisions[f"true_{rv.name}"].values for rv in model.free_RVs if f"true_{rv.name}" in decisions}
    given["rho_env"] = decisions["true_rho_env"].values
    if "reward_noise" in model.named_vars:
        taken = decisions["context"].values[np.arange(25), decisions["chosen"].values]
        given["reward_noise"] = (decisions["true_reward"].values - taken @ given["rho_env"]) / SIGMA
    belief, chosen = pm.do(model, given)["belief"], model["chosen"]
    np.testing.assert_allclose(belief.eval(mode="FAST_COMPILE"), decisions["true_belief"], atol=1e-8)
    np.testing.assert_array_equal(model.rvs_to_values[chosen].eval(), decisions["chosen"])


def dense_log_density(decisions, rate, rho_env, reward):
    """log p(rho_env, rewards, choices) of the delta rule at a given rate, by a loop."""
    context, chosen = decisions["context"].values, decisions["chosen"].values
    mean, total = np.full(2, -0.5), -0.5 * (rho_env + 0.5) @ (rho_env + 0.5) - np.log(2 * np.pi)
    for t, action in enumerate(chosen):
        x = context[t, action]
        utility = np.where(decisions["available"].values[t], ALPHA * context[t] @ mean, -np.inf)
        total += utility[action] - np.logaddexp.reduce(utility)
        total += -0.5 * ((reward[t] - rho_env @ x) / SIGMA) ** 2 - np.log(SIGMA * np.sqrt(2 * np.pi))
        mean = mean + rate * (reward[t] - mean @ x) * x
    return total


def test_the_log_density_of_a_delta_rule_is_that_of_a_loop(decisions):
    rng = np.random.default_rng(0)
    rho_env, reward = rng.normal(size=2), rng.normal(size=25)
    log_density = delta_rule(decisions, rate=0.15).compile_logp(mode="FAST_COMPILE")
    assert log_density({"rho_env": rho_env, "reward": reward}) == pytest.approx(
        dense_log_density(decisions, 0.15, rho_env, reward)
    )


def weighted_prior_draws(decisions, size=150_000):
    """Prior draws of the optimistic and forgetting learner, each with the likelihood of the choices."""
    rng = np.random.default_rng(0)
    memory, rho_env = rng.beta(4, 2, size=size), -0.5 + rng.standard_normal((size, 2))
    mean = np.full((size, 2), -0.5)
    covariance = np.tile(SIGMA**2 / 2 * np.eye(2), (size, 1, 1))
    path, log_weight = [], np.zeros(size)
    for t, action in enumerate(decisions["chosen"].values):
        context, available = decisions["context"].values[t], decisions["available"].values[t]
        path.append(mean)
        utility = ALPHA * mean @ context.T + 3 * np.einsum("ai,nij,aj->na", context, covariance, context)
        utility = np.where(available, utility, -np.inf)
        log_weight += utility[:, action] - np.logaddexp.reduce(utility, axis=1)
        x = context[action]
        reward = rho_env @ x + SIGMA * rng.standard_normal(size)
        inflated = covariance / memory[:, None, None]
        gain = inflated @ x / (SIGMA**2 + np.einsum("i,nij,j->n", x, inflated, x))[:, None]
        mean = mean + gain * (reward - mean @ x)[:, None]
        covariance = inflated - gain[:, :, None] * (inflated @ x)[:, None, :]
    values = np.concatenate([memory[:, None], rho_env, *path[1:]], axis=1)
    return values, np.exp(log_weight)


@pytest.fixture(scope="module")
def few(decisions):
    return decisions.isel(time=slice(0, 6))


def optimist(few, **options):
    """A fit of a learner with a bonus, gains and an unknown."""
    hyperparameters = {"memory": pm.Beta.dist(4, 2)}
    return fit(LINEAR["optimistic and forgetting"], few, hyperparameters=hyperparameters, **OPTIONS | options)


@pytest.mark.slow
def test_the_engine_samples_the_posterior_of_an_optimist_that_forgets_at_an_unknown_rate(few):
    """Compared with prior draws weighted by their likelihood."""
    result = group(optimist(few, draws=2500), "posterior")
    names = {"memory": result["memory"].values[..., None], "rho_env": result["rho_env"].values}
    path = result["belief"].values[:, :, 1:].reshape(2, 2500, -1)
    draws = np.concatenate([*names.values(), path], axis=-1)
    values, weight = weighted_prior_draws(few)
    for power in (1, 2):
        expected = np.average(values**power, axis=0, weights=weight)
        spread = np.sqrt(((weight[:, None] * (values**power - expected)) ** 2).sum(axis=0)) / weight.sum()
        error = np.sqrt(standard_error(draws**power) ** 2 + spread**2)
        assert (np.abs((draws**power).mean(axis=(0, 1)) - expected) < 4.5 * error).all()


def test_the_likelihood_of_each_choice_includes_the_bonus(few):
    trace = optimist(few, draws=8, tune=5)
    draw = group(trace, "posterior").isel(chain=1, draw=7)
    covariance, expected = SIGMA**2 / 2 * np.eye(2), []
    for t, action in enumerate(few["chosen"].values):
        context = few["context"].values[t]
        utility = ALPHA * context @ draw["belief"].values[t]
        utility = utility + 3 * np.einsum("ai,ij,aj->a", context, covariance, context)
        utility = np.where(few["available"].values[t], utility, -np.inf)
        expected.append(utility[action] - np.logaddexp.reduce(utility))
        inflated, x = covariance / float(draw["memory"]), context[action]
        gain = inflated @ x / (SIGMA**2 + x @ inflated @ x)
        covariance = inflated - np.outer(gain, inflated @ x)
    log_likelihood = group(trace, "log_likelihood")["chosen"].isel(chain=1, draw=7)
    np.testing.assert_allclose(log_likelihood, expected, atol=1e-8)


def test_choices_by_a_user_defined_rule_have_a_likelihood_too(few):
    model = OTHERS["lapses"](few)
    drawn = pm.draw(model.free_RVs, draws=3, random_seed=1, mode="FAST_COMPILE")
    dims = {"rho_env": ("feature",), "reward_noise": ("time",)}
    variables = {
        rv.name: (("chain", "draw", *dims[rv.name]), value[None])
        for rv, value in zip(model.free_RVs, drawn, strict=True)
    }
    result = pointwise(model, xr.Dataset(variables, {"chain": [0], "draw": range(3)}))
    (density,) = model.logp(vars=[model["chosen"]], sum=False)
    evaluate = compile_graph(model.value_vars, density, mode="FAST_COMPILE", on_unused_input="ignore")
    expected = [evaluate(*values) for values in zip(*drawn, strict=True)]
    np.testing.assert_allclose(result.log_likelihood[0], expected, atol=1e-10)
    np.testing.assert_allclose(result.probability.sum(axis=1), 1.0)
    # The probability of a choice that is left out is a harmonic mean over draws.
    left_out = 1 / np.exp(-np.array(expected)).mean(axis=0)
    np.testing.assert_allclose(result.probability[np.arange(6), few["chosen"].values], left_out)


def test_the_posterior_of_a_thompson_sampling_agent_is_that_of_b_icb_with_known_strength():
    decisions = simulate("sampling", arrivals=ARRIVALS, seed=4)
    options = {**OPTIONS, "draws": 30, "tune": 20}
    features = decisions.sizes["feature"]
    centre = {"start_mean": -1 / features, "rho_env_mean": -1 / features, "rho_env_covariance": (2 / features) ** 2}
    known = {"alpha": 20.0, "sigma": 0.1, "strength": decisions.sizes["time"] / 50, "information": 1.0} | centre
    agent, model = (fit("sampling", decisions, **options), fit("b_icb", decisions, known, **options))
    np.testing.assert_allclose(group(agent, "posterior")["belief"], group(model, "posterior")["belief"], atol=1e-9)
    assert [rv.name for rv in b_icb(decisions, **known).free_RVs] == ["rho_env", "reward", "rho"]


def test_a_simulation_of_b_icb_draws_the_unknowns_from_their_prior_and_stores_them():
    arrivals = ARRIVALS.drop_vars("true_rho_env")
    first, second = (simulate("b_icb", arrivals=arrivals, seed=seed) for seed in (1, 2))
    assert first["true_rho_env"].dims == ("feature",)
    assert not np.allclose(first["true_rho_env"], second["true_rho_env"])
    assert float(first["true_strength"]) != float(second["true_strength"])
    known = simulate("b_icb", arrivals=ARRIVALS, seed=1)
    np.testing.assert_array_equal(known["true_rho_env"], ARRIVALS["true_rho_env"])


def test_the_engine_is_not_used_where_rounding_makes_utilities_indistinguishable():
    decisions = simulate(delta_rule, arrivals=make_arrivals(80, 2, 6, seed=1), seed=1, hyperparameters={"rate": 0.05})
    is_stable = []
    for rate in (0.05, 0.9):
        model = delta_rule(decisions, rate=rate)
        reader = LinearGaussianModel(model, find_linear_gaussian(model))
        _, space = reader.state_space(reader.values(model.initial_point()))
        is_stable.append(reader.has_moderate_utilities(space))
    # With contexts of six features a learning rate of 0.9 overshoots, and beliefs diverge.
    assert is_stable == [True, False]
