"""The O(N) smoother against the dense (K + V)^-1."""

import numpy as np
import pytest
from helpers.state_spaces import KINDS, data_at, long_walk, noise_covariance, prior, random_space

from icb_pymc.kernels.smoother import smoother_gains, solve_covariance


def problem(space):
    """Gains for the choices at random contrasts, their noise covariance V, and a right-hand side."""
    rng = np.random.default_rng(1)
    data = data_at(space, rng.standard_normal(space.offset.size))
    return smoother_gains(space, data), noise_covariance(space.first, data), rng.standard_normal(space.offset.size)


def solved(space, gains, values):
    out = np.full(values.size, np.nan)
    return solve_covariance(space, gains, values, out), out


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_it_solves_the_system_of_the_measurement_covariance(kind, seed):
    space = random_space(kind, seed)
    gains, noise, values = problem(space)
    _, matrix = prior(space)
    covariance = matrix @ matrix.T + noise
    expected = np.linalg.solve(covariance, values)
    square, out = solved(space, gains, values)
    np.testing.assert_allclose(out, expected, atol=1e-11)
    assert square == pytest.approx(values @ expected, abs=1e-10)
    assert gains.log_determinant == pytest.approx(np.linalg.slogdet(covariance)[1], abs=1e-9)


@pytest.mark.parametrize("kind", ["static", "identical rows"])
def test_contrasts_may_have_a_singular_covariance(kind):
    """Without sampling noise and with fewer noise terms than contrasts K has no inverse, and none is needed."""
    space = random_space(kind)
    _, matrix = prior(space)
    assert np.linalg.matrix_rank(matrix @ matrix.T) < space.offset.size
    gains, noise, values = problem(space)
    _, out = solved(space, gains, values)
    np.testing.assert_allclose((matrix @ matrix.T + noise) @ out, values, atol=1e-12)


@pytest.mark.parametrize("scale", [1e45, 1e60])
def test_the_log_determinant_of_variances_whose_product_leaves_the_range_of_a_double_is_right(scale):
    space = random_space("one decision")
    space = space._replace(state_loading=scale * space.state_loading, sampling_loading=scale * space.sampling_loading)
    gains, noise, _ = problem(space)
    _, matrix = prior(space)
    expected = np.linalg.slogdet((matrix / scale) @ (matrix / scale).T + noise / scale**2)[1]
    assert gains.log_determinant == pytest.approx(expected + 2 * len(noise) * np.log(scale), rel=1e-12)


def test_identical_candidates_in_one_decision_are_handled():
    space = random_space("identity")
    state_loading, sampling_loading = space.state_loading.copy(), space.sampling_loading.copy()
    # Two identical alternatives, and one that is identical to the chosen candidate.
    state_loading[1], sampling_loading[1] = state_loading[0], sampling_loading[0]
    state_loading[4], sampling_loading[4] = 0.0, 0.0
    space = space._replace(state_loading=state_loading, sampling_loading=sampling_loading)
    gains, noise, values = problem(space)
    _, matrix = prior(space)
    _, out = solved(space, gains, values)
    np.testing.assert_allclose(out, np.linalg.solve(matrix @ matrix.T + noise, values), atol=1e-12)


@pytest.mark.parametrize("contrasts", [1, 2])
@pytest.mark.parametrize("move", [0.0, 1e-5, 1e-2])
def test_long_logs_of_beliefs_that_hardly_move_are_solved_accurately(move, contrasts):
    space = long_walk(2000 // contrasts, move, contrasts=contrasts)
    gains, noise, values = problem(space)
    _, out = solved(space, gains, values)
    # The K of a walk has a closed form: the start, and the moves that two decisions share.
    time = np.repeat(np.arange(len(space.first) - 1), np.diff(space.first))
    together = 1.0 + move**2 * np.minimum.outer(time, time)
    covariance = together * (space.state_loading @ space.state_loading.T) + noise
    expected = np.linalg.solve(covariance, values)
    np.testing.assert_allclose(out, expected, atol=1e-11)
    assert gains.log_determinant == pytest.approx(np.linalg.slogdet(covariance)[1], rel=1e-11)


@pytest.mark.parametrize("width", [1.0, 1e2, 1e4])
def test_with_a_wide_start_the_smoother_is_more_accurate_than_a_dense_solution(width):
    """Against extended precision: K is up to 1e9 times V here, and a double has sixteen digits."""
    space = long_walk(200, 1e-4)
    space = space._replace(start_root=width * space.start_root)
    gains, noise, values = problem(space)
    _, matrix = prior(space)
    _, out = solved(space, gains, values)
    expected = extended_solve(np.longdouble(1) * matrix, noise, values)
    error = np.abs(out - expected).max()
    assert error < 1e-15 * width**2
    assert error < np.abs(np.linalg.solve(matrix @ matrix.T + noise, values) - expected).max()


def extended_solve(matrix, noise, values):
    """(AA' + V)^-1 y by Cholesky's method in extended precision."""
    root, out = matrix @ matrix.T + noise, values.astype(np.longdouble)
    for i in range(len(out)):
        root[i:, i] -= root[i:, :i] @ root[i, :i]
        root[i:, i] /= np.sqrt(root[i, i])
        out[i] = (out[i] - root[i, :i] @ out[:i]) / root[i, i]
    for i in range(len(out) - 1, -1, -1):
        out[i] = (out[i] - root[i + 1 :, i] @ out[i + 1 :]) / root[i, i]
    return out.astype(float)
