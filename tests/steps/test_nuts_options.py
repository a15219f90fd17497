"""Options of NUTS that `pm.sample` is given where our steps take the variables: used, or refused in a sentence."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc import InputError
from icb_pymc.declare.beliefs import BeliefSample
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.processes import WienerProcess
from icb_pymc.models import nb_icb
from icb_pymc.results.inference_data import group
from icb_pymc.steps import BeliefGibbs, RhoMetropolis, UtilityHMC

ARRIVALS = make_arrivals(12, 2, 2)
DECISIONS = ARRIVALS.assign(chosen=("time", np.zeros(12, int)))


def curved():
    """Beliefs that the engine cannot take, since choices depend on their cubes: alternating steps do."""
    with pm.Model() as model:
        belief = WienerProcess("belief", np.zeros(2), np.eye(2), np.eye(2), np.ones(11))
        rho = BeliefSample("rho", belief, np.eye(2))
        utility = linear_utility(rho**3, ARRIVALS["context"].values, 2.0)
        SoftmaxChoice("chosen", utility, ARRIVALS["available"].values, observed=np.zeros(12, int))
    return model


def sample(model, **options):
    few = {"draws": 3, "tune": 3, "chains": 1, "random_seed": 0, "progressbar": False}
    with model:
        return pm.sample(**few, **options, compute_convergence_checks=False)


def test_target_accept_is_what_the_engine_adapts_its_step_size_to():
    model = nb_icb(DECISIONS)
    sampled = sample(model, target_accept=0.8)
    assert "hmc_accept" in group(sampled, "sample_stats")
    with model:
        assert UtilityHMC(model.free_RVs, target_accept=0.8).target_accept == 0.8


@pytest.mark.parametrize("value", [0, 1, 1.5, float("nan")])
def test_a_target_that_is_no_probability_is_refused(value):
    with pytest.raises(InputError, match="give a number between 0 and 1"):
        sample(nb_icb(DECISIONS), target_accept=value)


def test_what_only_nuts_can_use_is_refused_with_the_way_to_use_nuts():
    expected = r"max_treedepth is an option of NUTS, but this model is sampled by utility_hmc \(which takes "
    expected += r"target_accept\): leave it out, or sample with step=pm.NUTS\(max_treedepth=...\)."
    with pytest.raises(InputError, match=expected):
        sample(nb_icb(DECISIONS), nuts={"max_treedepth": 5})


def test_steps_without_an_acceptance_rate_to_adapt_refuse_one():
    with pytest.raises(InputError, match="target_accept is an option of NUTS, but this model is sampled by"):
        sample(curved(), target_accept=0.9)


def test_options_are_left_to_nuts_where_it_samples_other_variables():
    model = curved()
    with model:
        pm.Normal("apart")
        assert BeliefGibbs([model["belief"]], max_treedepth=5).name == "belief_gibbs"
        assert RhoMetropolis([model["rho"]], target_accept=0.9).name == "rho_metropolis"
