"""The dynamics against a plain leapfrog integrator with dense matrices in the space of the noise."""

import numpy as np
import pytest
from helpers.dense_reference import Dense, reference_of
from helpers.state_spaces import (
    contrasts_of,
    from_vector,
    log_likelihood,
    long_walk,
    noise_size,
    random_space,
    to_vector,
)
from scipy.stats import multivariate_normal

from icb_pymc.kernels.hamiltonian import (
    FreshNoise,
    draw_centred_noise,
    fresh_noise,
    hmc_trajectory,
    make_position,
    make_reference,
)
from icb_pymc.kernels.mode import find_mode

KINDS = ("identity", "static", "rank one over time", "all over time", "identical rows", "one alternative each")


def fresh_from_vector(space, vector):
    """A vector as fresh normals."""
    sizes = [noise_size(space), space.offset.size]
    path, rows, common = np.split(vector, np.cumsum(sizes))
    return FreshNoise(from_vector(space, path), rows.copy(), common.copy())


def fresh_size(space):
    return noise_size(space) + space.offset.size + space.first.size - 1


def matrix_of_draw(reference):
    """`draw_centred_noise` is linear: its matrix, column by column."""
    units = np.eye(fresh_size(reference.space))
    return np.transpose(
        [to_vector(draw_centred_noise(reference, fresh_from_vector(reference.space, unit))) for unit in units]
    )


@pytest.fixture(params=KINDS, name="kind")
def kind_of_space(request):
    return request.param


def random_position(reference, seed=1):
    """A random position, and fresh normals for a velocity."""
    rng = np.random.default_rng(seed)
    noise = draw_centred_noise(reference, fresh_noise(reference, rng))
    return make_position(reference, noise), fresh_noise(reference, rng)


def test_the_reference_is_the_gaussian_given_the_pseudo_data(kind):
    reference = reference_of(kind)
    dense = Dense.of(reference)
    np.testing.assert_allclose(to_vector(reference.noise), dense.centre, atol=1e-10)
    np.testing.assert_allclose(reference.contrasts, dense.mean + dense.matrix @ dense.centre, atol=1e-10)
    marginal = multivariate_normal(dense.mean, dense.matrix @ dense.matrix.T + dense.measurement_noise)
    constant = -0.5 * dense.mean.size * np.log(2 * np.pi)
    assert reference.log_density + constant == pytest.approx(marginal.logpdf(reference.data.values), abs=1e-7)


def test_the_reference_at_the_mode_is_centred_there():
    space = random_space("identity")
    mode = find_mode(space)
    np.testing.assert_allclose(make_reference(space, mode.data).contrasts, mode.contrasts, atol=1e-6)


def test_draws_around_the_mean_have_the_covariance_of_the_noise_given_the_pseudo_data(kind):
    """S = I - A'(K + V)^-1 A, exactly: draws are linear in fresh normals."""
    reference = reference_of(kind)
    matrix = matrix_of_draw(reference)
    np.testing.assert_allclose(matrix @ matrix.T, Dense.of(reference).covariance, atol=1e-10)


def test_a_position_has_the_contrasts_and_residual_of_its_noise(kind):
    reference = reference_of(kind)
    dense, (position, _) = Dense.of(reference), random_position(reference)
    noise = to_vector(position.noise)
    value, _ = dense.residual(reference, noise)
    np.testing.assert_allclose(position.contrasts, dense.mean + dense.matrix @ (dense.centre + noise), atol=1e-10)
    assert position.log_residual == pytest.approx(value, abs=1e-6)


def test_the_gaussian_and_the_residual_add_up_to_the_posterior(kind):
    """log π - z'z/2 differs from R and the log-density of the Gaussian by the same constant everywhere."""
    reference = reference_of(kind)
    dense, differences = Dense.of(reference), []
    for seed in range(4):
        position, _ = random_position(reference, seed)
        centred_noise = to_vector(position.noise)
        noise_from_zero = dense.centre + centred_noise
        posterior = log_likelihood(reference.space.first, position.contrasts) - 0.5 * noise_from_zero @ noise_from_zero
        gaussian = -0.5 * centred_noise @ np.linalg.solve(dense.covariance, centred_noise)
        differences.append(posterior - gaussian - position.log_residual)
    np.testing.assert_allclose(differences, differences[0], atol=1e-7)


@pytest.mark.parametrize(("steps", "path_length"), [(1, 1.0), (3, 2.0), (8, 2.2), (5, 3.6)])
def test_the_trajectory_is_that_of_a_plain_leapfrog_in_the_space_of_the_noise(kind, steps, path_length):
    reference = reference_of(kind)
    dense, (position, fresh) = Dense.of(reference), random_position(reference)
    velocity = to_vector(draw_centred_noise(reference, fresh))
    noise, end_velocity = dense.leapfrog(reference, to_vector(position.noise), velocity, steps, path_length)
    proposal, energy_error = hmc_trajectory(reference, position, fresh, steps, path_length)
    np.testing.assert_allclose(to_vector(proposal.noise), noise, atol=1e-7)
    expected = dense.energy(reference, noise, end_velocity) - dense.energy(
        reference, to_vector(position.noise), velocity
    )
    assert abs(expected) > 1e-6
    assert energy_error == pytest.approx(expected, abs=1e-6)
    # The proposal is complete: the next trajectory can start from it.
    recomputed = make_position(reference, proposal.noise)
    np.testing.assert_allclose(proposal.contrasts, recomputed.contrasts, atol=1e-7)
    assert proposal.log_residual == pytest.approx(recomputed.log_residual, abs=1e-7)


def test_a_trajectory_does_not_modify_its_starting_position():
    reference = reference_of("identity")
    position, fresh = random_position(reference)
    contrasts, noise = position.contrasts.copy(), to_vector(position.noise)
    hmc_trajectory(reference, position, fresh, 4, 2.0)
    np.testing.assert_array_equal(position.contrasts, contrasts)
    np.testing.assert_array_equal(to_vector(position.noise), noise)


def test_a_trajectory_with_its_final_velocity_reversed_leads_back(kind):
    """The final velocity is that of the plain leapfrog; normals that give its reverse are computed by least squares."""
    reference = reference_of(kind)
    dense, (position, fresh) = Dense.of(reference), random_position(reference)
    velocity = to_vector(draw_centred_noise(reference, fresh))
    _, end_velocity = dense.leapfrog(reference, to_vector(position.noise), velocity, 4, 2.0)
    back = np.linalg.lstsq(matrix_of_draw(reference), -end_velocity, rcond=None)[0]
    proposal, energy_error = hmc_trajectory(reference, position, fresh, 4, 2.0)
    returned, energy_back = hmc_trajectory(reference, proposal, fresh_from_vector(reference.space, back), 4, 2.0)
    np.testing.assert_allclose(to_vector(returned.noise), to_vector(position.noise), atol=1e-6)
    np.testing.assert_allclose(returned.contrasts, position.contrasts, atol=1e-6)
    assert energy_back == pytest.approx(-energy_error, abs=1e-6)


def test_the_energy_error_falls_with_the_square_of_the_step():
    space = long_walk(40, 0.3, contrasts=2)
    reference = make_reference(space, find_mode(space).data)
    position, fresh = random_position(reference)
    errors = np.array([hmc_trajectory(reference, position, fresh, steps, 2.0)[1] for steps in (16, 32, 64, 128)])
    np.testing.assert_allclose(errors[:-1] / errors[1:], 4.0, rtol=0.1)


def test_contrasts_do_not_drift_from_those_of_their_noise():
    """Over a hundred trajectories, each from the end of the last one."""
    space = long_walk(60, 0.1, contrasts=2)
    reference = make_reference(space, find_mode(space).data)
    position, _ = random_position(reference)
    rng = np.random.default_rng(3)
    for _ in range(100):
        position, _ = hmc_trajectory(reference, position, fresh_noise(reference, rng), 4, 2.0)
    noise_from_zero = from_vector(space, to_vector(position.noise) + to_vector(reference.noise))
    np.testing.assert_allclose(position.contrasts, contrasts_of(space, noise_from_zero), atol=1e-9)


def test_without_alternatives_the_trajectory_is_an_exact_rotation():
    """There are no measurements and no residual: the noise rotates into fresh noise for any number of steps."""
    space = random_space("no alternatives")
    reference = make_reference(space, find_mode(space).data)
    position, fresh = random_position(reference)
    for steps, path_length in ((1, 2.0), (7, 0.5), (2, np.pi / 2)):
        proposal, energy_error = hmc_trajectory(reference, position, fresh, steps, path_length)
        expected = np.cos(path_length) * to_vector(position.noise) + np.sin(path_length) * to_vector(fresh.path)
        np.testing.assert_allclose(to_vector(proposal.noise), expected, atol=1e-14)
        assert energy_error == 0.0


def test_a_full_turn_leads_back():
    """One step of a full turn: its kick comes half a turn before the end, and so does not move the end."""
    reference = reference_of("identity")
    position, fresh = random_position(reference)
    proposal, _ = hmc_trajectory(reference, position, fresh, 1, 2 * np.pi)
    np.testing.assert_allclose(to_vector(proposal.noise), to_vector(position.noise), atol=1e-12)
