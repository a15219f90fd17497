"""The Metropolis-Hastings step: the exact kernel samples the posterior, the printed one does not."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax

from icb_pymc.kernels.metropolis import add_correlated_noise, choice_contrasts, choice_log_likelihood, metropolis_accept


def random_decisions(seed, T=6, A=4, k=3):
    rng = np.random.default_rng(seed)
    available = rng.random((T, A)) < 0.6
    chosen = rng.integers(0, A, size=T)
    available[np.arange(T), chosen] = True
    return rng.standard_normal((T, A, k)), available, chosen, rng.standard_normal((T, k))


def log_likelihood(context, available, chosen, alpha, rho):
    out = np.empty(len(chosen))
    choice_log_likelihood(choice_contrasts(context, available, chosen, alpha), rho, out)
    return out


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.0, 1.0, 20.0])
def test_log_likelihood_is_a_softmax_over_the_available_actions(seed, alpha):
    context, available, chosen, rho = random_decisions(seed)
    utility = np.where(available, alpha * np.einsum("tak,tk->ta", context, rho), -np.inf)
    expected = log_softmax(utility, axis=1)[np.arange(chosen.size), chosen]
    np.testing.assert_allclose(log_likelihood(context, available, chosen, alpha, rho), expected, atol=1e-12)


def test_log_likelihood_is_finite_where_utilities_overflow():
    context, available = np.tile([[1.0], [-1.0], [0.0]], (3, 1, 1)), np.ones((3, 3), dtype=bool)
    values = log_likelihood(context, available, np.array([0, 1, 2]), 1.0, np.full((3, 1), 1e4))
    assert values.tolist() == [0.0, -2e4, -1e4]


def test_unavailable_actions_do_not_matter():
    context, available, chosen, rho = random_decisions(0)
    without = np.where(available[:, :, None], context, np.nan)
    np.testing.assert_array_equal(
        log_likelihood(without, available, chosen, 5.0, rho), log_likelihood(context, available, chosen, 5.0, rho)
    )


def test_with_identical_candidates_or_no_alternative_the_likelihood_does_not_depend_on_rho():
    context, available, chosen, rho = random_decisions(2, T=50)
    identical = np.repeat(context[:, :1], 4, axis=1)
    expected = -np.log(available.sum(axis=1))
    np.testing.assert_allclose(log_likelihood(identical, available, chosen, 100.0, rho), expected, atol=1e-12)
    alone = np.zeros_like(available)
    alone[np.arange(50), chosen] = True
    assert (log_likelihood(context, alone, chosen, 100.0, rho) == 0).all()


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
    def long_run_mean(cls, exact):
        """The decision is copied, so that one call advances many independent chains."""
        shape, rng, total = (cls.copies, 1), np.random.default_rng(0), 0.0
        context, available = np.tile([[1.0], [-1.0]], (cls.copies, 1, 1)), np.ones((cls.copies, 2), bool)
        contrasts = choice_contrasts(context, available, np.zeros(cls.copies, int), cls.alpha)
        rho, logs = np.full(shape, cls.belief), np.empty((2, cls.copies))
        for i in range(cls.sweeps):
            proposal = cls.belief + rng.standard_normal(shape)
            if not exact:
                rho = cls.belief + rng.standard_normal(shape)
            choice_log_likelihood(contrasts, proposal, logs[0])
            choice_log_likelihood(contrasts, rho, logs[1])
            metropolis_accept(proposal, rho, *logs, rng.random(cls.copies), rho)
            total += rho.mean() if i >= cls.warmup else 0.0
        return total / (cls.sweeps - cls.warmup)


def test_comparing_with_the_current_state_samples_the_posterior():
    assert OneDecision.long_run_mean(exact=True) == pytest.approx(OneDecision.posterior_mean(), abs=0.01)


def test_comparing_two_fresh_draws_does_not_sample_the_posterior():
    """Prior mean -0.500, posterior mean 0.514, the printed kernel 0.011, half way between."""
    printed = OneDecision.long_run_mean(exact=False)
    assert printed == pytest.approx(OneDecision.printed_mean(), abs=0.01)
    assert abs(printed - OneDecision.posterior_mean()) > 0.4


def test_each_decision_has_noise_with_its_own_root():
    rng = np.random.default_rng(4)
    center, roots, noise = rng.standard_normal((5, 3)), rng.standard_normal((5, 3, 3)), rng.standard_normal((5, 3))
    out = np.empty((5, 3))
    add_correlated_noise(center, roots, noise, out)
    np.testing.assert_allclose(out, center + np.einsum("tij,tj->ti", roots, noise), atol=1e-12)


def test_undefined_proposals_are_rejected_and_impossible_states_left():
    proposal, alternative, out = np.ones((3, 1)), np.zeros((3, 1)), np.empty((3, 1))
    log_proposal = np.array([np.nan, -np.inf, -np.inf])
    log_alternative = np.array([-1.0, -1.0, -np.inf])
    metropolis_accept(proposal, alternative, log_proposal, log_alternative, np.full(3, 0.5), out)
    np.testing.assert_array_equal(out.ravel(), [0.0, 0.0, 1.0])
