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
from icb_pymc.kernels.rho_env_given_rho import draw_rho_env, rho_env_precision
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.belief_readers import Learning, LearningReader, find_learner_sample
from icb_pymc.steps.elliptical_slice import elliptical_slice
from icb_pymc.steps.likelihood import choice_likelihood
from icb_pymc.steps.rho_metropolis import find_choice


class RewardGibbs(SeededStep):
    """Gibbs step for the `LinearReward` of a Bayesian learner, and for rho_env if its prior is Gaussian.

    First an exact joint draw given rho: rho_env with the rewards integrated out, then the rewards (Lemma 1). Late
    beliefs have small variances, so given rho they can hardly move. Therefore both are then updated by elliptical slice
    sampling with the noise of rho held fixed: beliefs move, rho moves along, and only the choices constrain them
    (interweaving, Yu and Meng 2011).

    Parameters
    ----------
    interweave : bool
        Whether to make the second update; Algorithm 1 does not.
    """

    own_name = "reward_gibbs"
    stats_dtypes_shapes: ClassVar[dict[str, Any]] = {"reward_slice_angle": (np.float64, [])}

    def __init__(
        self, vars: Any, model: pm.Model | None = None, rng: Any = None, interweave: bool = True, **kwargs: Any
    ) -> None:
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng, kwargs)
        rvs = [model.values_to_rvs[value] for value in self.vars]
        rewards = [rv for rv in rvs if is_learner_reward(model, rv)]
        rho_envs = [rv for rv in rvs if any(is_rho_env_of(model, rv, reward) for reward in rewards)]
        if len(rewards) != 1 or len(rewards) + len(rho_envs) != len(rvs):
            raise ValueError(
                "RewardGibbs samples the LinearReward of one bayesian_learning, and the multivariate normal rho_env "
                f"on which only this reward depends; it was given {', '.join(rv.name for rv in rvs)}."
            )
        learner = find_learner_sample(model)
        assert learner is not None
        choice = find_choice(model, learner) if learner in model.free_RVs else None
        self._choice = choice_likelihood(model, learner, choice) if interweave and choice is not None else None
        self._learning = LearningReader(model, parameters(learner)[0])
        read = {"rho": learner, "rho_env": parameters(rewards[0])[0]}
        self._rho_env = None
        if rho_envs:
            self._rho_env = model.rvs_to_values[rho_envs[0]].name
            read |= dict(zip(("prior_mean", "prior_covariance"), parameters(rho_envs[0]), strict=True))
        self._read = GraphReader(model, read)
        self._reward = model.rvs_to_values[rewards[0]].name
        self._rho = model.rvs_to_values[learner].name
        self._beliefs: BeliefCovariances | None = None
        self._prepared: tuple[RewardGains, np.ndarray] | None = None

    @classmethod
    def can_sample(cls, model: pm.Model, var: TensorVariable) -> bool:
        """The rewards of a Bayesian learner, and their Gaussian rho_env."""
        if is_learner_reward(model, var):
            return True
        dependents = children(model, var) if has_op(var, MvNormalRV) else []
        return (
            len(dependents) == 1
            and is_learner_reward(model, dependents[0])
            and is_rho_env_of(model, var, dependents[0])
        )

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """Draw rho_env and all rewards given rho, then update them given its noise."""
        point = self._draw(point)
        if self._choice is None:
            return point, [{"reward_slice_angle": 0.0}]
        return self._slice(point)

    def _draw(self, point: Point) -> Point:
        learning, values = self._learning(point), self._read(point)
        gains, precision = self._prepare(learning)
        rho, rho_env = values["rho"], values["rho_env"]
        updated = dict(point)
        if self._rho_env is not None:
            rho_env = draw_rho_env(
                gains,
                precision,
                learning.sigma,
                learning.start_mean,
                rho,
                values["prior_mean"],
                np.linalg.inv(values["prior_covariance"]),
                self.rng.standard_normal(len(rho_env)),
            )
            updated[self._rho_env] = rho_env
        reward = np.empty(len(rho))
        draw_reward_path(gains, learning.start_mean, rho_env, rho, self.rng.standard_normal(len(rho)), reward)
        updated[self._reward] = reward
        return updated

    def _slice(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        assert self._choice is not None
        choice, learning, values = self._choice, self._learning(point), self._read(point)
        context, noise = learning.chosen_context, learning.noise(point[self._rho])
        # If rho_env is not sampled, only the rewards rotate, around their mean given rho_env.
        k = context.shape[1]
        centre, fresh_rho_env = values["rho_env"], np.zeros(k)
        if self._rho_env is not None:
            centre = values["prior_mean"]
            fresh_rho_env = np.linalg.cholesky(values["prior_covariance"]) @ self.rng.standard_normal(k)
        mean_reward = context @ centre
        deviation = learning.reward - mean_reward
        fresh = context @ fresh_rho_env + learning.sigma * self.rng.standard_normal(len(deviation))

        def at_angle(angle: float) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
            reward = mean_reward + np.cos(angle) * deviation + np.sin(angle) * fresh
            rho = learning._replace(reward=reward).sample(noise)
            return choice(point, rho).sum(), (reward, rho)

        angle, (reward, rho) = elliptical_slice(at_angle, choice(point, point[self._rho]).sum(), self.rng)
        updated = {**point, self._reward: reward, self._rho: rho}
        if self._rho_env is not None:
            updated[self._rho_env] = (
                centre + np.cos(angle) * (values["rho_env"] - centre) + np.sin(angle) * fresh_rho_env
            )
        return updated, [{"reward_slice_angle": abs(angle)}]

    def _prepare(self, learning: Learning) -> tuple[RewardGains, np.ndarray]:
        if self._prepared is None or self._beliefs is not learning.beliefs:
            gains = reward_gains(learning.beliefs.covariance, learning.chosen_context, learning.sigma)
            precision = rho_env_precision(gains, learning.sigma) if self._rho_env else np.empty((0, 0))
            self._beliefs, self._prepared = learning.beliefs, (gains, precision)
        return self._prepared


def is_learner_reward(model: pm.Model, reward: TensorVariable) -> bool:
    """Whether `reward` is the `LinearReward` of the model's Bayesian learner, and nothing else depends on it."""
    learner = find_learner_sample(model)
    if learner is None or reward not in model.free_RVs or not has_op(reward, LinearRewardRV):
        return False
    _, _, context, learner_reward, sigma = parameters(learner)[0].owner.inputs
    # The learner's updates are Bayesian only if it uses the contexts and the noise of these rewards.
    has_same_inputs = equal_computations(parameters(reward)[1:], [context, sigma])
    return learner_reward is reward and has_same_inputs and children(model, reward) == [learner]


def is_rho_env_of(model: pm.Model, rho_env: TensorVariable, reward: TensorVariable) -> bool:
    """Whether `rho_env` is multivariate normal and only `reward` depends on it."""
    return (
        has_op(rho_env, MvNormalRV)
        and parameters(reward)[0] is rho_env
        and len(children(model, rho_env)) == 1
        and model.rvs_to_transforms.get(rho_env) is None
    )
