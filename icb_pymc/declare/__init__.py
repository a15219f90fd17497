"""The vocabulary that models are written in: PyMC distributions and functions. Nothing is sampled here.

- `model`: decisions as data of a model, hyperparameters, the environment, the choice; `spec`: what else a model says.
- `beliefs`, `learning`, `rewards`: agents that learn, with `linearity` and `affine` (which of them the engine knows).
- `choice`: utilities and the softmax.
- `processes`, `agent_walks`: beliefs that move by themselves; `priors`, `folds`, `change_points`: constant preferences.
- `pairwise_ranking`: the likelihood of T-REX. `graph`: read a PyMC graph; `scan_over_time`: loops over decisions.
"""

from icb_pymc.declare.beliefs import (
    Belief,
    BeliefSample,
    GaussianBelief,
    PointBelief,
    bayesian_update,
    constant_within,
    isotropic_belief,
)
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility, with_lapses
from icb_pymc.declare.learning import learn, starting_belief
from icb_pymc.declare.model import (
    choose,
    chosen_context,
    decisions_model,
    follow,
    hyperparameter,
    numbers_of_decisions,
    true_preferences,
    uniform_preferences,
)
from icb_pymc.declare.processes import LinearProcess, WienerProcess, as_covariance, mean_reverting, smooth_walk
from icb_pymc.declare.rewards import LinearReward
from icb_pymc.declare.spec import Estimate, ModelSpec, Preset, spec_of, specify

__all__ = [
    "Belief",
    "BeliefSample",
    "Estimate",
    "GaussianBelief",
    "LinearProcess",
    "LinearReward",
    "ModelSpec",
    "PointBelief",
    "Preset",
    "SoftmaxChoice",
    "WienerProcess",
    "as_covariance",
    "bayesian_update",
    "choose",
    "chosen_context",
    "constant_within",
    "decisions_model",
    "follow",
    "hyperparameter",
    "isotropic_belief",
    "learn",
    "linear_utility",
    "mean_reverting",
    "numbers_of_decisions",
    "smooth_walk",
    "spec_of",
    "specify",
    "starting_belief",
    "true_preferences",
    "uniform_preferences",
    "with_lapses",
]
