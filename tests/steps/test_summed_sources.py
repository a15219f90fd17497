"""Beliefs that are sums of several Gaussian variables, against dense formulas."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals
from helpers.dense_walks import DECIDER, ELAPSED, MOMENTS, MOVE, START, dense_covariance

from icb_pymc.declare.agent_walks import AgentWalks
from icb_pymc.declare.beliefs import BeliefSample
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.processes import LinearProcess, WienerProcess
from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.kernels.pseudo_data import PseudoData
from icb_pymc.kernels.smoother import smoother_gains
from icb_pymc.kernels.state_space import Noise, empty_noise, path_from_noise
from icb_pymc.steps import UtilityHMC
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

ALPHA, SAMPLING = 3.0, np.array([[0.5, 0.1], [0.1, 0.4]])
SHIFT = np.array([0.3, -0.4])
CHOSEN = np.array([0, 1, 0, 0, 1, 0, 1])
ARRIVALS = make_arrivals(7, 2, 2, seed=4)
CLOCK = np.concatenate([[0.0], np.cumsum(ELAPSED)])


def trend(name="trend"):
    return WienerProcess(name, SHIFT, 2 * START, MOVE, ELAPSED)


def constant_deviations():
    return pm.MvNormal("deviation", SHIFT, START, shape=(4, 2))[DECIDER]


def of_different_scales():
    return pm.Normal("deviation", SHIFT, np.array([1.0, 0.5]), shape=(4, 2))[DECIDER]


def walks():
    return AgentWalks("deviation", START, MOVE, MOMENTS, DECIDER)


def decaying():
    return LinearProcess("deviation", SHIFT, START, 0.5 * np.eye(2), MOVE, steps=6)


def twice_the_first():
    return 2 * LinearProcess("deviation", SHIFT, START, np.array([[0.5, 0.2], [0.0, 0.4]]), MOVE, steps=6)[:, :1] + 0.1


def process_covariance(matrix):
    """Covariances (time, feature, time, feature) of the states of x_{t+1} = F x_t + noise."""
    blocks, variances = np.zeros((7, 2, 7, 2)), [START]
    for _ in range(6):
        variances.append(matrix @ variances[-1] @ matrix.T + MOVE)
    for s in range(7):
        move = np.eye(2)
        for t in range(s, 7):
            blocks[t, :, s] = move @ variances[s]
            blocks[s, :, t] = blocks[t, :, s].T
            move = matrix @ move
    return blocks


SAME = DECIDER[:, None] == DECIDER
FIRST = process_covariance(np.array([[0.5, 0.2], [0.0, 0.4]]))[:, 0, :, 0]
# Functions that declare the second part, and its covariance over decisions and features.
SECOND = {
    "constants": (constant_deviations, np.kron(SAME, START)),
    "constants of different scales": (of_different_scales, np.kron(SAME, np.diag([1.0, 0.25]))),
    "walks": (walks, dense_covariance()),
    "a decaying process": (decaying, process_covariance(0.5 * np.eye(2)).reshape(14, 14)),
    "a linear function of a process": (twice_the_first, np.kron(4 * FIRST, np.ones((2, 2)))),
}


def model_of(second):
    with pm.Model() as model:
        belief = pm.Deterministic("belief", trend() + second())
        rho = BeliefSample("rho", belief, np.linalg.cholesky(SAMPLING))
        utility = linear_utility(rho, ARRIVALS["context"].values, ALPHA)
        SoftmaxChoice("chosen", utility, ARRIVALS["available"].values, observed=CHOSEN)
    return model


def space_of(model):
    parts = find_linear_gaussian(model)
    assert parts is not None
    reader = LinearGaussianModel(model, parts)
    values = reader.values(model.initial_point())
    return reader, values, *reader.state_space(values)


@pytest.mark.parametrize("kind", SECOND)
def test_the_contrasts_have_the_prior_covariance_of_the_sum(kind):
    second, covariance = SECOND[kind]
    _, _, _, space = space_of(model_of(second))
    noise, columns = empty_noise(space), []
    for part in noise:
        part[...] = 0.0
    states = np.empty((7, space.state_loading.shape[1]))
    for part in noise:
        for i in range(part.size):
            part.ravel()[i] = 1.0
            columns.append(np.empty(len(space.offset)))
            path_from_noise(space, noise, 0.0, states, columns[-1])
            part.ravel()[i] = 0.0
    actual = np.array(columns).T @ np.array(columns)
    belief = np.kron(np.ones((7, 7)), 2 * START) + np.kron(np.minimum.outer(CLOCK, CLOCK), MOVE) + covariance
    rho = belief + np.kron(np.eye(7), SAMPLING)
    contrasts = choice_contrasts(ARRIVALS["context"].values, ARRIVALS["available"].values, CHOSEN, ALPHA).values
    selection = np.zeros((7, 14))
    for t in range(7):
        selection[t, 2 * t : 2 * t + 2] = contrasts[t]
    expected = selection @ rho @ selection.T
    np.testing.assert_allclose(actual, expected, atol=1e-10)
    # The filter uses the same Gaussian: one contrast at each time, measured with variance 1/share + 1/rest.
    gains = smoother_gains(space, PseudoData(np.zeros(7), np.full(7, 1 / 0.3), np.full(7, 1 / 0.7)))
    assert gains.log_determinant == pytest.approx(np.linalg.slogdet(expected + (1 / 0.3 + 1 / 0.7) * np.eye(7))[1])


@pytest.mark.parametrize("kind", SECOND)
def test_values_are_recovered_from_their_noise(kind):
    model = model_of(SECOND[kind][0])
    reader, values, dynamics, space = space_of(model)
    names = ["trend", "deviation", "rho"]
    point = dict(zip(names, pm.draw([model[name] for name in names], random_seed=1, mode="FAST_COMPILE"), strict=True))
    noise = reader.to_noise(values, dynamics, space, point)
    recovered = reader.to_point(values, dynamics, space, noise, np.random.default_rng(0))
    for name in names:
        np.testing.assert_allclose(recovered[name], point[name], atol=1e-9)
    assert isinstance(noise, Noise)


@pytest.mark.parametrize(
    "second",
    [
        lambda: walks() ** 2,
        lambda: pm.math.clip(walks(), -5, 5),
        lambda: pm.math.concatenate([walks()[1:], np.zeros((1, 2))]),
        lambda: pm.Laplace("deviation", 0.0, 1.0, shape=(4, 2))[DECIDER],
        lambda: pm.Normal("deviation", 0.0, 1.0, shape=(300, 2))[DECIDER],
        lambda: walks() * pm.HalfNormal("scale", 1.0),
    ],
    ids=[
        "not linear",
        "not linear far out",
        "at another time",
        "not Gaussian",
        "too many constants",
        "an unknown coefficient",
    ],
)
def test_beliefs_that_are_not_a_sum_of_gaussian_parts_are_not_recognised(second):
    model = model_of(second)
    assert find_linear_gaussian(model) is None
    with model:
        assert UtilityHMC.competence(model["rho"], True) == 0
