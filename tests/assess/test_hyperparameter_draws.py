"""Draws of hyperparameters: they stand for the prior, and lie where the data say, however far from its bulk that is."""

import numpy as np
import pymc as pm
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from icb_pymc.assess.hyperparameter_draws import DRAWS, draw_where_it_counts

TIMES = 40


def noisy(centre, dimensions, seed=0):
    """Observations y_t ~ N(theta_i, 0.5^2), i in turn, the scores of theta, and their density with theta ~ N(0, I)."""
    which = np.arange(TIMES) % dimensions
    y = np.random.default_rng(seed).normal(centre, 0.5, TIMES)
    joint = 0.25 * np.eye(TIMES) + (which[:, None] == which)
    return lambda point: norm(np.atleast_1d(point["theta"])[which], 0.5).logpdf(y), y, joint


@pytest.mark.parametrize(("dimensions", "centre"), [(1, 0.5), (1, 3.5), (6, 1.0)])
def test_forecasts_and_evidence_are_exact_where_the_prior_alone_would_rarely_reach(dimensions, centre):
    scores_at, y, joint = noisy(centre, dimensions)
    with pm.Model() as model:
        theta = pm.Normal("theta", shape=dimensions)
    draws = draw_where_it_counts(model, [theta], scores_at, seed=1)
    assert logsumexp(draws.log_weight) == pytest.approx(0.0)
    assert draws.effective > 60

    together = logsumexp(draws.log_weight[:, None] + np.cumsum(draws.scores, axis=1), axis=0)
    exact = [multivariate_normal(np.zeros(n), joint[:n, :n]).logpdf(y[:n]) for n in range(1, TIMES + 1)]
    # Of the prior alone few draws would count at the end.
    prior = draws.scores[:DRAWS].sum(axis=1)
    if (dimensions, centre) != (1, 0.5):
        assert np.exp(2 * logsumexp(prior) - logsumexp(2 * prior)) < 10
    assert together[-1] == pytest.approx(exact[-1], abs=0.3)
    np.testing.assert_allclose(together, exact, atol=0.5)


def test_scalars_vectors_and_transformed_variables_are_drawn_together():
    with pm.Model() as model:
        scale = pm.LogNormal("scale", 0.0, 1.0)
        theta = pm.Normal("theta", 0.0, scale, shape=2)

    def scores_at(point):
        return norm(point["theta"].sum() + np.exp(point["scale_log__"]), 0.1).logpdf(np.full(5, 2.0))

    draws = draw_where_it_counts(model, [scale, theta], scores_at, seed=0)
    # By brute force: theta_1 + theta_2 ~ N(0, 2 scale^2), and the mean of five has the deviation 0.1 / sqrt(5).
    many = np.random.default_rng(0).lognormal(0.0, 1.0, 200_000)
    one = norm(2.0, 0.1).logpdf(2.0) * 5 - norm(2.0, 0.1 / np.sqrt(5)).logpdf(2.0)
    expected = one + logsumexp(norm(many, np.sqrt(2 * many**2 + 0.002)).logpdf(2.0)) - np.log(len(many))
    assert logsumexp(draws.log_weight + draws.scores.sum(axis=1)) == pytest.approx(expected, abs=0.2)


def test_the_same_seed_gives_the_same_draws():
    scores_at, _, _ = noisy(3.5, 1)
    with pm.Model() as model:
        theta = pm.Normal("theta", shape=1)
    one, two = (draw_where_it_counts(model, [theta], scores_at, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.scores, two.scores)
