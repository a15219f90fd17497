"""The O(Tk) belief path against the Tk x Tk matrices of Lemma 2."""

import numpy as np
import pytest

from icb_pymc.kernels.belief_given_rho import draw_belief_path, path_gains
from icb_pymc.kernels.joint_diagonalisation import shared_axes

SHAPES = [(seed, T, k) for seed, (T, k) in enumerate([(8, 3), (8, 2), (5, 3), (2, 1), (1, 3)])]


def random_spd(rng, k):
    factor = rng.standard_normal((k, k))
    return factor @ factor.T + 0.1 * np.eye(k)


def prior_covariance(start_covariance, innovation_covariance, elapsed):
    """Covariance of vec(β_1..β_T): the start, which all times share, plus a Wiener process."""
    since_start = np.concatenate([[0.0], np.cumsum(elapsed)])
    T = since_start.size
    return np.kron(np.ones((T, T)), start_covariance) + np.kron(
        np.minimum.outer(since_start, since_start), innovation_covariance
    )


def mean_and_covariance(gains, start_mean, rho):
    """Mean and covariance of a draw, computed from unit noise because the draw is affine in its noise."""
    T, k = rho.shape
    mean = np.empty((T, k))
    draw_belief_path(gains, start_mean, rho, np.zeros((T, k)), mean)
    columns = []
    for unit in np.eye(T * k):
        path = np.empty((T, k))
        draw_belief_path(gains, start_mean, rho, unit.reshape(T, k), path)
        columns.append((path - mean).ravel())
    return mean, np.transpose(columns) @ np.array(columns)


@pytest.mark.parametrize(("seed", "T", "k"), SHAPES)
def test_mean_and_covariance_are_those_of_lemma_2_as_printed(seed, T, k):
    rng = np.random.default_rng(seed)
    innovation, sampling, rho = random_spd(rng, k), random_spd(rng, k), rng.standard_normal((T, k))
    steps = np.arange(1, T + 1)
    wiener = np.kron(np.minimum.outer(steps, steps), innovation)
    noise = np.kron(np.eye(T), sampling)
    covariance = np.linalg.inv(np.linalg.inv(wiener) + np.linalg.inv(noise))
    mean = covariance @ np.linalg.inv(noise) @ rho.ravel()

    axes = shared_axes(innovation, sampling)
    gains = path_gains(np.diag(axes.innovation_variance), axes.innovation_variance, np.ones(T - 1))
    path_mean, path_covariance = mean_and_covariance(gains, np.zeros(k), rho @ axes.to_axes)
    back = np.kron(np.eye(T), axes.from_axes)
    np.testing.assert_allclose((path_mean @ axes.from_axes).ravel(), mean, atol=1e-8)
    np.testing.assert_allclose(back.T @ path_covariance @ back, covariance, atol=1e-8)


@pytest.mark.parametrize("start", ["full", "rank one", "zero", "vague"])
@pytest.mark.parametrize("innovation_rank", [3, 1, 0])
@pytest.mark.parametrize("seed", range(2))
def test_time_gaps_and_singular_or_vague_covariances_agree_with_the_dense_gaussian(seed, innovation_rank, start):
    T, k = 7, 3
    rng = np.random.default_rng(seed)
    sampling, rho, start_mean = random_spd(rng, k), rng.standard_normal((T, k)), rng.standard_normal(k)
    elapsed = rng.exponential(size=T - 1) * rng.integers(0, 2, size=T - 1)
    factor = rng.standard_normal((k, innovation_rank))
    innovation = factor @ factor.T
    direction = rng.standard_normal((k, 1))
    start_covariance = {
        "full": random_spd(rng, k),
        "rank one": direction @ direction.T,
        "zero": np.zeros((k, k)),
        "vague": 1e4 * random_spd(rng, k),
    }[start]
    prior = prior_covariance(start_covariance, innovation, elapsed)
    total = prior + np.kron(np.eye(T), sampling)
    mean = np.tile(start_mean, T) + prior @ np.linalg.solve(total, (rho - start_mean).ravel())
    covariance = prior - prior @ np.linalg.solve(total, prior)

    axes = shared_axes(innovation, sampling)
    gains = path_gains(axes.to_axes.T @ start_covariance @ axes.to_axes, axes.innovation_variance, elapsed)
    path_mean, path_covariance = mean_and_covariance(gains, start_mean @ axes.to_axes, rho @ axes.to_axes)
    back = np.kron(np.eye(T), axes.from_axes)
    np.testing.assert_allclose((path_mean @ axes.from_axes).ravel(), mean, atol=1e-8)
    np.testing.assert_allclose(back.T @ path_covariance @ back, covariance, atol=1e-8)


def test_a_belief_that_never_moves_is_a_precision_weighted_average():
    rho = np.array([[1.0], [2.0], [6.0]])
    path = np.empty((3, 1))
    gains = path_gains(np.array([[0.5]]), np.zeros(1), np.ones(2))
    draw_belief_path(gains, np.zeros(1), rho, np.ones((3, 1)), path)
    assert np.all(path == path[0])
    draw_belief_path(gains, np.zeros(1), rho, np.zeros((3, 1)), path)
    np.testing.assert_allclose(path, 9 / (3 + 1 / 0.5), atol=1e-12)


def test_with_a_very_vague_start_the_first_belief_follows_the_data():
    rho = np.array([[1.0, -2.0]])
    gains = path_gains(1e14 * np.array([[1.0, 0.9], [0.9, 1.0]]), np.ones(2), np.empty(0))
    mean, covariance = mean_and_covariance(gains, np.zeros(2), rho)
    np.testing.assert_allclose(mean, rho, atol=1e-8)
    np.testing.assert_allclose(covariance, np.eye(2), atol=1e-8)


def test_memory_grows_linearly_with_the_length_of_the_log():
    T, k = 100_000, 8
    gains = path_gains(np.eye(k), np.full(k, 1e-3), np.ones(T - 1))
    assert sum(array.size for array in gains) <= 3 * T * k + 2 * k * k
    path = np.empty((T, k))
    draw_belief_path(gains, np.zeros(k), np.zeros((T, k)), np.ones((T, k)), path)
    assert np.all(np.isfinite(path))
