import numpy as np
import pytest
from helpers.agreement import standard_error
from helpers.arrivals import make_arrivals

from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.kernels.weights_metropolis import (
    BLOCK,
    contrast_columns,
    fold_log_likelihood,
    make_scratch,
    walk_fold,
    walk_folds,
)


def problem(steps, actions, features, share=0.8, seed=0, alpha=1.0):
    arrivals = make_arrivals(steps, actions, features, seed=seed, share_available=share)
    context, available = arrivals["context"].values, arrivals["available"].values
    rng = np.random.default_rng(seed + 1)
    chosen = np.where(available, rng.random(available.shape), -1.0).argmax(axis=1)
    return context, available, chosen, contrast_columns(choice_contrasts(context, available, chosen, alpha))


def dense_log_likelihood(context, available, chosen, weights, alpha=1.0):
    utility = np.where(available, alpha * context @ weights, -np.inf)
    return (utility[np.arange(len(chosen)), chosen] - np.logaddexp.reduce(utility, axis=1)).sum()


@pytest.mark.parametrize("size", [0.0, 0.3, 30.0, 3000.0])
@pytest.mark.parametrize("actions", [2, 4])
def test_the_log_likelihood_of_a_fold_is_the_sum_of_log_softmax(actions, size):
    context, available, chosen, data = problem(3 * BLOCK, actions, 3)
    assert data.pairwise == (actions == 2)
    weights = size * np.array([1.0, -0.5, 0.2])
    for start, stop in [(0, 3 * BLOCK), (5, 6), (10, 300), (7, 7)]:
        part = slice(start, stop)
        expected = dense_log_likelihood(context[part], available[part], chosen[part], weights)
        actual = fold_log_likelihood(data, start, stop, weights, make_scratch(data))
        assert actual == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("actions", [2, 3])
def test_the_walk_samples_the_posterior_that_quadrature_gives(actions):
    context, available, chosen, data = problem(6, actions, 2)
    mean, covariance = np.array([0.3, -0.2]), np.array([[1.0, 0.3], [0.3, 0.5]])
    precision = np.linalg.inv(covariance)
    grid = np.linspace(-5, 5, 161)
    points = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    log_density = np.array([dense_log_likelihood(context, available, chosen, point) for point in points])
    log_density -= 0.5 * np.einsum("ni,ij,nj->n", points - mean, precision, points - mean)
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    expected = np.concatenate([density @ points, density @ points**2])

    rng, weights = np.random.default_rng(3), mean.copy()
    draws = np.empty((20_000, 2))
    for draw in draws:
        walk_fold(data, 0, 6, mean, precision, 0.8, 5, rng, weights, make_scratch(data))
        draw[:] = weights
    moments = np.concatenate([draws, draws**2], axis=1)[None]
    assert np.abs((moments.mean(axis=(0, 1)) - expected) / standard_error(moments)).max() < 4.5


def test_each_fold_depends_only_on_its_own_decisions():
    *_, data = problem(10, 2, 2)
    mean, precision = np.zeros((2, 2)), np.eye(2)
    together, first = np.full((2, 2), 0.1), np.full(2, 0.1)
    both = np.tile(precision, (2, 1, 1))
    share = walk_folds(data, np.array([0, 4, 10]), mean, both, 0.5, 50, np.random.default_rng(1), together)
    accepted = walk_fold(data, 0, 4, mean[0], precision, 0.5, 50, np.random.default_rng(1), first, make_scratch(data))
    np.testing.assert_array_equal(together[0], first)
    assert accepted / 100 <= share <= (accepted + 50) / 100
    assert not np.array_equal(together[0], together[1])


def test_without_data_and_with_a_flat_prior_every_proposal_is_accepted():
    *_, data = problem(4, 2, 2)
    weights = np.zeros((1, 2))
    flat = np.zeros((1, 2, 2))
    assert walk_folds(data, np.array([2, 2]), np.zeros((1, 2)), flat, 0.1, 30, np.random.default_rng(0), weights) == 1.0
