"""Which of our steps a model can be sampled with."""

import pymc as pm
from pymc.step_methods.compound import BlockedStep

from icb_pymc.beliefs import BeliefSampleRV
from icb_pymc.processes import WienerProcessRV
from icb_pymc.steps.belief_gibbs import BeliefGibbs, sampled_from
from icb_pymc.steps.graph import has_op
from icb_pymc.steps.rho_metropolis import Kernel, RhoMetropolis, chosen_by
from icb_pymc.steps.sweep import Sweep


def sweep_for(model: pm.Model, *, kernel: Kernel = "exact", sweeps: int = 1) -> Sweep | None:
    """One `Sweep` over all free variables of `model` that our steps know, in the order of the model; or None."""
    steps: list[BlockedStep] = []
    with model:
        for variable in model.free_RVs:
            if has_op(variable, WienerProcessRV) and sampled_from(model, variable) is not None:
                steps.append(BeliefGibbs([variable]))
            elif has_op(variable, BeliefSampleRV) and chosen_by(model, variable) is not None:
                steps.append(RhoMetropolis([variable], kernel=kernel))
    return Sweep(steps, sweeps) if steps else None
