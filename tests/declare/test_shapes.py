"""The shape of an op that is told from its inputs is the shape of its values."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.rewriting.shape import ShapeFeature

from icb_pymc.declare import BeliefSample, LinearReward, SoftmaxChoice, isotropic_belief, linear_utility
from icb_pymc.declare.beliefs import bayesian_learning, prediction_error_learning

TIMES, ACTIONS, FEATURES = 4, 3, 2
CONTEXT = np.random.default_rng(0).normal(size=(TIMES, ACTIONS, FEATURES))


def unknown(value):
    """A tensor whose type does not know its lengths."""
    value = np.asarray(value, dtype=float)
    return pt.tensor(shape=(None,) * value.ndim, dtype="float64"), value


def by_equation_1(context, reward):
    return bayesian_learning(isotropic_belief(0.0, 0.5, FEATURES), context, reward, 0.3)


CASES = {
    "one belief for all decisions": (lambda x: linear_utility(np.ones((1, FEATURES)), x), [CONTEXT]),
    "a belief for each": (lambda rho, x: linear_utility(rho, x, 2.0), [CONTEXT[:, 0], CONTEXT]),
    "one context for all decisions": (lambda rho: linear_utility(rho, CONTEXT[0]), [CONTEXT[:, 0]]),
    "a temperature and a bonus for each": (
        lambda alpha, bonus, x: linear_utility(np.ones(FEATURES), x, alpha[:, None], bonus),
        [np.ones(TIMES), np.ones((TIMES, ACTIONS)), CONTEXT],
    ),
    "choices": (lambda u: SoftmaxChoice.dist(u, np.ones(ACTIONS, bool)), [CONTEXT[..., 0]]),
    "choices of one utility": (lambda u, seen: SoftmaxChoice.dist(u, seen > 0), [np.ones(3), np.ones((TIMES, 3))]),
    "choices of a given size": (lambda u: SoftmaxChoice.dist(u, np.ones(3, bool), size=(5, TIMES)), [CONTEXT[..., 0]]),
    "draws with one root": (lambda mean: BeliefSample.dist(mean, np.eye(FEATURES)), [CONTEXT[:, 0]]),
    "draws with a root each": (BeliefSample.dist, [CONTEXT[:, 0], np.tile(np.eye(FEATURES), (TIMES, 1, 1))]),
    "draws of a given size": (lambda mean: BeliefSample.dist(mean, np.eye(2), size=(5,)), [np.ones(2)]),
    "rewards": (lambda weights, x: LinearReward.dist(weights, x, 0.5), [np.ones(FEATURES), CONTEXT[:, 0]]),
    "rewards of a given size": (lambda x: LinearReward.dist(np.ones(2), x, 0.5, size=(5, TIMES)), [CONTEXT[:, 0]]),
    "means by equation 1": (lambda x, r: by_equation_1(x, r).mean, [CONTEXT[:, 0], np.ones(TIMES)]),
    "roots by equation 1": (lambda x, r: by_equation_1(x, r).root, [CONTEXT[:, 0], np.ones(TIMES)]),
    "means from prediction errors": (
        lambda gain, x, r: prediction_error_learning(np.zeros(FEATURES), gain, x, r),
        [CONTEXT[1:, 0], CONTEXT[:, 0], np.ones(TIMES)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_shape_that_is_told_is_that_of_the_values(case):
    make, given = CASES[case]
    inputs, values = zip(*map(unknown, given), strict=True)
    result = make(*inputs)
    asked = ShapeFeature()
    FunctionGraph(outputs=[result], features=[asked], clone=False)
    told = asked.shape_of[result]
    at = dict(zip(inputs, values, strict=True))
    lengths = tuple(
        int(pt.as_tensor(length).eval(at, on_unused_input="ignore", mode="FAST_COMPILE")) for length in told
    )
    assert lengths == pm.draw(result, givens=at, mode="FAST_COMPILE").shape
