"""The surface through values of a log-density, and walks on it."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import kstest

from icb_pymc.kernels.density_surface import EDGE, fit_surface, height, surface_terms, walk_on_surface


def fitted(log_density, d, count, spread=1.5, seed=0):
    points = spread * np.random.default_rng(seed).standard_normal((count, d))
    values = np.array([log_density(point) for point in points])
    return fit_surface(points, values, np.zeros(d), np.ones(d), np.eye(d))


def test_a_gaussian_is_found_exactly_from_one_value_per_term():
    rng, d = np.random.default_rng(1), 3
    root, centre = rng.standard_normal((d, d)), rng.standard_normal(d)

    def log_density(point):
        return 7.0 - 0.5 * ((root @ (point - centre)) ** 2).sum()

    surface = fitted(log_density, d, 120)
    for point in rng.standard_normal((20, d)):
        difference = height(surface, point) - height(surface, centre)
        assert difference == pytest.approx(log_density(point) - 7.0, abs=0.02)


def test_a_skewed_density_with_an_exponential_tail_is_close():
    def log_density(point):
        return 2 * point[0] - np.exp(point[0]) - 0.5 * (point[1] - 0.3 * point[0]) ** 2

    surface = fitted(log_density, 2, 80)
    grid = np.array([(x, y) for x in np.linspace(-2, 1.8, 9) for y in np.linspace(-1.5, 1.5, 7)])
    errors = [height(surface, point) - log_density(point) for point in grid]
    assert np.std(errors) < 0.1


def test_it_ends_at_the_edges_of_its_box():
    surface = fitted(lambda point: -0.5 * point @ point, 2, 60)
    assert np.isfinite(height(surface, np.array([0.99 * EDGE, 0.0])))
    assert height(surface, np.array([0.0, 1.01 * EDGE])) == -np.inf


def test_the_more_variables_the_lower_the_degree_of_their_products():
    begin, variable, degree = surface_terms(2)
    factors = [list(zip(variable[a:b], degree[a:b], strict=True)) for a, b in pairwise(begin)]
    assert [(0, 3), (1, 3)] in factors
    assert factors[3:6] == [[(0, 0), (0, 0)], [(0, 0), (1, 0)], [(1, 0), (1, 0)]]
    begin, variable, degree = surface_terms(12)
    pairs = [m for m in range(len(begin) - 1) if len(set(variable[begin[m] : begin[m + 1]])) > 1]
    assert len(pairs) == 66
    assert degree.max() == 6


def test_a_walk_draws_from_the_density_of_the_surface():
    surface = fitted(lambda point: point[0] - np.exp(point[0]), 1, 60)
    rng, count = np.random.default_rng(2), 60_000
    visited = np.empty((count, 1))
    walk_on_surface(
        surface, np.zeros(1), rng.standard_normal((count, 1)), rng.standard_exponential(count), 1.0, visited
    )
    grid = np.linspace(surface.centre[0] - EDGE, surface.centre[0] + EDGE, 4001)
    density = np.exp([height(surface, np.array([x])) for x in grid])
    cumulated = np.cumsum(density) / density.sum()
    assert kstest(visited[1000::40, 0], lambda x: np.interp(x, grid, cumulated)).pvalue > 1e-3


def test_a_hotter_walk_goes_farther():
    surface = fitted(lambda point: -0.5 * point @ point, 1, 60)
    rng, count, spread = np.random.default_rng(3), 20_000, []
    for heat in (1.0, 2.0):
        visited = np.empty((count, 1))
        steps, thresholds = rng.standard_normal((count, 1)), rng.standard_exponential(count)
        walk_on_surface(surface, np.zeros(1), steps, thresholds, heat, visited)
        spread.append(visited.var())
    assert spread[0] == pytest.approx(1.0, abs=0.1)
    assert spread[1] == pytest.approx(2.0, abs=0.25)
