"""rho_env with the rewards integrated out, against the conditional of the joint Gaussian distribution."""

import numpy as np
import pytest

from icb_pymc.kernels.reward_given_rho import belief_means, covariance_path, reward_gains
from icb_pymc.kernels.rho_env_given_rho import draw_rho_env, rho_env_precision


@pytest.mark.parametrize(("seed", "T", "k"), [(0, 6, 3), (1, 8, 2), (2, 3, 1), (3, 1, 2)])
def test_rho_env_given_rho_is_the_conditional_of_the_joint_gaussian(seed, T, k):
    rng = np.random.default_rng(seed)
    sigma, context, start_mean = 0.4, rng.standard_normal((T, k)), rng.standard_normal(k)
    start, prior = (a @ a.T + 0.1 * np.eye(k) for a in rng.standard_normal((2, k, k)))
    prior_mean, rho = rng.standard_normal(k), rng.standard_normal((T, k))
    beliefs = covariance_path(start, context, sigma)

    def rho_of(noise):
        """rho as an affine function of all noise: of rho_env, of the rewards, of rho itself."""
        rho_env = prior_mean + np.linalg.cholesky(prior) @ noise[:k]
        reward = context @ rho_env + sigma * noise[k : k + T]
        mean = np.empty((T, k))
        belief_means(beliefs.gain, start_mean, context, reward, mean)
        return (mean + np.einsum("tij,tj->ti", beliefs.root, noise[k + T :].reshape(T, k))).ravel()

    size = k + T + T * k
    origin = rho_of(np.zeros(size))
    to_rho = np.array([rho_of(unit) - origin for unit in np.eye(size)]).T
    to_rho_env = np.hstack([np.linalg.cholesky(prior), np.zeros((k, size - k))])
    gain = to_rho_env @ to_rho.T @ np.linalg.inv(to_rho @ to_rho.T)
    mean = prior_mean + gain @ (rho.ravel() - origin)
    covariance = prior - gain @ to_rho @ to_rho_env.T

    gains = reward_gains(beliefs.covariance, context, sigma)
    precision = rho_env_precision(gains, sigma)
    arguments = (gains, precision, sigma, start_mean, rho, prior_mean, np.linalg.inv(prior))
    drawn_mean = draw_rho_env(*arguments, np.zeros(k))
    columns = np.array([draw_rho_env(*arguments, unit) - drawn_mean for unit in np.eye(k)]).T
    np.testing.assert_allclose(drawn_mean, mean, atol=1e-8)
    np.testing.assert_allclose(columns @ columns.T, covariance, atol=1e-8)
