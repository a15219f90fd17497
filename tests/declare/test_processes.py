"""Processes compared with the joint Gaussian that they define."""

import numpy as np
import pymc as pm
import pytest
from scipy.stats import multivariate_normal

from icb_pymc.declare.processes import LinearProcess, WienerProcess, as_covariance, mean_reverting, smooth_walk

MEAN, ELAPSED = np.array([0.3, -0.4]), np.array([1.0, 0.5, 3.0])
START, MOVE = np.array([[0.6, 0.2], [0.2, 0.4]]), np.array([[0.3, -0.1], [-0.1, 0.2]])
TURN, DRIFT = np.array([[0.8, 0.3], [-0.4, 0.6]]), np.array([0.1, -0.2])
STEPS = ELAPSED.size
SCALES = np.array([1.0, 0.5, 2.0])
SINCE_START = np.concatenate([[0.0], np.cumsum(ELAPSED)])


def joint(start_mean, start, transitions, innovations, drifts):
    """Mean and covariance of (s_1..s_T) from the definition: every state is linear in independent noise."""
    d = len(start_mean)
    size = d * (len(transitions) + 1)
    means, rows = [start_mean], [np.eye(d, size)]
    for t, (matrix, drift) in enumerate(zip(transitions, drifts, strict=True), start=1):
        means.append(matrix @ means[-1] + drift)
        rows.append(matrix @ rows[-1] + np.eye(d, size, k=d * t))
    noise = np.zeros((size, size))
    for t, block in enumerate([start, *innovations]):
        noise[d * t : d * (t + 1), d * t : d * (t + 1)] = block
    reach = np.concatenate(rows)
    return np.concatenate(means), reach @ noise @ reach.T


def smooth_joint():
    """An integrated walk by calculus: covariances of single and double integrals of white noise."""
    earlier, later = np.minimum.outer(SINCE_START, SINCE_START), np.maximum.outer(SINCE_START, SINCE_START)
    of_beliefs = earlier**2 * (3 * later - earlier) / 6
    of_slopes = earlier
    # Covariance of the belief at s and the slope at t.
    s, t = SINCE_START[:, None], SINCE_START[None, :]
    of_both = np.where(s <= t, s**2 / 2, t * s - t**2 / 2)
    slope, ones = 0.5 * START, np.ones_like(earlier)
    blocks = [
        [
            np.kron(ones, START) + np.kron(s * t, slope) + np.kron(of_beliefs, MOVE),
            np.kron(s * ones, slope) + np.kron(of_both, MOVE),
        ],
        [None, np.kron(ones, slope) + np.kron(of_slopes, MOVE)],
    ]
    blocks[1][0] = blocks[0][1].T
    covariance = np.block(blocks).reshape(2, STEPS + 1, 2, 2, STEPS + 1, 2)
    mean = np.concatenate([np.tile(MEAN, (STEPS + 1, 1)), np.zeros((STEPS + 1, 2))], axis=1)
    return mean.ravel(), covariance.transpose(1, 0, 2, 4, 3, 5).reshape(4 * (STEPS + 1), -1)


def reverting_joint():
    correlation = np.exp(-np.abs(SINCE_START[:, None] - SINCE_START) / 2.0)
    return np.tile(MEAN, STEPS + 1), np.kron(correlation, START)


def over_time(array, scales=SCALES):
    return scales.reshape(-1, *(1,) * array.ndim) * array


CASES = {
    "wiener": (
        lambda **shape: WienerProcess("state", MEAN, START, MOVE, ELAPSED, **shape),
        joint(MEAN, START, [np.eye(2)] * STEPS, over_time(MOVE, ELAPSED), np.zeros((STEPS, 2))),
    ),
    "the same at all times": (
        lambda **shape: LinearProcess("state", MEAN, START, TURN, MOVE, drift=DRIFT, steps=STEPS, **shape),
        joint(MEAN, START, [TURN] * STEPS, [MOVE] * STEPS, [DRIFT] * STEPS),
    ),
    "no drift": (
        lambda **shape: LinearProcess("state", MEAN, START, TURN, MOVE, steps=STEPS, **shape),
        joint(MEAN, START, [TURN] * STEPS, [MOVE] * STEPS, np.zeros((STEPS, 2))),
    ),
    "transitions over time": (
        lambda **shape: LinearProcess("state", MEAN, START, over_time(TURN), MOVE, **shape),
        joint(MEAN, START, over_time(TURN), [MOVE] * STEPS, np.zeros((STEPS, 2))),
    ),
    "drift over time": (
        lambda **shape: LinearProcess("state", MEAN, START, TURN, MOVE, over_time(DRIFT), **shape),
        joint(MEAN, START, [TURN] * STEPS, [MOVE] * STEPS, over_time(DRIFT)),
    ),
    "all over time": (
        lambda **shape: LinearProcess(
            "state", MEAN, START, over_time(TURN), over_time(MOVE), over_time(DRIFT), **shape
        ),
        joint(MEAN, START, over_time(TURN), over_time(MOVE), over_time(DRIFT)),
    ),
    "mean-reverting": (lambda **shape: mean_reverting("state", MEAN, START, 2.0, ELAPSED, **shape), reverting_joint()),
    "smooth": (lambda **shape: smooth_walk("state", MEAN, START, 0.5 * START, MOVE, ELAPSED, **shape), smooth_joint()),
}


@pytest.fixture(params=CASES, name="case")
def declared(request):
    return CASES[request.param]


def model_of(declare, **shape):
    with pm.Model() as model:
        declare(**shape)
    return model


def test_the_log_density_is_that_of_the_joint_gaussian(case):
    declare, (mean, covariance) = case
    gaussian, log_density = multivariate_normal(mean, covariance), model_of(declare).compile_logp()
    for path in gaussian.rvs(3, random_state=1):
        value = path.reshape(STEPS + 1, -1)
        assert log_density({"state": value}) == pytest.approx(gaussian.logpdf(path), abs=1e-8)


def test_random_paths_have_the_moments_of_the_joint_gaussian(case):
    """In standard errors of 20,000 draws, over all means and covariances."""
    declare, (mean, covariance) = case
    state = model_of(declare, shape=(20_000, STEPS + 1, mean.size // (STEPS + 1)))["state"]
    paths = pm.draw(state, random_seed=2).reshape(20_000, -1)
    variance = np.diag(covariance)
    errors = (paths.mean(axis=0) - mean) / np.sqrt(variance / len(paths))
    assert np.abs(errors).max() < 4.5
    spread = np.sqrt((np.outer(variance, variance) + covariance**2) / len(paths))
    assert np.abs((np.cov(paths.T) - covariance) / spread).max() < 4.5


@pytest.mark.parametrize("name", ["wiener", "all over time", "smooth"])
def test_a_chain_starts_at_the_mean_of_the_first_state(name):
    declare, (mean, _) = CASES[name]
    start = model_of(declare).initial_point()["state"]
    assert start.shape == (STEPS + 1, mean.size // (STEPS + 1))
    np.testing.assert_allclose(start, np.tile(mean[: start.shape[1]], (STEPS + 1, 1)))


def test_a_process_of_unknown_length_is_refused():
    with pytest.raises(ValueError, match="give steps"):
        LinearProcess.dist(MEAN, START, TURN, MOVE, drift=DRIFT)


def test_a_covariance_may_be_a_variance_a_vector_of_variances_or_a_matrix():
    np.testing.assert_array_equal(as_covariance(2.0, 2).eval(), 2 * np.eye(2))
    np.testing.assert_array_equal(as_covariance([1.0, 2.0], 2).eval(), np.diag([1.0, 2.0]))
    np.testing.assert_array_equal(as_covariance(MOVE, 2).eval(), MOVE)
