"""The dynamics against a plain leapfrog with dense matrices in the space of the noise."""

from typing import NamedTuple

import numpy as np
import pytest
from helpers.state_spaces import (
    contrasts_of,
    flat,
    log_likelihood,
    long_walk,
    noise_of_data,
    noise_size,
    prior,
    probabilities,
    random_space,
    shaped,
)
from scipy.stats import multivariate_normal

from icb_pymc.kernels.hamiltonian import (
    FreshNoise,
    Reference,
    carry_over,
    draw_around,
    fresh_noise,
    locate,
    refer,
    travel,
)
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.pseudo_data import spread_noise

KINDS = ("identity", "static", "rank one over time", "all over time", "identical rows", "one alternative each")


class Dense(NamedTuple):
    """The reference in full: m and A, V, and the Gaussian N(centre, covariance) of the noise given the pseudo-data."""

    mean: np.ndarray
    matrix: np.ndarray
    measurement_noise: np.ndarray
    centre: np.ndarray
    covariance: np.ndarray

    @classmethod
    def of(cls, reference: Reference) -> "Dense":
        mean, matrix = prior(reference.space)
        noise = noise_of_data(reference.space.first, reference.data)
        gain = np.linalg.solve(matrix @ matrix.T + noise, matrix).T
        centre = gain @ (reference.data.values - mean)
        return cls(mean, matrix, noise, centre, np.eye(len(gain)) - gain @ matrix)

    def residual(self, reference, noise):
        """R and its gradient in the contrasts, at noise measured from its mean."""
        contrasts = self.mean + self.matrix @ (self.centre + noise)
        miss = np.linalg.solve(self.measurement_noise, reference.data.values - contrasts)
        value = log_likelihood(reference.space.first, contrasts)
        value += 0.5 * (reference.data.values - contrasts) @ miss
        return value, -probabilities(reference.space.first, contrasts) - miss

    def energy(self, reference, noise, velocity):
        squares = [part @ np.linalg.solve(self.covariance, part) for part in (noise, velocity)]
        return 0.5 * sum(squares) - self.residual(reference, noise)[0]

    def leapfrog(self, reference, noise, velocity, steps, path):
        """Half a rotation, a kick, half a rotation, as often as there are steps."""
        step = path / steps
        for _ in range(steps):
            noise, velocity = turned(noise, velocity, step / 2)
            velocity = velocity + step * self.kick(reference, noise)
            noise, velocity = turned(noise, velocity, step / 2)
        return noise, velocity

    def kick(self, reference, noise):
        return self.covariance @ self.matrix.T @ self.residual(reference, noise)[1]


def turned(noise, velocity, angle):
    return np.cos(angle) * noise + np.sin(angle) * velocity, np.cos(angle) * velocity - np.sin(angle) * noise


def reference_of(kind, seed=0):
    space = random_space(kind, seed)
    return refer(space, find_mode(space).data)


def unflat(space, vector):
    """One vector as fresh normals."""
    sizes = [noise_size(space), space.offset.size]
    path, rows, common = np.split(vector, np.cumsum(sizes))
    return FreshNoise(shaped(space, path), rows.copy(), common.copy())


def fresh_size(space):
    return noise_size(space) + space.offset.size + space.first.size - 1


def matrix_of_draw(reference):
    """`draw_around` is linear: its matrix, column by column."""
    units = np.eye(fresh_size(reference.space))
    return np.transpose([flat(draw_around(reference, unflat(reference.space, unit))) for unit in units])


@pytest.fixture(params=KINDS, name="kind")
def kind_of_space(request):
    return request.param


def start(reference, seed=1):
    """A place off the mode, and fresh normals for a velocity."""
    rng = np.random.default_rng(seed)
    noise = draw_around(reference, fresh_noise(reference, rng))
    return locate(reference, noise), fresh_noise(reference, rng)


def test_the_reference_is_the_gaussian_given_the_pseudo_data(kind):
    reference = reference_of(kind)
    dense = Dense.of(reference)
    np.testing.assert_allclose(flat(reference.noise), dense.centre, atol=1e-10)
    np.testing.assert_allclose(reference.contrasts, dense.mean + dense.matrix @ dense.centre, atol=1e-10)
    marginal = multivariate_normal(dense.mean, dense.matrix @ dense.matrix.T + dense.measurement_noise)
    constant = -0.5 * dense.mean.size * np.log(2 * np.pi)
    assert reference.log_density + constant == pytest.approx(marginal.logpdf(reference.data.values), abs=1e-7)


def test_the_reference_at_the_mode_is_centred_there():
    space = random_space("identity")
    mode = find_mode(space)
    np.testing.assert_allclose(refer(space, mode.data).contrasts, mode.contrasts, atol=1e-6)


def test_draws_around_the_mean_have_the_covariance_of_the_noise_given_the_pseudo_data(kind):
    """S = I - A'(K + V)^-1 A, exactly: draws are linear in fresh normals."""
    reference = reference_of(kind)
    matrix = matrix_of_draw(reference)
    np.testing.assert_allclose(matrix @ matrix.T, Dense.of(reference).covariance, atol=1e-10)


def test_a_place_is_where_its_noise_leads(kind):
    reference = reference_of(kind)
    dense, (here, _) = Dense.of(reference), start(reference)
    noise = flat(here.noise)
    value, _ = dense.residual(reference, noise)
    np.testing.assert_allclose(here.contrasts, dense.mean + dense.matrix @ (dense.centre + noise), atol=1e-10)
    assert here.residual == pytest.approx(value, abs=1e-6)


def test_gaussian_and_residual_together_are_the_posterior(kind):
    """log π - z'z/2 differs from R and the log density of the Gaussian by the same constant everywhere."""
    reference = reference_of(kind)
    dense, differences = Dense.of(reference), []
    for seed in range(4):
        place, _ = start(reference, seed)
        around = flat(place.noise)
        whole = dense.centre + around
        posterior = log_likelihood(reference.space.first, place.contrasts) - 0.5 * whole @ whole
        gaussian = -0.5 * around @ np.linalg.solve(dense.covariance, around)
        differences.append(posterior - gaussian - place.residual)
    np.testing.assert_allclose(differences, differences[0], atol=1e-7)


@pytest.mark.parametrize(("steps", "path"), [(1, 1.0), (3, 2.0), (8, 2.2), (5, 3.6)])
def test_the_path_is_that_of_a_plain_leapfrog_in_the_space_of_the_noise(kind, steps, path):
    reference = reference_of(kind)
    dense, (here, fresh) = Dense.of(reference), start(reference)
    velocity = flat(draw_around(reference, fresh))
    noise, end_velocity = dense.leapfrog(reference, flat(here.noise), velocity, steps, path)
    place, energy_error = travel(reference, here, fresh, steps, path)
    np.testing.assert_allclose(flat(place.noise), noise, atol=1e-7)
    expected = dense.energy(reference, noise, end_velocity) - dense.energy(reference, flat(here.noise), velocity)
    assert abs(expected) > 1e-6
    assert energy_error == pytest.approx(expected, abs=1e-6)
    # Whole at its end: a next path, from here, needs no place to be located anew.
    located = locate(reference, place.noise)
    np.testing.assert_allclose(place.contrasts, located.contrasts, atol=1e-7)
    assert place.residual == pytest.approx(located.residual, abs=1e-7)


def test_a_path_leaves_the_place_it_began_at_alone():
    reference = reference_of("identity")
    here, fresh = start(reference)
    contrasts, noise = here.contrasts.copy(), flat(here.noise)
    travel(reference, here, fresh, 4, 2.0)
    np.testing.assert_array_equal(here.contrasts, contrasts)
    np.testing.assert_array_equal(flat(here.noise), noise)


def test_with_its_velocity_turned_round_a_path_leads_back(kind):
    """The velocity at the end is that of the plain leapfrog; normals for its reverse are found by least squares."""
    reference = reference_of(kind)
    dense, (here, fresh) = Dense.of(reference), start(reference)
    velocity = flat(draw_around(reference, fresh))
    _, end_velocity = dense.leapfrog(reference, flat(here.noise), velocity, 4, 2.0)
    back = np.linalg.lstsq(matrix_of_draw(reference), -end_velocity, rcond=None)[0]
    there, energy_error = travel(reference, here, fresh, 4, 2.0)
    again, energy_back = travel(reference, there, unflat(reference.space, back), 4, 2.0)
    np.testing.assert_allclose(flat(again.noise), flat(here.noise), atol=1e-6)
    np.testing.assert_allclose(again.contrasts, here.contrasts, atol=1e-6)
    assert energy_back == pytest.approx(-energy_error, abs=1e-6)


def test_the_error_of_energy_falls_with_the_square_of_the_step():
    space = long_walk(40, 0.3, contrasts=2)
    reference = refer(space, find_mode(space).data)
    here, fresh = start(reference)
    errors = np.array([travel(reference, here, fresh, steps, 2.0)[1] for steps in (16, 32, 64, 128)])
    np.testing.assert_allclose(errors[:-1] / errors[1:], 4.0, rtol=0.1)


def test_contrasts_do_not_drift_from_the_noise_that_makes_them():
    """Over a hundred paths, each from where the last one ended."""
    space = long_walk(60, 0.1, contrasts=2)
    reference = refer(space, find_mode(space).data)
    place, _ = start(reference)
    rng = np.random.default_rng(3)
    for _ in range(100):
        place, _ = travel(reference, place, fresh_noise(reference, rng), 4, 2.0)
    whole = shaped(space, flat(place.noise) + flat(reference.noise))
    np.testing.assert_allclose(place.contrasts, contrasts_of(space, whole), atol=1e-9)


def test_without_alternatives_the_path_is_an_exact_rotation():
    """Nothing is measured, so that nothing is left over: the noise turns into the fresh one, however few the steps."""
    space = random_space("no alternatives")
    reference = refer(space, find_mode(space).data)
    here, fresh = start(reference)
    for steps, path in ((1, 2.0), (7, 0.5), (2, np.pi / 2)):
        place, energy_error = travel(reference, here, fresh, steps, path)
        expected = np.cos(path) * flat(here.noise) + np.sin(path) * flat(fresh.path)
        np.testing.assert_allclose(flat(place.noise), expected, atol=1e-14)
        assert energy_error == 0.0


def test_a_full_turn_without_kicks_leads_back():
    """One step of a whole turn: the kick comes half a turn before the end, and moves no place."""
    reference = reference_of("identity")
    here, fresh = start(reference)
    place, _ = travel(reference, here, fresh, 1, 2 * np.pi)
    np.testing.assert_allclose(flat(place.noise), flat(here.noise), atol=1e-12)


def two_models(kind):
    """Two models of the same decisions and the same pseudo-data."""
    before, after = random_space(kind, 0), random_space(kind, 5)
    data = find_mode(before).data
    return refer(before, data), refer(after, data)


def test_what_is_carried_over_to_another_model_has_the_covariance_that_it_has_there(kind):
    """It is linear in the noise, N(0, S) before, and in fresh normals: the covariance is told by unit vectors."""
    before, after = two_models(kind)
    space = before.space
    still, none = unflat(space, np.zeros(fresh_size(space))), shaped(space, np.zeros(noise_size(space)))
    of_noise = [flat(carry_over(before, after, shaped(space, unit), still)) for unit in np.eye(noise_size(space))]
    of_fresh = [flat(carry_over(before, after, none, unflat(space, unit))) for unit in np.eye(fresh_size(space))]
    covariance = np.transpose(of_noise) @ Dense.of(before).covariance @ of_noise + np.transpose(of_fresh) @ of_fresh
    expected = Dense.of(after).covariance
    assert np.abs(expected - Dense.of(before).covariance).max() > 0.01
    np.testing.assert_allclose(covariance, expected, atol=1e-9)


def test_carried_over_to_the_same_model_nothing_changes(kind):
    reference = reference_of(kind)
    here, fresh = start(reference)
    np.testing.assert_allclose(flat(carry_over(reference, reference, here.noise, fresh)), flat(here.noise), atol=1e-10)


def test_with_the_measurements_that_it_ended_with_carrying_over_leads_back(kind):
    before, after = two_models(kind)
    space, (here, fresh) = before.space, start(before)
    there = carry_over(before, after, here.noise, fresh)
    # What was measured, of the path that noise and measurements make, and what would be of the other model's.
    one, other = Dense.of(before), Dense.of(after)
    error = np.empty(space.offset.size)
    spread_noise(space.first, before.data, fresh.rows, fresh.common, error)
    measured = one.matrix @ flat(fresh.path) + error
    told = one.matrix.T @ np.linalg.solve(one.matrix @ one.matrix.T + one.measurement_noise, measured)
    whole = flat(here.noise) + told
    ended_with = other.matrix @ whole + measured - one.matrix @ whole
    # The normals that make it: two candidates have one for both, others one each, and none in common.
    counts = np.diff(space.first)
    common = np.repeat(np.where(counts == 1, after.data.common, 0.0), counts)
    rows, none = ended_with / np.sqrt(after.data.width + common), np.zeros(space.first.size - 1)
    silent = shaped(space, np.zeros(noise_size(space)))
    back = carry_over(after, before, there, FreshNoise(silent, rows, none))
    np.testing.assert_allclose(flat(back), flat(here.noise), atol=1e-9)
