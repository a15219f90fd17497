"""Positions that are carried over to another model, against dense matrices."""

import numpy as np
import pytest
from helpers.dense_reference import Dense
from helpers.state_spaces import from_vector, noise_size, random_space, to_vector

from icb_pymc.kernels.hamiltonian import make_position, make_reference
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.smoother import solve_transposed_root
from icb_pymc.kernels.transfer import measured_path, position_of_measured_path

KINDS = ("identity", "static", "rank one over time", "all over time", "identical rows", "one alternative each")


@pytest.fixture(params=KINDS, name="references")
def two_models(request):
    """Two models of the same decisions and the same pseudo-data."""
    before, after = random_space(request.param, 0), random_space(request.param, 5)
    data = find_mode(before).data
    return make_reference(before, data), make_reference(after, data)


def path_of(reference, noise, innovations):
    """The measured path of a position with this noise (a vector): its noise, and its errors."""
    position = make_position(reference, from_vector(reference.space, noise))
    path, errors = measured_path(reference, position, innovations)
    return to_vector(path), errors


def matrix_of(function, *sizes):
    """The matrix of a linear function of vectors of these sizes."""
    columns = [np.concatenate(function(*np.split(unit, np.cumsum(sizes)[:-1]))) for unit in np.eye(sum(sizes))]
    return np.transpose(columns)


def random_start(reference, seed=1):
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(Dense.of(reference).covariance + 1e-12 * np.eye(noise_size(reference.space)))
    return root @ rng.standard_normal(len(root)), rng.standard_normal(reference.space.offset.size)


def test_normals_become_multipliers_by_the_root_of_cholesky(references):
    reference, _ = references
    dense, rows = Dense.of(reference), reference.space.offset.size
    root = np.linalg.cholesky(dense.matrix @ dense.matrix.T + dense.measurement_noise)
    for normal in np.eye(rows):
        found = np.empty(rows)
        solve_transposed_root(reference.space, reference.gains, normal, found)
        np.testing.assert_allclose(found, np.linalg.solve(root.T, normal), atol=1e-9)


def test_a_measured_path_is_from_the_prior_with_errors_of_the_pseudo_data(references):
    """It is linear in the noise, N(0, S), and in standard normals."""
    reference, _ = references
    dense, size, rows = Dense.of(reference), noise_size(reference.space), reference.space.offset.size
    matrix = matrix_of(lambda noise, normal: path_of(reference, noise, normal), size, rows)
    covariance = matrix[:, :size] @ dense.covariance @ matrix[:, :size].T + matrix[:, size:] @ matrix[:, size:].T
    expected = np.zeros((size + rows, size + rows))
    expected[:size, :size], expected[size:, size:] = np.eye(size), dense.measurement_noise
    np.testing.assert_allclose(covariance, expected, atol=1e-8)


def test_seen_from_another_model_it_has_the_covariance_of_that_model(references):
    before, after = references
    one, other = Dense.of(before), Dense.of(after)
    size, rows = noise_size(before.space), before.space.offset.size

    def moved(noise, normal):
        path, errors = path_of(before, noise, normal)
        return (to_vector(position_of_measured_path(after, from_vector(after.space, path), errors).noise),)

    matrix = matrix_of(moved, size, rows)
    covariance = matrix[:, :size] @ one.covariance @ matrix[:, :size].T + matrix[:, size:] @ matrix[:, size:].T
    assert np.abs(other.covariance - one.covariance).max() > 0.01
    np.testing.assert_allclose(covariance, other.covariance, atol=1e-8)


def test_it_leads_back_to_its_position_by_way_of_any_model(references):
    before, after = references
    noise, normal = random_start(before)
    position = make_position(before, from_vector(before.space, noise))
    path = measured_path(before, position, normal)
    there, back = position_of_measured_path(after, *path), position_of_measured_path(before, *path)
    assert np.abs(to_vector(there.noise) - noise).max() > 0.01
    np.testing.assert_allclose(to_vector(back.noise), noise, atol=1e-8)
    for reference, found in ((after, there), (before, back)):
        expected = make_position(reference, found.noise)
        np.testing.assert_allclose(found.contrasts, expected.contrasts, atol=1e-8)
        assert found.log_residual == pytest.approx(expected.log_residual, abs=1e-7)
