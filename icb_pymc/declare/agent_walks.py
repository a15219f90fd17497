"""Random walks of several agents, each observed only when its agent decides."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.distribution import Continuous, SymbolicRandomVariable
from pymc.distributions.shape_utils import rv_size_is_none
from pytensor.tensor.random.utils import normalize_size_param
from pytensor.tensor.variable import TensorVariable


class AgentWalksRV(SymbolicRandomVariable):
    """Random graph of `AgentWalks`: all walks at all times, of which that of the decider is returned."""

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
        start, innovation, gaps, deciders = parameters
        size = normalize_size_param(size)
        batch = () if rv_size_is_none(size) else tuple(size)
        times = pt.arange(deciders.shape[0])
        agents = pt.arange(deciders.max() + 1)
        noise = pm.Normal.dist(shape=(*batch, deciders.max() + 1, deciders.shape[0], start.shape[-1]), rng=rng)
        next_rng, rng = noise.owner.outputs[0], noise.owner.inputs[0]
        starts = noise[..., :1, :] @ pt.linalg.cholesky(start).mT
        moves = pt.sqrt(gaps)[:, None] * (noise[..., 1:, :] @ pt.linalg.cholesky(innovation).mT)
        walks = pt.cumsum(pt.concatenate([starts, moves], axis=-2), axis=-2)
        # A walk begins at the first decision of its agent: its moves before that are subtracted.
        first = pt.argmax(pt.eq(deciders, agents[:, None]), axis=1)[deciders]
        by_agent = pt.moveaxis(walks, (-3, -2), (0, 1))
        observed = by_agent[deciders, times] - by_agent[deciders, first] + by_agent[deciders, 0]
        inputs = [rng, size, *parameters]
        return cls(inputs=inputs, outputs=[next_rng, pt.moveaxis(observed, 0, -2)])(*inputs)


class AgentWalks(Continuous):
    r"""Random walks around zero, one for each agent; the value (time, feature) is that of the agent that decides.

    .. math:: \delta_{j,t} \sim N(0, D) \text{ at the first decision of } j, \quad
        \delta_{j,t} \sim N(\delta_{j,t-1}, \Delta_t M) \text{ later}, \quad \text{value}_t = \delta_{j(t),t}

    The walk of an agent between its own decisions is integrated out: there are as many values as decisions, whatever
    the number of agents.

    Parameters
    ----------
    start_covariance : tensor (feature, feature)
        D: covariance of an agent's walk at its first decision.
    innovation_covariance : tensor (feature, feature)
        M: covariance of the innovation over one unit of time.
    elapsed : tensor (time - 1,)
        Delta_t, the time between consecutive decisions, of all agents together.
    decider : tensor of int (time,)
        j(t), the agent that decides.
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
        # Sort by agent, and for each agent by time.
        order = pt.argsort(decider * steps + pt.arange(steps))
        agent, times, path = decider[order], clock[order], value[..., order, :]
        is_later = pt.concatenate([pt.zeros(1, dtype="bool"), pt.eq(agent[1:], agent[:-1])])
        before = pt.concatenate([pt.zeros_like(path[..., :1, :]), path[..., :-1, :]], axis=-2)
        gap = pt.where(is_later, pt.concatenate([pt.ones(1), times[1:] - times[:-1]]), 1.0)

        def log_density(root: TensorVariable, values: TensorVariable) -> TensorVariable:
            whitened = pt.linalg.solve_triangular(root, values.mT, lower=True, b_ndim=2)
            return -0.5 * (whitened**2).sum(axis=-2) - pt.log(pt.diagonal(root)).sum()

        first = log_density(pt.linalg.cholesky(start_covariance), path)
        moved = log_density(pt.linalg.cholesky(innovation_covariance), (path - before) / pt.sqrt(gap)[:, None])
        moved -= 0.5 * features * pt.log(gap)
        return pt.where(is_later, moved, first).sum(axis=-1) - 0.5 * steps * features * np.log(2 * np.pi)
