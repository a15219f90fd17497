"""Rewards and rho_env given rho: an exact joint draw by Lemma 1."""

from typing import Any, ClassVar

import numpy as np
import pymc as pm
from pytensor.graph.basic import equal_computations
from pytensor.tensor.random.basic import MvNormalRV
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import GraphReader, Point, children, has_op, parameters
from icb_pymc.declare.rewards import LinearRewardRV
from icb_pymc.kernels.reward_given_rho import BeliefCovariances, RewardGains, draw_reward_path, reward_gains
from icb_pymc.kernels.rho_env_given_rho import draw_environment, environment_precision
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.belief_readers import Learning, LearningReader, learner_behind
from icb_pymc.steps.elliptical_slice import elliptical_slice
from icb_pymc.steps.likelihood import choice_likelihood
from icb_pymc.steps.rho_metropolis import chosen_by


class RewardGibbs(SeededStep):
    """Gibbs step for the `LinearReward` that a Bayesian learner felt, and for its rho_env where the prior is Gaussian.

    First an exact joint draw given rho: rho_env with the rewards integrated out, then the rewards (Lemma 1). Then, as
    late beliefs are sharp and rho given holds them fast, an elliptical slice move of both with the noise kept that rho
    was made from: beliefs move, rho moves along, and only the choices hold them (interweaving, Yu and Meng 2011).

    Parameters
    ----------
    interweave : bool
        Whether to make the second move; Algorithm 1 does not.
    """

    name = "reward_gibbs"
    stats_dtypes_shapes: ClassVar[dict[str, Any]] = {"reward_slice_angle": (np.float64, [])}

    def __init__(
        self, vars: Any, model: pm.Model | None = None, rng: Any = None, interweave: bool = True, **kwargs: Any
    ) -> None:
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng)
        rvs = [model.values_to_rvs[value] for value in self.vars]
        rewards = [rv for rv in rvs if felt_by_learner(model, rv)]
        environments = [rv for rv in rvs if any(is_environment_of(model, rv, reward) for reward in rewards)]
        if len(rewards) != 1 or len(rewards) + len(environments) != len(rvs):
            raise ValueError(
                "RewardGibbs samples the LinearReward of one bayesian_learning, and the multivariate normal rho_env "
                f"that only this reward reads; it was given {', '.join(rv.name for rv in rvs)}."
            )
        learner = learner_behind(model)
        assert learner is not None
        choice = chosen_by(model, learner) if learner in model.free_RVs else None
        self._choice = choice_likelihood(model, learner, choice) if interweave and choice is not None else None
        self._learning = LearningReader(model, parameters(learner)[0])
        read = {"rho": learner, "rho_env": parameters(rewards[0])[0]}
        self._environment = None
        if environments:
            self._environment = model.rvs_to_values[environments[0]].name
            read |= dict(zip(("prior_mean", "prior_covariance"), parameters(environments[0]), strict=True))
        self._read = GraphReader(model, read)
        self._reward = model.rvs_to_values[rewards[0]].name
        self._rho = model.rvs_to_values[learner].name
        self._beliefs: BeliefCovariances | None = None
        self._prepared: tuple[RewardGains, np.ndarray] | None = None

    @classmethod
    def knows(cls, model: pm.Model, var: TensorVariable) -> bool:
        """What a Bayesian learner felt, and the Gaussian rho_env behind it."""
        if felt_by_learner(model, var):
            return True
        readers = children(model, var) if has_op(var, MvNormalRV) else []
        return len(readers) == 1 and felt_by_learner(model, readers[0]) and is_environment_of(model, var, readers[0])

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """Draw rho_env and all rewards given rho, then move them given its noise."""
        point = self._draw(point)
        if self._choice is None:
            return point, [{"reward_slice_angle": 0.0}]
        return self._slice(point)

    def _draw(self, point: Point) -> Point:
        learning, values = self._learning(point), self._read(point)
        gains, precision = self._prepare(learning)
        rho, rho_env = values["rho"], values["rho_env"]
        moved = dict(point)
        if self._environment is not None:
            rho_env = draw_environment(
                gains,
                precision,
                learning.sigma,
                learning.start_mean,
                rho,
                values["prior_mean"],
                np.linalg.inv(values["prior_covariance"]),
                self.rng.standard_normal(len(rho_env)),
            )
            moved[self._environment] = rho_env
        reward = np.empty(len(rho))
        draw_reward_path(gains, learning.start_mean, rho_env, rho, self.rng.standard_normal(len(rho)), reward)
        moved[self._reward] = reward
        return moved

    def _slice(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        assert self._choice is not None
        choice, learning, values = self._choice, self._learning(point), self._read(point)
        context, noise = learning.chosen_context, learning.noise(point[self._rho])
        # Without a free rho_env only the rewards turn, around the mean that it gives them.
        centre, turn = values["rho_env"], np.zeros(context.shape[1])
        if self._environment is not None:
            centre = values["prior_mean"]
            turn = np.linalg.cholesky(values["prior_covariance"]) @ self.rng.standard_normal(len(turn))
        mean_reward = context @ centre
        deviation = learning.reward - mean_reward
        fresh = context @ turn + learning.sigma * self.rng.standard_normal(len(deviation))

        def at_angle(angle: float) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
            reward = mean_reward + np.cos(angle) * deviation + np.sin(angle) * fresh
            rho = learning._replace(reward=reward).sample(noise)
            return choice(point, rho).sum(), (reward, rho)

        angle, (reward, rho) = elliptical_slice(at_angle, choice(point, point[self._rho]).sum(), self.rng)
        moved = {**point, self._reward: reward, self._rho: rho}
        if self._environment is not None:
            moved[self._environment] = centre + np.cos(angle) * (values["rho_env"] - centre) + np.sin(angle) * turn
        return moved, [{"reward_slice_angle": abs(angle)}]

    def _prepare(self, learning: Learning) -> tuple[RewardGains, np.ndarray]:
        if self._prepared is None or self._beliefs is not learning.beliefs:
            gains = reward_gains(learning.beliefs.covariance, learning.chosen_context, learning.sigma)
            precision = environment_precision(gains, learning.sigma) if self._environment else np.empty((0, 0))
            self._beliefs, self._prepared = learning.beliefs, (gains, precision)
        return self._prepared


def felt_by_learner(model: pm.Model, reward: TensorVariable) -> bool:
    """Whether `reward` is the `LinearReward` that the model's Bayesian learner updates by, read by it alone."""
    learner = learner_behind(model)
    if learner is None or not has_op(reward, LinearRewardRV):
        return False
    _, _, context, felt, sigma = parameters(learner)[0].owner.inputs
    # The learner is Bayesian about these very rewards only if it knows their contexts and their noise.
    knows = equal_computations(parameters(reward)[1:], [context, sigma])
    return felt is reward and knows and children(model, reward) == [learner]


def is_environment_of(model: pm.Model, rho_env: TensorVariable, reward: TensorVariable) -> bool:
    """Whether `rho_env` is multivariate normal and only `reward` reads it."""
    return (
        has_op(rho_env, MvNormalRV)
        and parameters(reward)[0] is rho_env
        and len(children(model, rho_env)) == 1
        and model.rvs_to_transforms.get(rho_env) is None
    )
