"""The O(N) smoother against (K + V)^-1 in full."""

import numpy as np
import pytest
from helpers.state_spaces import KINDS, data_at, long_walk, noise_of_data, prior, random_space

from icb_pymc.kernels.smoother import smoother_gains, solve


def problem(space):
    """Gains for the choices at random contrasts, the noise V of these, and something to solve for."""
    rng = np.random.default_rng(1)
    data = data_at(space, rng.standard_normal(space.offset.size))
    return smoother_gains(space, data), noise_of_data(space.first, data), rng.standard_normal(space.offset.size)


def solved(space, gains, values):
    out = np.full(values.size, np.nan)
    return solve(space, gains, values, out), out


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_it_solves_with_the_covariance_of_the_measurements(kind, seed):
    space = random_space(kind, seed)
    gains, noise, values = problem(space)
    _, matrix = prior(space)
    covariance = matrix @ matrix.T + noise
    expected = np.linalg.solve(covariance, values)
    square, out = solved(space, gains, values)
    np.testing.assert_allclose(out, expected, atol=1e-11)
    assert square == pytest.approx(values @ expected, abs=1e-10)
    assert gains.log_volume == pytest.approx(np.linalg.slogdet(covariance)[1], abs=1e-9)


@pytest.mark.parametrize("kind", ["static", "identical rows"])
def test_contrasts_may_have_a_singular_covariance(kind):
    """No strays, and fewer noises than contrasts: K has no inverse, and none is needed."""
    space = random_space(kind)
    _, matrix = prior(space)
    assert np.linalg.matrix_rank(matrix @ matrix.T) < space.offset.size
    gains, noise, values = problem(space)
    _, out = solved(space, gains, values)
    np.testing.assert_allclose((matrix @ matrix.T + noise) @ out, values, atol=1e-12)


def test_identical_candidates_of_one_decision_do_no_harm():
    space = random_space("identity")
    reading, stray = space.reading.copy(), space.stray.copy()
    # Two alternatives alike, and one that is just like the chosen candidate.
    reading[1], stray[1] = reading[0], stray[0]
    reading[4], stray[4] = 0.0, 0.0
    space = space._replace(reading=reading, stray=stray)
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
    # Of a walk K is known without going through unit noises: the start, and the moves that two decisions share.
    time = np.repeat(np.arange(len(space.first) - 1), np.diff(space.first))
    together = 1.0 + move**2 * np.minimum.outer(time, time)
    covariance = together * (space.reading @ space.reading.T) + noise
    expected = np.linalg.solve(covariance, values)
    np.testing.assert_allclose(out, expected, atol=1e-11)
    assert gains.log_volume == pytest.approx(np.linalg.slogdet(covariance)[1], rel=1e-11)


@pytest.mark.parametrize("width", [1.0, 1e2, 1e4])
def test_a_wide_start_costs_fewer_digits_than_it_costs_a_dense_solution(width):
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
