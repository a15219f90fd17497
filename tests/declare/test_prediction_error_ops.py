"""The ops of learners with known rewards, compared with loops and with numerical derivatives."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.pytensorf import compile as compile_graph

from icb_pymc.declare.prediction_error_ops import gains_of_kalman, path_of_means

DECISIONS, AGENTS, FEATURES = 5, 2, 3


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(AGENTS, FEATURES, FEATURES))
    return {
        "start_mean": rng.normal(size=(AGENTS, FEATURES)),
        "gain": rng.normal(size=(DECISIONS, AGENTS, FEATURES)),
        "context": rng.normal(size=(DECISIONS, AGENTS, FEATURES)),
        "reward": rng.normal(size=(DECISIONS, AGENTS)),
        "start_covariance": root @ root.transpose(0, 2, 1),
        "variance": rng.uniform(0.5, 2, AGENTS),
        "memory": rng.uniform(0.5, 1, AGENTS),
        "drift": rng.uniform(0.0, 0.5, AGENTS),
    }


PATH = ("start_mean", "gain", "context", "reward")
GAINS = ("start_covariance", "context", "variance", "memory", "drift")


def numerical_gradient(function, values, i):
    gradient = np.zeros_like(values[i])
    for at in np.ndindex(values[i].shape):
        moved = []
        for step in (1e-6, -1e-6):
            shifted = [value.copy() for value in values]
            shifted[i][at] += step
            moved.append(function(*shifted))
        gradient[at] = (moved[0] - moved[1]) / 2e-6
    return gradient


@pytest.mark.parametrize(("op", "names"), [(path_of_means, PATH), (gains_of_kalman, GAINS)])
def test_gradients_are_those_of_finite_differences(arrays, op, names):
    values = [arrays[name] for name in names]
    inputs = [pt.tensor(dtype="float64", shape=(None,) * value.ndim) for value in values]
    weights = np.random.default_rng(1).normal(size=(DECISIONS, AGENTS, FEATURES))
    total = (op(*inputs) * weights).sum()
    value = compile_graph(inputs, total, mode="FAST_COMPILE")
    gradients = compile_graph(inputs, pytensor.grad(total, inputs), mode="FAST_COMPILE")(*values)
    for i, gradient in enumerate(gradients):
        expected = numerical_gradient(lambda *moved: float(value(*moved)), values, i)
        np.testing.assert_allclose(gradient, expected, atol=1e-6, rtol=1e-6, err_msg=names[i])


def test_the_path_follows_prediction_errors(arrays):
    values = [arrays[name] for name in PATH]
    path = path_of_means(*values).eval()
    start, gain, context, reward = values
    for j in range(AGENTS):
        mean = start[j]
        for n in range(DECISIONS):
            np.testing.assert_allclose(path[n, j], mean)
            mean = mean + gain[n, j] * (reward[n, j] - mean @ context[n, j])


def test_gains_are_those_of_the_textbook_filter(arrays):
    values = [arrays[name] for name in GAINS]
    gains = gains_of_kalman(*values).eval()
    start, context, variance, memory, drift = values
    for j in range(AGENTS):
        covariance = start[j]
        for n in range(DECISIONS):
            covariance = covariance / memory[j] + drift[j] * np.eye(FEATURES)
            precision = np.linalg.inv(covariance) + np.outer(context[n, j], context[n, j]) / variance[j]
            updated = np.linalg.inv(precision)
            np.testing.assert_allclose(gains[n, j], updated @ context[n, j] / variance[j])
            covariance = updated
