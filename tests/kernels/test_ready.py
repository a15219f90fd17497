"""The kernels that are made ready are those that sampling calls."""

import numpy as np
import pymc as pm
import pytest

from icb_pymc.kernels import mode, pseudo_data, rotation, row_blocks, smoother, state_space
from icb_pymc.kernels.ready import make_ready
from icb_pymc.models import b_icb, nb_icb
from icb_pymc.simulation import simulate
from icb_pymc.steps.assign import engine_step


def compiled():
    """How many times each kernel has been compiled or loaded, for other types of its arguments each time."""
    modules = (mode, pseudo_data, rotation, row_blocks, smoother, state_space)
    kernels = {f"{module.__name__}.{name}": value for module in modules for name, value in vars(module).items()}
    return {name: len(kernel.signatures) for name, kernel in kernels.items() if hasattr(kernel, "signatures")}


@pytest.mark.parametrize("declare", [nb_icb, b_icb])
def test_nothing_is_left_to_compile_for_the_first_draws(declare):
    model = declare(simulate("sampling", steps=12, actions=3, seed=0), alpha=pm.LogNormal.dist())
    make_ready()
    before = compiled()
    (step,) = engine_step(model, with_rho=True)
    step.rng = np.random.default_rng(0)
    point = model.initial_point()
    for _ in range(25):
        point, _ = step.step(point)
    assert compiled() == before
