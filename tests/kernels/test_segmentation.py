from itertools import combinations, pairwise

import numpy as np
import pytest

from icb_pymc.kernels.segmentation import best_boundaries, best_segmentations, log_sum_over_segmentations

BLOCKS = 7


@pytest.fixture(scope="module")
def scores():
    table = np.random.default_rng(0).normal(size=(BLOCKS, BLOCKS + 1))
    return np.where(np.arange(BLOCKS + 1) > np.arange(BLOCKS)[:, None], table, -np.inf)


def all_segmentations(scores, segments):
    """Every segmentation with its score, by enumeration."""
    for inner in combinations(range(1, BLOCKS), segments - 1):
        boundaries = (0, *inner, BLOCKS)
        yield boundaries, sum(scores[i, j] for i, j in pairwise(boundaries))


@pytest.mark.parametrize("segments", range(1, BLOCKS + 1))
def test_dynamic_programming_agrees_with_enumeration(scores, segments):
    boundaries, score = max(all_segmentations(scores, segments), key=lambda pair: pair[1])
    table, last = best_segmentations(scores, BLOCKS)
    assert tuple(best_boundaries(last, segments)) == boundaries
    assert table[segments, BLOCKS] == pytest.approx(score)


def test_the_sum_over_segmentations_agrees_with_enumeration(scores):
    expected = [np.logaddexp.reduce([score for _, score in all_segmentations(scores, m)]) for m in range(1, BLOCKS + 1)]
    np.testing.assert_allclose(log_sum_over_segmentations(scores, BLOCKS), expected)
