"""The inner loop of the EM algorithm."""

import numpy as np
import pytest

from icb_pymc.kernels.alternation import alternate, sampling_loadings, update_rho
from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.kernels.reward_given_rho import belief_means, covariance_path, reward_gains

MEAN, ROOT = np.array([-0.4, 0.3]), np.array([[0.9, 0.2], [-0.3, 0.7]])
CONTEXTS = {2: np.array([[1.0, 0.5], [-1.0, 0.2]]), 3: np.array([[1.0, 0.5], [-1.0, 0.2], [0.3, -0.8]])}


def posterior_mean(actions, as_printed):
    """E[rho] from many prior draws: weighted by the likelihood, or by one Metropolis comparison of two draws."""
    rng = np.random.default_rng(1)
    drawn = MEAN + rng.standard_normal((2, 400_000, 2)) @ ROOT.T
    utility = 2.0 * drawn @ CONTEXTS[actions].T
    likelihood = np.exp(utility[..., 0] - np.logaddexp.reduce(utility, axis=-1))
    if not as_printed:
        return (drawn[0] * likelihood[0, :, None]).sum(axis=0) / likelihood[0].sum()
    accept = np.minimum(1.0, likelihood[0] / likelihood[1])[:, None]
    return (drawn[0] * accept + drawn[1] * (1 - accept)).mean(axis=0)


@pytest.mark.parametrize("as_printed", [False, True])
@pytest.mark.parametrize("actions", [2, 3])
def test_the_stationary_distribution_of_rho_is_the_posterior_or_that_of_the_printed_kernel(actions, as_printed):
    copies = 4_000
    context = np.tile(CONTEXTS[actions], (copies, 1, 1))
    contrasts = choice_contrasts(context, np.ones((copies, actions), bool), np.zeros(copies, int), 2.0)
    mean, roots = np.tile(MEAN, (copies, 1)), np.tile(ROOT, (copies, 1, 1))
    rho, rng, total = mean.copy(), np.random.default_rng(0), np.zeros(2)
    loading = sampling_loadings(contrasts, roots)
    for sweep in range(70):
        update_rho(contrasts, loading, mean, roots, as_printed, rng, rho)
        total += rho.mean(axis=0) if sweep >= 20 else 0.0
    np.testing.assert_allclose(total / 50, posterior_mean(actions, as_printed), atol=0.012)


def test_rho_keeps_its_prior_distribution_if_the_choice_is_not_informative():
    copies = 20_000
    identical = np.ones((copies, 2, 2))
    contrasts = choice_contrasts(identical, np.ones((copies, 2), bool), np.zeros(copies, int), 5.0)
    mean, roots, rho = np.tile(MEAN, (copies, 1)), np.tile(ROOT, (copies, 1, 1)), np.zeros((copies, 2))
    accepted = update_rho(
        contrasts, sampling_loadings(contrasts, roots), mean, roots, False, np.random.default_rng(0), rho
    )
    assert accepted == 1.0
    np.testing.assert_allclose(np.cov(rho.T), ROOT @ ROOT.T, atol=0.03)


def problem(T=12, k=2, sigma=0.3):
    rng = np.random.default_rng(4)
    context = rng.standard_normal((T, 3, k))
    contrasts = choice_contrasts(context, np.ones((T, 3), bool), np.zeros(T, int), 3.0)
    return context[:, 0].copy(), contrasts, rng.standard_normal((2, k)), sigma


def log_density_of_rho(strength, chosen_context, start_mean, reward, rho, sigma):
    beliefs = covariance_path(sigma**2 / strength * np.eye(chosen_context.shape[1]), chosen_context, sigma)
    mean = np.empty_like(chosen_context)
    belief_means(beliefs.gain, start_mean, chosen_context, reward, mean)
    weighted_deviation = np.linalg.solve(beliefs.covariance, (rho - mean)[..., None])[..., 0]
    return -0.5 * ((rho - mean) * weighted_deviation).sum() - 0.5 * np.linalg.slogdet(beliefs.covariance)[1].sum()


def test_the_strength_slope_is_the_derivative_of_the_log_density():
    chosen_context, contrasts, (start_mean, rho_env), sigma = problem()
    strength, step = 2.0, 1e-5
    beliefs = covariance_path(sigma**2 / strength * np.eye(2), chosen_context, sigma)
    gains = reward_gains(beliefs.covariance, chosen_context, sigma)
    rho = np.zeros_like(chosen_context)
    rng = np.random.default_rng(3)
    expected = alternate(
        gains, beliefs, contrasts, start_mean, rho_env, sigma, False, 1, rng, rho, np.empty((0, 12, 2))
    )
    values = [
        log_density_of_rho(s, chosen_context, start_mean, expected.reward, rho, sigma)
        for s in (strength + step, strength - step)
    ]
    assert expected.strength_slope == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-6)


def test_the_mean_beliefs_of_the_last_sweeps_are_kept():
    chosen_context, contrasts, (start_mean, rho_env), sigma = problem()
    beliefs = covariance_path(sigma**2 * np.eye(2), chosen_context, sigma)
    gains = reward_gains(beliefs.covariance, chosen_context, sigma)
    kept, rho = np.empty((3, 12, 2)), np.zeros_like(chosen_context)
    alternate(gains, beliefs, contrasts, start_mean, rho_env, sigma, True, 5, np.random.default_rng(0), rho, kept)
    assert (kept[:, 0] == start_mean).all()
    assert len(np.unique(kept[:, -1, 0])) == 3
