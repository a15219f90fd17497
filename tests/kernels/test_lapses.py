"""Approximate curvatures of choices with lapses, against the Hessian and the Fisher information as dense matrices."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.state_spaces import log_likelihood, noise_covariance

from icb_pymc.kernels.lapses import (
    attentive_probabilities,
    curvature_shares,
    gradient_with_lapses,
    information_shares,
    log_likelihood_of_rate,
)
from icb_pymc.kernels.pseudo_data import empty_data

FIRST = np.array([0, 1, 1, 3, 6, 7], dtype=np.int64)
ROWS, TIMES = int(FIRST[-1]), FIRST.size - 1
LIKELY = -1.5 + 0.3 * np.random.default_rng(0).standard_normal(ROWS)
MIXED = 2.0 * np.random.default_rng(1).standard_normal(ROWS)


def curvature_from(fill, contrasts, lapse):
    """The dense inverse of V."""
    data = empty_data(FIRST)
    fill(FIRST, contrasts, lapse, data.variance, data.common_variance)
    assert (data.variance > 0).all()
    assert (data.common_variance > 0).all()
    return np.linalg.inv(noise_covariance(FIRST, data))


def minus_hessian(contrasts, lapse, step=1e-5):
    def gradient(at):
        out = np.empty(ROWS)
        gradient_with_lapses(FIRST, at, lapse, out)
        return out

    return -np.array(
        [(gradient(contrasts + unit) - gradient(contrasts - unit)) / (2 * step) for unit in step * np.eye(ROWS)]
    )


def fisher_information(contrasts, lapse):
    """E[g g'] over all choices that could be made, g the gradient of log π in the contrasts."""
    information = np.zeros((ROWS, ROWS))
    for begin, end in pairwise(FIRST):
        odds = np.append(contrasts[begin:end], 0.0)
        p = np.exp(odds - np.logaddexp.reduce(odds))
        probability = (1 - lapse) * p + lapse / len(p)
        for a in range(len(p)):
            slope = (1 - lapse) * p[a] / probability[a] * (np.eye(len(p))[a] - p)
            information[begin:end, begin:end] += probability[a] * np.outer(slope, slope)[:-1, :-1]
    return information


def test_where_choices_are_likely_the_curvature_is_that_of_the_mixture():
    expected = minus_hessian(LIKELY, 0.05)
    assert np.linalg.eigvalsh(expected).min() > 0
    np.testing.assert_allclose(curvature_from(curvature_shares, LIKELY, 0.05), expected, atol=1e-6)


@pytest.mark.parametrize("lapse", [0.02, 0.3])
def test_a_choice_that_looks_like_a_lapse_has_no_negative_curvature(lapse):
    contrasts = np.full(ROWS, 6.0)
    assert np.linalg.eigvalsh(minus_hessian(contrasts, lapse)).min() < -1e-4
    curvature = curvature_from(curvature_shares, contrasts, lapse)
    assert np.linalg.eigvalsh(curvature).min() > 0
    # For one alternative the curvature is zero; several still tell which of them was better.
    assert curvature[0, 0] < 1e-7


@pytest.mark.parametrize("lapse", [1e-12, 0.05, 0.4])
def test_the_information_of_two_candidates_is_fishers_and_of_more_it_has_the_same_trace(lapse):
    actual, expected = curvature_from(information_shares, MIXED, lapse), fisher_information(MIXED, lapse)
    for begin, end in pairwise(FIRST):
        block, wanted = actual[begin:end, begin:end], expected[begin:end, begin:end]
        # The trace over all candidates, that of the chosen one included.
        assert np.trace(block) + block.sum() == pytest.approx(np.trace(wanted) + wanted.sum(), abs=1e-6)
        tolerance = 1e-6 if end <= begin + 1 or lapse < 1e-9 else 0.1 * np.abs(wanted).max()
        np.testing.assert_allclose(block, wanted, atol=tolerance)


@pytest.mark.parametrize("lapse", [1e-300, 0.5, 1.0])
@pytest.mark.parametrize("level", [-800.0, 800.0])
def test_extreme_utilities_and_rates_give_finite_shares(lapse, level):
    for fill in (curvature_shares, information_shares):
        assert np.isfinite(curvature_from(fill, np.full(ROWS, level), lapse)).all()


@pytest.mark.parametrize("lapse", [0.0, 1e-3, 0.9])
def test_the_likelihood_of_a_rate_is_that_of_all_choices(lapse):
    many = np.tile(MIXED, 300)
    first = np.concatenate([[0], np.cumsum(np.tile(np.diff(FIRST), 300))])
    attentive, uniform = np.empty(len(first) - 1), np.empty(len(first) - 1)
    attentive_probabilities(first, many, attentive, uniform)
    assert log_likelihood_of_rate(attentive, uniform, lapse) == pytest.approx(
        log_likelihood(first, many, lapse), rel=1e-12
    )


def test_the_likelihood_of_a_rate_does_not_underflow_where_choices_are_very_improbable():
    attentive = np.array([1e-190, 0.5, 1e-149, 1e-149, 1e-190])
    found = log_likelihood_of_rate(attentive, np.full(5, 0.5), 0.0)
    assert found == pytest.approx(np.log(attentive).sum())
