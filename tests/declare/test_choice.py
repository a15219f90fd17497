import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from scipy.special import log_softmax

from icb_pymc.declare.choice import SoftmaxChoice, linear_utility, with_lapses

UTILITY = np.array([[1.0, -2.0, 300.0], [0.5, 0.5, 0.5]])
AVAILABLE = np.array([[True, True, False], [True, True, True]])


def test_log_probability_is_the_log_softmax_over_available_candidates():
    logp = pm.logp(SoftmaxChoice.dist(UTILITY, AVAILABLE), np.array([1, 2])).eval()
    expected = [log_softmax(UTILITY[0, :2])[1], np.log(1 / 3)]
    np.testing.assert_allclose(logp, expected)


@pytest.mark.parametrize("value", [2, 3, -1])
def test_an_unavailable_choice_is_impossible(value):
    assert pm.logp(SoftmaxChoice.dist(UTILITY[0], AVAILABLE[0]), value).eval() == -np.inf


def test_draws_have_the_probabilities_of_the_softmax():
    draws = pm.draw(SoftmaxChoice.dist(UTILITY, AVAILABLE), draws=4000, random_seed=1)
    share = (draws[:, 0] == 0).mean()
    expected = 1 / (1 + np.exp(-3.0))
    assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / 4000)
    assert set(draws[:, 0]) == {0, 1}


def test_the_gradient_of_a_masked_choice_is_finite_and_the_one_of_the_softmax():
    weights = pt.vector("weights")
    context = np.array([[1.0, 0.0], [0.0, 2.0], [9.0, 9.0]])
    logp = pm.logp(SoftmaxChoice.dist(linear_utility(weights, context, 2.0), AVAILABLE[0]), 0)
    gradient = pt.grad(logp, weights).eval({weights: np.array([0.3, -0.1])})
    probability = np.exp(log_softmax(2.0 * context[:2] @ [0.3, -0.1]))
    np.testing.assert_allclose(gradient, 2.0 * (context[0] - probability @ context[:2]))


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.9])
def test_with_lapses_some_choices_are_made_at_random(rate):
    """The dense formula, in a decision with a slot that holds no candidate too."""
    softmax = np.where(AVAILABLE, np.exp(log_softmax(np.where(AVAILABLE, UTILITY, -np.inf), axis=1)), 0.0)
    expected = (1 - rate) * softmax + rate * AVAILABLE / AVAILABLE.sum(axis=1, keepdims=True)
    choice = SoftmaxChoice.dist(with_lapses(rate)(pt.as_tensor(UTILITY), pt.as_tensor(AVAILABLE)), AVAILABLE)
    probability = [np.exp(pm.logp(choice, np.full(2, slot)).eval()) for slot in range(3)]
    np.testing.assert_allclose(np.transpose(probability), expected, atol=1e-15)
    draws = pm.draw(choice, draws=4000, random_seed=1)
    share = np.array([(draws == slot).mean(axis=0) for slot in range(3)]).T
    assert (np.abs(share - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / 4000) + 1e-12).all()
