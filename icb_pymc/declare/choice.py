"""Choices: the utility of each candidate, and a softmax over those available."""

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

from icb_pymc.declare.shapes import Axis, KnownShape, broadcast


class LinearUtility(KnownShape, OpFromGraph):
    """The graph of alpha <rho, x[a]> + bonus[a] as one op, so that steps recognise a utility that is linear in rho."""

    def output_shapes(self, *inputs: list[Axis]) -> list[Any]:
        rho, context, *others = inputs
        return [broadcast(context[:-1], [*rho[:-1], context[-2]], *others)]


def linear_utility(rho: Any, context: Any, alpha: Any = 1.0, bonus: Any = None) -> TensorVariable:
    """Utility alpha <rho_t, x_t[a]> of each candidate, plus a bonus if there is one.

    Parameters
    ----------
    rho : tensor (..., feature)
        rho_t.
    context : tensor (..., action, feature)
        x_t[a].
    alpha : tensor or number
        Inverse temperature of the softmax.
    bonus : tensor (..., action), optional
        Added to the utility of each candidate, for example for optimism.

    Returns
    -------
    tensor (..., action)

    Examples
    --------
    >>> from icb_pymc.declare import linear_utility
    >>> linear_utility([1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]], alpha=20.0).eval()
    array([20., 40.])
    """
    given = (rho, context, alpha) if bonus is None else (rho, context, alpha, bonus)
    inputs = [pt.as_tensor(value, dtype="float64") for value in given]
    dummies = [value.type() for value in inputs]
    weights, features, temperature, *added = dummies
    # A sum of products, not a dot: without BLAS a dot in the graph is many times slower.
    utility = sum(added, start=temperature * (features * weights[..., None, :]).sum(axis=-1))
    return LinearUtility(dummies, [utility], inline=True)(*inputs)


class SoftmaxChoiceRV(KnownShape, SymbolicRandomVariable):
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

    def output_shapes(self, *inputs: list[Axis]) -> list[Any]:
        _, _, utility, available = inputs
        return [None, broadcast(utility[:-1], available[:-1])]


class SoftmaxChoice(Discrete):
    r"""Choice of one available candidate with probability softmax(utility) (equation 2 of the paper).

    .. math:: \pi(x_t)[a] = e^{u_t[a]} / \sum_{a' \in A_t} e^{u_t[a']}

    Parameters
    ----------
    utility : tensor (..., action)
        alpha times the mean reward of each candidate, e.g. from `linear_utility`.
    available : tensor of bool (..., action)
        Which slots hold a candidate.

    Returns
    -------
    tensor of int (...)
        A random variable of the model or, from ``SoftmaxChoice.dist``, one without a model.

    Examples
    --------
    Two of three candidates are available, with odds of 3 to 1:

    >>> import numpy as np
    >>> import pymc as pm
    >>> from icb_pymc.declare import SoftmaxChoice
    >>> choice = SoftmaxChoice.dist(np.log([3.0, 1.0, 5.0]), [True, True, False])
    >>> [round(float(np.exp(pm.logp(choice, slot).eval())), 6) for slot in range(3)]
    [0.75, 0.25, 0.0]
    """

    rv_type = SoftmaxChoiceRV
    rv_op = SoftmaxChoiceRV.rv_op

    @classmethod
    def dist(cls, utility: Any, available: Any, **kwargs: Any) -> TensorVariable:
        # Registers our step methods, so that plain `pm.sample()` uses them; not at the top, as they import this file.
        import icb_pymc.steps  # noqa: F401

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


class LapsingChoice(OpFromGraph):
    """The graph of `with_lapses` as one op of utility, availability and rate, so that steps recognise it."""


def with_lapses(rate: Any) -> Callable[[TensorVariable, TensorVariable], TensorVariable]:
    """A choice rule: with probability `rate` uniform over the available candidates, otherwise softmax.

    It is for the `rule` of `learn`, or makes the argument of `choose` from utilities: the softmax of the logarithms of
    probabilities that add up to one is these probabilities.

    Parameters
    ----------
    rate : number or tensor ()
        Probability of a lapse.

    Returns
    -------
    callable
        ``rule(utility, available)``, from utilities and availability, both (..., action), to the logarithms of the
        probabilities with which candidates are chosen.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from icb_pymc.declare import with_lapses
    >>> rule = with_lapses(0.2)
    >>> log_probability = rule(pt.as_tensor([100.0, 0.0]), pt.as_tensor([True, True]))
    >>> pt.exp(log_probability).eval().round(6)
    array([0.9, 0.1])
    """

    def rule(utility: TensorVariable, available: TensorVariable) -> TensorVariable:
        inputs = [pt.as_tensor(utility), pt.as_tensor(available), pt.as_tensor(rate, dtype="float64")]
        utility, available, lapse = dummies = [value.type() for value in inputs]
        masked = mask_utility(utility, available)
        probability = pt.exp(masked - pt.logsumexp(masked, axis=-1, keepdims=True))
        uniform = pt.cast(available, "float64") / pt.cast(available, "float64").sum(axis=-1, keepdims=True)
        # Unavailable candidates get log 1, since the gradient of log 0 is not finite; the choice masks them.
        mixed = pt.log(pt.where(pt.cast(available, "bool"), (1 - lapse) * probability + lapse * uniform, 1.0))
        return LapsingChoice(dummies, [mixed], inline=True)(*inputs)

    return rule


def without_lapses(choice: TensorVariable) -> tuple[TensorVariable, TensorVariable | None]:
    """The utility of a `SoftmaxChoice` and, if it was given to `with_lapses`, the rate of lapses."""
    utility, available = choice.owner.op.dist_params(choice.owner)
    if utility.owner is None or not isinstance(utility.owner.op, LapsingChoice):
        return utility, None
    before, counted, rate = utility.owner.inputs
    return (before, rate) if counted is available and rate.type.ndim == 0 else (utility, None)


def mask_utility(utility: TensorVariable, available: TensorVariable) -> TensorVariable:
    """Utility, with minus infinity in slots without a candidate."""
    return pt.where(pt.cast(available, "bool"), utility, -np.inf)
