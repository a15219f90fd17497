"""Random walks of several agents, each seen only when its agent decides."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.distribution import Continuous, SymbolicRandomVariable
from pymc.distributions.shape_utils import rv_size_is_none
from pytensor.tensor.random.utils import normalize_size_param
from pytensor.tensor.variable import TensorVariable


class AgentWalksRV(SymbolicRandomVariable):
    """Random graph of `AgentWalks`: all walks at all times, of which the decider's is shown."""

    name = "agent_walks"
    extended_signature = "[rng],[size],(k,k),(k,k),(s),(t)->[rng],(t,k)"
    _print_name = ("AgentWalks", "\\operatorname{AgentWalks}")

    @classmethod
    def rv_op(
        cls,
        start_covariance: Any,
        innovation_covariance: Any,
        elapsed: Any,
        decider: Any,
        *,
        size: Any = None,
        rng: Any = None,
    ) -> TensorVariable:
        parameters = [pt.as_tensor(p) for p in (start_covariance, innovation_covariance, elapsed, decider)]
        start, innovation, gaps, who = parameters
        size = normalize_size_param(size)
        batch = () if rv_size_is_none(size) else tuple(size)
        noise = pm.Normal.dist(shape=(*batch, who.max() + 1, who.shape[0], start.shape[-1]), rng=rng)
        next_rng, rng = noise.owner.outputs[0], noise.owner.inputs[0]
        first = noise[..., :1, :] @ pt.linalg.cholesky(start).mT
        moves = pt.sqrt(gaps)[:, None] * (noise[..., 1:, :] @ pt.linalg.cholesky(innovation).mT)
        walks = pt.cumsum(pt.concatenate([first, moves], axis=-2), axis=-2)
        shown = pt.moveaxis(walks, (-3, -2), (0, 1))[who, pt.arange(who.shape[0])]
        inputs = [rng, size, *parameters]
        return cls(inputs=inputs, outputs=[next_rng, pt.moveaxis(shown, 0, -2)])(*inputs)


class AgentWalks(Continuous):
    r"""Random walks around zero, one for each agent, seen (time, feature) where that agent decides.

    .. math:: \delta_{j,1} \sim N(0, D), \quad \delta_{j,t} \sim N(\delta_{j,t-1}, \Delta_t M),
        \quad \text{shown}_t = \delta_{j(t),t}

    What an agent's walk does between its own decisions is integrated out: there are as many values as decisions,
    however many agents.

    Parameters
    ----------
    start_covariance : tensor (feature, feature)
        D: how far agents are from each other at the first decision of all.
    innovation_covariance : tensor (feature, feature)
        M: how far each moves over one unit of time.
    elapsed : tensor (time - 1,)
        Delta_t, the time between consecutive decisions, whoever made them.
    decider : tensor of int (time,)
        j(t), who decided.
    """

    rv_type = AgentWalksRV
    rv_op = AgentWalksRV.rv_op

    @classmethod
    def dist(
        cls, start_covariance: Any, innovation_covariance: Any, elapsed: Any, decider: Any, **kwargs: Any
    ) -> TensorVariable:
        numbers = [pt.as_tensor(p, dtype="float64") for p in (start_covariance, innovation_covariance, elapsed)]
        return super().dist([*numbers, pt.as_tensor(decider, dtype="int64")], **kwargs)

    def support_point(rv, size, start_covariance, innovation_covariance, elapsed, decider):  # type: ignore[no-untyped-def]
        path = pt.zeros((decider.shape[0], start_covariance.shape[-1]))
        return path if rv_size_is_none(size) else pt.zeros((*size, 1, 1)) + path

    def logp(value, start_covariance, innovation_covariance, elapsed, decider):  # type: ignore[no-untyped-def]
        steps, features = decider.shape[0], value.shape[-1]
        clock = pt.concatenate([pt.zeros(1), pt.cumsum(elapsed)])
        # Agent by agent, each in order of time.
        order = pt.argsort(decider * steps + pt.arange(steps))
        who, seen, path = decider[order], clock[order], value[..., order, :]
        agents = pt.arange(who[-1] + 1)
        begins = pt.minimum(pt.searchsorted(who, agents), steps - 1)
        is_there = pt.eq(who[begins], agents)

        goes_on = pt.eq(who[1:], who[:-1])
        gap = pt.where(goes_on, seen[1:] - seen[:-1], 1.0)
        move_root = pt.linalg.cholesky(innovation_covariance)
        moves = (path[..., 1:, :] - path[..., :-1, :]) / pt.sqrt(gap)[:, None]
        squares = (pt.linalg.solve_triangular(move_root, moves.mT, lower=True, b_ndim=2) ** 2).sum(axis=-2)
        log_scale = pt.log(pt.diagonal(move_root)).sum() + 0.5 * features * pt.log(gap)
        log_density = -pt.where(goes_on, 0.5 * squares + log_scale, 0.0).sum(axis=-1)

        first_roots = pt.linalg.cholesky(start_covariance + seen[begins, None, None] * innovation_covariance)
        whitened = pt.linalg.solve_triangular(first_roots, path[..., begins, :], lower=True, b_ndim=1)
        log_scale = pt.log(pt.diagonal(first_roots, axis1=-2, axis2=-1)).sum(axis=-1)
        log_density -= pt.where(is_there, 0.5 * (whitened**2).sum(axis=-1) + log_scale, 0.0).sum(axis=-1)
        return log_density - 0.5 * steps * features * np.log(2 * np.pi)
