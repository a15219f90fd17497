"""Which of our steps a model can be sampled with."""

import pymc as pm
from pymc.step_methods.compound import BlockedStep, CompoundStep
from pytensor.tensor.variable import TensorVariable

from icb_pymc.steps.belief_gibbs import BeliefGibbs
from icb_pymc.steps.learner_metropolis import LearnerMetropolis
from icb_pymc.steps.reward_gibbs import RewardGibbs
from icb_pymc.steps.rho_metropolis import Kernel, RhoMetropolis
from icb_pymc.steps.sweep import Sweep
from icb_pymc.steps.weights_metropolis import WeightsMetropolis

SWEPT = (BeliefGibbs, RewardGibbs, RhoMetropolis)


def steps_for(model: pm.Model, *, kernel: Kernel = "exact", sweeps: int = 1) -> list[BlockedStep | CompoundStep]:
    """Steps for all free variables of `model` that ours know; the rest is left to PyMC.

    The latent paths are swept over `sweeps` times per draw; hyperparameters, whose moves cost more, move once.
    """
    with model:
        if kernel == "paper" and (weights := _known_to(WeightsMetropolis, model)):
            return [Sweep([WeightsMetropolis(weights, sweeps=sweeps)])]
        known = {step: _known_to(step, model) for step in (*SWEPT, LearnerMetropolis)}
        swept: list[BlockedStep] = []
        if known[BeliefGibbs]:
            swept.append(BeliefGibbs(known[BeliefGibbs]))
        if known[RewardGibbs]:
            # As printed, Algorithm 1 moves rewards only given rho.
            swept.append(RewardGibbs(known[RewardGibbs], interweave=kernel == "exact"))
        if known[RhoMetropolis]:
            swept.append(RhoMetropolis(known[RhoMetropolis], kernel=kernel))
        steps: list[BlockedStep | CompoundStep] = [Sweep(swept, sweeps)] if swept else []
        if known[LearnerMetropolis]:
            steps.append(LearnerMetropolis(known[LearnerMetropolis]))
    return steps


def _known_to(step: type[BlockedStep], model: pm.Model) -> list[TensorVariable]:
    return [rv for rv in model.free_RVs if step.competence(rv, True)]
