import numpy as np
import pytest
from helpers.state_spaces import KINDS, long_walk, prior, random_space

from icb_pymc.kernels.expectation_propagation import predict_choices
from icb_pymc.sample.pointwise import normal_points


def by_importance_sampling(space, paths, seed):
    """log p(a_t | a_1, ..., a_{t-1}) from prior draws, weighted by the likelihood of the choices so far."""
    mean, matrix = prior(space)
    contrasts = mean + np.random.default_rng(seed).normal(size=(paths, matrix.shape[1])) @ matrix.T
    log_weight, forecasts = np.zeros(paths), []
    for begin, end in zip(space.first[:-1], space.first[1:], strict=True):
        probability = (1 - space.lapse) / (1 + np.exp(contrasts[:, begin:end]).sum(axis=1))
        log_probability = np.log(probability + space.lapse / (end - begin + 1))
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


def test_after_a_wide_start_forecasts_add_up_to_the_evidence():
    """A filter that keeps its first approximations is too pessimistic here by more than one log unit."""
    rng = np.random.default_rng(5)
    space = random_space("identity", seed=5, counts=(1,) * 25)
    space = space._replace(
        start_root=8.0 * np.eye(3),
        offset=np.zeros(25),
        move_root=0.05 * np.eye(3)[None],
        state_loading=rng.normal(size=(25, 3)),
        sampling_loading=np.zeros((25, 0)),
    )
    forecasts = np.empty(25)
    predict_choices(space, normal_points(8, 1), forecasts)
    expected = by_importance_sampling(space, 500_000, seed=6)
    assert forecasts.max() <= 0.0
    np.testing.assert_allclose(forecasts.cumsum()[[4, 14, 24]], expected.cumsum()[[4, 14, 24]], atol=0.3)
    assert forecasts.sum() == pytest.approx(expected.sum(), abs=0.1)


@pytest.mark.parametrize("lapse", [0.05, 0.3])
@pytest.mark.parametrize("kind", ["identity", "all over time", "identical rows", "one alternative each"])
def test_forecasts_with_lapses_agree_with_importance_sampling(kind, lapse):
    space = random_space(kind, seed=1)._replace(lapse=lapse)
    forecasts = np.empty(len(space.first) - 1)
    predict_choices(space, normal_points(1024, 3), forecasts)
    np.testing.assert_allclose(forecasts, by_importance_sampling(space, 200_000, seed=2), atol=0.04)


@pytest.mark.parametrize("contrasts", [1, 2])
def test_with_lapses_forecasts_of_a_longer_log_add_up_to_the_evidence(contrasts):
    space = long_walk(25, 0.1, contrasts=contrasts, alpha=1.0)._replace(lapse=0.1)
    forecasts = np.empty(25)
    predict_choices(space, normal_points(1024, contrasts), forecasts)
    expected = by_importance_sampling(space, 400_000, seed=6)
    assert forecasts.max() <= 0.0
    assert forecasts.sum() == pytest.approx(expected.sum(), abs=0.1)
