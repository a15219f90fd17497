"""The rewards that the agent receives: latent, observed, or observed for some decisions."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.distribution import Continuous, SymbolicRandomVariable
from pymc.distributions.shape_utils import rv_size_is_none
from pytensor.compile.builders import OpFromGraph
from pytensor.tensor.random.utils import normalize_size_param
from pytensor.tensor.variable import TensorVariable

from icb_pymc.data.schema import IS_REWARD_OBSERVED, OBSERVED_REWARD
from icb_pymc.declare.shapes import Axis, KnownShape, broadcast


class LinearRewardRV(KnownShape, SymbolicRandomVariable):
    """Random graph of `LinearReward`: the mean reward plus Gaussian noise."""

    name = "linear_reward"
    extended_signature = "[rng],[size],(k),(k),()->[rng],()"
    _print_name = ("LinearReward", "\\operatorname{LinearReward}")

    @classmethod
    def rv_op(cls, rho_env: Any, context: Any, sigma: Any, *, size: Any = None, rng: Any = None) -> TensorVariable:
        parameters = [pt.as_tensor(p) for p in (rho_env, context, sigma)]
        size = normalize_size_param(size)
        mean = _mean_reward(*parameters[:2])
        shape = mean.shape if rv_size_is_none(size) else tuple(size)
        noise = pm.Normal.dist(shape=shape, rng=rng)
        next_rng, rng = noise.owner.outputs[0], noise.owner.inputs[0]
        inputs = [rng, size, *parameters]
        return cls(inputs=inputs, outputs=[next_rng, mean + parameters[2] * noise])(*inputs)

    def output_shapes(self, *inputs: list[Axis]) -> list[Any]:
        _, _, rho_env, context, sigma = inputs
        return [None, broadcast(rho_env[:-1], context[:-1], sigma)]


class LinearReward(Continuous):
    r"""Reward :math:`r_t \sim N(\langle \rho_{env}, x_t[a_t] \rangle, \sigma^2)` of the chosen candidate.

    Parameters
    ----------
    rho_env : tensor (feature,)
        The reward parameter of the environment.
    context : tensor (..., feature)
        x_t[a_t], the context of the chosen candidate.
    sigma : tensor or number
        Standard deviation of a reward.

    Returns
    -------
    tensor (...)
        A random variable of the model or, from ``LinearReward.dist``, one without a model.

    Examples
    --------
    >>> import pymc as pm
    >>> from icb_pymc.declare import LinearReward
    >>> reward = LinearReward.dist([1.0, -1.0], [[2.0, 0.0], [2.0, 1.0]], 0.5)
    >>> pm.logp(reward, [2.0, 1.0]).eval().round(3)
    array([-0.226, -0.226])
    """

    rv_type = LinearRewardRV
    rv_op = LinearRewardRV.rv_op

    @classmethod
    def dist(cls, rho_env: Any, context: Any, sigma: Any, **kwargs: Any) -> TensorVariable:
        return super().dist([pt.as_tensor(p, dtype="float64") for p in (rho_env, context, sigma)], **kwargs)

    def support_point(rv, size, rho_env, context, sigma):  # type: ignore[no-untyped-def]
        mean = _mean_reward(rho_env, context)
        return mean if rv_size_is_none(size) else pt.zeros(size) + mean

    def logp(value, rho_env, context, sigma):  # type: ignore[no-untyped-def]
        standardised = (value - _mean_reward(rho_env, context)) / sigma
        return -0.5 * standardised**2 - pt.log(sigma) - 0.5 * np.log(2 * np.pi)


class CompletedRewards(OpFromGraph):
    """The graph of `received_rewards` as one op, so that steps recognise rewards of which some were observed."""


def received_rewards(rho_env: TensorVariable, context: TensorVariable, sigma: Any) -> TensorVariable:
    """Declare `reward` (time,), N(<rho_env, x_t[a_t]>, sigma^2): observed where the log contains it, latent elsewhere.

    Where the log contains some of them, the random variables are `reward_unobserved` (unobserved,) and the observed
    `reward_observed`, and `reward` joins both.

    Parameters
    ----------
    rho_env : tensor (feature,)
    context : tensor (time, feature)
        x_t[a_t].
    sigma : number or tensor ()

    Returns
    -------
    tensor (time,)
    """
    model = pm.modelcontext(None)
    if OBSERVED_REWARD not in model.named_vars:
        return LinearReward("reward", rho_env, context, sigma, dims="time")
    recorded = model[OBSERVED_REWARD]
    is_seen = seen_rewards(model)
    if is_seen.all():
        return LinearReward("reward", rho_env, context, sigma, observed=recorded, dims="time")
    seen, hidden = pt.as_tensor(np.flatnonzero(is_seen)), pt.as_tensor(np.flatnonzero(~is_seen))
    model.add_coord("unobserved", np.flatnonzero(~is_seen))
    values = pm.Data("reward_recorded", recorded.get_value()[is_seen])
    LinearReward("reward_observed", rho_env, context[seen], sigma, observed=values)
    latent = LinearReward("reward_unobserved", rho_env, context[hidden], sigma, dims="unobserved")
    return pm.Deterministic("reward", complete_rewards(recorded, hidden, latent), dims="time")


def complete_rewards(recorded: TensorVariable, hidden: TensorVariable, latent: TensorVariable) -> TensorVariable:
    """Rewards (time,): those recorded, and at the positions `hidden` the latent ones."""
    inputs = [recorded, hidden, latent]
    dummies = [value.type() for value in inputs]
    return CompletedRewards(dummies, [pt.set_subtensor(dummies[0][dummies[1]], dummies[2])], inline=True)(*inputs)


def seen_rewards(model: pm.Model) -> np.ndarray:
    """Which rewards the log contains, (time,)."""
    if OBSERVED_REWARD not in model.named_vars:
        return np.zeros(len(model.coords["time"]), bool)
    return model[IS_REWARD_OBSERVED].get_value()


def _mean_reward(rho_env: TensorVariable, context: TensorVariable) -> TensorVariable:
    return (context * rho_env).sum(axis=-1)
