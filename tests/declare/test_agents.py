"""Agents that learn on clocks of their own, with parameters from a population, from a log with rewards."""

from functools import partial

import numpy as np
import pymc as pm
import pytensor
import pytest
from pymc.pytensorf import compile as compile_graph
from scipy.optimize import minimize
from scipy.special import expit

from icb_pymc import check, fit, from_arrays, write_trace
from icb_pymc.cli import main
from icb_pymc.declare import (
    GaussianBelief,
    PointBelief,
    decisions_model,
    isotropic_belief,
    kalman_update,
    learn,
    of_each_agent,
)
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import group

SUBJECTS, TRIALS = 20, 100
SIGMA = 0.5


def simulate_delta_rule(subjects=SUBJECTS, trials=TRIALS, seed=0):
    """Two-armed bandits, subjects in an arbitrary order in time; the log, learning rates and temperatures."""
    rng = np.random.default_rng(seed)
    rate, alpha = expit(-1 + 0.8 * rng.normal(size=subjects)), 3 * np.exp(0.3 * rng.normal(size=subjects))
    subject = rng.permutation(np.repeat(np.arange(subjects), trials))
    value = np.zeros((subjects, 2))
    chosen, reward = np.empty(len(subject), int), np.empty(len(subject))
    for t, j in enumerate(subject):
        chosen[t] = rng.random() < expit(alpha[j] * (value[j, 1] - value[j, 0]))
        reward[t] = float(rng.random() < (0.3, 0.7)[chosen[t]])
        value[j, chosen[t]] += rate[j] * (reward[t] - value[j, chosen[t]])
    context = np.tile(np.eye(2), (len(subject), 1, 1))
    return from_arrays(context, chosen, agent=subject, reward=reward)


def delta_rules(decisions, sigma=None):
    with decisions_model(decisions) as model:
        rate = of_each_agent("learning_rate", 0.3, link="logit")
        alpha = of_each_agent("alpha", 3.0)

        def update(belief, context, reward):
            error = reward - (belief.mean * context).sum()
            return PointBelief(belief.mean + rate * error * context)

        learn(PointBelief(np.zeros(2)), update=update, alpha=alpha, sigma=sigma)
    return model


def forgetting(decisions):
    with decisions_model(decisions) as model:
        memory = of_each_agent("memory", 0.9, link="logit")
        strength = of_each_agent("strength", 2.0)
        first = isotropic_belief(0.0, SIGMA**2 / strength, features=2)
        learn(first, update=partial(kalman_update, sigma=SIGMA, memory=memory, drift=0.01), alpha=4.0)
    return model


@pytest.fixture(scope="module")
def twenty_subjects():
    return simulate_delta_rule()


def loss_of_subject(parameters, chosen, reward):
    """Minus the log-likelihood of one subject, by a loop over its trials."""
    rate, alpha = expit(parameters[0]), np.exp(parameters[1])
    value, loss = np.zeros(2), 0.0
    for choice, received in zip(chosen, reward, strict=True):
        loss += np.logaddexp(0.0, alpha * (value[1 - choice] - value[choice]))
        value[choice] += rate * (received - value[choice])
    return loss


@pytest.mark.compiled
def test_estimates_of_twenty_subjects_are_those_of_maximum_likelihood(twenty_subjects):
    model = delta_rules(twenty_subjects)
    # The centre is zero and the spread one on the scale of the link, so that the noise is the parameter itself.
    noise = [model.rvs_to_values[model[f"{name}_noise"]] for name in ("learning_rate", "alpha")]
    others = [value for value in model.value_vars if value not in noise]
    (likelihood,) = model.logp(vars=[model["chosen"]], sum=False)
    total = likelihood.sum()
    evaluate = compile_graph([*noise, *others], [total, *pytensor.grad(total, noise), likelihood])
    zeros = [np.asarray(0.0)] * len(others)

    def loss(vector):
        value, *gradient, _ = evaluate(*np.split(vector, 2), *zeros)
        return -value, -np.concatenate(gradient)

    # A subject's likelihood may have two maxima.
    starts = ((0.0, 0.0), (-2.0, 1.0))
    bounds = [(-6, 6), (-3, 4)]
    best, ours = np.full(SUBJECTS, -np.inf), np.empty((SUBJECTS, 2))
    for start in starts:
        options = {"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-7}
        found = minimize(
            loss,
            np.repeat(start, SUBJECTS),
            jac=True,
            method="L-BFGS-B",
            bounds=np.repeat(bounds, SUBJECTS, axis=0),
            options=options,
        )
        each = np.bincount(twenty_subjects["decider"], evaluate(*np.split(found.x, 2), *zeros)[-1])
        is_better = each > best
        best[is_better], ours[is_better] = each[is_better], found.x.reshape(2, SUBJECTS).T[is_better]
    for j in range(SUBJECTS):
        own = twenty_subjects.isel(time=twenty_subjects["decider"].values == j)
        data = (own["chosen"].values, own["reward"].values)
        searches = [minimize(loss_of_subject, start, data, method="L-BFGS-B", bounds=bounds) for start in starts]
        theirs = min(searches, key=lambda result: result.fun)
        assert best[j] == pytest.approx(-theirs.fun, abs=1e-3)
        # Along a flat ridge, estimates of equal likelihood differ.
        if np.abs(theirs.x).max() < 2.9:
            np.testing.assert_allclose(ours[j], theirs.x, atol=0.02)


def test_nothing_is_latent_but_the_parameters(twenty_subjects):
    model = delta_rules(twenty_subjects)
    sizes = model.eval_rv_shapes()
    assert sum(int(np.prod(sizes[rv.name])) for rv in model.free_RVs) == 2 * SUBJECTS + 4
    modelled = delta_rules(twenty_subjects, sigma=SIGMA)
    assert [rv.name for rv in modelled.observed_RVs] == ["reward", "chosen"]


def beliefs_at_initial_point(model):
    point = model.initial_point()
    graphs = model.replace_rvs_by_values([model["belief"]])
    read = compile_graph(model.value_vars, graphs, on_unused_input="ignore", mode="FAST_COMPILE")
    return read(*(point[value.name] for value in model.value_vars))[0]


def test_each_agent_learns_from_its_own_decisions_only():
    decisions = simulate_delta_rule(3, 8)
    belief = beliefs_at_initial_point(delta_rules(decisions))
    for j in range(3):
        value, own = np.zeros(2), np.flatnonzero(decisions["decider"].values == j)
        for t in own:
            np.testing.assert_allclose(belief[t], value)
            choice = decisions["chosen"].values[t]
            value[choice] += 0.3 * (decisions["reward"].values[t] - value[choice])


def test_ops_and_scan_give_the_same_beliefs_of_agents_that_forget():
    decisions = simulate_delta_rule(3, 8)
    by_ops = beliefs_at_initial_point(forgetting(decisions))
    with decisions_model(decisions) as by_scan:
        memory = of_each_agent("memory", 0.9, link="logit")
        strength = of_each_agent("strength", 2.0)
        first = isotropic_belief(0.0, SIGMA**2 / strength, features=2)

        def update(belief, context, reward):
            return kalman_update(belief, context, reward, SIGMA, memory, 0.01)

        learn(GaussianBelief(*first), update=update, alpha=4.0)
    np.testing.assert_allclose(beliefs_at_initial_point(by_scan), by_ops, atol=1e-10)
    assert np.abs(by_ops).max() > 0.1


def test_outcomes_are_feedback_of_an_unknown_size():
    """Survival and death are rewards of c and -c, and c is learnt."""
    rng = np.random.default_rng(0)
    size, chosen, outcome, value = 2.0, [], [], np.zeros(2)
    for _ in range(400):
        choice = int(rng.random() < expit(value[1] - value[0]))
        result = 1.0 if rng.random() < (0.2, 0.8)[choice] else -1.0
        value[choice] += 0.2 * (size * result - value[choice])
        chosen.append(choice)
        outcome.append(result)
    decisions = from_arrays(np.tile(np.eye(2), (400, 1, 1)), chosen, reward=outcome)
    with decisions_model(decisions) as model:
        c = pm.LogNormal("outcome_size", 0.0, 1.0)

        def update(belief, context, reward):
            return PointBelief(belief.mean + 0.2 * (c * reward - (belief.mean * context).sum()) * context)

        learn(PointBelief(np.zeros(2)), update=update, alpha=1.0)
    assert model.free_RVs == [c]
    log_density = model.compile_logp()
    grid = np.linspace(-1.5, 2.5, 41)
    densities = np.array([log_density({"outcome_size_log__": np.asarray(at)}) for at in grid])
    weight = np.exp(densities - densities.max())
    mean = weight @ grid / weight.sum()
    sd = np.sqrt(weight @ (grid - mean) ** 2 / weight.sum())
    assert abs(mean - np.log(size)) < 3 * sd
    assert sd < 0.3


def test_what_is_missing_is_said_in_a_sentence(twenty_subjects):
    with pytest.raises(InputError, match="pass `agent` to from_arrays"):
        delta_rules(twenty_subjects.drop_vars("decider").drop_dims("agent"))
    gap = twenty_subjects.assign(reward=twenty_subjects["reward"].where(twenty_subjects["time"] != 4))
    with pytest.raises(InputError, match="the reward of decision number 4 is missing"):
        delta_rules(gap)
    with pytest.raises(InputError, match="cannot be simulated: give sigma"):
        delta_rules(twenty_subjects.drop_vars(["chosen", "reward"]))
    with decisions_model(twenty_subjects), pytest.raises(InputError, match="must be between 0 and 1"):
        of_each_agent("learning_rate", 1.0, link="logit")
    with decisions_model(twenty_subjects), pytest.raises(InputError, match="link='probit'"):
        of_each_agent("learning_rate", 0.5, link="probit")


def test_rewards_that_were_not_observed_are_latent_for_agents_too():
    decisions = simulate_delta_rule(3, 8)
    gap = decisions.assign(reward=decisions["reward"].where(decisions["time"] > 4))
    sizes = {}
    for kind, log in (("some", gap), ("none", decisions.drop_vars("reward"))):
        model = delta_rules(log, sigma=SIGMA)
        sizes[kind] = model.eval_rv_shapes()["reward_noise"]
        assert np.isfinite(model.compile_logp(mode="FAST_COMPILE")(model.initial_point()))
    assert sizes == {"some": (4,), "none": (24,)}


@pytest.mark.compiled
def test_a_population_is_fitted_diagnosed_and_drawn(tmp_path, capsys):
    """One NUTS fit: what a user does with subjects, from the log to the picture."""
    decisions = simulate_delta_rule(4, 40, seed=3)
    trace = fit(delta_rules, decisions, draws=50, tune=60, chains=2, cores=1, random_seed=0, progressbar=False)
    posterior = group(trace, "posterior")
    assert posterior["learning_rate"].dims == ("chain", "draw", "agent")
    low, high = posterior["alpha_population"].quantile([0.005, 0.995]).values
    assert low < 3.0 < high
    write_trace(trace, tmp_path / "trace.nc")
    assert main(["diagnose", str(tmp_path / "trace.nc"), "--json"]) in (0, 1)
    assert "learning_rate" in capsys.readouterr().out
    assert main(["plot", "agents", str(tmp_path / "trace.nc"), "-o", str(tmp_path / "agents.png")]) == 0
    assert (tmp_path / "agents.png").stat().st_size > 10_000


@pytest.mark.slow
def test_the_posterior_of_a_population_covers_the_truth(tmp_path):
    """Simulation-based calibration of the model that `icb new --hierarchical` writes."""
    path = tmp_path / "subjects.py"
    assert main(["new", "--hierarchical", str(path)]) == 0
    result = check(path, agents=5, observed_rewards=True, steps=100, replicates=40, draws=150, random_seed=1, jobs=1)
    assert {"learning_rate_centre", "learning_rate_spread", "alpha_centre", "alpha_spread"} <= set(result.table.index)
    assert result.passed, str(result)
