"""The Metropolis-Hastings step: the exact kernel finds the posterior, the printed one does not."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax

from icb_pymc.kernels.metropolis import (
    choice_log_likelihood,
    choose_between,
    choose_by_softmax,
    draw_around,
    draw_with_roots,
    log_choice_probability,
    metropolis_sweep,
    printed_sweep,
)

SWEEPS = [metropolis_sweep, printed_sweep]


def random_decisions(seed, T=6, A=4, k=3):
    rng = np.random.default_rng(seed)
    available = rng.random((T, A)) < 0.6
    chosen = rng.integers(0, A, size=T)
    available[np.arange(T), chosen] = True
    return rng.standard_normal((T, A, k)), available, chosen, rng.standard_normal((T, k))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.0, 1.0, 20.0])
def test_log_likelihood_is_a_softmax_over_the_available_actions(seed, alpha):
    context, available, chosen, rho = random_decisions(seed)
    utility = np.where(available, alpha * np.einsum("tak,tk->ta", context, rho), -np.inf)
    out = np.empty(chosen.size)
    choice_log_likelihood(context, available, chosen, alpha, rho, out)
    np.testing.assert_allclose(out, log_softmax(utility, axis=1)[np.arange(chosen.size), chosen], atol=1e-12)


def test_log_likelihood_is_finite_where_utilities_overflow():
    context, available = np.array([[1.0], [-1.0], [0.0]]), np.ones(3, dtype=bool)
    rho = np.array([1e4])
    assert log_choice_probability(context, available, 0, 1.0, rho) == 0.0
    assert log_choice_probability(context, available, 1, 1.0, rho) == -2e4
    assert log_choice_probability(context, available, 2, 1.0, rho) == -1e4


@pytest.mark.parametrize("sweep", SWEEPS)
def test_unavailable_actions_never_matter(sweep):
    context, available, chosen, rho = random_decisions(0)
    without = np.where(available[:, :, None], context, np.nan)
    results = []
    for contexts in (context, without):
        state = rho.copy()
        rate = sweep(state, rho, contexts, available, chosen, 5.0, np.random.default_rng(1))
        results.append((rate, state))
    assert results[0][0] == results[1][0]
    np.testing.assert_array_equal(results[0][1], results[1][1])


@pytest.mark.parametrize("sweep", SWEEPS)
def test_identical_candidates_and_a_single_available_action_always_accept(sweep):
    context, available, chosen, rho = random_decisions(2, T=50)
    alike = np.repeat(context[:, :1], 4, axis=1)
    assert sweep(rho.copy(), rho, alike, available, chosen, 100.0, np.random.default_rng(0)) == 1.0
    alone = np.zeros_like(available)
    alone[np.arange(50), chosen] = True
    assert sweep(rho.copy(), rho, context, alone, chosen, 100.0, np.random.default_rng(0)) == 1.0


@pytest.mark.parametrize("sweep", SWEEPS)
def test_same_seed_gives_the_same_sweep(sweep):
    context, available, chosen, belief = random_decisions(3)
    first, second = np.zeros_like(belief), np.zeros_like(belief)
    for rho in (first, second):
        sweep(rho, belief, context, available, chosen, 2.0, np.random.default_rng(7))
    np.testing.assert_array_equal(first, second)


class OneDecision:
    """ρ ~ N(-0.5, 1), contexts 1 and -1, the first chosen, α = 2: p(a | ρ) = 1 / (1 + exp(-4ρ))."""

    belief, alpha, copies, sweeps, warmup = -0.5, 2.0, 4_000, 120, 20
    grid = np.linspace(-8.5, 7.5, 4001)
    prior = np.exp(-0.5 * (grid - belief) ** 2)
    prior /= prior.sum()
    likelihood = expit(4 * grid)

    @classmethod
    def posterior_mean(cls):
        weight = cls.prior * cls.likelihood
        return np.sum(cls.grid * weight) / weight.sum()

    @classmethod
    def printed_mean(cls):
        """E[ρ' p + ρ'' (1 - p)] over two independent prior draws, p = min(1, p(a|ρ') / p(a|ρ''))."""
        grid, prior, likelihood = cls.grid[::4], cls.prior[::4] / cls.prior[::4].sum(), cls.likelihood[::4]
        accept = np.minimum(1.0, likelihood[:, None] / likelihood[None, :])
        return prior @ (grid[:, None] * accept + grid[None, :] * (1 - accept)) @ prior

    @classmethod
    def long_run_mean(cls, sweep):
        """The decision is copied so that one call advances many independent chains of it."""
        context = np.tile([[1.0], [-1.0]], (cls.copies, 1, 1))
        available, chosen = np.ones((cls.copies, 2), dtype=bool), np.zeros(cls.copies, dtype=np.int64)
        belief, rng, total = np.full((cls.copies, 1), cls.belief), np.random.default_rng(0), 0.0
        rho = belief.copy()
        for i in range(cls.sweeps):
            sweep(rho, belief, context, available, chosen, cls.alpha, rng)
            total += rho.mean() if i >= cls.warmup else 0.0
        return total / (cls.sweeps - cls.warmup)


def test_the_exact_sweep_has_the_posterior_as_its_long_run_law():
    assert OneDecision.long_run_mean(metropolis_sweep) == pytest.approx(OneDecision.posterior_mean(), abs=0.01)


def test_the_printed_sweep_has_another_long_run_law_than_the_posterior():
    """Prior mean -0.500, posterior mean 0.514, printed sweep 0.011: it goes half of the way."""
    printed = OneDecision.long_run_mean(printed_sweep)
    assert printed == pytest.approx(OneDecision.printed_mean(), abs=0.01)
    assert abs(printed - OneDecision.posterior_mean()) > 0.4


def test_roots_shape_the_same_noise_that_draws_around_use():
    rng = np.random.default_rng(4)
    center, roots = rng.standard_normal((5, 3)), rng.standard_normal((5, 3, 3))
    noise, out = np.empty((5, 3)), np.empty((5, 3))
    draw_around(np.zeros((5, 3)), np.random.default_rng(9), noise)
    draw_with_roots(center, roots, np.random.default_rng(9), out)
    np.testing.assert_allclose(out, center + np.einsum("tij,tj->ti", roots, noise), atol=1e-12)


def test_draws_around_a_centre_are_standard_normal_about_it():
    center = np.tile([3.0, -1.0], (20_000, 1))
    out = np.empty_like(center)
    draw_around(center, np.random.default_rng(0), out)
    np.testing.assert_allclose(out.mean(axis=0), [3.0, -1.0], atol=0.03)
    np.testing.assert_allclose(np.cov(out.T), np.eye(2), atol=0.03)


def test_the_softmax_choice_is_the_choice_by_its_log_likelihoods():
    context, available, chosen, proposal = random_decisions(5, T=200)
    alternative = np.random.default_rng(6).standard_normal(proposal.shape)
    logs, outs = np.empty((2, 200)), np.empty((2, *proposal.shape))
    for rho, log in zip((proposal, alternative), logs, strict=True):
        choice_log_likelihood(context, available, chosen, 3.0, rho, log)
    by_logs = choose_between(proposal, alternative, *logs, np.random.default_rng(8), outs[0])
    by_softmax = choose_by_softmax(
        proposal, alternative, context, available, chosen, 3.0, np.random.default_rng(8), outs[1]
    )
    assert by_logs == by_softmax
    assert 0 < by_logs < 1
    np.testing.assert_array_equal(outs[0], outs[1])


def test_undefined_proposals_are_refused_and_impossible_states_left():
    proposal, alternative, out = np.ones((3, 1)), np.zeros((3, 1)), np.empty((3, 1))
    log_proposal = np.array([np.nan, -np.inf, -np.inf])
    log_alternative = np.array([-1.0, -1.0, -np.inf])
    choose_between(proposal, alternative, log_proposal, log_alternative, np.random.default_rng(0), out)
    np.testing.assert_array_equal(out.ravel(), [0.0, 0.0, 1.0])
