"""The search for hyperparameters, on a part of the log first."""

import numpy as np
import pytest
from scipy.optimize import Bounds

from icb_pymc import simulate
from icb_pymc.models import nb_icb
from icb_pymc.sample import most_probable
from icb_pymc.sample.most_probable import Evidence, minimum, most_probable_hyperparameters
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian


@pytest.fixture(scope="module")
def walk():
    """A model with learnt scales of a log of 900 decisions, and its evidence."""
    given = {"total_movement": 1.5, "start_scale": 1.0}
    model = nb_icb(simulate("nb_icb", given, steps=900, seed=100))
    reader = LinearGaussianModel(model, find_linear_gaussian(model), False)
    return model, reader, Evidence(model, reader, model.initial_point())


def test_a_search_that_begins_in_a_part_of_the_log_ends_where_one_in_the_whole_log_does(walk, monkeypatch):
    model, reader, evidence = walk
    whole = evidence.vector(most_probable_hyperparameters(model, reader, model.initial_point()))
    losses, loss = [], Evidence.loss

    def noted(self, vector, every=1):
        losses.append(every)
        return loss(self, vector, every)

    monkeypatch.setattr(Evidence, "loss", noted)
    monkeypatch.setattr(most_probable, "FIRST_DECISIONS", 300)
    thinned_first = evidence.vector(most_probable_hyperparameters(model, reader, model.initial_point()))
    np.testing.assert_allclose(thinned_first, whole, atol=5e-3)
    assert losses.count(3) > losses.count(1) > 0


def test_the_search_goes_up_from_where_the_evidence_is_flat():
    """There the part of the log may have said that weights do not move, where all of it says that they do."""

    def loss(vector):
        return -10.0 * np.exp(-0.5 * ((vector[0] - 1.0) / 1.5) ** 2) + 40 * (vector[1] - 0.5) ** 2

    bounds = Bounds([-20.0, -20.0], [20.0, 20.0])
    found = most_probable._minimum_from(loss, np.array([-9.0, 0.0]), bounds)
    np.testing.assert_allclose(found, [1.0, 0.5], atol=1e-2)


def test_a_steep_slope_does_not_lead_far_away():
    """In a long log the first step would be as long as the slope."""
    visited = []

    def loss(vector):
        visited.append(vector[0])
        return 1e5 * (vector[0] - 0.3) ** 2

    bounds = Bounds([-20.0], [20.0])
    found, least = minimum(loss, np.zeros(1), bounds)
    assert found[0] == pytest.approx(0.3, abs=1e-3)
    assert least == pytest.approx(0.0, abs=0.1)
    assert np.abs(visited).max() < 2.0
