import numpy as np
import pytest
from helpers.state_spaces import KINDS, prior, random_space

from icb_pymc.kernels.assumed_density import predict_choices
from icb_pymc.sample.pointwise import normal_points


def by_importance_sampling(space, paths, seed):
    """log p(a_t | a_1, ..., a_{t-1}) from prior draws, weighted by the likelihood of the choices so far."""
    mean, matrix = prior(space)
    contrasts = mean + np.random.default_rng(seed).normal(size=(paths, matrix.shape[1])) @ matrix.T
    log_weight, forecasts = np.zeros(paths), []
    for begin, end in zip(space.first[:-1], space.first[1:], strict=True):
        log_probability = -np.log1p(np.exp(contrasts[:, begin:end]).sum(axis=1))
        forecasts.append(np.logaddexp.reduce(log_weight + log_probability) - np.logaddexp.reduce(log_weight))
        log_weight += log_probability
    return np.array(forecasts)


@pytest.mark.parametrize("kind", KINDS)
def test_forecasts_agree_with_importance_sampling_for_all_kinds_of_state_spaces(kind):
    space = random_space(kind, seed=1)
    forecasts = np.empty(len(space.first) - 1)
    predict_choices(space, normal_points(1024, 3), forecasts)
    # The first forecast is exact up to quadrature; later ones assume Gaussian states.
    np.testing.assert_allclose(forecasts, by_importance_sampling(space, 200_000, seed=2), atol=0.03)


def test_a_forecast_does_not_depend_on_later_decisions():
    space = random_space("all over time", seed=3)
    full, truncated = np.empty(6), np.empty(4)
    points = normal_points(256, 3)
    predict_choices(space, points, full)
    rows = space.first[4]
    truncated_space = space._replace(
        first=space.first[:5],
        offset=space.offset[:rows],
        state_loading=space.state_loading[:rows],
        sampling_loading=space.sampling_loading[:rows],
    )
    predict_choices(truncated_space, points, truncated)
    np.testing.assert_array_equal(full[:4], truncated)
