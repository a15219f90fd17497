import numpy as np
import pytest
from helpers.state_spaces import KINDS, prior, random_space

from icb_pymc.kernels.assumed_density import predict_choices
from icb_pymc.sample.pointwise import normal_points


def by_brute_force(space, paths, seed):
    """log p(a_t | a_1, ..., a_{t-1}) from draws of the prior, each weighted with how well it did so far."""
    mean, matrix = prior(space)
    contrasts = mean + np.random.default_rng(seed).normal(size=(paths, matrix.shape[1])) @ matrix.T
    weight, found = np.zeros(paths), []
    for begin, end in zip(space.first[:-1], space.first[1:], strict=True):
        each = -np.log1p(np.exp(contrasts[:, begin:end]).sum(axis=1))
        found.append(np.logaddexp.reduce(weight + each) - np.logaddexp.reduce(weight))
        weight += each
    return np.array(found)


@pytest.mark.parametrize("kind", KINDS)
def test_forecasts_of_all_kinds_of_state_spaces_are_those_of_brute_force(kind):
    space = random_space(kind, seed=1)
    found = np.empty(len(space.first) - 1)
    predict_choices(space, normal_points(1024, 3), found)
    # The first is exact but for quadrature; later ones take the states to be Gaussian.
    np.testing.assert_allclose(found, by_brute_force(space, 200_000, seed=2), atol=0.03)


def test_a_forecast_knows_nothing_of_what_comes_after():
    space = random_space("all over time", seed=3)
    whole, cut = np.empty(6), np.empty(4)
    points = normal_points(256, 3)
    predict_choices(space, points, whole)
    rows = space.first[4]
    short = space._replace(
        first=space.first[:5], offset=space.offset[:rows], reading=space.reading[:rows], stray=space.stray[:rows]
    )
    predict_choices(short, points, cut)
    np.testing.assert_array_equal(whole[:4], cut)
