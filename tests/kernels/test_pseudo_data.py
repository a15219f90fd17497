"""Choices and their Gaussian stand-ins against plain softmax formulas, dense matrices and finite differences."""

import numpy as np
import pytest
from helpers.state_spaces import data_at, log_likelihood, noise_of_data, probabilities, random_space

from icb_pymc.kernels.pseudo_data import (
    Seen,
    choice_gradient,
    empty_data,
    log_volume,
    measure_seen,
    residual,
    see,
    spread,
    spread_noise,
)

# Contrasts per decision: none to three, so one to four candidates.
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


def test_the_value_of_very_many_choices_is_finite():
    """Products of their masses, of which one logarithm is taken, would not be."""
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
    np.testing.assert_allclose(noise_of_data(FIRST, data) @ curvature, np.eye(ROWS), atol=1e-7)


def test_the_pseudo_data_have_the_gradient_of_the_choices(contrasts):
    data = data_at(SPACE, contrasts)
    pull = np.linalg.solve(noise_of_data(FIRST, data), data.values - contrasts)
    np.testing.assert_allclose(pull, gradient_of(contrasts), atol=1e-8)


@pytest.mark.parametrize("case", EXTREMES)
def test_extreme_contrasts_give_finite_pseudo_data_that_leave_no_gradient_over(case):
    contrasts = EXTREMES[case]
    data = data_at(SPACE, contrasts)
    assert all(np.isfinite(part).all() for part in data)
    assert (data.width > 0).all()
    assert (data.common > 0).all()
    assert np.isfinite(log_volume(data))
    gradient = np.empty(ROWS)
    assert np.isfinite(residual(FIRST, contrasts, data, gradient, True))
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)


def test_spread_multiplies_by_the_noise_covariance(contrasts):
    data = data_at(SPACE, contrasts)
    out, columns = np.empty(ROWS), []
    for unit in np.eye(ROWS):
        spread(FIRST, data, unit, out)
        columns.append(out.copy())
    np.testing.assert_allclose(np.transpose(columns), noise_of_data(FIRST, data), rtol=1e-12)


def test_spread_noise_has_the_noise_covariance(contrasts):
    """It is linear in its normals, so that unit vectors tell its covariance exactly."""
    data = data_at(SPACE, contrasts)
    out, columns = np.empty(ROWS), []
    for unit in np.eye(ROWS + TIMES):
        spread_noise(FIRST, data, unit[:ROWS], unit[ROWS:], out)
        columns.append(out.copy())
    np.testing.assert_allclose(np.transpose(columns) @ columns, noise_of_data(FIRST, data), rtol=1e-12)


def test_the_residual_is_what_the_pseudo_data_leave_over(contrasts):
    """log π(u) - log N(y; u, V) but for a constant, here that of N, and its gradient."""
    data, rng = data_at(SPACE, contrasts), np.random.default_rng(3)
    inverse = np.linalg.inv(noise_of_data(FIRST, data))

    def expected(place):
        miss = data.values - place
        return log_likelihood(FIRST, place) + 0.5 * miss @ inverse @ miss

    for _ in range(3):
        place, gradient = contrasts + rng.standard_normal(ROWS), np.empty(ROWS)
        value = residual(FIRST, place, data, gradient, True)
        assert value == pytest.approx(expected(place), rel=1e-6)
        numeric = central_differences(lambda at: residual(FIRST, at, data, np.empty(ROWS), True), place)
        np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-6)


def test_the_residual_has_no_gradient_and_no_curvature_where_it_was_expanded(contrasts):
    data, gradient = data_at(SPACE, contrasts), np.empty(ROWS)
    residual(FIRST, contrasts, data, gradient, False)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-8)

    def gradient_at(place):
        out = np.empty(ROWS)
        residual(FIRST, place, data, out, False)
        return out

    np.testing.assert_allclose(central_differences(gradient_at, contrasts), 0.0, atol=1e-7)


def test_log_volume_is_that_of_the_noise_covariance(contrasts):
    data = data_at(SPACE, contrasts)
    sign, expected = np.linalg.slogdet(noise_of_data(FIRST, data))
    assert sign == 1
    # A decision without alternatives measures nothing, surely.
    assert log_volume(data) == pytest.approx(expected, abs=1e-7)


def seen_at(places):
    """Pseudo-data of several places."""
    seen = Seen(np.zeros(ROWS), np.zeros(ROWS), np.zeros(TIMES))
    for place in places:
        see(FIRST, place, seen)
    data = empty_data(FIRST)
    measure_seen(FIRST, seen, len(places), data)
    return data


PLACES = 2 * np.random.default_rng(5).standard_normal((40, ROWS))


def test_pseudo_data_of_several_places_have_their_mean_gradient():
    data = seen_at(PLACES)
    pull = np.linalg.solve(noise_of_data(FIRST, data), data.values - PLACES.mean(axis=0))
    np.testing.assert_allclose(pull, np.mean([gradient_of(place) for place in PLACES], axis=0), atol=1e-10)


def test_pseudo_data_of_several_places_have_their_mean_curvature():
    """Exactly where there are two candidates; with more, of all candidates together."""
    precision = np.linalg.inv(noise_of_data(FIRST, seen_at(PLACES)))
    mean = np.mean([curvature_of(data_at(SPACE, place)) for place in PLACES], axis=0)
    for t in range(TIMES):
        found, expected = (matrix[FIRST[t] : FIRST[t + 1], FIRST[t] : FIRST[t + 1]] for matrix in (precision, mean))
        if len(found) == 1:
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        # The chosen candidate's own curvature is the sum over all others.
        assert np.trace(found) + found.sum() == pytest.approx(np.trace(expected) + expected.sum(), rel=1e-6)
        np.testing.assert_allclose(found, expected, atol=0.05)


def test_pseudo_data_of_one_place_are_those_at_that_place(contrasts):
    for found, expected in zip(seen_at([contrasts]), data_at(SPACE, contrasts), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-7)


@pytest.mark.parametrize("case", EXTREMES)
def test_extreme_places_give_finite_pseudo_data(case):
    data = seen_at([EXTREMES[case]] * 3)
    assert all(np.isfinite(part).all() for part in data)
    assert (data.width > 0).all()
    assert (data.common > 0).all()


def test_the_residual_of_several_places_is_what_their_pseudo_data_leave_over():
    data, place, gradient = seen_at(PLACES), PLACES[0], np.empty(ROWS)
    miss, inverse = data.values - place, np.linalg.inv(noise_of_data(FIRST, data))
    value = residual(FIRST, place, data, gradient, True)
    assert value == pytest.approx(log_likelihood(FIRST, place) + 0.5 * miss @ inverse @ miss, rel=1e-10)
    np.testing.assert_allclose(gradient, gradient_of(place) - inverse @ miss, atol=1e-10)


def curvature_of(data):
    """W in full."""
    share = 1 / data.width
    curvature = np.diag(share)
    for t in range(TIMES):
        rows = slice(FIRST[t], FIRST[t + 1])
        curvature[rows, rows] -= np.outer(share[rows], share[rows])
    return curvature


def central_differences(function, place):
    """The derivative, with a step whose error and rounding are alike."""
    units = 1e-5 * np.eye(place.size)
    return np.array([(function(place + unit) - function(place - unit)) / 2e-5 for unit in units]).T
