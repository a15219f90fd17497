"""Conversion of the values of a model's variables to noise, and back."""

from functools import partial

import numpy as np
import pymc as pm
import pytest
from helpers.settings import NB_ICB

from icb_pymc.models import b_icb, nb_icb
from icb_pymc.sample.simulation import simulate
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

NAMES = {partial(nb_icb, **NB_ICB): ["belief"], b_icb: ["reward", "rho_env"]}


@pytest.mark.parametrize("declare", NAMES)
@pytest.mark.parametrize("with_rho", [True, False])
def test_values_are_recovered_from_their_noise_with_and_without_rho(declare, with_rho):
    model = declare(simulate("sampling", steps=12, actions=3, seed=0))
    names = [*NAMES[declare], *(["rho"] if with_rho else [])]
    drawn = pm.draw([model[name] for name in names], random_seed=1, mode="FAST_COMPILE")
    point = model.initial_point() | dict(zip(names, drawn, strict=True))
    reader = LinearGaussianModel(model, find_linear_gaussian(model), with_rho)
    values = reader.values(point)
    dynamics, space = reader.state_space(values)
    noise = reader.to_noise(values, dynamics, space, point)
    recovered = reader.to_point(values, dynamics, space, noise, np.random.default_rng(0))
    assert set(recovered) == set(names)
    for name in names:
        # No belief in the log depends on the last reward, which is drawn again.
        compared = slice(-1) if name == "reward" else slice(None)
        np.testing.assert_allclose(recovered[name][compared], point[name][compared], atol=1e-9)
