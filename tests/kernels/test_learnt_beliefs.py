"""Beliefs as a linear function of rewards against equation 1, one reward at a time."""

import numpy as np

from icb_pymc.kernels.learnt_beliefs import belief_of_rewards
from icb_pymc.kernels.reward_given_rho import covariance_path


def test_loadings_and_offsets_give_the_means_of_equation_1():
    rng, T, k, sigma = np.random.default_rng(0), 6, 3, 0.7
    context, start_mean, rho_env = rng.standard_normal((T, k)), rng.standard_normal(k), rng.standard_normal(k)
    seen = np.array([False, True, False, False, True, False])
    noise = sigma * rng.standard_normal(T)
    reward = context @ rho_env + noise
    beliefs = covariance_path(np.eye(k), context, sigma)

    def sums_before(terms):
        return np.concatenate([np.zeros((1, *terms.shape[1:])), np.cumsum(terms, axis=0)[:-1]])

    unseen = context * ~seen[:, None]
    learnt = sums_before(context * np.where(seen, reward - context @ start_mean, 0.0)[:, None])
    squares = sums_before(unseen[:, :, None] * unseen[:, None, :])
    loading, offset = belief_of_rewards(beliefs.root, sigma, squares, learnt, start_mean)
    state = np.concatenate([sums_before(unseen * noise[:, None]), np.tile(rho_env, (T, 1))], axis=1)
    means = np.einsum("tij,tj->ti", loading, state) + offset

    expected = [start_mean]
    for t in range(T - 1):
        expected.append(expected[t] + beliefs.gain[t] * (reward[t] - expected[t] @ context[t]))
    np.testing.assert_allclose(means, expected, atol=1e-12)
