"""What is wrong with a declaration is said in the modeller's words."""

import pymc as pm
import pytensor.tensor as pt
import pytest

from icb_pymc import check
from icb_pymc.assess.model_requirements import declare_both, requirement_problems, small_arrivals
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.model import choose, decisions_model, is_simulated
from icb_pymc.models import nb_icb
from icb_pymc.models.irl import b_irl, t_rex, uniform

ARRIVALS = small_arrivals(6)


def problems_of(declare, **hyperparameters):
    declared, problems = declare_both(declare, "it", ARRIVALS, 2, 0, **hyperparameters)
    return problems or requirement_problems(declared)


@pytest.mark.parametrize("declare", [nb_icb, b_irl])
def test_built_in_models_meet_the_requirements(declare):
    assert problems_of(declare) == []


def declared(fault):
    """Constant preferences with one fault."""

    def model_with(decisions):
        with decisions_model(decisions) as model:
            simulated = is_simulated(model)
            size = 2 if fault == "shape" and simulated else 3
            weights = pm.Normal("weights", 0, 1, size=size)
            if fault == "one-sided" and not simulated:
                pm.Normal("more")
            belief = pt.zeros((6, 3)) + weights.sum()
            if fault == "nan":
                belief = belief + pt.sqrt(-1 - weights.sum() ** 2)
            if fault == "gradient":
                belief = belief + pt.sqrt(pt.maximum(weights - 100, 0)).sum()
            if fault == "dims":
                pm.Deterministic("belief", belief.T, dims=("feature", "time"))
            elif fault == "no dims":
                pm.Deterministic("belief", belief)
            elif fault != "nothing estimated":
                pm.Deterministic("belief", belief, dims=("time", "feature"))
            utility = linear_utility(belief, model["context"], 1.0)
            if fault == "unobserved":
                SoftmaxChoice("chosen", utility, model["available"], dims="time")
            elif fault == "other choices":
                observed = None if simulated else 1 - decisions["chosen"].values
                SoftmaxChoice("chosen", utility, model["available"], observed=observed, dims="time")
            elif fault != "no choice":
                choose(utility)
            if fault == "raises" and not simulated:
                raise ValueError("what a pity")
        return None if fault == "no return" else model

    return model_with


FAULTS = {
    "dims": "in the simulation, `belief` has dims ('feature', 'time'), expected ('time', 'feature').",
    "no dims": "in the simulation, `belief` has no dims, expected ('time', 'feature').",
    "nothing estimated": "in the simulation, there is neither `belief` nor `rho_env`: name what the model estimates",
    "no choice": "in the simulation, there is no `chosen`: declare how choices are made",
    "no return": "it returns NoneType, not a pm.Model: end it with `return model`.",
    "raises": "it cannot be declared for decisions: ValueError: what a pity",
    "unobserved": "`chosen` is not observed where decisions are given",
    "other choices": "`chosen` is observed, but not as the choices that the decisions hold.",
    "one-sided": "inference has an unknown `more` that the simulation does not draw.",
    "shape": "`weights` ('weights_dim_0',) has shape (2,) in the simulation, but (3,) in inference.",
    "nan": "the log-density of `chosen` is not a number at a draw of the prior.",
    "gradient": "the gradient of the log-density by `weights` is not a number at a draw of the prior.",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_reported(fault):
    problems = problems_of(declared(fault))
    assert len(problems) == 1
    assert problems[0].startswith(FAULTS[fault])


def test_a_model_that_cannot_be_simulated_is_wrong_and_one_without_unknowns_is_not_calibrated():
    result = check(t_rex)
    assert not result.passed
    assert "cannot be declared for arrivals" in str(result)
    assert "what was chosen is not known before anyone has chosen" in str(result)
    assert "flat prior cannot be drawn from" in str(check(b_irl, hyperparameters={"prior": "flat"}))
    result = check(uniform)
    assert result.passed
    assert "nothing to calibrate" in str(result)
    assert result.table is None


def test_arrivals_may_have_agents_that_take_turns_and_sessions_of_all_of_them():
    arrivals = small_arrivals(7, agents=3, sessions=2)
    assert arrivals["session"].values.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert arrivals["decider"].values.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert "session" not in small_arrivals(7)
