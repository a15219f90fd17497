"""Walks of agents compared with their definition as one dense Gaussian."""

import numpy as np
import pymc as pm
import pytest
from helpers.dense_walks import DECIDER, MOMENTS, MOVE, START, dense_covariance
from scipy.stats import multivariate_normal

from icb_pymc.declare.agent_walks import AgentWalks


def test_the_log_density_is_that_of_the_dense_gaussian():
    walks = AgentWalks.dist(START, MOVE, MOMENTS, DECIDER)
    value = np.random.default_rng(0).normal(size=(7, 2))
    expected = multivariate_normal(np.zeros(14), dense_covariance()).logpdf(value.ravel())
    assert pm.logp(walks, value).eval(mode="FAST_COMPILE") == pytest.approx(expected)


def test_draws_have_the_covariance_of_the_dense_gaussian():
    draws = pm.draw(AgentWalks.dist(START, MOVE, MOMENTS, DECIDER), 20_000, random_seed=1).reshape(-1, 14)
    expected = dense_covariance()
    scale = np.sqrt(np.diag(expected))
    error = np.sqrt((1 + (expected / np.outer(scale, scale)) ** 2) / 20_000)
    assert (np.abs((draws.T @ draws / 20_000 - expected) / np.outer(scale, scale)) < 5 * error).all()


def test_a_batch_of_walks_has_a_leading_dimension():
    assert pm.draw(AgentWalks.dist(START, MOVE, MOMENTS, DECIDER, size=3), random_seed=1).shape == (3, 7, 2)
