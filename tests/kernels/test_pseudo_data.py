"""Choices and their Gaussian approximations against softmax formulas, dense matrices and finite differences."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.state_spaces import data_at, log_likelihood, noise_covariance, probabilities, random_space

from icb_pymc.kernels.pseudo_data import (
    PositionSums,
    add_position,
    apply_noise_covariance,
    choice_gradient,
    draw_measurement_noise,
    empty_data,
    log_determinant,
    log_residual,
    pseudo_data_from_sums,
)

# Zero to three contrasts per decision, so one to four candidates.
FIRST = np.array([0, 1, 1, 3, 6, 7], dtype=np.int64)
ROWS, TIMES = int(FIRST[-1]), FIRST.size - 1
SPACE = random_space("identity", counts=tuple(np.diff(FIRST)))
CASES = {
    "moderate": np.random.default_rng(0).standard_normal(ROWS),
    "large": 5 * np.random.default_rng(1).standard_normal(ROWS),
    "zero": np.zeros(ROWS),
}
EXTREMES = {
    "all up": np.full(ROWS, 800.0),
    "all down": np.full(ROWS, -800.0),
    "either way": np.where(np.arange(ROWS) % 2, 800.0, -800.0),
}


@pytest.fixture(params=CASES, name="contrasts")
def contrasts_of_case(request):
    return CASES[request.param]


def gradient_of(contrasts):
    gradient = np.empty(ROWS)
    choice_gradient(FIRST, contrasts, gradient, False)
    return gradient


def value_of(contrasts):
    return choice_gradient(FIRST, contrasts, np.empty(ROWS), True)


@pytest.mark.parametrize("case", CASES | EXTREMES)
def test_the_choices_have_the_value_and_gradient_of_a_softmax(case):
    contrasts = (CASES | EXTREMES)[case]
    gradient = np.empty(ROWS)
    value = choice_gradient(FIRST, contrasts, gradient, True)
    assert value == pytest.approx(log_likelihood(FIRST, contrasts), rel=1e-14)
    np.testing.assert_allclose(gradient, -probabilities(FIRST, contrasts), rtol=1e-12)


@pytest.mark.parametrize("case", CASES | EXTREMES)
@pytest.mark.parametrize("lapse", [0.02, 0.7])
def test_with_lapses_the_choices_have_the_value_and_gradient_of_the_mixture(case, lapse):
    contrasts, gradient = (CASES | EXTREMES)[case], np.empty(ROWS)
    value = choice_gradient(FIRST, contrasts, gradient, True, lapse)
    expected, slopes = 0.0, []
    for begin, end in pairwise(FIRST):
        odds = np.append(contrasts[begin:end], 0.0)
        softmax = np.exp(odds - np.logaddexp.reduce(odds))
        probability = (1 - lapse) * softmax[-1] + lapse / len(odds)
        expected += np.log(probability)
        slopes.extend(-(1 - lapse) * softmax[-1] * softmax[:-1] / probability)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-12)


def test_the_value_of_very_many_choices_is_finite():
    """The product of all normalising constants would overflow."""
    contrasts = np.random.default_rng(0).standard_normal(5000)
    first = np.arange(contrasts.size + 1)
    value = choice_gradient(first, contrasts, np.empty(contrasts.size), True)
    assert value == pytest.approx(log_likelihood(first, contrasts), rel=1e-13)


def test_the_gradient_is_that_of_the_value(contrasts):
    np.testing.assert_allclose(gradient_of(contrasts), central_differences(value_of, contrasts), atol=1e-8)


def test_the_pseudo_data_have_the_curvature_of_the_choices(contrasts):
    """W = diag(p) - pp' from the shares is minus the Hessian, and V is its inverse."""
    data = data_at(SPACE, contrasts)
    curvature = curvature_of(data)
    np.testing.assert_allclose(curvature, -central_differences(gradient_of, contrasts), atol=1e-7)
    np.testing.assert_allclose(noise_covariance(FIRST, data) @ curvature, np.eye(ROWS), atol=1e-7)


def test_the_pseudo_data_have_the_gradient_of_the_choices(contrasts):
    data = data_at(SPACE, contrasts)
    gradient = np.linalg.solve(noise_covariance(FIRST, data), data.values - contrasts)
    np.testing.assert_allclose(gradient, gradient_of(contrasts), atol=1e-8)


@pytest.mark.parametrize("case", EXTREMES)
def test_extreme_contrasts_give_finite_pseudo_data_without_a_residual_gradient(case):
    contrasts = EXTREMES[case]
    data = data_at(SPACE, contrasts)
    assert all(np.isfinite(part).all() for part in data)
    assert (data.variance > 0).all()
    assert (data.common_variance > 0).all()
    assert np.isfinite(log_determinant(data, FIRST))
    gradient = np.empty(ROWS)
    assert np.isfinite(log_residual(FIRST, contrasts, data, gradient, True))
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)


def test_apply_noise_covariance_multiplies_by_the_dense_covariance(contrasts):
    data = data_at(SPACE, contrasts)
    out, columns = np.empty(ROWS), []
    for unit in np.eye(ROWS):
        apply_noise_covariance(FIRST, data, unit, out)
        columns.append(out.copy())
    np.testing.assert_allclose(np.transpose(columns), noise_covariance(FIRST, data), rtol=1e-12)


def test_measurement_noise_has_the_dense_covariance(contrasts):
    """The draw is linear in its normals, so unit vectors give its covariance exactly."""
    data = data_at(SPACE, contrasts)
    out, columns = np.empty(ROWS), []
    for unit in np.eye(ROWS + TIMES):
        draw_measurement_noise(FIRST, data, unit[:ROWS], unit[ROWS:], out)
        columns.append(out.copy())
    np.testing.assert_allclose(np.transpose(columns) @ columns, noise_covariance(FIRST, data), rtol=1e-12)


def test_the_residual_is_the_log_likelihood_minus_that_of_the_pseudo_data(contrasts):
    """log π(u) - log N(y; u, V) up to the constant of N, and its gradient."""
    data, rng = data_at(SPACE, contrasts), np.random.default_rng(3)
    inverse = np.linalg.inv(noise_covariance(FIRST, data))

    def expected(position):
        difference = data.values - position
        return log_likelihood(FIRST, position) + 0.5 * difference @ inverse @ difference

    for _ in range(3):
        position, gradient = contrasts + rng.standard_normal(ROWS), np.empty(ROWS)
        value = log_residual(FIRST, position, data, gradient, True)
        assert value == pytest.approx(expected(position), rel=1e-6)
        numeric = central_differences(lambda at: log_residual(FIRST, at, data, np.empty(ROWS), True), position)
        np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-6)


def test_the_residual_has_no_gradient_and_no_curvature_at_the_point_of_expansion(contrasts):
    data, gradient = data_at(SPACE, contrasts), np.empty(ROWS)
    log_residual(FIRST, contrasts, data, gradient, False)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-8)

    def gradient_at(position):
        out = np.empty(ROWS)
        log_residual(FIRST, position, data, out, False)
        return out

    np.testing.assert_allclose(central_differences(gradient_at, contrasts), 0.0, atol=1e-7)


def test_log_determinant_is_that_of_the_dense_covariance(contrasts):
    data = data_at(SPACE, contrasts)
    sign, expected = np.linalg.slogdet(noise_covariance(FIRST, data))
    assert sign == 1
    # A decision without alternatives contributes log 1.
    assert log_determinant(data, FIRST) == pytest.approx(expected, abs=1e-7)


def data_from_positions(positions):
    """Pseudo-data of several positions."""
    sums = PositionSums(np.zeros(ROWS), np.zeros(ROWS), np.zeros(TIMES))
    for position in positions:
        add_position(FIRST, position, sums)
    data = empty_data(FIRST)
    pseudo_data_from_sums(FIRST, sums, len(positions), data)
    return data


POSITIONS = 2 * np.random.default_rng(5).standard_normal((40, ROWS))


def test_pseudo_data_of_several_positions_have_their_mean_gradient():
    data = data_from_positions(POSITIONS)
    gradient = np.linalg.solve(noise_covariance(FIRST, data), data.values - POSITIONS.mean(axis=0))
    np.testing.assert_allclose(gradient, np.mean([gradient_of(position) for position in POSITIONS], axis=0), atol=1e-10)


def test_pseudo_data_of_several_positions_have_their_mean_curvature():
    """Exactly for two candidates; for more, the sum over all candidates."""
    precision = np.linalg.inv(noise_covariance(FIRST, data_from_positions(POSITIONS)))
    mean = np.mean([curvature_of(data_at(SPACE, position)) for position in POSITIONS], axis=0)
    for t in range(TIMES):
        actual, expected = (matrix[FIRST[t] : FIRST[t + 1], FIRST[t] : FIRST[t + 1]] for matrix in (precision, mean))
        if len(actual) == 1:
            np.testing.assert_allclose(actual, expected, rtol=1e-6)
        # The curvature of the chosen candidate is the sum over all others.
        assert np.trace(actual) + actual.sum() == pytest.approx(np.trace(expected) + expected.sum(), rel=1e-6)
        np.testing.assert_allclose(actual, expected, atol=0.05)


def test_pseudo_data_of_one_position_are_those_at_that_position(contrasts):
    for actual, expected in zip(data_from_positions([contrasts]), data_at(SPACE, contrasts), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-2, atol=1e-7)


@pytest.mark.parametrize("case", EXTREMES)
def test_extreme_positions_give_finite_pseudo_data(case):
    data = data_from_positions([EXTREMES[case]] * 3)
    assert all(np.isfinite(part).all() for part in data)
    assert (data.variance > 0).all()
    assert (data.common_variance > 0).all()


def test_the_residual_for_pseudo_data_of_several_positions():
    data, position, gradient = data_from_positions(POSITIONS), POSITIONS[0], np.empty(ROWS)
    difference, inverse = data.values - position, np.linalg.inv(noise_covariance(FIRST, data))
    value = log_residual(FIRST, position, data, gradient, True)
    assert value == pytest.approx(log_likelihood(FIRST, position) + 0.5 * difference @ inverse @ difference, rel=1e-10)
    np.testing.assert_allclose(gradient, gradient_of(position) - inverse @ difference, atol=1e-10)


def curvature_of(data):
    """W as a dense matrix."""
    share = 1 / data.variance
    curvature = np.diag(share)
    for t in range(TIMES):
        rows = slice(FIRST[t], FIRST[t + 1])
        curvature[rows, rows] -= np.outer(share[rows], share[rows])
    return curvature


def central_differences(function, position):
    """The derivative by central differences."""
    units = 1e-5 * np.eye(position.size)
    return np.array([(function(position + unit) - function(position - unit)) / 2e-5 for unit in units]).T
