"""The steps of B-ICB together leave its posterior invariant."""

import numpy as np
import pymc as pm
import pytest
from helpers.agreement import z_scores
from helpers.arrivals import make_arrivals

from icb_pymc.declare.beliefs import BeliefSample, bayesian_learning, isotropic_belief
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.rewards import LinearReward
from icb_pymc.kernels.reward_given_rho import belief_means, covariance_path
from icb_pymc.models import b_icb
from icb_pymc.results.inference_data import group
from icb_pymc.steps import LearnerMetropolis, RewardGibbs, RhoMetropolis
from icb_pymc.steps.assign import alternating_steps, engine_step

SIGMA, ALPHA, STEPS, FEATURES = 0.6, 3.0, 5, 2
START_MEAN = np.array([-0.2, 0.3])
RHO_ENV_MEAN, RHO_ENV_COVARIANCE = np.array([0.4, -0.3]), np.array([[0.6, 0.2], [0.2, 0.5]])
LOG_STRENGTH = (0.5, 0.6)
PROBLEMS = {"two actions": (2, 1.0), "four actions with masks": (4, 0.6)}


def joint_model(arrivals):
    """B-ICB with a free choice; the rewarded contexts do not depend on it, so that it can be redrawn."""
    with pm.Model() as model:
        strength = pm.LogNormal("strength", *LOG_STRENGTH)
        rho_env = pm.MvNormal("rho_env", RHO_ENV_MEAN, RHO_ENV_COVARIANCE)
        chosen_context = pm.Data("chosen_context", arrivals["context"].values[:, 0])
        reward = LinearReward("reward", rho_env, chosen_context, SIGMA)
        beliefs = bayesian_learning(isotropic_belief(START_MEAN, SIGMA**2 / strength, 2), chosen_context, reward, SIGMA)
        rho = BeliefSample("rho", beliefs.mean, beliefs.root)
        SoftmaxChoice("chosen", linear_utility(rho, arrivals["context"].values, ALPHA), arrivals["available"].values)
    return model


def draw_choice(arrivals, rho, rng):
    utility = ALPHA * np.einsum("tak,tk->ta", arrivals["context"], rho)
    return np.where(arrivals["available"], utility + rng.gumbel(size=utility.shape), -np.inf).argmax(axis=-1)


def draw_joint(arrivals, rng):
    """One draw of everything from the definition of the model."""
    chosen_context = arrivals["context"][:, 0].copy()
    strength = np.exp(LOG_STRENGTH[0] + LOG_STRENGTH[1] * rng.standard_normal())
    rho_env = rng.multivariate_normal(RHO_ENV_MEAN, RHO_ENV_COVARIANCE)
    reward = chosen_context @ rho_env + SIGMA * rng.standard_normal(STEPS)
    beliefs = covariance_path(SIGMA**2 / strength * np.eye(FEATURES), chosen_context, SIGMA)
    mean = np.empty((STEPS, FEATURES))
    belief_means(beliefs.gain, START_MEAN, chosen_context, reward, mean)
    rho = mean + np.einsum("tij,tj->ti", beliefs.root, rng.standard_normal((STEPS, FEATURES)))
    point = {"strength_log__": np.asarray(np.log(strength)), "rho_env": rho_env, "reward": reward, "rho": rho}
    return point | {"chosen": draw_choice(arrivals, rho, rng)}


def compared_functions(arrivals, points):
    """Functions whose distributions both simulators must agree on, (point, function)."""
    path = {name: np.array([point[name] for point in points]) for name in points[0]}
    mask = arrivals["available"][..., None]
    average = (arrivals["context"] * mask).sum(axis=1) / mask.sum(axis=1)
    chosen_context = arrivals["context"][np.arange(STEPS), path["chosen"]]
    advantage = ((chosen_context - average) * path["rho"]).sum(axis=-1)
    log_strength = path["strength_log__"].reshape(-1, 1)
    parts = [log_strength, path["rho_env"], path["reward"], path["rho"], advantage]
    parts += [path["reward"] * advantage, log_strength * advantage]
    parts += [path["rho_env"][:, :, None] * path["rho"][:, -1, None, :]]
    return np.concatenate([part.reshape(len(points), -1) for part in parts], axis=1)


def geweke_scores(problem, kernel, interweave=True, iterations=20_000):
    actions, share = PROBLEMS[problem]
    given = make_arrivals(STEPS, actions, FEATURES, seed=4, share_available=share)
    # Plain arrays, which are faster to access.
    arrivals = {name: given[name].values for name in ("context", "available")}
    rng = np.random.default_rng(0)
    # These draws are independent, so fewer are needed than from the chain.
    direct = compared_functions(arrivals, [draw_joint(arrivals, rng) for _ in range(iterations // 2)])
    model = joint_model(given)
    with model:
        steps = [
            RewardGibbs([model["rho_env"], model["reward"]], rng=1, interweave=interweave),
            RhoMetropolis([model["rho"]], kernel=kernel, rng=2),
            LearnerMetropolis([model["strength"]], rng=3),
        ]
    steps[2].tune = False
    point = draw_joint(arrivals, rng)
    points = []
    for _ in range(iterations):
        for step in steps:
            point, _ = step.step(point)
        point["chosen"] = draw_choice(arrivals, point["rho"], rng)
        points.append(dict(point))
    return z_scores(direct[None], compared_functions(arrivals, points)[None])


STEP_OF = {
    "rewards and rho_env": lambda model: RewardGibbs([model["rho_env"], model["reward"]], rng=1),
    "rewards and rho_env given rho": lambda model: RewardGibbs(
        [model["rho_env"], model["reward"]], rng=1, interweave=False
    ),
    "rewards": lambda model: RewardGibbs([model["reward"]], rng=1),
    "rho": lambda model: RhoMetropolis([model["rho"]], rng=1),
    "strength": lambda model: LearnerMetropolis([model["strength"]], rng=1),
}


@pytest.mark.parametrize("what", STEP_OF)
def test_one_step_leaves_the_joint_distribution_invariant(what):
    """Each of many independent draws of everything makes one step; functions must not change on average."""
    given = make_arrivals(STEPS, 3, FEATURES, seed=4, share_available=0.8)
    arrivals, rng = {name: given[name].values for name in ("context", "available")}, np.random.default_rng(0)
    model = joint_model(given)
    with model:
        step = STEP_OF[what](model)
    step.tune = False
    before = [draw_joint(arrivals, rng) for _ in range(1500)]
    after = [dict(step.step(point)[0]) for point in before]
    change = compared_functions(arrivals, after) - compared_functions(arrivals, before)
    # What the step does not touch changes at most by rounding.
    moved = change[:, np.abs(change).max(axis=0) > 1e-9]
    assert moved.shape[1] >= STEPS
    scores = np.sqrt(len(moved)) * moved.mean(axis=0) / moved.std(axis=0)
    assert np.abs(scores).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
def test_geweke_joint_distribution_test_of_the_whole_sweep_passes(problem):
    assert np.abs(geweke_scores(problem, "exact")).max() < 4.5


@pytest.mark.slow
def test_geweke_joint_distribution_test_rejects_the_printed_kernel():
    assert np.abs(geweke_scores("two actions", "paper", interweave=False, iterations=30_000)).max() > 6


def small_decisions():
    arrivals = make_arrivals(STEPS, 3, FEATURES, seed=4, share_available=0.8)
    rng = np.random.default_rng(1)
    return arrivals.assign(chosen=("time", draw_choice(arrivals, np.tile([0.5, -0.8], (STEPS, 1)), rng)))


def small_b_icb():
    return b_icb(
        small_decisions(),
        sigma=SIGMA,
        alpha=ALPHA,
        rho_env_mean=RHO_ENV_MEAN,
        rho_env_covariance=RHO_ENV_COVARIANCE,
        start_mean=START_MEAN,
        strength=pm.LogNormal.dist(*LOG_STRENGTH),
        information=1.0,
    )


def to_columns(posterior):
    parts = [np.log(posterior["strength"].values)[..., None], posterior["rho_env"].values, posterior["reward"].values]
    parts.append(posterior["rho"].values.reshape(*posterior["rho"].shape[:2], -1))
    return np.concatenate(parts, axis=-1)


def sample_with(step, model, **options):
    with model:
        sampled = pm.sample(
            chains=2, cores=1, step=step, progressbar=False, compute_convergence_checks=False, quiet=True, **options
        )
    return to_columns(group(sampled, "posterior"))


def importance_sampled(draws=300_000):
    """The posterior by importance sampling: joint draws weighted by the likelihood of the choices."""
    decisions, rng = small_decisions(), np.random.default_rng(8)
    chosen_context = decisions["context"].values[np.arange(STEPS), decisions["chosen"]]
    log_strength = LOG_STRENGTH[0] + LOG_STRENGTH[1] * rng.standard_normal(draws)
    rho_env = rng.multivariate_normal(RHO_ENV_MEAN, RHO_ENV_COVARIANCE, size=draws)
    reward = rho_env @ chosen_context.T + SIGMA * rng.standard_normal((draws, STEPS))
    precision = np.exp(log_strength)[:, None, None] / SIGMA**2 * np.eye(FEATURES)
    linear = np.einsum("nij,j->ni", precision, START_MEAN)
    rho = np.empty((draws, STEPS, FEATURES))
    for t in range(STEPS):
        covariance = np.linalg.inv(precision)
        mean = np.einsum("nij,nj->ni", covariance, linear)
        noise = rng.standard_normal((draws, FEATURES))
        rho[:, t] = mean + np.einsum("nij,nj->ni", np.linalg.cholesky(covariance), noise)
        precision = precision + np.outer(chosen_context[t], chosen_context[t]) / SIGMA**2
        linear = linear + reward[:, t, None] * chosen_context[t] / SIGMA**2
    utility = np.where(decisions["available"], ALPHA * np.einsum("tak,ntk->nta", decisions["context"], rho), -np.inf)
    chosen = np.take_along_axis(utility, decisions["chosen"].values[None, :, None], axis=-1)[..., 0]
    weight = np.exp((chosen - np.logaddexp.reduce(utility, axis=-1)).sum(axis=1))
    kept = rng.choice(draws, size=draws // 10, p=weight / weight.sum())
    parts = [log_strength[kept, None], rho_env[kept], reward[kept], rho[kept].reshape(len(kept), -1)]
    return np.concatenate(parts, axis=-1)[None]


@pytest.mark.slow
def test_the_steps_agree_with_importance_sampling():
    model = small_b_icb()
    stepped = sample_with(alternating_steps(model, sweeps=4), model, draws=4000, tune=500, random_seed=5)
    assert np.abs(z_scores(importance_sampled(), stepped)).max() < 4.5


def test_the_density_of_the_step_of_hyperparameters_is_that_of_the_model():
    """Of points that differ in everything that this step moves, and in rho."""
    model = b_icb(
        small_decisions(),
        sigma=pm.LogNormal.dist(-0.5, 0.5),
        alpha=ALPHA,
        rho_env_mean=RHO_ENV_MEAN,
        rho_env_covariance=RHO_ENV_COVARIANCE,
        start_mean=START_MEAN,
        strength=pm.LogNormal.dist(*LOG_STRENGTH),
        information=1.0,
    )
    with model:
        step = LearnerMetropolis([model["sigma"], model["strength"]], rng=0)
    log_density, rng = model.compile_logp(), np.random.default_rng(2)
    first, found, expected = model.initial_point(), [], []
    for _ in range(3):
        point = {name: value + 0.5 * rng.standard_normal(np.shape(value)) for name, value in first.items()}
        evaluation = step._evaluate(point)
        found.append(evaluation.log_density + step._rho_log_density(evaluation))
        expected.append(log_density(point))
    # The observed choices are part of both; only constants are not.
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-8)


def test_plain_sample_assigns_the_engine():
    model = small_b_icb()
    by_hand = sample_with(engine_step(model), model, draws=30, tune=10, random_seed=1)
    np.testing.assert_array_equal(sample_with(None, model, draws=30, tune=10, random_seed=1), by_hand)


@pytest.mark.slow
def test_steps_engine_and_nuts_agree_on_the_same_graph():
    model = small_b_icb()
    with model:
        nuts = pm.NUTS()
    by_nuts = sample_with(nuts, model, draws=600, tune=300, random_seed=6)
    stepped = sample_with(alternating_steps(model, sweeps=4), model, draws=4000, tune=500, random_seed=5)
    by_engine = sample_with(engine_step(model), model, draws=4000, tune=500, random_seed=7)
    assert np.abs(z_scores(by_nuts, stepped)).max() < 4.5
    assert np.abs(z_scores(by_nuts, by_engine)).max() < 4.5
    assert np.abs(z_scores(stepped, by_engine)).max() < 4.5
