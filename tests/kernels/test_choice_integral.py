from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from icb_pymc.kernels.choice_integral import integrate_choices, logistic_normal_log_mean, trapezoidal_grid
from icb_pymc.sample.pointwise import RHO_POINTS, normal_points


@pytest.mark.parametrize("spread", [0.0, 0.05, 1.0, 4.0, 15.0, 19.9, 30.0])
@pytest.mark.parametrize("mean", [-40.0, -2.0, 0.0, 3.0, 25.0])
def test_one_alternative_agrees_with_adaptive_quadrature(mean, spread):
    weights, factors = np.empty(1024), np.empty(1024)
    nodes = trapezoidal_grid(spread, weights, factors) if 0 < spread <= 20 else 0
    log_mean = logistic_normal_log_mean(mean, spread, nodes, weights, factors)
    at_mean = np.logaddexp(0.0, mean)

    def relative(z):
        return np.exp(at_mean - np.logaddexp(0.0, mean + spread * z) + norm.logpdf(z))

    edges = np.linspace(-spread - 10, 10, 25)
    expected = sum(quad(relative, low, high, limit=200)[0] for low, high in pairwise(edges))
    assert log_mean == pytest.approx(np.log(expected) - at_mean, abs=5e-6 if spread <= 20 else 1e-3)


def test_several_alternatives_agree_with_monte_carlo_within_about_two_per_cent():
    rng = np.random.default_rng(0)
    first = np.array([0, 3, 3, 5, 6])
    rows, belief = rng.normal(size=(6, 2)), 0.5 * rng.normal(size=(3, 4, 2))
    sampling_loading, scale = rng.normal(size=(3, 6, 3)), np.array([1.0, 2.0, 3.0])
    lapse = np.array([0.0, 0.1, 0.5])
    lapse = np.array([0.0, 0.1, 0.5])
    log_chosen, odds = np.empty((3, 4)), np.zeros(6)
    points = normal_points(RHO_POINTS, 3)
    integrate_choices(first, rows, scale, lapse, belief, sampling_loading, points, log_chosen, odds)
    expected_odds = np.zeros(6)
    for draw in range(3):
        for t in range(4):
            at = slice(first[t], first[t + 1])
            noise = rng.normal(size=(200_000, 3))
            contrasts = scale[draw] * rows[at] @ belief[draw, t] + noise @ sampling_loading[draw, at].T
            total, uniform = np.exp(contrasts).sum(axis=1) + 1, lapse[draw] / (contrasts.shape[1] + 1)
            chosen = (1 - lapse[draw]) * np.mean(1 / total) + uniform
            assert log_chosen[draw, t] == pytest.approx(np.log(chosen), abs=0.03)
            others = (1 - lapse[draw]) * (np.exp(contrasts) / total[:, None]).mean(axis=0) + uniform
            expected_odds[at] += others / chosen
    np.testing.assert_allclose(odds, expected_odds, rtol=0.1)


def test_a_loading_shared_by_all_draws_may_be_given_once():
    rng = np.random.default_rng(1)
    first, rows = np.array([0, 1, 3]), rng.normal(size=(3, 2))
    belief, sampling_loading = rng.normal(size=(4, 2, 2)), rng.normal(size=(1, 3, 2))
    once, each = np.empty((4, 2)), np.empty((4, 2))
    points = normal_points(RHO_POINTS, 2)
    integrate_choices(first, rows, np.ones(4), np.zeros(4), belief, sampling_loading, points, once, np.zeros(3))
    integrate_choices(
        first, rows, np.ones(4), np.zeros(4), belief, np.repeat(sampling_loading, 4, axis=0), points, each, np.zeros(3)
    )
    np.testing.assert_array_equal(once, each)
