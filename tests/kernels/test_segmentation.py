from itertools import combinations, pairwise

import numpy as np
import pytest

from icb_pymc.kernels.segmentation import best_divisions, division, log_sum_over_divisions

BLOCKS = 7


@pytest.fixture(scope="module")
def scores():
    table = np.random.default_rng(0).normal(size=(BLOCKS, BLOCKS + 1))
    return np.where(np.arange(BLOCKS + 1) > np.arange(BLOCKS)[:, None], table, -np.inf)


def all_divisions(scores, segments):
    """Every division with its worth, by trying them all."""
    for inner in combinations(range(1, BLOCKS), segments - 1):
        boundaries = (0, *inner, BLOCKS)
        yield boundaries, sum(scores[i, j] for i, j in pairwise(boundaries))


@pytest.mark.parametrize("segments", range(1, BLOCKS + 1))
def test_the_dynamic_programme_finds_what_trying_all_divisions_finds(scores, segments):
    boundaries, worth = max(all_divisions(scores, segments), key=lambda found: found[1])
    table, last = best_divisions(scores, BLOCKS)
    assert tuple(division(last, segments)) == boundaries
    assert table[segments, BLOCKS] == pytest.approx(worth)


def test_the_sum_over_divisions_is_that_of_all_of_them(scores):
    expected = [np.logaddexp.reduce([worth for _, worth in all_divisions(scores, m)]) for m in range(1, BLOCKS + 1)]
    np.testing.assert_allclose(log_sum_over_divisions(scores, BLOCKS), expected)
