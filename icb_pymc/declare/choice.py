"""Parts to declare a choice with: the utility of each candidate, and a softmax over those available."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.distribution import Discrete, SymbolicRandomVariable
from pymc.distributions.shape_utils import rv_size_is_none
from pytensor.compile.builders import OpFromGraph
from pytensor.tensor.random.utils import normalize_size_param
from pytensor.tensor.variable import TensorVariable


class LinearUtility(OpFromGraph):
    """The graph of alpha <rho, x[a]> + bonus[a], kept whole so that steps can see that a utility is linear in rho."""


def linear_utility(rho: Any, context: Any, alpha: Any = 1.0, bonus: Any = None) -> TensorVariable:
    """Utility alpha <rho_t, x_t[a]> of each candidate, plus a bonus if there is one, shape (..., action).

    Parameters
    ----------
    rho : tensor (..., feature)
    context : tensor (..., action, feature)
    alpha : tensor or number
        Inverse temperature of the softmax.
    bonus : tensor (..., action), optional
        What is added to the utility of each candidate, for optimism say.
    """
    given = (rho, context, alpha) if bonus is None else (rho, context, alpha, bonus)
    inputs = [pt.as_tensor(value, dtype="float64") for value in given]
    dummies = [value.type() for value in inputs]
    weights, features, temperature, *added = dummies
    # A sum of products, not a dot: without BLAS a dot in the graph is many times slower.
    utility = sum(added, start=temperature * (features * weights[..., None, :]).sum(axis=-1))
    return LinearUtility(dummies, [utility], inline=True)(*inputs)


class SoftmaxChoiceRV(SymbolicRandomVariable):
    """Random graph of `SoftmaxChoice`: the available candidate with the highest utility plus Gumbel noise."""

    name = "softmax_choice"
    extended_signature = "[rng],[size],(a),(a)->[rng],()"
    _print_name = ("SoftmaxChoice", "\\operatorname{SoftmaxChoice}")

    @classmethod
    def rv_op(cls, utility: Any, available: Any, *, size: Any = None, rng: Any = None) -> TensorVariable:
        utility, available = pt.as_tensor(utility), pt.as_tensor(available)
        size = normalize_size_param(size)
        masked = mask_utility(utility, available)
        shape = masked.shape if rv_size_is_none(size) else (*size, masked.shape[-1])
        noise = pm.Gumbel.dist(mu=0.0, beta=1.0, shape=shape, rng=rng)
        next_rng, rng = noise.owner.outputs[0], noise.owner.inputs[0]
        chosen = pt.argmax(masked + noise, axis=-1)
        inputs = [rng, size, utility, available]
        return cls(inputs=inputs, outputs=[next_rng, chosen])(*inputs)


class SoftmaxChoice(Discrete):
    r"""Choice of one available candidate with probability softmax(utility) (equation 2 of the paper).

    .. math:: \pi(x_t)[a] = e^{u_t[a]} / \sum_{a' \in A_t} e^{u_t[a']}

    Parameters
    ----------
    utility : tensor (..., action)
        alpha times the mean reward of each candidate, e.g. from `linear_utility`.
    available : tensor of bool (..., action)
        Which slots hold a candidate.
    """

    rv_type = SoftmaxChoiceRV
    rv_op = SoftmaxChoiceRV.rv_op

    @classmethod
    def dist(cls, utility: Any, available: Any, **kwargs: Any) -> TensorVariable:
        return super().dist([pt.as_tensor(utility), pt.as_tensor(available)], **kwargs)

    def support_point(rv, size, utility, available):  # type: ignore[no-untyped-def]
        point = pt.argmax(mask_utility(utility, available), axis=-1)
        return point if rv_size_is_none(size) else pt.full(size, point)

    def logp(value, utility, available):  # type: ignore[no-untyped-def]
        masked = mask_utility(utility, available)
        actions = pt.arange(masked.shape[-1])
        taken = pt.eq(actions, value[..., None])
        chosen_utility = pt.where(taken, masked, 0.0).sum(axis=-1)
        log_probability = chosen_utility - pt.logsumexp(masked, axis=-1)
        inside = pt.and_(value >= 0, value < masked.shape[-1])
        return pt.where(inside, log_probability, -np.inf)


def with_lapses(rate: Any) -> Callable[[TensorVariable, TensorVariable], TensorVariable]:
    """A choice rule for `learn`: with probability `rate` any available candidate, all alike, otherwise softmax.

    A choice rule maps utilities and who is available, both (action,), to the logarithms of the candidates' weights.
    """

    def rule(utility: TensorVariable, available: TensorVariable) -> TensorVariable:
        masked = mask_utility(utility, available)
        probability = pt.exp(masked - pt.logsumexp(masked, axis=-1, keepdims=True))
        alike = pt.cast(available, "float64") / pt.cast(available, "float64").sum(axis=-1, keepdims=True)
        # Those who are not available have no weight, whose logarithm is left out for the sake of gradients.
        return pt.log(pt.where(pt.cast(available, "bool"), (1 - rate) * probability + rate * alike, 1.0))

    return rule


def mask_utility(utility: TensorVariable, available: TensorVariable) -> TensorVariable:
    """Utility with minus infinity where there is no candidate."""
    return pt.where(pt.cast(available, "bool"), utility, -np.inf)
