"""The belief and rho steps together leave the posterior of NB-ICB invariant; the printed kernel does not."""

from functools import cache

import numpy as np
import pymc as pm
import pytest
from helpers.agreement import z_scores
from helpers.arrivals import make_arrivals

from icb_pymc.declare.beliefs import BeliefSample
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.processes import WienerProcess
from icb_pymc.models import nb_icb
from icb_pymc.results.inference_data import group
from icb_pymc.steps import BeliefGibbs, RhoMetropolis, Sweep
from icb_pymc.steps.assign import alternating_steps, engine_step

START, MOVE = np.array([[0.6, 0.2], [0.2, 0.4]]), np.array([[0.3, -0.1], [-0.1, 0.2]])
SAMPLING = np.array([[0.5, 0.1], [0.1, 0.4]])
MEAN, ALPHA, ELAPSED = np.array([0.3, -0.4]), 3.0, np.array([1.0, 0.5, 3.0, 1.0])
PROBLEMS = {"two actions": (2, 1.0), "four actions with masks": (4, 0.6)}


def arrivals_of(problem):
    actions, share = PROBLEMS[problem]
    return make_arrivals(5, actions, 2, seed=4, share_available=share)


def joint_model(arrivals):
    """NB-ICB with the choice left free, so that a joint-distribution test can redraw it."""
    with pm.Model() as model:
        belief = WienerProcess("belief", MEAN, START, MOVE, ELAPSED)
        rho = BeliefSample("rho", belief, np.linalg.cholesky(SAMPLING))
        utility = linear_utility(rho, arrivals["context"].values, ALPHA)
        SoftmaxChoice("chosen", utility, arrivals["available"].values)
    return model


def draw_choice(arrivals, rho, rng):
    utility = ALPHA * np.einsum("tak,...tk->...ta", arrivals["context"].values, rho)
    noisy = np.where(arrivals["available"].values, utility + rng.gumbel(size=utility.shape), -np.inf)
    return noisy.argmax(axis=-1)


def compared_functions(arrivals, belief, rho, chosen):
    """Functions whose distributions both simulators must agree on: levels and products of beliefs, rho and choices."""
    taken = arrivals["context"].values[np.arange(5), chosen]
    mask = arrivals["available"].values[..., None]
    average = (arrivals["context"].values * mask).sum(axis=1) / mask.sum(axis=1)
    advantage = ((taken - average) * rho).sum(axis=-1, keepdims=True)
    parts = [belief, rho, advantage, advantage * belief, belief[..., 1:, :] * belief[..., :-1, :], belief * rho]
    return np.concatenate([part.reshape(*part.shape[:-2], -1) for part in parts], axis=-1)


def geweke_scores(problem, kernel, iterations=60_000):
    """Successive-conditional against marginal-conditional simulation (Geweke, 2004)."""
    arrivals = arrivals_of(problem)
    rng = np.random.default_rng(0)
    model = joint_model(arrivals)
    with model:
        steps = [BeliefGibbs([model["belief"]], rng=1), RhoMetropolis([model["rho"]], kernel=kernel, rng=2)]
    noise = rng.standard_normal((iterations, 5, 2))
    first = MEAN + noise[:, :1] @ np.linalg.cholesky(START).T
    moves = np.sqrt(ELAPSED)[:, None] * (noise[:, 1:] @ np.linalg.cholesky(MOVE).T)
    belief = np.cumsum(np.concatenate([first, moves], axis=1), axis=1)
    rho = belief + rng.standard_normal(belief.shape) @ np.linalg.cholesky(SAMPLING).T
    direct = compared_functions(arrivals, belief, rho, draw_choice(arrivals, rho, rng))

    point = {"belief": belief[0], "rho": rho[0], "chosen": draw_choice(arrivals, rho[0], rng)}
    successive = {"belief": [], "rho": [], "chosen": []}
    for _ in range(iterations):
        for step in steps:
            point, _ = step.step(point)
        point["chosen"] = draw_choice(arrivals, point["rho"], rng)
        for name, path in successive.items():
            path.append(point[name])
    chained = compared_functions(arrivals, *(np.array(successive[name]) for name in ("belief", "rho", "chosen")))
    return z_scores(direct[None], chained[None])


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
def test_geweke_joint_distribution_test_passes(problem):
    assert np.abs(geweke_scores(problem, "exact")).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
def test_geweke_joint_distribution_test_rejects_the_printed_kernel(problem):
    assert np.abs(geweke_scores(problem, "paper")).max() > 6


def observed(problem):
    arrivals = arrivals_of(problem)
    rng = np.random.default_rng(3)
    chosen = draw_choice(arrivals, np.tile([1.0, -0.5], (5, 1)), rng)
    return arrivals.assign(chosen=("time", chosen))


def nb_icb_of(problem):
    return nb_icb(
        observed(problem),
        innovation_covariance=MOVE,
        sampling_covariance=SAMPLING,
        start_mean=MEAN,
        start_covariance=START,
        alpha=ALPHA,
    )


def sample_with(model, kernel):
    by_engine = kernel == "engine"
    with model:
        sampled = pm.sample(
            draws=6000,
            tune=500,
            chains=2,
            cores=1,
            random_seed=5,
            step=engine_step(model) if by_engine else alternating_steps(model, kernel=kernel, sweeps=5),
            progressbar=False,
            compute_convergence_checks=False,
        )
    posterior = group(sampled, "posterior")
    return np.concatenate([posterior["belief"].values, posterior["rho"].values], axis=-1)


@cache
def importance_sampled(problem, draws=400_000):
    """The same posterior by importance sampling: prior draws, weighted by the likelihood, then resampled."""
    decisions, rng = observed(problem), np.random.default_rng(8)
    noise = rng.standard_normal((draws, 5, 2))
    path = np.concatenate([noise[:, :1] @ np.linalg.cholesky(START).T, noise[:, 1:] @ np.linalg.cholesky(MOVE).T], 1)
    belief = MEAN + np.cumsum(path, axis=1)
    rho = belief + rng.standard_normal(belief.shape) @ np.linalg.cholesky(SAMPLING).T
    utility = ALPHA * np.einsum("tak,ntk->nta", decisions["context"].values, rho)
    utility = np.where(decisions["available"].values, utility, -np.inf)
    chosen_utility = np.take_along_axis(utility, decisions["chosen"].values[None, :, None], axis=-1)[..., 0]
    weight = np.exp((chosen_utility - np.logaddexp.reduce(utility, axis=-1)).sum(axis=1))
    picked = rng.choice(draws, size=draws // 10, p=weight / weight.sum())
    return np.concatenate([belief[picked], rho[picked]], axis=-1)[None]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_steps_agree_with_importance_sampling(problem):
    assert np.abs(z_scores(importance_sampled(problem), sample_with(nb_icb_of(problem), "exact"))).max() < 4.5


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_printed_kernel_samples_another_distribution(problem):
    scores = z_scores(importance_sampled(problem), sample_with(nb_icb_of(problem), "paper"))
    assert np.abs(scores).max() > 10


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
def test_steps_engine_and_nuts_agree_on_the_same_graph(problem):
    model = nb_icb_of(problem)
    with model:
        sampled = pm.sample(
            draws=1000,
            tune=500,
            chains=2,
            cores=1,
            random_seed=6,
            step=pm.NUTS(),
            progressbar=False,
            compute_convergence_checks=False,
        )
    posterior = group(sampled, "posterior")
    nuts = np.concatenate([posterior["belief"].values, posterior["rho"].values], axis=-1)
    by_steps, by_engine = sample_with(model, "exact"), sample_with(model, "engine")
    assert np.abs(z_scores(nuts, by_steps)).max() < 4.5
    assert np.abs(z_scores(nuts, by_engine)).max() < 4.5
    assert np.abs(z_scores(by_steps, by_engine)).max() < 4.5
    assert np.abs(z_scores(nuts, sample_with(model, "paper"))).max() > 5


def test_a_sweep_averages_its_statistics_and_repeats_its_steps():
    model = nb_icb_of("two actions")
    with model:
        once = [BeliefGibbs([model["belief"]], rng=1), RhoMetropolis([model["rho"]], rng=2)]
        thrice = [BeliefGibbs([model["belief"]], rng=1), RhoMetropolis([model["rho"]], rng=2)]
    point = model.initial_point()
    accepted = []
    for _ in range(3):
        point, stats = Sweep(once).step(point)
        accepted.append(stats[1]["rho_accept"])
    together, stats = Sweep(thrice, sweeps=3).step(model.initial_point())
    np.testing.assert_array_equal(point["rho"], together["rho"])
    assert stats[1]["rho_accept"] == pytest.approx(np.mean(accepted))
