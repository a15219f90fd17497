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
    extended_signature = "[rng],[size],(k,k),(k,k),(t),(t)->[rng],(t,k)"
    _print_name = ("AgentWalks", "\\operatorname{AgentWalks}")

    @classmethod
    def rv_op(
        cls,
        start_covariance: Any,
        innovation_covariance: Any,
        moments: Any,
        decider: Any,
        *,
        size: Any = None,
        rng: Any = None,
    ) -> TensorVariable:
        parameters = [pt.as_tensor(p) for p in (start_covariance, innovation_covariance, moments, decider)]
        start, innovation, moments, decider = parameters
        size = normalize_size_param(size)
        batch = () if rv_size_is_none(size) else tuple(size)
        noise = pm.Normal.dist(shape=(*batch, decider.shape[0], start.shape[-1]), rng=rng)
        next_rng, rng = noise.owner.outputs[0], noise.owner.inputs[0]
        order, agent, is_later, gap = _by_agent(moments, decider)
        first = noise @ pt.linalg.cholesky(start).mT
        moved = pt.sqrt(gap)[:, None] * (noise @ pt.linalg.cholesky(innovation).mT)
        total = pt.cumsum(pt.where(is_later[:, None], moved, first), axis=-2)
        # The walk of an agent begins where the sum over the agents before it ends.
        total = pt.concatenate([pt.zeros_like(total[..., :1, :]), total], axis=-2)
        begins = pt.searchsorted(agent, agent, side="left")
        walks = total[..., 1:, :] - total[..., begins, :]
        inputs = [rng, size, *parameters]
        return cls(inputs=inputs, outputs=[next_rng, walks[..., pt.argsort(order), :]])(*inputs)


class AgentWalks(Continuous):
    r"""Random walks around zero, one for each agent; the value (time, feature) is that of the agent that decides.

    .. math:: \delta_{j,t} \sim N(0, D) \text{ at the first decision of } j, \quad
        \delta_{j,t} \sim N(\delta_{j,s}, (m_t - m_s) M) \text{ after } s, \quad \text{value}_t = \delta_{j(t),t}

    The walk of an agent between its own decisions is integrated out: there are as many values as decisions, whatever
    the number of agents.

    Parameters
    ----------
    start_covariance : tensor (feature, feature)
        D: covariance of an agent's walk at its first decision.
    innovation_covariance : tensor (feature, feature)
        M: covariance of the innovation over one unit of time.
    moments : tensor (time,)
        m_t, when a decision is made, on a clock of all agents or on that of the agent that decides.
    decider : tensor of int (time,)
        j(t), the agent that decides.
    """

    rv_type = AgentWalksRV
    rv_op = AgentWalksRV.rv_op

    @classmethod
    def dist(
        cls, start_covariance: Any, innovation_covariance: Any, moments: Any, decider: Any, **kwargs: Any
    ) -> TensorVariable:
        numbers = [pt.as_tensor(p, dtype="float64") for p in (start_covariance, innovation_covariance, moments)]
        return super().dist([*numbers, pt.as_tensor(decider, dtype="int64")], **kwargs)

    def support_point(rv, size, start_covariance, innovation_covariance, moments, decider):  # type: ignore[no-untyped-def]
        path = pt.zeros((decider.shape[0], start_covariance.shape[-1]))
        return path if rv_size_is_none(size) else pt.zeros((*size, 1, 1)) + path

    def logp(value, start_covariance, innovation_covariance, moments, decider):  # type: ignore[no-untyped-def]
        steps, features = decider.shape[0], value.shape[-1]
        order, _, is_later, gap = _by_agent(moments, decider)
        path = value[..., order, :]
        before = pt.concatenate([pt.zeros_like(path[..., :1, :]), path[..., :-1, :]], axis=-2)

        def log_density(root: TensorVariable, values: TensorVariable) -> TensorVariable:
            whitened = pt.linalg.solve_triangular(root, values.mT, lower=True, b_ndim=2)
            return -0.5 * (whitened**2).sum(axis=-2) - pt.log(pt.diagonal(root)).sum()

        first = log_density(pt.linalg.cholesky(start_covariance), path)
        moved = log_density(pt.linalg.cholesky(innovation_covariance), (path - before) / pt.sqrt(gap)[:, None])
        moved -= 0.5 * features * pt.log(gap)
        return pt.where(is_later, moved, first).sum(axis=-1) - 0.5 * steps * features * np.log(2 * np.pi)


def _by_agent(
    moments: TensorVariable, decider: TensorVariable
) -> tuple[TensorVariable, TensorVariable, TensorVariable, TensorVariable]:
    """Decisions sorted by agent, and for each agent by time.

    Their order, their agent, whether the agent has decided before, and the time since then (one at first decisions).
    """
    steps = decider.shape[0]
    order = pt.argsort(decider * steps + pt.arange(steps))
    agent, times = decider[order], moments[order]
    is_later = pt.concatenate([pt.zeros(1, dtype="bool"), pt.eq(agent[1:], agent[:-1])])
    gap = pt.where(is_later, pt.concatenate([pt.ones(1), times[1:] - times[:-1]]), 1.0)
    return order, agent, is_later, gap
