from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest

from icb_pymc.kernels.segmentation import (
    best_boundaries,
    best_segmentations,
    draw_segmentations,
    log_sum_over_segmentations,
    log_sums_of_beginnings,
    log_sums_of_completions,
)

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


WEIGHTS = np.log(np.random.default_rng(1).dirichlet(np.ones(BLOCKS)))


@pytest.fixture(scope="module")
def enumerated(scores):
    """Every segmentation of any number of segments with its posterior probability, and the log of the sum."""
    every = [
        (boundaries, score + WEIGHTS[segments - 1])
        for segments in range(1, BLOCKS + 1)
        for boundaries, score in all_segmentations(scores, segments)
    ]
    log_sum = np.logaddexp.reduce([log_joint for _, log_joint in every])
    return {boundaries: np.exp(log_joint - log_sum) for boundaries, log_joint in every}, log_sum


def test_the_sum_over_all_segmentations_agrees_with_enumeration(scores, enumerated):
    assert log_sums_of_completions(scores, WEIGHTS)[0, 0] == pytest.approx(enumerated[1])


def test_probabilities_of_boundaries_agree_with_enumeration(scores, enumerated):
    beginnings, completions = log_sums_of_beginnings(scores, BLOCKS), log_sums_of_completions(scores, WEIGHTS)
    by_number = np.exp(beginnings + completions - completions[0, 0])
    for i in range(1, BLOCKS):
        expected = sum(probability for boundaries, probability in enumerated[0].items() if i in boundaries)
        assert by_number[:, i].sum() == pytest.approx(expected)
    for m in range(1, BLOCKS + 1):
        expected = sum(probability for boundaries, probability in enumerated[0].items() if len(boundaries) == m + 1)
        assert by_number[m, BLOCKS] == pytest.approx(expected)


def test_numbers_without_weight_and_impossible_boundaries_are_left_out(scores):
    only_three = np.full(BLOCKS, -np.inf)
    only_three[2] = 0.0
    expected = np.logaddexp.reduce([score for _, score in all_segmentations(scores, 3)])
    assert log_sums_of_completions(scores, only_three)[0, 0] == pytest.approx(expected)
    without = scores.copy()
    without[3] = -np.inf
    expected = np.logaddexp.reduce([score for boundaries, score in all_segmentations(scores, 3) if 3 not in boundaries])
    assert log_sums_of_completions(without, only_three)[0, 0] == pytest.approx(expected)


def test_drawn_segmentations_have_the_enumerated_probabilities(scores, enumerated):
    draws = 40_000
    completions = log_sums_of_completions(scores, WEIGHTS)
    begins = draw_segmentations(scores, completions, draws, np.random.default_rng(2))
    drawn = Counter((*np.flatnonzero(row).tolist(), BLOCKS) for row in begins)
    assert set(drawn) <= set(enumerated[0])
    expected = np.array(list(enumerated[0].values()))
    observed = np.array([drawn[boundaries] for boundaries in enumerated[0]]) / draws
    assert np.abs(observed - expected).max() < 5 * np.sqrt(0.25 / draws)


def test_the_same_generator_draws_the_same_segmentations(scores):
    completions = log_sums_of_completions(scores, WEIGHTS)
    first, again = (draw_segmentations(scores, completions, 50, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
