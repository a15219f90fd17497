"""The steps of this package that can sample a model."""

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
from icb_pymc.steps.shrinkage_gibbs import ShrinkageGibbs
from icb_pymc.steps.sweep import Sweep
from icb_pymc.steps.utility_hmc import UtilityHMC
from icb_pymc.steps.weights_metropolis import WeightsMetropolis

Steps = list[BlockedStep | CompoundStep]
SWEPT_STEPS = (BeliefGibbs, RewardGibbs, RhoMetropolis)


def engine_step(model: pm.Model, *, with_rho: bool = True) -> Steps:
    """The exact engine for all variables of `model` that it can sample, or an `InputError`; PyMC samples the others.

    With ``with_rho=False`` rho, which takes time to draw, is left out if the engine samples all variables.
    """
    parts = find_linear_gaussian(model)
    if parts is None:
        raise InputError(
            "the engine needs beliefs that are linear and Gaussian, and utilities that are linear in rho; this model "
            "is not of that kind. Omit the kernel, or use kernel='nuts'."
        )
    sampled = [*parts.variables, *parts.hyperparameters]
    with model:
        scales: Steps = [] if parts.shrinkage is None else [ShrinkageGibbs(parts.shrinkage.variables)]
        return [*scales, UtilityHMC(sampled, with_rho=with_rho or set(sampled) != set(model.free_RVs))]


def alternating_steps(model: pm.Model, *, kernel: Literal["exact", "paper"] = "exact", sweeps: int = 1) -> Steps:
    """Algorithms 1 and 2: steps for all free variables of `model` that they can sample; PyMC samples the others.

    The latent paths are updated `sweeps` times per draw; hyperparameters, whose updates cost more, once.
    """
    with model:
        if kernel == "paper" and (weights := _sampled_by(WeightsMetropolis, model)):
            return [Sweep([WeightsMetropolis(weights, sweeps=sweeps)])]
        sampled = {step: _sampled_by(step, model) for step in (*SWEPT_STEPS, LearnerMetropolis)}
        swept: list[BlockedStep] = []
        if sampled[BeliefGibbs]:
            swept.append(BeliefGibbs(sampled[BeliefGibbs]))
        if sampled[RewardGibbs]:
            # As printed, Algorithm 1 updates rewards only given rho.
            swept.append(RewardGibbs(sampled[RewardGibbs], interweave=kernel == "exact"))
        if sampled[RhoMetropolis]:
            swept.append(RhoMetropolis(sampled[RhoMetropolis], kernel=kernel))
        steps: Steps = [Sweep(swept, sweeps)] if swept else []
        if sampled[LearnerMetropolis]:
            steps.append(LearnerMetropolis(sampled[LearnerMetropolis]))
    return steps


def _sampled_by(step: type[SeededStep], model: pm.Model) -> list[TensorVariable]:
    return [rv for rv in model.free_RVs if step.can_sample(model, rv)]
