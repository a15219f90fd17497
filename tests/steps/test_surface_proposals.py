"""Proposals from a surface through values of a log-density."""

import numpy as np
import pytest
from scipy.stats import kstest

from icb_pymc.kernels.density_surface import height
from icb_pymc.steps.surface_proposals import CLOSE, MOST, SurfaceProposals


def log_gamma(point):
    """Logarithms of gamma variables with shapes 2 and 1, shifted: skewed, with exponential tails."""
    return 2 * (point[0] - 3) - np.exp(point[0] - 3) + point[1] - np.exp(point[1])


def built(seed=0, log_density=log_gamma, d=2):
    proposals = SurfaceProposals()
    proposals.build(log_density, np.zeros(d), 4 * np.eye(d), np.random.default_rng(seed))
    return proposals


def test_a_surface_is_found_from_a_distant_and_wide_guess():
    proposals = built()
    errors = [height(proposals.surface, point) - log_gamma(point) for point in proposals.points[-20:]]
    assert np.std(errors) < 2 * CLOSE


def test_proposals_have_forgotten_the_current_point_and_are_corrected_for_the_surface():
    """Independent starts, one accept step each: the density is that of the target, to which the surface is close."""
    proposals, rng = built(), np.random.default_rng(1)
    point, drawn, accepted, products = np.array([3.0, 0.0]), [], [], []
    for _ in range(1500):
        proposed, log_ratio = proposals.propose(point, rng)
        # Density of proposing the current point over that of proposing the other.
        expected = height(proposals.surface, point) - height(proposals.surface, proposed)
        assert log_ratio == expected
        products.append((proposed[0] - 3.42) * (point[0] - 3.42))
        accept = log_gamma(proposed) - log_gamma(point) + log_ratio
        accepted.append(min(1.0, np.exp(accept)))
        point = proposed if np.log(rng.random()) < accept else point
        drawn.append(point)
    assert np.mean(accepted) > 0.85
    assert abs(np.mean(products)) < 0.1
    drawn = np.array(drawn)[::3]
    assert kstest(np.exp(drawn[:, 1]), "expon").pvalue > 1e-3


def test_from_outside_of_the_surface_nothing_is_proposed():
    proposals = built()
    point = proposals.surface.centre + 10 * proposals.surface.scale
    proposed, log_ratio = proposals.propose(point, np.random.default_rng(0))
    assert log_ratio == -np.inf
    np.testing.assert_array_equal(proposed, point)


def test_further_values_are_fitted():
    proposals, rng = built(), np.random.default_rng(2)
    before = proposals.surface.coefficient
    for _ in range(25):
        point, _ = proposals.propose(np.array([3.0, 0.0]), rng)
        proposals.add(point, log_gamma(point))
        proposals.add(point, -np.inf)
    assert np.abs(proposals.surface.coefficient - before).max() > 0


def test_another_density_is_searched_from_the_surface_of_the_last():
    proposals = built()
    count = len(proposals.values)
    proposals.build(lambda point: log_gamma(point) + 0.3 * point[0], np.zeros(2), np.eye(2), np.random.default_rng(3))
    assert len(proposals.values) <= count
    heights = [height(proposals.surface, point) for point in np.array([[3.0, 0.0], [2.0, 0.0]])]
    assert heights[0] - heights[1] == pytest.approx(log_gamma([3.0, 0.0]) - log_gamma([2.0, 0.0]) + 0.3, abs=0.2)


@pytest.mark.parametrize("d", [2, MOST + 1])
def test_where_there_is_no_density_or_too_many_variables_there_is_no_surface(d):
    assert built(log_density=lambda point: -np.inf if d == 2 else -0.5 * point @ point, d=d).surface is None


def test_the_state_holds_all_of_it():
    proposals, other = built(), SurfaceProposals()
    other.state = proposals.state
    one, same = (each.propose(np.array([3.0, 0.0]), np.random.default_rng(4)) for each in (proposals, other))
    np.testing.assert_array_equal(one[0], same[0])
    other.state = SurfaceProposals().state
    assert other.surface is None
