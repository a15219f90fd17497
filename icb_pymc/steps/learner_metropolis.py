"""Hyperparameters of a Bayesian learner: how sure it begins, how it is rewarded, how sharply it acts."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
import pymc as pm
from pymc.pytensorf import compile as compile_graph
from pymc.step_methods.compound import StepMethodState
from pymc.step_methods.state import dataclass_state
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import GraphReader, Point, children, parameters
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.belief_readers import Learning, LearningReader, learner_behind
from icb_pymc.steps.likelihood import choice_likelihood
from icb_pymc.steps.reward_gibbs import felt_by_learner
from icb_pymc.steps.rho_metropolis import chosen_by

TARGET_ACCEPTANCE = 0.35


@dataclass_state
class LearnerMetropolisState(StepMethodState):
    """What adapts while tuning: the log scale of either move, and how many steps were made."""

    tune: bool
    log_scale: np.ndarray
    steps: int


class _Weighed(NamedTuple):
    """A point with the log densities that its hyperparameters enter, but for the density of rho."""

    point: Point
    learning: Learning
    log_density: float


class LearnerMetropolis(SeededStep):
    """Random-walk Metropolis for all hyperparameters together: strength, start mean, sigma, alpha.

    Each step makes two moves: one with rho kept, and one with the noise kept that rho was made from, so that rho moves
    along. Where the one is slow the other is fast (interweaving, Yu and Meng 2011). Scales adapt while tuning
    towards an acceptance of 0.35.
    """

    name = "learner_metropolis"
    _state_class = LearnerMetropolisState
    stats_dtypes_shapes: ClassVar[dict[str, Any]] = {
        "learner_accept_rho_kept": (np.float64, []),
        "learner_accept_noise_kept": (np.float64, []),
    }

    def __init__(self, vars: Any, model: pm.Model | None = None, rng: Any = None, **kwargs: Any) -> None:
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng)
        for value in self.vars:
            if not is_learner_hyperparameter(model, model.values_to_rvs[value]):
                raise ValueError(
                    f"LearnerMetropolis samples hyperparameters of a bayesian_learning; '{value.name}' is none."
                )
        rho = learner_behind(model)
        assert rho is not None
        choice = chosen_by(model, rho)
        assert choice is not None
        belief = parameters(rho)[0]
        reward = belief.owner.inputs[LearningReader.NAMES.index("reward")]
        self._rho = model.rvs_to_values[rho].name
        self._learning = LearningReader(model, belief)
        self._environment = GraphReader(model, {"rho_env": parameters(reward)[0]})
        self._choice = choice_likelihood(model, rho, choice)
        priors = [rv for rv in model.basic_RVs if rv not in (rho, choice, reward)]
        graph = model.logp(vars=priors)
        inside = set(ancestors([graph]))
        self._prior_inputs = [value.name for value in model.value_vars if value in inside]
        self._prior = compile_graph([value for value in model.value_vars if value in inside], graph)
        self.tune = True
        self.steps = 0
        self.log_scale = np.full(2, np.log(0.3))

    @classmethod
    def knows(cls, model: pm.Model, var: TensorVariable) -> bool:
        """Whatever continuous variable a Bayesian learner's beliefs or choices depend on."""
        return is_learner_hyperparameter(model, var)

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """Move with rho kept, then with its noise kept."""
        accepted = np.empty(2)
        current = self._weigh(point)
        proposed = self._weigh(self._propose(point, 0))
        log_ratio = proposed.log_density + self._rho_density(proposed)
        log_ratio -= current.log_density + self._rho_density(current)
        accepted[0] = self._probability(log_ratio)
        if self.rng.random() < accepted[0]:
            current = proposed

        noise = current.learning.noise(current.point[self._rho])
        proposed = self._weigh(self._propose(current.point, 1), noise)
        accepted[1] = self._probability(proposed.log_density - current.log_density)
        if self.rng.random() < accepted[1]:
            current = proposed

        if self.tune:
            self.steps += 1
            self.log_scale = self.log_scale + (accepted - TARGET_ACCEPTANCE) * 3.0 / self.steps**0.6
        names = self.stats_dtypes_shapes
        return current.point, [dict(zip(names, accepted, strict=True))]

    def _propose(self, point: Point, move: int) -> Point:
        scale = np.exp(self.log_scale[move])
        moved = dict(point)
        for value in self.vars:
            here = point[value.name]
            moved[value.name] = np.asarray(here + scale * self.rng.standard_normal(np.shape(here)))
        return moved

    def _weigh(self, point: Point, noise: np.ndarray | None = None) -> _Weighed:
        learning = self._learning(point)
        if noise is not None:
            point = {**point, self._rho: learning.sample(noise)}
        surprise = learning.reward - learning.chosen_context @ self._environment(point)["rho_env"]
        with np.errstate(all="ignore"):
            log_density = float(self._prior(*(point[name] for name in self._prior_inputs)))
            log_density -= 0.5 * (surprise**2).sum() / learning.sigma**2 + len(surprise) * np.log(learning.sigma)
        log_density += self._choice(point, point[self._rho]).sum()
        return _Weighed(point, learning, log_density)

    def _rho_density(self, weighed: _Weighed) -> float:
        """log p(rho | beliefs), without its constant."""
        log_root = np.linalg.slogdet(weighed.learning.beliefs.root)[1].sum()
        noise = weighed.learning.noise(weighed.point[self._rho])
        return -0.5 * (noise**2).sum() - log_root

    @staticmethod
    def _probability(log_ratio: float) -> float:
        return float(np.exp(min(0.0, log_ratio))) if np.isfinite(log_ratio) else 0.0


def is_learner_hyperparameter(model: pm.Model, var: TensorVariable) -> bool:
    """Whether a Bayesian learner's beliefs, rewards or choices depend on `var`, and nothing that we do not weigh."""
    rho = learner_behind(model)
    if rho is None or rho not in model.free_RVs or model.potentials:
        return False
    if var not in model.free_RVs or var.dtype != "float64":
        return False
    choice = chosen_by(model, rho)
    belief = parameters(rho)[0]
    reward = belief.owner.inputs[LearningReader.NAMES.index("reward")]
    if choice is None or not felt_by_learner(model, reward):
        return False
    latents = {rho, reward, choice, parameters(reward)[0]}
    weighed = {*latents, *model.free_RVs}
    return var not in latents and bool(children(model, var)) and set(children(model, var)) <= weighed
