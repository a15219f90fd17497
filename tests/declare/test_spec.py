"""The suite reads what it must know about a model from the spec on its function, and from nothing else."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc import fit, simulate
from icb_pymc.declare import ModelSpec, choose, decisions_model, linear_utility, spec_of, specify
from icb_pymc.errors import InputError
from icb_pymc.models import nb_icb
from icb_pymc.models.irl import t_rex
from icb_pymc.results.inference_data import group

SHORT = {"draws": 5, "tune": 5, "chains": 1, "cores": 1, "progressbar": False}

# Names that a notebook may define beside a model. None of them is part of the model.
steps = 500
estimate = np.zeros(3)
paper = "to be written"


@pytest.fixture(scope="module")
def decisions():
    return simulate("stepping", arrivals=make_arrivals(8, 2, 2), random_seed=1)


def constant(decisions, *, steps=2.0):
    """A model with a hyperparameter that has the name of an option of `simulate`."""
    import pymc as pm

    with decisions_model(decisions) as model:
        weights = pm.Normal("weights", 0.0, steps, dims="feature")
        belief = weights[None] * np.ones((decisions.sizes["time"], 1))
        pm.Deterministic("belief", belief, dims=("time", "feature"))
        choose(linear_utility(belief, model["context"], 1.0))
    return model


def test_names_beside_a_model_do_not_matter(decisions):
    trace = fit(constant, decisions, **SHORT)
    assert trace.attrs["method"] == "mcmc"
    with pytest.raises(InputError, match="has no preset 'paper'"):
        fit(constant, decisions, preset="paper")


def test_a_hyperparameter_may_have_the_name_of_an_option(decisions):
    trace = fit(constant, decisions, {"steps": 3.0}, **SHORT)
    assert '"steps": 3.0' in trace.attrs["hyperparameters"]
    assert simulate(constant, {"steps": 3.0}, arrivals=decisions.drop_vars("chosen")).sizes["time"] == 8


def test_a_spec_is_attached_by_a_call_or_a_decorator():
    @specify(hindsight="chosen afterwards")
    def mine(decisions): ...

    assert spec_of(mine) == ModelSpec(hindsight="chosen afterwards")
    assert specify(mine, steps=len) is mine
    assert spec_of(mine).steps is len
    assert spec_of(constant) == ModelSpec()
    with pytest.raises(InputError, match="no field 'stpes'; there are paper, steps"):
        specify(mine, stpes=len)


def test_partial_keeps_the_spec_and_its_values(decisions):
    def weights(model, **options):
        return group(fit(model, decisions, progressbar=False, **options), "posterior")["rho_env"].values

    bound = partial(t_rex, alpha=3.0, simplex=True)
    assert spec_of(bound) is spec_of(t_rex)
    np.testing.assert_array_equal(weights(bound), weights(t_rex, hyperparameters={"alpha": 3.0, "simplex": True}))
    assert spec_of(partial(nb_icb, alpha=2.0)).paper is not None


def test_steps_are_registered_when_a_model_is_declared_and_not_by_importing_the_vocabulary():
    """Also by a default model, whose rho is the belief itself, so that it has no `BeliefSample`."""
    code = """
import sys, pymc
before = len(pymc.STEP_METHODS)
import icb_pymc, icb_pymc.declare
assert "icb_pymc.steps" not in sys.modules and len(pymc.STEP_METHODS) == before
from icb_pymc.models import nb_icb
model = nb_icb(icb_pymc.from_arrays([[[1.0], [0.0]], [[0.0], [1.0]]], [0, 1]))
step = next(step for step in pymc.STEP_METHODS if step.__name__ == "UtilityHMC")
assert all(step.can_sample(model, rv) for rv in model.free_RVs)
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
