"""The mode against a general optimiser in the space of the noise, and the evidence against dense formulas."""

import numpy as np
import pytest
from helpers.state_spaces import KINDS, data_at, log_likelihood, long_walk, prior, probabilities, random_space
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.stats import multivariate_normal

from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.pseudo_data import empty_data


def dense_curvature(first, contrasts):
    """W = diag(p) - pp' of each decision."""
    share = probabilities(first, contrasts)
    time = np.repeat(np.arange(len(first) - 1), np.diff(first))
    return np.diag(share) - np.where(time[:, None] == time, np.outer(share, share), 0.0)


def mode_by_scipy(space):
    """The contrasts at the maximum of log π(m + A z) - z'z/2, its value, and the log-determinant of its curvature."""
    mean, matrix = prior(space)

    def loss(noise):
        return 0.5 * noise @ noise - log_likelihood(space.first, mean + matrix @ noise)

    def slope(noise):
        return noise + matrix.T @ probabilities(space.first, mean + matrix @ noise)

    def curvature(noise):
        return np.eye(noise.size) + matrix.T @ dense_curvature(space.first, mean + matrix @ noise) @ matrix

    start = np.zeros(matrix.shape[1])
    result = minimize(loss, start, jac=slope, hess=curvature, method="trust-exact", options={"gtol": 1e-11})
    return mean + matrix @ result.x, -result.fun, np.linalg.slogdet(curvature(result.x))[1]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_the_mode_maximises_the_posterior_density_of_the_noise(kind, seed):
    space = random_space(kind, seed)
    expected, value, log_determinant = mode_by_scipy(space)
    mode = find_mode(space)
    np.testing.assert_allclose(mode.contrasts, expected, atol=1e-7)
    np.testing.assert_allclose(mode.multipliers, -probabilities(space.first, expected), atol=1e-7)
    # Laplace's method: the density at the mode and the volume of the Gaussian around it. Tiny
    # shares are raised to a floor of 1e-8, hence the tolerance.
    assert mode.log_evidence == pytest.approx(value - 0.5 * log_determinant, abs=1e-5)


def test_pseudo_data_and_multipliers_are_those_at_the_mode():
    space = random_space("rank one over time")
    mode = find_mode(space)
    data = data_at(space, mode.contrasts)
    for actual, expected in zip(mode.data, data, strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-6)
    mean, matrix = prior(space)
    np.testing.assert_allclose(mode.contrasts, mean + matrix @ matrix.T @ mode.multipliers, atol=1e-7)


@pytest.mark.parametrize("distance", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("kind", ["identity", "static", "identical rows", "all over time"])
def test_the_search_finds_the_mode_from_any_start(kind, distance):
    space = random_space(kind)
    far = empty_data(space.first)
    far.values[:] = distance * np.random.default_rng(3).standard_normal(space.offset.size)
    far.variance[:], far.common_variance[:] = 0.1, 0.1
    given = far.values.copy()
    mode, expected = find_mode(space, far), find_mode(space)
    np.testing.assert_allclose(mode.contrasts, expected.contrasts, atol=1e-6)
    assert mode.log_evidence == pytest.approx(expected.log_evidence, abs=1e-6)
    np.testing.assert_array_equal(far.values, given)


def test_a_warm_start_from_a_similar_model_finds_the_same_mode():
    space = long_walk(60, 0.1, contrasts=2)
    other = space._replace(move_scale=1.3 * space.move_scale)
    warm, cold = find_mode(space, find_mode(other).data), find_mode(space)
    np.testing.assert_allclose(warm.contrasts, cold.contrasts, atol=1e-7)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-8)


def one_weight(contrasts, width):
    """One weight that never moves, N(0, width²), with one alternative at each decision."""
    space = long_walk(len(contrasts), 0.0, features=1)
    return space._replace(start_root=np.array([[width]]), state_loading=np.array(contrasts, dtype=float)[:, None])


@pytest.mark.parametrize("width", [1.0, 1e2, 1e4])
def test_the_search_converges_for_perfectly_separated_choices(width):
    """The likelihood increases without bound in the weight and the prior is wide: the mode is where they balance."""
    readings = -np.random.default_rng(5).uniform(0.5, 2.0, 50)
    mode = find_mode(one_weight(readings, width))

    def slope(weight):
        return -weight / width**2 - readings @ np.exp(weight * readings - np.logaddexp(0.0, weight * readings))

    weight = brentq(slope, 0.0, 1e3, xtol=1e-12)
    np.testing.assert_allclose(mode.contrasts, weight * readings, rtol=1e-5)
    assert np.isfinite(mode.log_evidence)


def test_the_search_converges_for_very_unlikely_choices():
    """At the start each choice has a probability of e^-500, so the likelihood has a slope but no curvature."""
    readings = -np.random.default_rng(5).uniform(0.5, 2.0, 50)
    space = one_weight(readings, 100.0)
    space = space._replace(start_mean=np.array([-500.0]))

    def slope(weight):
        return -(weight + 500.0) / 1e4 - readings @ np.exp(weight * readings - np.logaddexp(0.0, weight * readings))

    mode = find_mode(space)
    np.testing.assert_allclose(mode.contrasts, brentq(slope, -500.0, 500.0, xtol=1e-12) * readings, rtol=1e-5)


def test_without_alternatives_the_log_evidence_is_zero():
    assert find_mode(random_space("no alternatives")).log_evidence == 0.0


def test_the_evidence_of_one_weight_is_close_to_its_integral():
    """With forty decisions the posterior of one weight is nearly Gaussian: Laplace's method is within 0.03."""
    rng = np.random.default_rng(6)
    readings = rng.standard_normal(40)
    # The contrast belongs to the candidate not chosen, so the choices follow a weight of one.
    readings = np.where(rng.random(40) < 1 / (1 + np.exp(-readings)), -readings, readings)
    space = one_weight(readings, 1.5)
    likelihood, _ = quad(lambda w: np.exp(-np.logaddexp(0, w * readings).sum() - 0.5 * (w / 1.5) ** 2), -9, 9)
    expected = np.log(likelihood / (1.5 * np.sqrt(2 * np.pi)))
    assert find_mode(space).log_evidence == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("contrasts", [1, 2])
def test_the_evidence_of_moving_beliefs_is_close_to_importance_sampling(contrasts):
    """Importance sampling in the noise, from the Gaussian around the mode: exact up to its standard error.

    Laplace's method is an approximation. With fifteen decisions and small moves it should be within 0.1 of the truth.
    """
    space = long_walk(15, 0.15, contrasts=contrasts, alpha=1.5)
    mean, matrix = prior(space)
    mode, rng, draws = find_mode(space), np.random.default_rng(7), 100_000
    centre = matrix.T @ mode.multipliers
    precision = np.eye(centre.size) + matrix.T @ dense_curvature(space.first, mode.contrasts) @ matrix
    covariance = np.linalg.inv(precision)
    noise = centre + rng.standard_normal((draws, centre.size)) @ np.linalg.cholesky(covariance).T
    path = (mean + noise @ matrix.T).reshape(draws, 15, contrasts)
    likelihood = -np.log1p(np.exp(path).sum(axis=-1)).sum(axis=-1)
    log_prior = -0.5 * (noise**2).sum(axis=1) - 0.5 * centre.size * np.log(2 * np.pi)
    log_weight = likelihood + log_prior - multivariate_normal(centre, covariance).logpdf(noise)
    weight = np.exp(log_weight - log_weight.max())
    error = weight.std() / weight.mean() / np.sqrt(draws)
    assert error < 0.01
    assert mode.log_evidence == pytest.approx(np.log(weight.mean()) + log_weight.max(), abs=0.1)


def dense_information(first, contrasts, lapse):
    """The Fisher information of choices with lapses between two candidates."""
    p = probabilities(first, contrasts)
    attentive = (1 - lapse) * p + lapse / 2
    return np.diag(((1 - lapse) * p * (1 - p)) ** 2 / (attentive * (1 - attentive)))


@pytest.mark.parametrize("lapse", [0.02, 0.3])
@pytest.mark.parametrize("kind", KINDS)
def test_with_lapses_the_mode_is_a_maximum_of_the_mixture(kind, lapse):
    space = random_space(kind)._replace(lapse=lapse)
    mean, matrix = prior(space)
    mode = find_mode(space)

    def loss(noise):
        return 0.5 * noise @ noise - log_likelihood(space.first, mean + matrix @ noise, lapse)

    found = matrix.T @ mode.multipliers
    best = minimize(loss, found, method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(mode.contrasts, mean + matrix @ found, atol=1e-7)
    assert loss(found) == pytest.approx(best.fun, abs=1e-9)
    assert np.linalg.norm(found - best.x) < 1e-3


@pytest.mark.parametrize("lapse", [0.02, 0.3])
def test_the_evidence_with_lapses_is_that_of_the_information_at_the_mode(lapse):
    space = long_walk(25, 0.2, alpha=2.0)._replace(lapse=lapse)
    _, matrix = prior(space)
    mode = find_mode(space)
    noise = matrix.T @ mode.multipliers
    density = log_likelihood(space.first, mode.contrasts, lapse) - 0.5 * noise @ noise
    precision = np.eye(noise.size) + matrix.T @ dense_information(space.first, mode.contrasts, lapse) @ matrix
    assert mode.log_evidence == pytest.approx(density - 0.5 * np.linalg.slogdet(precision)[1], abs=1e-5)


def test_with_lapses_that_never_happen_the_evidence_is_that_without():
    for kind in ("identity", "one alternative each"):
        space = random_space(kind)
        few = find_mode(space._replace(lapse=1e-13)).log_evidence
        assert few == pytest.approx(find_mode(space).log_evidence, abs=1e-5)


@pytest.mark.parametrize("contrasts", [1, 2])
@pytest.mark.parametrize("lapse", [0.05, 0.3])
def test_the_evidence_of_one_weight_with_lapses_is_close_to_its_integral(contrasts, lapse):
    """Choices of 60 decisions follow a weight of one, and a share of them is made at random."""
    rng = np.random.default_rng(6)
    rows = rng.standard_normal((60, contrasts))
    utility = np.column_stack([np.zeros(60), rows])
    chosen = (utility + rng.gumbel(size=utility.shape)).argmax(axis=1)
    chosen = np.where(rng.random(60) < lapse, rng.integers(contrasts + 1, size=60), chosen)
    away = utility - utility[np.arange(60), chosen][:, None]
    rows = away[np.arange(contrasts + 1) != chosen[:, None]]
    space = long_walk(60, 0.0, contrasts=contrasts, features=1)
    space = space._replace(start_root=np.array([[1.5]]), state_loading=rows[:, None], lapse=lapse)

    def density(weight):
        return np.exp(log_likelihood(space.first, weight * rows, lapse) - 0.5 * (weight / 1.5) ** 2 + 30)

    area, _ = quad(density, -9, 9, points=[0, 1, 2])
    expected = np.log(area / (1.5 * np.sqrt(2 * np.pi))) - 30
    assert find_mode(space).log_evidence == pytest.approx(expected, abs=0.1)
