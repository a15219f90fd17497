"""Joint diagonalisation of two covariances."""

import numpy as np
import pytest

from icb_pymc.kernels.joint_diagonalisation import covariance_root, shared_axes


def random_spd(rng, k):
    factor = rng.standard_normal((k, k))
    return factor @ factor.T + 0.1 * np.eye(k)


@pytest.mark.parametrize("seed", range(4))
def test_sampling_covariance_becomes_identity_and_innovation_covariance_diagonal(seed):
    rng = np.random.default_rng(seed)
    innovation, sampling = random_spd(rng, 3), random_spd(rng, 3)
    axes = shared_axes(innovation, sampling)
    np.testing.assert_allclose(axes.to_axes.T @ sampling @ axes.to_axes, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(
        axes.to_axes.T @ innovation @ axes.to_axes, np.diag(axes.innovation_variance), atol=1e-10
    )


def test_the_transformations_are_inverse_and_preserve_inner_products():
    rng = np.random.default_rng(5)
    axes = shared_axes(random_spd(rng, 3), random_spd(rng, 3))
    belief, context = rng.standard_normal((6, 3)), rng.standard_normal((6, 3))
    np.testing.assert_allclose(belief @ axes.to_axes @ axes.from_axes, belief, atol=1e-10)
    np.testing.assert_allclose(
        np.sum((context @ axes.from_axes.T) * (belief @ axes.to_axes), axis=1),
        np.sum(context * belief, axis=1),
        atol=1e-10,
    )


@pytest.mark.parametrize("rank", [0, 1])
def test_a_singular_innovation_covariance_gives_nonnegative_variances(rank):
    rng = np.random.default_rng(6)
    factor = rng.standard_normal((3, rank))
    axes = shared_axes(factor @ factor.T, random_spd(rng, 3))
    assert np.all(axes.innovation_variance >= 0)
    assert np.sum(axes.innovation_variance > 1e-10) == rank


def test_the_damped_covariances_of_the_paper_share_their_axes():
    damped = np.eye(8) - 0.99 * np.full((8, 8), 1 / 8)
    axes = shared_axes(0.01 * damped, 0.5 * damped)
    np.testing.assert_allclose(axes.innovation_variance, 0.02, rtol=1e-10)


@pytest.mark.parametrize(
    ("innovation", "sampling", "message"),
    [
        (np.eye(2), np.zeros((2, 2)), "Sigma_P.* must be positive definite"),
        (np.eye(2), np.diag([1.0, -1.0]), "Sigma_P.* must be positive definite"),
        (np.diag([1.0, -1.0]), np.eye(2), "Sigma_B.* must be positive semi-definite"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), np.eye(2), "Sigma_B.* must be symmetric"),
        (np.eye(2), np.array([[1.0, np.nan], [np.nan, 1.0]]), "Sigma_P.* not finite"),
        (np.eye(2), np.ones(2), "Sigma_P.* must be a square matrix"),
        (np.eye(2), np.eye(3), "Sigma_B has shape"),
    ],
)
def test_matrices_that_are_not_covariances_are_rejected(innovation, sampling, message):
    with pytest.raises(ValueError, match=message):
        shared_axes(innovation, sampling)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_root_times_its_transpose_is_the_covariance_at_any_rank(rank):
    factor = np.random.default_rng(7).standard_normal((3, rank))
    root = covariance_root(factor @ factor.T)
    np.testing.assert_allclose(root @ root.T, factor @ factor.T, atol=1e-12)


def test_roots_of_almost_equal_covariances_are_almost_equal():
    damped = np.eye(4) - 0.24
    jitter = 1e-8 * np.random.default_rng(0).normal(size=(4, 4))
    np.testing.assert_allclose(covariance_root(damped + jitter + jitter.T), covariance_root(damped), atol=1e-6)
