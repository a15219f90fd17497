"""Stacking weights against a direct optimum, a known mixture and ArviZ."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from icb_pymc.assess.stacking import stacking_weights


@pytest.fixture(scope="module")
def scores():
    """Log densities of three models of observations from a mixture of the first two, 70 to 30."""
    rng = np.random.default_rng(1)
    observed = np.where(rng.random(20_000) < 0.7, rng.normal(0, 1, 20_000), rng.normal(3, 0.5, 20_000))
    return np.column_stack([norm.logpdf(observed, 0, 1), norm.logpdf(observed, 3, 0.5), norm.logpdf(observed, -4, 1)])


def test_weights_recover_the_mixture_that_made_the_observations(scores):
    np.testing.assert_allclose(stacking_weights(scores), [0.7, 0.3, 0.0], atol=0.01)


def test_two_models_get_the_weights_of_a_direct_search(scores):
    first, second = scores[:500, :2].T

    def loss(weight):
        return -np.logaddexp(np.log(weight) + first, np.log1p(-weight) + second).sum()

    best = minimize_scalar(loss, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10}).x
    np.testing.assert_allclose(stacking_weights(scores[:500, :2]), [best, 1 - best], atol=1e-5)


def test_no_other_weights_are_better(scores):
    some = scores[:300]
    others = np.random.default_rng(0).dirichlet(np.ones(3), 2000)
    reached = np.log(np.exp(some) @ stacking_weights(some)).sum()
    assert (np.log(np.exp(some) @ others.T).sum(axis=0) <= reached + 1e-6).all()


def test_weights_move_with_their_models(scores):
    order = [2, 0, 1]
    np.testing.assert_allclose(stacking_weights(scores[:400, order]), stacking_weights(scores[:400])[order], atol=1e-5)


def test_identical_models_share_their_weight(scores):
    np.testing.assert_allclose(stacking_weights(scores[:400, [0, 0]]), [0.5, 0.5], atol=1e-8)
    twice = stacking_weights(scores[:400, [0, 0, 1]])
    assert twice[0] == pytest.approx(twice[1], abs=1e-6)
    assert twice[2] == pytest.approx(stacking_weights(scores[:400, :2])[1], abs=1e-4)


def test_a_model_that_is_better_everywhere_gets_all(scores):
    worse = scores[:100, [0]] - np.linspace(0.1, 2, 100)[:, None]
    np.testing.assert_allclose(stacking_weights(np.hstack([worse, scores[:100, [0]]])), [0, 1], atol=1e-8)


def test_scores_far_below_zero_do_not_underflow():
    scores = np.log([[0.9, 0.5], [0.1, 0.5], [0.9, 0.5]]) - 5000
    np.testing.assert_allclose(stacking_weights(scores), stacking_weights(scores + 5000), atol=1e-9)
