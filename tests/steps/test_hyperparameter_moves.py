"""Moves of hyperparameters: their acceptance ratio against dense matrices, and how they are adapted."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals
from helpers.dense_reference import Dense
from helpers.state_spaces import from_vector, log_likelihood, noise_size, to_vector
from scipy.stats import multivariate_normal, norm

from icb_pymc.io.array_trees import read_tree, write_tree
from icb_pymc.kernels.hamiltonian import make_position
from icb_pymc.kernels.transfer import measured_path
from icb_pymc.models import b_icb, nb_icb
from icb_pymc.steps import UtilityHMC
from icb_pymc.steps.hyperparameter_moves import SURFACE_UPDATES
from icb_pymc.steps.resumable import plain_state, with_plain_state

TIMES = 5


def step_for(declare, seed=0, features=2, **hyperparameters):
    decisions = make_arrivals(TIMES, 3, features, seed=3, share_available=0.8)
    decisions = decisions.assign(chosen=decisions["available"].argmax("action"))
    with declare(decisions, **hyperparameters) as model:
        step = UtilityHMC(model.free_RVs, rng=np.random.default_rng(seed))
    return step, model.initial_point()


def density(place, noise, measurements):
    """Log-density of hyperparameters, noise of the model and measurements of which its mean is subtracted."""
    dense, space = Dense.of(place.reference), place.space
    covariance = dense.matrix @ dense.matrix.T + dense.measurement_noise
    total = norm.logpdf(noise + dense.centre).sum() + multivariate_normal(cov=covariance).logpdf(measurements)
    contrasts = dense.mean + dense.matrix @ (noise + dense.centre)
    return place.log_prior + total + log_likelihood(space.first, contrasts)


def four_scales(seed=0):
    """A scale for each of three weights, and one of the first weights."""
    return step_for(nb_icb, seed, features=3, total_movement=pm.LogNormal.dist(-0.7, 1.0, shape=3))


@pytest.mark.parametrize("declare", [nb_icb, b_icb])
def test_places_are_compared_by_their_densities_and_the_volume_ratio_of_the_transfer(declare):
    """With the density of the measurements, and the determinant of the linear map of both."""
    options = {"sampling_covariance": 0.3} if declare is nb_icb else {}
    step, point = step_for(declare, **options)
    point, _ = step.step(point)
    here, moves, rng = step._here, step._moves, np.random.default_rng(1)
    normals = rng.standard_normal(len(here.space.offset))
    there_point = moves._with_vector(here.point, moves._vector(here.point) + 0.3 * rng.standard_normal(len(moves.mean)))

    def moved(noise, measurements):
        """Noise and measurements at the other place."""
        dense = Dense.of(here.reference)
        root = np.linalg.cholesky(dense.matrix @ dense.matrix.T + dense.measurement_noise)
        position = make_position(here.reference, from_vector(here.space, noise))
        path, errors = measured_path(here.reference, position, np.linalg.solve(root, measurements))
        there = step._places.along((path, errors), there_point, here.data)
        return there, to_vector(there.position.noise), Dense.of(there.reference).matrix @ to_vector(path) + errors

    dense, size = Dense.of(here.reference), noise_size(here.space)
    root = np.linalg.cholesky(dense.matrix @ dense.matrix.T + dense.measurement_noise)
    noise, measurements = to_vector(here.position.noise), root @ normals
    there, noise_there, measurements_there = moved(noise, measurements)
    matrix = np.transpose(
        [np.concatenate(moved(*np.split(unit, [size]))[1:]) for unit in np.eye(size + len(measurements))]
    )
    expected = density(there, noise_there, measurements_there) - density(here, noise, measurements)
    expected += np.linalg.slogdet(matrix)[1]
    assert there.log_density - here.log_density == pytest.approx(expected, abs=1e-6)
    assert abs(expected) > 0.01


def test_the_surface_is_found_in_tuning_and_then_proposes():
    step, point = four_scales()
    accepted = []
    for i in range(SURFACE_UPDATES[0] + 60):
        point, (stats,) = step.step(point)
        accepted.append(stats["hyper_accept"])
        assert (step._moves._surface.surface is not None) == (i + 1 >= SURFACE_UPDATES[0])
    assert np.isnan(accepted[: SURFACE_UPDATES[0]]).all()
    assert np.mean(accepted[SURFACE_UPDATES[0] :]) > 0.4
    step.stop_tuning()
    before = step.hyper["surface"]["surface"]["coefficient"].copy()
    for _ in range(30):
        point, _ = step.step(point)
    np.testing.assert_array_equal(step.hyper["surface"]["surface"]["coefficient"], before)


def test_a_chain_goes_on_from_its_kept_state_with_the_same_draws(tmp_path):
    step, point = four_scales()
    for _ in range(SURFACE_UPDATES[0] + 5):
        point, _ = step.step(point)
    write_tree(tmp_path / "state.npz", plain_state(step.sampling_state))
    kept = read_tree(tmp_path / "state.npz")
    expected = [step.step(point)[0]]
    for _ in range(25):
        expected.append(step.step(expected[-1])[0])
    other, _ = four_scales(seed=1)
    other.sampling_state = with_plain_state(other.sampling_state, kept)
    for draw in expected:
        point, _ = other.step(point)
        for name, value in draw.items():
            np.testing.assert_array_equal(point[name], value)


def test_a_few_hyperparameters_are_proposed_without_a_surface():
    step, point = step_for(nb_icb)
    for _ in range(130):
        point, (stats,) = step.step(point)
    assert step._moves._surface.surface is None
    assert stats["hyper_accept"] > 0.1


def test_with_many_hyperparameters_blocks_of_them_are_proposed():
    decisions = make_arrivals(20, 2, 13, seed=3).assign(chosen=("time", np.arange(20) % 2))
    with nb_icb(decisions, total_movement=pm.LogNormal.dist(-1.0, 0.3, shape=13)) as model:
        step = UtilityHMC(model.free_RVs, rng=np.random.default_rng(0))
    point = model.initial_point()
    for _ in range(130):
        before = point
        point, (stats,) = step.step(point)
    assert step._moves._surface.surface is None
    assert stats["hyper_accept"] > 0.1
    assert (before["total_movement_log__"] != point["total_movement_log__"]).sum() >= 3
