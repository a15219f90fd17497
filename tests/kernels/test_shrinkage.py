"""Kernels of the shrinkage walk, against dense formulas, finite differences and quadrature."""

import numpy as np
import pytest
from scipy.stats import halfcauchy, kstest

from icb_pymc.kernels.shrinkage import (
    ChoiceRows,
    add_innovations,
    contrasts_along,
    decision_log_likelihood,
    draw_local_scales,
    exchange_innovations,
    log_half_cauchy,
    log_likelihood_along,
    log_scale_gradient,
    noncentred_trajectory,
)

T, K = 7, 3


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    # One decision without an alternative, others with one to three.
    first = np.concatenate([[0], np.cumsum([1, 2, 0, 3, 1, 1, 2])])
    rows = ChoiceRows(first, rng.normal(size=first[-1]), rng.normal(size=(first[-1], K)))
    anchor, directions = rng.normal(size=(T, K)), rng.normal(size=(T - 1, K))
    log_base, log_local = rng.normal(size=T - 1) - 1, rng.normal(size=T - 1)
    return rows, anchor, directions, log_base, log_local


def dense_weights(anchor, directions, log_scale):
    moves = np.exp(log_scale)[:, None] * directions
    return anchor + np.concatenate([np.zeros((1, K)), np.cumsum(moves, axis=0)])


def dense_log_likelihood(rows, weights):
    total = 0.0
    for t in range(T):
        part = slice(rows.first[t], rows.first[t + 1])
        contrasts = rows.offset[part] + rows.loading[part] @ weights[t]
        total -= np.logaddexp.reduce([0.0, *contrasts])
    return total


def test_the_density_of_log_scales_is_that_of_a_half_cauchy():
    x = np.array([-30.0, -1.0, 0.0, 0.5, 40.0])
    expected = halfcauchy.logpdf(np.exp(x)) + x - np.log(2 / np.pi)
    assert log_half_cauchy(x) == pytest.approx(expected.sum())
    assert log_half_cauchy(np.empty(0)) == 0.0


def test_weights_and_likelihood_are_those_of_dense_formulas(problem):
    rows, anchor, directions, log_base, log_local = problem
    weights = np.empty((T, K))
    add_innovations(anchor, log_base + log_local, directions, weights)
    np.testing.assert_allclose(weights, dense_weights(anchor, directions, log_base + log_local))
    by_decision = sum(decision_log_likelihood(rows, t, weights[t]) for t in range(T))
    assert by_decision == pytest.approx(dense_log_likelihood(rows, weights))


def test_the_gradient_is_that_of_finite_differences(problem):
    rows, anchor, directions, log_base, log_local = problem
    log_scale, gradient = log_base + log_local, np.empty(T - 1)
    value = log_scale_gradient(rows, anchor, np.exp(log_scale)[:, None] * directions, gradient)
    assert value == pytest.approx(dense_log_likelihood(rows, dense_weights(anchor, directions, log_scale)))
    for t, unit in enumerate(np.eye(T - 1)):
        up, down = (
            dense_log_likelihood(rows, dense_weights(anchor, directions, log_scale + sign * 1e-6 * unit))
            for sign in (1, -1)
        )
        assert gradient[t] == pytest.approx((up - down) / 2e-6, abs=1e-7)


def test_the_likelihood_along_a_line_is_that_of_the_weights_there(problem):
    rows, anchor, directions, log_base, _ = problem
    path = dense_weights(np.zeros((T, K)), directions, log_base)
    level, slope = np.empty(len(rows.offset)), np.empty(len(rows.offset))
    contrasts_along(rows, anchor, path, level, slope)
    for factor in (0.0, 1.0, 3.7):
        expected = dense_log_likelihood(rows, anchor + factor * path)
        assert log_likelihood_along(rows.first, level, slope, factor) == pytest.approx(expected)


def test_the_energy_error_is_of_second_order_and_without_noise_only_the_prior_acts(problem):
    rows, anchor, directions, log_base, log_local = problem
    momentum = np.random.default_rng(1).normal(size=T - 1)
    _, error = noncentred_trajectory(rows, anchor, directions, log_base, log_local, momentum, 0.1, 10)
    _, small = noncentred_trajectory(rows, anchor, directions, log_base, log_local, momentum, 0.05, 20)
    assert 2.5 < error / small < 6
    no_noise, error = noncentred_trajectory(rows, anchor, 0 * directions, log_base, log_local, momentum, 0.01, 10)
    # Without noise only the prior acts: x'' = -tanh(x).
    expected = log_local + 0.1 * momentum - 0.005 * np.tanh(log_local)
    np.testing.assert_allclose(no_noise, expected, atol=5e-4)
    assert abs(error) < 1e-4


@pytest.mark.parametrize("square", [0.0, 0.01, 3.0, 400.0])
@pytest.mark.parametrize("degrees", [1, 4])
def test_the_centred_draw_leaves_the_conditional_invariant(square, degrees):
    """p(x | d) is proportional to HC(e^x) e^x e^{-k x} exp(-square e^{-2x} / 2)."""

    def log_density(x):
        return -abs(x) - np.log1p(np.exp(-2 * abs(x))) - (degrees * x + 0.5 * square * np.exp(-2 * x))

    if square == 0.0:
        # Then the conditional is improper: only that the draw is finite can be checked.
        log_local = np.zeros(100)
        draw_local_scales(np.zeros(100), degrees, log_local, np.random.default_rng(0))
        assert np.isfinite(log_local).all()
        return
    grid = np.linspace(-25, 25, 40_001)
    density = np.exp(log_density(grid) - log_density(grid).max())
    cumulative = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    cumulative /= cumulative[-1]
    rng = np.random.default_rng(2)
    start = np.interp(rng.random(20_000), cumulative, grid)
    moved = start.copy()
    draw_local_scales(np.full(20_000, square), degrees, moved, rng)
    assert not np.allclose(moved, start)
    assert kstest(moved, lambda x: np.interp(x, grid, cumulative)).pvalue > 1e-3


def test_exchanged_innovations_give_the_path_of_the_exchanged_moves(problem):
    rows, anchor, directions, log_base, log_local = problem
    innovations = np.exp(log_base + log_local)[:, None] * directions
    squares, weights = (innovations**2).sum(axis=1), dense_weights(anchor, directions, log_base + log_local)
    scale_before, innovations_before = np.exp(log_base + log_local), innovations.copy()
    rng = np.random.default_rng(0)
    for distance in (1, 2, 4) * 5:
        rate = exchange_innovations(rows, distance, 0, 1, log_base, log_local, innovations, squares, weights, rng)
        assert 0 <= rate <= 1
    scale = np.exp(log_base + log_local)
    order = [int(np.argmin(np.abs(scale_before - value))) for value in scale]
    assert sorted(order) == list(range(T - 1))
    assert order != list(range(T - 1))
    np.testing.assert_allclose(innovations, innovations_before[order])
    np.testing.assert_allclose(squares, (innovations**2).sum(axis=1))
    np.testing.assert_allclose(weights, anchor + np.concatenate([np.zeros((1, K)), np.cumsum(innovations, axis=0)]))


def test_an_exchange_is_accepted_with_the_probability_of_the_posterior_ratio(problem):
    rows, anchor, directions, log_base, log_local = problem
    log_scale = log_base + log_local
    innovations = np.exp(log_scale)[:, None] * directions
    order = np.array([0, 3, 2, 1, 4, 5])
    before = dense_log_likelihood(rows, dense_weights(anchor, directions, log_scale)) + log_half_cauchy(log_local)
    moved = log_scale[order] - log_base
    after = dense_log_likelihood(rows, dense_weights(anchor, directions[order], log_scale[order]))
    expected = min(1.0, np.exp(after + log_half_cauchy(moved) - before))
    rng, accepted = np.random.default_rng(1), 0.0
    for _ in range(4000):
        accepted += exchange_innovations(
            rows,
            2,
            1,
            100,
            log_base,
            log_local.copy(),
            innovations.copy(),
            (innovations**2).sum(axis=1),
            dense_weights(anchor, directions, log_scale),
            rng,
        )
    assert accepted / 4000 == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 4000) + 1e-9)
