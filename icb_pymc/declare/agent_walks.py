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
        times = pt.arange(who.shape[0])
        noise = pm.Normal.dist(shape=(*batch, who.max() + 1, who.shape[0], start.shape[-1]), rng=rng)
        next_rng, rng = noise.owner.outputs[0], noise.owner.inputs[0]
        starts = noise[..., :1, :] @ pt.linalg.cholesky(start).mT
        moves = pt.sqrt(gaps)[:, None] * (noise[..., 1:, :] @ pt.linalg.cholesky(innovation).mT)
        walks = pt.cumsum(pt.concatenate([starts, moves], axis=-2), axis=-2)
        # What a walk did before its agent came is taken off.
        first = pt.argmax(pt.eq(who, pt.arange(who.max() + 1)[:, None]), axis=1)[who]
        by_agent = pt.moveaxis(walks, (-3, -2), (0, 1))
        shown = by_agent[who, times] - by_agent[who, first] + by_agent[who, 0]
        inputs = [rng, size, *parameters]
        return cls(inputs=inputs, outputs=[next_rng, pt.moveaxis(shown, 0, -2)])(*inputs)


class AgentWalks(Continuous):
    r"""Random walks around zero, one for each agent, seen (time, feature) where that agent decides.

    .. math:: \delta_{j,t} \sim N(0, D) \text{ at the first decision of } j, \quad
        \delta_{j,t} \sim N(\delta_{j,t-1}, \Delta_t M) \text{ later}, \quad \text{shown}_t = \delta_{j(t),t}

    What an agent's walk does between its own decisions is integrated out: there are as many values as decisions,
    however many agents.

    Parameters
    ----------
    start_covariance : tensor (feature, feature)
        D: how far agents are from zero when they first decide.
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
        goes_on = pt.concatenate([pt.zeros(1, dtype="bool"), pt.eq(who[1:], who[:-1])])
        before = pt.concatenate([pt.zeros_like(path[..., :1, :]), path[..., :-1, :]], axis=-2)
        gap = pt.where(goes_on, pt.concatenate([pt.ones(1), seen[1:] - seen[:-1]]), 1.0)

        def log_density(root: TensorVariable, values: TensorVariable) -> TensorVariable:
            whitened = pt.linalg.solve_triangular(root, values.mT, lower=True, b_ndim=2)
            return -0.5 * (whitened**2).sum(axis=-2) - pt.log(pt.diagonal(root)).sum()

        first = log_density(pt.linalg.cholesky(start_covariance), path)
        moved = log_density(pt.linalg.cholesky(innovation_covariance), (path - before) / pt.sqrt(gap)[:, None])
        moved -= 0.5 * features * pt.log(gap)
        return pt.where(goes_on, moved, first).sum(axis=-1) - 0.5 * steps * features * np.log(2 * np.pi)
