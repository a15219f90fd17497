"""Hyperparameters of a Bayesian learner: of its first belief, its rewards and its choices."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
import pymc as pm
from pymc.step_methods.compound import StepMethodState
from pymc.step_methods.state import dataclass_state
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import GraphReader, Point, children, parameters
from icb_pymc.declare.numpy_functions import numpy_function
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.belief_readers import Learning, LearningReader, find_learner_sample
from icb_pymc.steps.likelihood import choice_likelihood
from icb_pymc.steps.reward_gibbs import is_learner_reward
from icb_pymc.steps.rho_metropolis import find_choice

TARGET_ACCEPTANCE = 0.35


@dataclass_state
class LearnerMetropolisState(StepMethodState):
    """What is adapted while tuning: the log scale of either move (2,), and the number of tuning steps."""

    tune: bool
    log_scale: np.ndarray
    steps: int


class _Evaluation(NamedTuple):
    """A point, the learner at it, and its log-density without that of rho."""

    point: Point
    learning: Learning
    log_density: float


class LearnerMetropolis(SeededStep):
    """Random-walk Metropolis for all hyperparameters together: strength, start mean, sigma, alpha.

    Each step makes two moves: one with rho held fixed, and one with the noise of rho held fixed, so that rho moves too.
    If one of them mixes slowly, the other mixes fast (interweaving, Yu and Meng 2011). Scales are adapted while tuning
    to an acceptance rate of 0.35.
    """

    own_name = "learner_metropolis"
    _state_class = LearnerMetropolisState
    stats_dtypes_shapes: ClassVar[dict[str, Any]] = {
        "learner_accept_rho_kept": (np.float64, []),
        "learner_accept_noise_kept": (np.float64, []),
    }

    def __init__(self, vars: Any, model: pm.Model | None = None, rng: Any = None, **kwargs: Any) -> None:
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng, kwargs)
        for value in self.vars:
            if not is_learner_hyperparameter(model, model.values_to_rvs[value]):
                raise ValueError(
                    f"LearnerMetropolis samples hyperparameters of a bayesian_learning; '{value.name}' is not one."
                )
        rho = find_learner_sample(model)
        assert rho is not None
        choice = find_choice(model, rho)
        assert choice is not None
        belief = parameters(rho)[0]
        reward = belief.owner.inputs[LearningReader.NAMES.index("reward")]
        self._rho = model.rvs_to_values[rho].name
        self._learning = LearningReader(model, belief)
        self._read_rho_env = GraphReader(model, {"rho_env": parameters(reward)[0]})
        self._choice = choice_likelihood(model, rho, choice)
        priors = [rv for rv in model.basic_RVs if rv not in (rho, choice, reward)]
        graph = model.logp(vars=priors)
        inside = set(ancestors([graph]))
        self._prior_inputs = [value.name for value in model.value_vars if value in inside]
        self._prior = numpy_function([value for value in model.value_vars if value in inside], [graph])
        self.tune = True
        self.steps = 0
        self.log_scale = np.full(2, np.log(0.3))

    @classmethod
    def can_sample(cls, model: pm.Model, var: TensorVariable) -> bool:
        """Any continuous variable that a Bayesian learner's beliefs or choices depend on."""
        return is_learner_hyperparameter(model, var)

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """Move with rho held fixed, then with its noise held fixed."""
        accepted = np.empty(2)
        current = self._evaluate(point)
        proposed = self._evaluate(self._propose(point, 0))
        log_ratio = proposed.log_density + self._rho_log_density(proposed)
        log_ratio -= current.log_density + self._rho_log_density(current)
        accepted[0] = self._acceptance_probability(log_ratio)
        if self.rng.random() < accepted[0]:
            current = proposed

        noise = current.learning.noise(current.point[self._rho])
        proposed = self._evaluate(self._propose(current.point, 1), noise)
        accepted[1] = self._acceptance_probability(proposed.log_density - current.log_density)
        if self.rng.random() < accepted[1]:
            current = proposed

        if self.tune:
            self.steps += 1
            self.log_scale = self.log_scale + (accepted - TARGET_ACCEPTANCE) * 3.0 / self.steps**0.6
        names = self.stats_dtypes_shapes
        return current.point, [dict(zip(names, accepted, strict=True))]

    def _propose(self, point: Point, move: int) -> Point:
        scale = np.exp(self.log_scale[move])
        proposal = dict(point)
        for value in self.vars:
            current = point[value.name]
            proposal[value.name] = np.asarray(current + scale * self.rng.standard_normal(np.shape(current)))
        return proposal

    def _evaluate(self, point: Point, noise: np.ndarray | None = None) -> _Evaluation:
        learning = self._learning(point)
        if noise is not None:
            point = {**point, self._rho: learning.sample(noise)}
        residual = learning.reward - learning.chosen_context @ self._read_rho_env(point)["rho_env"]
        with np.errstate(all="ignore"):
            log_density = float(self._prior(*(point[name] for name in self._prior_inputs))[0])
            log_density -= 0.5 * (residual**2).sum() / learning.sigma**2 + len(residual) * np.log(learning.sigma)
        log_density += self._choice(point, point[self._rho]).sum()
        return _Evaluation(point, learning, log_density)

    def _rho_log_density(self, evaluation: _Evaluation) -> float:
        """log p(rho | beliefs), up to a constant."""
        log_root = np.linalg.slogdet(evaluation.learning.beliefs.root)[1].sum()
        noise = evaluation.learning.noise(evaluation.point[self._rho])
        return -0.5 * (noise**2).sum() - log_root

    @staticmethod
    def _acceptance_probability(log_ratio: float) -> float:
        return float(np.exp(min(0.0, log_ratio))) if np.isfinite(log_ratio) else 0.0


def is_learner_hyperparameter(model: pm.Model, var: TensorVariable) -> bool:
    """Whether a Bayesian learner's beliefs, rewards or choices depend on `var`, and nothing else but free variables."""
    rho = find_learner_sample(model)
    if rho is None or rho not in model.free_RVs or model.potentials:
        return False
    if var not in model.free_RVs or var.dtype != "float64":
        return False
    choice = find_choice(model, rho)
    belief = parameters(rho)[0]
    reward = belief.owner.inputs[LearningReader.NAMES.index("reward")]
    if choice is None or not is_learner_reward(model, reward):
        return False
    latents = {rho, reward, choice, parameters(reward)[0]}
    covered = {*latents, *model.free_RVs}
    return var not in latents and bool(children(model, var)) and set(children(model, var)) <= covered
