"""The chain of states at chosen times against dense Gaussian formulas."""

import numpy as np
import pytest
from helpers.state_spaces import KINDS, random_space

from icb_pymc.kernels.chosen_times import chosen_states, draw_states
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.smoother import smoother_gains
from icb_pymc.kernels.state_space import empty_noise, path_from_noise


def dense_covariance(space, data, times):
    """The posterior covariance (J d, J d) of the states at these times, from the matrices of the noise."""
    noise, states, contrasts = empty_noise(space), [], []
    for part in noise:
        part[...] = 0.0
    for part in noise:
        for position in np.ndindex(part.shape):
            part[position] = 1.0
            path, rows = np.empty((len(space.first) - 1, len(space.start_mean))), np.empty(len(space.offset))
            path_from_noise(space, noise, 0.0, path, rows)
            states.append(path[times].ravel())
            contrasts.append(rows)
            part[position] = 0.0
    to_state, to_contrast = np.array(states), np.array(contrasts)
    time = np.repeat(np.arange(len(space.first) - 1), np.diff(space.first))
    error = np.diag(data.variance) + np.where(time[:, None] == time, data.common_variance[time][:, None], 0.0)
    posterior = np.linalg.inv(np.eye(len(to_contrast)) + to_contrast @ np.linalg.solve(error, to_contrast.T))
    return to_state.T @ posterior @ to_state


def joint_covariance(states):
    """The covariance of all deviations that the chain gives."""
    number, d, _ = states.root.shape
    maps = np.zeros((number, d, number, d))
    for j in range(number - 1, -1, -1):
        maps[j, :, j, :] = states.root[j]
        if j < number - 1:
            maps[j] += np.einsum("ab,bjc->ajc", states.slope[j], maps[j + 1])
    matrix = maps.reshape(number * d, number * d)
    return matrix @ matrix.T


@pytest.mark.parametrize("choose", [slice(None), slice(None, None, 2), slice(-1, None), slice(-2, None)])
@pytest.mark.parametrize("kind", KINDS)
def test_states_at_chosen_times_have_their_dense_covariance(kind, choose):
    space = random_space(kind, seed=2)
    times = np.arange(len(space.first) - 1)[choose]
    data = find_mode(space).data
    states = chosen_states(space, smoother_gains(space, data), times)
    expected = dense_covariance(space, data, times)
    np.testing.assert_allclose(joint_covariance(states), expected, atol=1e-9)
    blocks = expected.reshape(len(times), 3, len(times), 3)
    np.testing.assert_allclose(states.covariance, [blocks[j, :, j] for j in range(len(times))], atol=1e-9)


def test_draws_have_the_mean_and_covariance_of_the_chain():
    space = random_space("all over time", seed=2)
    states = chosen_states(space, smoother_gains(space, find_mode(space).data), np.array([0, 3, 5]))
    mean = np.arange(9.0).reshape(3, 3)
    draws = draw_states(states, mean, 200_000, "float64", np.random.default_rng(1))
    expected = joint_covariance(states)
    scale = np.sqrt(np.diag(expected))
    error = (np.cov(draws.reshape(len(draws), -1).T) - expected) / np.outer(scale, scale)
    assert np.abs((draws.mean(axis=0) - mean).ravel() / scale).max() < 4.5 / np.sqrt(len(draws))
    assert np.abs(error).max() < 4.5 / np.sqrt(len(draws) / 2)
