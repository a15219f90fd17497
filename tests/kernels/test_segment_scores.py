import numpy as np
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.kernels.segment_scores import (
    draw_preference,
    evidence_of_segments,
    fill_evidence_row,
    laplace_evidence,
    laplace_gaussian,
    likelihood_of_segments,
    posterior_slopes,
)
from icb_pymc.kernels.weights_metropolis import contrast_columns, fold_log_likelihood, make_scratch, walk_fold


def contrasts_of(steps, actions, features, seed=0, alpha=1.0):
    arrivals = make_arrivals(steps, actions, features, seed=seed, share_available=0.8)
    available = arrivals["available"].values
    rng = np.random.default_rng(seed + 1)
    chosen = np.where(available, rng.random(available.shape), -1.0).argmax(axis=1)
    return choice_contrasts(arrivals["context"].values, available, chosen, alpha)


@pytest.mark.parametrize("actions", [2, 4])
def test_gradient_and_hessian_agree_with_finite_differences(actions):
    contrasts = contrasts_of(9, actions, 3)
    mean, precision = np.array([0.2, 0.0, -0.1]), np.diag([1.0, 2.0, 3.0]) + 0.1
    weights = np.array([0.4, -0.6, 0.1])

    def slopes(point):
        gradient, curvature = np.empty(3), np.empty((3, 3))
        value = posterior_slopes(contrasts, 1, 8, mean, precision, point, gradient, curvature)
        return value, gradient, curvature

    _, gradient, curvature = slopes(weights)
    shift = 1e-6 * np.eye(3)
    up, down = [slopes(weights + move) for move in shift], [slopes(weights - move) for move in shift]
    np.testing.assert_allclose([(u[0] - d[0]) / 2e-6 for u, d in zip(up, down, strict=True)], gradient, atol=1e-7)
    np.testing.assert_allclose([(u[1] - d[1]) / 2e-6 for u, d in zip(up, down, strict=True)], curvature, atol=1e-7)


def test_the_value_is_minus_the_log_posterior_up_to_a_constant():
    contrasts = contrasts_of(9, 3, 2)
    mean, precision, weights = np.array([0.2, -0.1]), np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([0.5, 1.5])
    value = posterior_slopes(contrasts, 0, 9, mean, precision, weights, np.empty(2), np.empty((2, 2)))
    data = contrast_columns(contrasts)
    expected = 0.5 * (weights - mean) @ precision @ (weights - mean)
    expected -= fold_log_likelihood(data, 0, 9, weights, make_scratch(data))
    assert value == pytest.approx(expected)


def test_laplace_evidence_is_near_the_integral():
    contrasts = contrasts_of(40, 2, 1, alpha=0.5)
    mean, precision = np.array([0.3]), np.array([[1.0]])
    grid = np.linspace(-8, 8, 4001)[:, None]
    data = contrast_columns(contrasts)
    log_joint = np.array([fold_log_likelihood(data, 0, 40, point, make_scratch(data)) for point in grid])
    log_joint += -0.5 * (grid[:, 0] - 0.3) ** 2 - 0.5 * np.log(2 * np.pi)
    exact = np.log(np.exp(log_joint).sum() * (grid[1, 0] - grid[0, 0]))
    weights = mean.copy()
    assert laplace_evidence(contrasts, 0, 40, mean, precision, weights) == pytest.approx(exact, abs=0.02)
    assert log_joint.max() == pytest.approx(
        fold_log_likelihood(data, 0, 40, weights, make_scratch(data))
        - 0.5 * (weights[0] - 0.3) ** 2
        - 0.5 * np.log(2 * np.pi),
        abs=1e-4,
    )


@pytest.mark.parametrize("start", [-40.0, 40.0])
def test_the_mode_is_found_from_where_a_whole_newton_step_would_overshoot(start):
    """Far from the mode the likelihood is almost linear, so that its curvature says nothing about where it ends."""
    contrasts = contrasts_of(40, 3, 1)
    mean, precision = np.array([0.3]), np.array([[0.01]])
    near, far = mean.copy(), np.array([start])
    expected = laplace_evidence(contrasts, 0, 40, mean, precision, near)
    assert laplace_evidence(contrasts, 0, 40, mean, precision, far) == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(far, near, atol=1e-6)


def test_the_mode_is_found_for_perfectly_separated_choices():
    contrasts = contrasts_of(60, 2, 2, alpha=500.0)
    gradient = np.empty(2)
    weights = np.zeros(2)
    assert np.isfinite(laplace_evidence(contrasts, 0, 60, np.zeros(2), np.eye(2), weights))
    posterior_slopes(contrasts, 0, 60, np.zeros(2), np.eye(2), weights, gradient, np.empty((2, 2)))
    assert np.abs(gradient).max() < 1e-3


def test_without_alternatives_the_log_evidence_is_zero():
    contrasts = choice_contrasts(np.ones((3, 1, 2)), np.ones((3, 1), bool), np.zeros(3, int), 20.0)
    assert laplace_evidence(contrasts, 0, 3, np.zeros(2), np.eye(2), np.zeros(2)) == pytest.approx(0.0)


def test_tables_hold_every_segment_and_do_not_depend_on_warm_starts():
    contrasts = contrasts_of(25, 3, 2)
    boundaries, mean, precision = np.array([0, 10, 20, 25]), np.zeros(2), np.eye(2)
    table = evidence_of_segments(contrasts, boundaries, mean, precision)
    for i in range(3):
        for j in range(4):
            if j > i:
                cold_start = laplace_evidence(contrasts, boundaries[i], boundaries[j], mean, precision, np.zeros(2))
                assert table[i, j] == pytest.approx(cold_start, abs=1e-6)
            else:
                assert table[i, j] == -np.inf


def test_the_paper_s_score_is_the_likelihood_at_the_mean_of_the_draws_at_unit_norm():
    data = contrast_columns(contrasts_of(20, 2, 2))
    boundaries, origin, flat = np.array([0, 20]), np.full(2, -0.5), np.zeros((2, 2))
    table = likelihood_of_segments(data, boundaries, origin, flat, 0.1, 30, 7, 3, np.random.default_rng(5))
    rng, weights, draws = np.random.default_rng(5), origin.copy(), []
    walk_fold(data, 0, 20, origin, flat, 0.1, 30, rng, weights, make_scratch(data))
    for _ in range(7):
        walk_fold(data, 0, 20, origin, flat, 0.1, 3, rng, weights, make_scratch(data))
        draws.append(weights.copy())
    estimate = np.mean(draws, axis=0)
    estimate /= np.abs(estimate).sum()
    assert table[0, 1] == pytest.approx(fold_log_likelihood(data, 0, 20, estimate, make_scratch(data)))


def test_only_missing_entries_of_a_table_are_computed():
    contrasts = contrasts_of(25, 3, 2)
    boundaries, mean, precision = np.array([0, 10, 20, 25]), np.zeros(2), np.eye(2)
    expected = evidence_of_segments(contrasts, boundaries, mean, precision)
    scores = expected.copy()
    scores[0, 1], scores[0, 3] = 123.0, np.nan
    fill_evidence_row(contrasts, boundaries, 0, mean, precision, scores)
    assert scores[0, 1] == 123.0
    assert scores[0, 3] == pytest.approx(expected[0, 3], abs=1e-6)
    np.testing.assert_array_equal(scores[1:], expected[1:])


def test_draws_of_a_preference_have_the_skewed_posterior_and_not_the_gaussian_around_its_mode():
    # Three certain choices: all that is known is that the weight is positive.
    contrasts = choice_contrasts(np.tile([[[2.0], [0.0]]], (3, 1, 1)), np.ones((3, 2), bool), np.zeros(3, int), 1.0)
    mean, precision = np.zeros(1), np.array([[0.04]])
    mode, curvature = laplace_gaussian(contrasts, 0, 3, mean, precision)
    rng = np.random.default_rng(0)
    factor = 1 / np.sqrt(curvature)
    draws = [draw_preference(contrasts, 0, 3, mean, precision, mode, factor, 20, rng)[0] for _ in range(20_000)]
    grid = np.linspace(-10, 40, 50_001)
    density = np.exp(-3 * np.logaddexp(0, -2 * grid) - 0.02 * grid**2)
    density /= density.sum()
    assert np.mean(draws) == pytest.approx(density @ grid, rel=0.03)
    assert abs(mode[0] - density @ grid) > 1.0
    assert np.std(draws) == pytest.approx(np.sqrt(density @ (grid - density @ grid) ** 2), rel=0.05)
