import numpy as np
import pytest

from icb_pymc.assess.rank_uniformity import bands, describe_departure, uniform_p_values


def test_uniform_ranks_are_rejected_as_often_as_the_level_says():
    rng = np.random.default_rng(0)
    p_values = uniform_p_values(rng.random((60, 2000)))
    for level in (0.05, 0.5):
        share = (p_values <= level).mean()
        assert abs(share - level) < 4 * np.sqrt(level * (1 - level) / 2000) + 0.01


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((4, 2), "too low"),
        ((2, 4), "too high"),
        ((0.3, 0.3), "too narrow"),
        ((6, 6), "wider than it should be"),
    ],
)
def test_ranks_that_are_not_uniform_are_detected_and_described(shape, words):
    ranks = np.random.default_rng(1).beta(*shape, size=60)
    assert uniform_p_values(ranks[:, None])[0] < 0.001
    assert words in describe_departure(ranks)


def test_uniform_ranks_leave_the_bands_somewhere_as_often_as_the_level_says():
    rng = np.random.default_rng(2)
    points, low, high = bands(50, 0.1)
    ranks = rng.random((2000, 50))
    difference = (ranks[:, :, None] <= points).mean(axis=1) - points
    outside = ((difference < low - 1e-9) | (difference > high + 1e-9)).any(axis=1).mean()
    assert 0.05 < outside < 0.12
