"""The vocabulary that models are written in: PyMC distributions and functions. Nothing is sampled here.

- `model`: decisions as data of a model, hyperparameters, the environment, the choice.
- `spec`: what the suite must know about a model beyond its graph.
- `choice`: utilities and the softmax.
- `learning`: agents that learn, from `beliefs` and `rewards`; `learner`: one as declared; `agents`: several of them.
- `prediction_error_ops`: learning from known rewards, with derivatives.
- `linearity`, `affine`: which learners the engine can sample.
- `log_odds`: default priors that fit features of any scale and logs of any length.
- `processes`, `agent_walks`: beliefs that evolve without an update rule, of one agent or of several.
- `session_jumps`: a walk that may jump between sessions.
- `folds`, `priors`, `change_points`: preferences that are constant within segments.
- `pairwise_ranking`: the likelihood of T-REX.
- `graph`, `numpy_functions`: read a PyMC graph; evaluate one. `scan_over_time`: loop over decisions. `shapes`: those of
  our ops.
"""

from icb_pymc.declare.agents import of_each_agent
from icb_pymc.declare.beliefs import (
    Belief,
    BeliefSample,
    GaussianBelief,
    PointBelief,
    bayesian_update,
    constant_within,
    isotropic_belief,
    kalman_update,
)
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility, with_lapses
from icb_pymc.declare.learning import learn, starting_belief
from icb_pymc.declare.log_odds import first_covariance, innovations, log_odds_unit
from icb_pymc.declare.model import (
    choose,
    chosen_context,
    decision_numbers,
    decisions_model,
    follow,
    hyperparameter,
    true_preferences,
    uniform_preferences,
)
from icb_pymc.declare.processes import LinearProcess, WienerProcess, as_covariance, mean_reverting, smooth_walk
from icb_pymc.declare.rewards import LinearReward
from icb_pymc.declare.session_jumps import (
    own_session_jumps,
    session_jumps,
    walk_over_sessions,
    warn_of_unused_sessions,
)
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
    "decision_numbers",
    "decisions_model",
    "first_covariance",
    "follow",
    "hyperparameter",
    "innovations",
    "isotropic_belief",
    "kalman_update",
    "learn",
    "linear_utility",
    "log_odds_unit",
    "mean_reverting",
    "of_each_agent",
    "own_session_jumps",
    "session_jumps",
    "smooth_walk",
    "spec_of",
    "specify",
    "starting_belief",
    "true_preferences",
    "uniform_preferences",
    "walk_over_sessions",
    "warn_of_unused_sessions",
    "with_lapses",
]
