"""Sites against dense Gaussian formulas."""

import numpy as np
import pytest

from icb_pymc.kernels.choice_sites import apply_site, make_site


def random_site(count, seed):
    rng = np.random.default_rng(seed)
    root = np.tril(rng.normal(size=(count, count)), -1) + np.diag(rng.uniform(0.5, 1.5, count))
    half = rng.normal(size=(count, count))
    return rng.normal(size=count), root, half @ half.T, rng.normal(size=count)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_site_turns_the_contrasts_into_the_dense_gaussian(count):
    centre, root, precision, linear = random_site(count, seed=count)
    mean, covariance = np.empty(count), np.empty((count, count))
    value = apply_site(count, centre, root, precision, linear, mean, covariance)
    prior = np.linalg.inv(root @ root.T)
    dense = np.linalg.inv(prior + precision)
    moved = dense @ (prior @ centre + linear)
    np.testing.assert_allclose(root @ covariance @ root.T, dense, atol=1e-10)
    np.testing.assert_allclose(centre + root @ mean, moved, atol=1e-10)
    # The integral of the two: completing the square.
    square = moved @ np.linalg.solve(dense, moved) - centre @ prior @ centre
    assert value == pytest.approx(0.5 * (square + np.linalg.slogdet(dense @ prior)[1]))


@pytest.mark.parametrize("count", [1, 3])
def test_the_site_made_of_moments_gives_these_moments_back(count):
    centre, root, _, _ = random_site(count, seed=count)
    half = np.eye(count) + 0.2 * np.random.default_rng(0).normal(size=(count, count))
    wanted, moments = np.linspace(-0.5, 0.3, count), 0.6 * half @ half.T
    precision, linear = np.empty((count, count)), np.empty(count)
    make_site(count, centre, root, wanted.copy(), moments.copy(), precision, linear)
    mean, covariance = np.empty(count), np.empty((count, count))
    apply_site(count, centre, root, precision, linear, mean, covariance)
    np.testing.assert_allclose(mean, wanted, atol=1e-10)
    np.testing.assert_allclose(covariance, moments, atol=1e-10)


def test_a_contrast_that_others_determine_has_no_site():
    root = np.array([[1.5, 0.0], [1.5, 0.0]])
    precision, linear = np.empty((2, 2)), np.empty(2)
    make_site(2, np.zeros(2), root, np.array([0.2, 0.7]), np.diag([0.5, 3.0]), precision, linear)
    np.testing.assert_allclose(precision, [[1 / 1.5**2, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(linear, [0.4 / 1.5, 0.0])


def test_a_site_that_would_make_a_contrast_less_certain_keeps_the_mean_without_a_negative_precision():
    """As after a choice that was probably a lapse: one direction is less certain than before, the other more."""
    centre, root, _, _ = random_site(2, seed=2)
    axes = np.linalg.qr(np.random.default_rng(1).normal(size=(2, 2)))[0]
    wanted, moments = np.array([-0.4, 0.2]), axes @ np.diag([1.3, 0.5]) @ axes.T
    precision, linear = np.empty((2, 2)), np.empty(2)
    make_site(2, centre, root, wanted.copy(), moments.copy(), precision, linear)
    assert np.linalg.eigvalsh(precision).min() > -1e-12
    mean, covariance = np.empty(2), np.empty((2, 2))
    apply_site(2, centre, root, precision, linear, mean, covariance)
    np.testing.assert_allclose(mean, wanted, atol=1e-10)
    assert np.linalg.eigvalsh(covariance).max() <= 1 + 1e-12
