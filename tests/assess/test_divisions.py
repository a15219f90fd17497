"""The posterior over divisions of a log: prior, grids, refinement."""

from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from helpers.arrivals import make_arrivals
from scipy.integrate import quad
from scipy.stats import beta

from icb_pymc.assess.divisions import Divisions, cells, divide, draw_weights, even_grid, log_prior_of_changes, refined
from icb_pymc.declare.folds import contrasts_of
from icb_pymc.kernels.segment_scores import evidence_of_segments

FEATURES = 2
MEAN, PRECISION = np.zeros(FEATURES), np.eye(FEATURES) / 9.0


def contrasts_with_a_change(steps, at, seed=0):
    arrivals = make_arrivals(steps, 2, FEATURES, seed=seed)
    weights = np.where(np.arange(steps)[:, None] < at, [4.0, 0.0], [-2.0, 4.0])
    utility = (arrivals["context"].values * weights[:, None]).sum(axis=-1)
    noise = np.random.default_rng(seed).gumbel(size=utility.shape)
    return contrasts_of(arrivals.assign(chosen=("time", (utility + noise).argmax(axis=1))))


def table(steps, evidence=0.0):
    """A table in which every segment has the same evidence per decision, so that the posterior is the prior."""
    lengths = np.arange(steps + 1) - np.arange(steps)[:, None]
    return np.where(lengths > 0, evidence * lengths, -np.inf)


@pytest.mark.parametrize("expected", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("steps", [2, 10, 1000, 100_000])
def test_no_change_has_the_same_prior_probability_whatever_the_length_of_the_log(steps, expected):
    log_prior = log_prior_of_changes(steps, expected, min(steps - 1, 3))
    assert np.exp(log_prior[0]) == pytest.approx(1 / (1 + expected))


def test_the_prior_is_that_of_independent_changes_with_an_unknown_rate():
    steps, expected = 8, 1.5
    dates = steps - 1
    rate = beta(1, dates / expected)
    for m in range(steps):
        exact = quad(lambda p, m=m: p**m * (1 - p) ** (dates - m) * rate.pdf(p), 0, 1)[0]
        assert np.exp(log_prior_of_changes(steps, expected, dates)[m]) == pytest.approx(exact)
    total = sum(comb(dates, m) * np.exp(log_prior_of_changes(steps, expected, dates)[m]) for m in range(steps))
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize("boundaries", [[0, 9], [0, 4, 9], [0, 3, 6, 9, 12, 14], [0, 5, 10, 11, 12, 13, 20, 30]])
def test_every_date_belongs_to_the_cell_of_a_nearest_boundary(boundaries):
    first, last = cells(np.array(boundaries))
    inner = np.array(boundaries[1:-1])
    covered = np.concatenate([np.arange(low, high + 1) for low, high in zip(first, last, strict=True)] or [[]])
    np.testing.assert_array_equal(covered, np.arange(1, boundaries[-1]) if len(inner) else [])
    for boundary, low, high in zip(inner, first, last, strict=True):
        for date in (low, high):
            assert abs(date - boundary) == np.abs(date - inner).min()


def test_probabilities_agree_with_enumeration_of_every_division_of_an_uneven_grid():
    contrasts = contrasts_with_a_change(30, 17)
    boundaries, expected = np.array([0, 6, 12, 16, 17, 18, 24, 30]), 0.7
    evidence = evidence_of_segments(contrasts, boundaries, MEAN, PRECISION)
    divisions = Divisions(boundaries, evidence, expected)
    first, last = cells(boundaries)
    log_prior = log_prior_of_changes(30, expected, 6)
    joint = {
        inner: log_prior[m]
        + np.log(last - first + 1)[np.array(inner, int) - 1].sum()
        + sum(evidence[i, j] for i, j in pairwise((0, *inner, 7)))
        for m in range(7)
        for inner in combinations(range(1, 7), m)
    }
    log_evidence = np.logaddexp.reduce(list(joint.values()))
    posterior = {inner: np.exp(value - log_evidence) for inner, value in joint.items()}

    def probability(event):
        return sum(p for inner, p in posterior.items() if event(inner))

    assert divisions.log_evidence == pytest.approx(log_evidence)
    assert np.exp(divisions.log_no_change) == pytest.approx(posterior[()])
    for m in range(7):
        assert divisions.of_number()[m] == pytest.approx(probability(lambda inner, m=m: len(inner) == m))
    for s in range(6):
        assert divisions.of_boundaries()[s] == pytest.approx(probability(lambda inner, s=s: s + 1 in inner))
    given_two = divisions.of_dates_given(2)
    for j in range(2):
        for s in range(6):
            exact = probability(lambda inner, j=j, s=s: len(inner) == 2 and inner[j] == s + 1)
            assert given_two[j, s] == pytest.approx(exact / divisions.of_number()[2])
    assert divisions.of_any_between(2, 4) == pytest.approx(probability(lambda inner: {3, 4, 5} & set(inner)))


def test_without_data_a_coarse_grid_has_the_prior_of_divisions_with_one_change_per_cell():
    steps, expected = 13, 2.0
    fine = Divisions(np.arange(steps + 1), table(steps), expected)
    assert fine.log_evidence == pytest.approx(0.0)
    log_prior = log_prior_of_changes(steps, expected, steps - 1)
    np.testing.assert_allclose(fine.of_number(), [comb(steps - 1, m) * np.exp(log_prior[m]) for m in range(steps)])
    coarse = Divisions(even_grid(steps, 4), table(4), expected)
    cell = np.repeat(np.arange(3), coarse.cell_sizes)
    allowed = [
        (dates, np.exp(log_prior[m]))
        for m in range(4)
        for dates in combinations(range(steps - 1), m)
        if len(set(cell[list(dates)])) == m
    ]
    total = sum(weight for _, weight in allowed)
    assert np.exp(coarse.log_evidence) == pytest.approx(total)
    for m in range(4):
        expected_m = sum(weight for dates, weight in allowed if len(dates) == m) / total
        assert coarse.of_number()[m] == pytest.approx(expected_m)
    for s in range(3):
        exact = sum(weight for dates, weight in allowed if s in cell[list(dates)]) / total
        assert coarse.of_boundaries()[s] == pytest.approx(exact)


def test_a_refined_grid_agrees_with_single_decisions_throughout():
    contrasts = contrasts_with_a_change(120, 63, seed=1)
    exact = divide(contrasts, np.arange(121), MEAN, PRECISION, 1.0)
    grid = divide(contrasts, even_grid(120, 6), MEAN, PRECISION, 1.0, most_blocks=60)
    assert set(even_grid(120, 6)) < set(grid.boundaries)
    assert {62, 63, 64} <= set(grid.boundaries)
    exact_by_date = dict(zip(exact.boundaries[1:-1], exact.of_boundaries(), strict=True))
    for boundary, size, probability in zip(grid.boundaries[1:-1], grid.cell_sizes, grid.of_boundaries(), strict=True):
        if size == 1:
            assert probability == pytest.approx(exact_by_date[boundary], abs=0.05)
    assert grid.of_number()[1] == pytest.approx(exact.of_number()[1], abs=0.1)
    # Both leave the evidence of "no change" and its prior as they are.
    no_change = [posterior.log_no_change + posterior.log_evidence for posterior in (exact, grid)]
    assert no_change[0] == pytest.approx(no_change[1], abs=2e-3)
    assert grid.log_evidence == pytest.approx(exact.log_evidence, abs=0.3)


def test_refinement_keeps_the_table_it_has_and_stops_at_the_limit():
    contrasts = contrasts_with_a_change(120, 63, seed=1)
    grid = divide(contrasts, even_grid(120, 6), MEAN, PRECISION, 1.0, most_blocks=60)
    np.testing.assert_allclose(
        grid.evidence, evidence_of_segments(contrasts, grid.boundaries, MEAN, PRECISION), atol=2e-3
    )
    coarse = divide(contrasts, even_grid(120, 6), MEAN, PRECISION, 1.0)
    assert coarse.blocks == 20
    np.testing.assert_array_equal(refined(coarse, 25), coarse.boundaries)
    assert len(refined(coarse, 31)) - 1 in (30, 31)


def test_weights_are_drawn_from_the_posterior_of_their_segment():
    contrasts = contrasts_with_a_change(40, 20)
    divisions = divide(contrasts, even_grid(40, 10), MEAN, PRECISION, 1.0)
    begins = np.tile([True, False, True, False], (10_000, 1))
    weights = draw_weights(divisions, begins, contrasts, MEAN, PRECISION, np.random.default_rng(0))
    np.testing.assert_array_equal(weights[:, 0], weights[:, 1])
    axis = np.linspace(-12, 12, 241)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for block, start in ((0, 0), (2, 20)):
        rows = contrasts.values[contrasts.first[start] : contrasts.first[start + 20]]
        log_density = -np.logaddexp(0, points @ rows.T).sum(axis=1) - 0.5 * ((points @ PRECISION) * points).sum(axis=1)
        density = np.exp(log_density - log_density.max())
        density /= density.sum()
        mean = density @ points
        deviation = np.sqrt(density @ (points - mean) ** 2)
        np.testing.assert_allclose(weights[:, block].mean(axis=0), mean, atol=0.06 * deviation.max())
        np.testing.assert_allclose(weights[:, block].std(axis=0), deviation, rtol=0.06)


def test_a_log_of_one_block_has_no_dates():
    divisions = divide(contrasts_with_a_change(10, 5), even_grid(10, 10), MEAN, PRECISION, 1.0, most_blocks=40)
    assert divisions.blocks == 1
    assert divisions.log_no_change == 0.0
    assert divisions.of_boundaries().shape == (0,)
