import numpy as np
import pytest
from helpers.state_spaces import KINDS, random_space

from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.posterior_spread import smoothed_covariances
from icb_pymc.kernels.smoother import smoother_gains
from icb_pymc.kernels.state_space import empty_noise, path_from_noise


def dense_covariances(space, data):
    """Covariances of the states from the matrices that states and contrasts are of independent normals."""
    noise, times = empty_noise(space), len(space.first) - 1
    states, contrasts = [], []
    for part in noise:
        part[...] = 0.0
    for part in noise:
        for position in np.ndindex(part.shape):
            part[position] = 1.0
            path, rows = np.empty((times, len(space.start_mean))), np.empty(len(space.offset))
            path_from_noise(space, noise, 0.0, path, rows)
            states.append(path)
            contrasts.append(rows)
            part[position] = 0.0
    to_state, to_contrast = np.array(states), np.array(contrasts)
    time = np.repeat(np.arange(times), np.diff(space.first))
    error = np.diag(data.variance) + np.where(time[:, None] == time, data.common_variance[time][:, None], 0.0)
    posterior = np.linalg.inv(np.eye(len(to_contrast)) + to_contrast @ np.linalg.solve(error, to_contrast.T))
    return np.einsum("zti,zy,ytj->tij", to_state, posterior, to_state)


@pytest.mark.parametrize("kind", KINDS)
def test_covariances_of_states_are_the_dense_ones(kind):
    space = random_space(kind, seed=2)
    data = find_mode(space).data
    found = np.empty((len(space.first) - 1, len(space.start_mean), len(space.start_mean)))
    smoothed_covariances(space, smoother_gains(space, data), found)
    np.testing.assert_allclose(found, dense_covariances(space, data), atol=1e-9)
