"""The O(Tk) rewards against the T x T matrices of Lemma 1, and equation 1 against explicit inverses."""

import numpy as np
import pytest

from icb_pymc.kernels.reward_given_rho import (
    belief_means,
    covariance_path,
    draw_reward_path,
    reward_gains,
)

SHAPES = [(seed, T, k) for seed, (T, k) in enumerate([(8, 3), (8, 2), (5, 3), (3, 1), (1, 3)])]
SIGMA = 0.4


def random_spd(rng, k):
    factor = rng.standard_normal((k, k))
    return factor @ factor.T + 0.1 * np.eye(k)


def printed_covariances(start_covariance, context, sigma):
    """Σ_1..Σ_T by equation 1."""
    precision = np.linalg.inv(start_covariance)
    path = []
    for x in context:
        path.append(np.linalg.inv(precision))
        precision = precision + np.outer(x, x) / sigma**2
    return np.array(path)


def lemma_1(start_mean, start_covariance, context, sigma, rho_env, rho):
    """Mean and covariance of r_1..r_T by the formulas of Lemma 1."""
    T, k = context.shape
    covariances = printed_covariances(start_covariance, context, sigma)

    def scaled_context(t):
        matrix = np.zeros((k, T))
        matrix[:, :t] = context[:t].T / sigma**2
        return matrix

    start = np.linalg.solve(start_covariance, start_mean)
    precision, linear = np.eye(T) / sigma**2, scaled_context(T).T @ rho_env
    for t in range(2, T + 1):
        precision += scaled_context(t - 1).T @ covariances[t - 1] @ scaled_context(t - 1)
        linear += scaled_context(t - 1).T @ (rho[t - 1] - covariances[t - 1] @ start)
    covariance = np.linalg.inv(precision)
    return covariance @ linear, covariance


def mean_and_covariance(gains, start_mean, rho_env, rho):
    """Mean and covariance of a draw, computed from unit noise because the draw is affine in its noise."""
    T = rho.shape[0]
    mean, columns = np.empty(T), []
    draw_reward_path(gains, start_mean, rho_env, rho, np.zeros(T), mean)
    for unit in np.eye(T):
        reward = np.empty(T)
        draw_reward_path(gains, start_mean, rho_env, rho, unit, reward)
        columns.append(reward - mean)
    return mean, np.transpose(columns) @ np.array(columns)


def random_problem(seed, T, k):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal(k),
        random_spd(rng, k),
        rng.standard_normal((T, k)),
        rng.standard_normal(k),
        rng.standard_normal((T, k)),
    )


@pytest.mark.parametrize(("seed", "T", "k"), SHAPES)
def test_mean_and_covariance_are_those_of_lemma_1_as_printed(seed, T, k):
    start_mean, start_covariance, context, rho_env, rho = random_problem(seed, T, k)
    expected_mean, expected_covariance = lemma_1(start_mean, start_covariance, context, SIGMA, rho_env, rho)
    beliefs = covariance_path(start_covariance, context, SIGMA)
    gains = reward_gains(beliefs.covariance, context, SIGMA)
    mean, covariance = mean_and_covariance(gains, start_mean, rho_env, rho)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-8)
    np.testing.assert_allclose(covariance, expected_covariance, atol=1e-8)


def test_the_recursion_is_accurate_for_a_long_log():
    start_mean, _, context, rho_env, rho = random_problem(3, 400, 3)
    start_covariance = 10.0 * np.eye(3)
    expected_mean, expected_covariance = lemma_1(start_mean, start_covariance, context, SIGMA, rho_env, rho)
    beliefs = covariance_path(start_covariance, context, SIGMA)
    gains = reward_gains(beliefs.covariance, context, SIGMA)
    mean, covariance = mean_and_covariance(gains, start_mean, rho_env, rho)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-8)
    np.testing.assert_allclose(covariance, expected_covariance, atol=1e-8)


def test_the_last_reward_has_its_prior_distribution():
    start_mean, start_covariance, context, rho_env, rho = random_problem(1, 6, 2)
    gains = reward_gains(covariance_path(start_covariance, context, SIGMA).covariance, context, SIGMA)
    mean, covariance = mean_and_covariance(gains, start_mean, rho_env, rho)
    assert mean[-1] == pytest.approx(rho_env @ context[-1])
    np.testing.assert_allclose(covariance[-1], [0, 0, 0, 0, 0, SIGMA**2], atol=1e-12)


@pytest.mark.parametrize(("seed", "T", "k"), SHAPES)
def test_covariances_their_roots_and_the_means_follow_equation_1(seed, T, k):
    start_mean, start_covariance, context, _, _ = random_problem(seed, T, k)
    reward = np.random.default_rng(seed + 100).standard_normal(T)
    expected = printed_covariances(start_covariance, context, SIGMA)
    beliefs = covariance_path(start_covariance, context, SIGMA)
    np.testing.assert_allclose(beliefs.covariance, expected, atol=1e-8)
    np.testing.assert_allclose(beliefs.root @ beliefs.root.transpose(0, 2, 1), expected, atol=1e-8)

    natural = np.linalg.solve(start_covariance, start_mean)
    means = np.empty((T, k))
    belief_means(beliefs.gain, start_mean, context, reward, means)
    for t in range(T):
        np.testing.assert_allclose(means[t], expected[t] @ natural, atol=1e-8)
        natural = natural + reward[t] * context[t] / SIGMA**2


def test_a_learner_with_a_certain_start_never_learns_and_its_rewards_have_their_prior():
    start_mean, _, context, rho_env, _ = random_problem(2, 5, 3)
    beliefs = covariance_path(np.zeros((3, 3)), context, SIGMA)
    assert not beliefs.covariance.any()
    assert not beliefs.root.any()
    gains = reward_gains(beliefs.covariance, context, SIGMA)
    mean, covariance = mean_and_covariance(gains, start_mean, rho_env, np.tile(start_mean, (5, 1)))
    np.testing.assert_allclose(mean, context @ rho_env, atol=1e-12)
    np.testing.assert_allclose(covariance, SIGMA**2 * np.eye(5), atol=1e-12)


def test_a_direction_that_is_certain_at_the_start_can_be_left_out():
    start_mean, start_covariance, context, rho_env, rho = random_problem(4, 7, 3)
    # All parameters agree in the certain direction, so it only shifts the rewards.
    rho[:, 2] = rho_env[2] = start_mean[2]
    start_covariance[2, :] = start_covariance[:, 2] = 0.0
    gains = reward_gains(covariance_path(start_covariance, context, SIGMA).covariance, context, SIGMA)
    mean, covariance = mean_and_covariance(gains, start_mean, rho_env, rho)
    without_mean, without_covariance = lemma_1(
        start_mean[:2], start_covariance[:2, :2], context[:, :2], SIGMA, rho_env[:2], rho[:, :2]
    )
    np.testing.assert_allclose(mean, without_mean + context[:, 2] * start_mean[2], atol=1e-8)
    np.testing.assert_allclose(covariance, without_covariance, atol=1e-8)


@pytest.mark.parametrize("vague", [1e4, 1e8])
def test_covariances_and_roots_are_accurate_for_a_vague_start(vague):
    context = np.random.default_rng(5).standard_normal((2_500, 4))
    beliefs = covariance_path(vague * np.eye(4), context, SIGMA)
    expected = printed_covariances(vague * np.eye(4), context, SIGMA)[-1]
    atol = 1e-8 * np.abs(expected).max()
    np.testing.assert_allclose(beliefs.root[-1] @ beliefs.root[-1].T, expected, atol=atol)
    np.testing.assert_allclose(beliefs.covariance[-1], expected, atol=atol)
