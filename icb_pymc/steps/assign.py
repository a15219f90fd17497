"""Which of our steps a model can be sampled with."""

from typing import Literal

import pymc as pm
from pymc.step_methods.compound import BlockedStep, CompoundStep
from pytensor.tensor.variable import TensorVariable

from icb_pymc.errors import InputError
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.belief_gibbs import BeliefGibbs
from icb_pymc.steps.learner_metropolis import LearnerMetropolis
from icb_pymc.steps.linear_gaussian import find_linear_gaussian
from icb_pymc.steps.reward_gibbs import RewardGibbs
from icb_pymc.steps.rho_metropolis import RhoMetropolis
from icb_pymc.steps.sweep import Sweep
from icb_pymc.steps.utility_hmc import UtilityHMC
from icb_pymc.steps.weights_metropolis import WeightsMetropolis

Steps = list[BlockedStep | CompoundStep]
SWEPT = (BeliefGibbs, RewardGibbs, RhoMetropolis)


def engine_step(model: pm.Model, *, with_rho: bool = True) -> Steps:
    """The exact engine for all variables of `model` that it knows, or an `InputError`; the rest is left to PyMC.

    Without rho, which takes time to draw, only where the engine samples everything.
    """
    found = find_linear_gaussian(model)
    if found is None:
        raise InputError(
            "the engine is for beliefs that are linear and Gaussian, with utilities linear in rho; this model is not: "
            "leave the kernel open, or use 'nuts'."
        )
    known = [*found.variables, *found.hyperparameters]
    with model:
        return [UtilityHMC(known, with_rho=with_rho or set(known) != set(model.free_RVs))]


def alternating_steps(model: pm.Model, *, kernel: Literal["exact", "paper"] = "exact", sweeps: int = 1) -> Steps:
    """Algorithms 1 and 2: steps for all free variables of `model` that alternation knows; the rest is left to PyMC.

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
        steps: Steps = [Sweep(swept, sweeps)] if swept else []
        if known[LearnerMetropolis]:
            steps.append(LearnerMetropolis(known[LearnerMetropolis]))
    return steps


def _known_to(step: type[SeededStep], model: pm.Model) -> list[TensorVariable]:
    return [rv for rv in model.free_RVs if step.knows(model, rv)]
