"""Conversion of the values of a model's variables to noise, and back."""

from functools import partial

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals
from helpers.settings import NB_ICB

from icb_pymc.declare.beliefs import constant_within
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
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


@pytest.mark.parametrize(
    ("prior", "order", "is_known"),
    [
        (pm.Normal.dist, [0, 0, 1, 1, 2, 2], True),
        (pm.Normal.dist, [0, 0, 1, 1, 1, 1], False),
        (pm.Normal.dist, [1, 1, 0, 0, 2, 2], False),
        (pm.Laplace.dist, [0, 0, 1, 1, 2, 2], False),
    ],
    ids=["in order", "one is empty", "out of order", "not Gaussian"],
)
def test_gaussian_folds_in_order_are_recognised_and_no_others(prior, order, is_known):
    arrivals = make_arrivals(6, 2, 2)
    with pm.Model() as model:
        weights = model.register_rv(prior(0.0, 1.0, shape=(3, 2)), "weights")
        utility = linear_utility(constant_within(weights, np.array(order)), arrivals["context"].values, 1.5)
        SoftmaxChoice("chosen", utility, arrivals["available"].values, observed=np.zeros(6, int))
    assert (find_linear_gaussian(model) is not None) == is_known
