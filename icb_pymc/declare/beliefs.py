"""Beliefs, how an agent updates them, and how it draws from them."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.distribution import Continuous, SymbolicRandomVariable
from pymc.distributions.shape_utils import rv_size_is_none
from pytensor.compile.builders import OpFromGraph
from pytensor.tensor.random.utils import normalize_size_param
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.priors import is_zero
from icb_pymc.declare.scan_over_time import scan_over_time
from icb_pymc.declare.shapes import Axis, KnownShape, broadcast


class GaussianBelief(NamedTuple):
    """Belief P_beta = N(mean, root root') over the reward parameter.

    The covariance is stored as a square root: a rank-one update of it stays positive definite for any number of
    decisions, and a draw needs no factorisation.

    Attributes
    ----------
    mean : tensor (feature,)
        mu.
    root : tensor (feature, feature)
        A square root of Sigma.

    Examples
    --------
    >>> import numpy as np
    >>> import pytensor.tensor as pt
    >>> from icb_pymc.declare import GaussianBelief
    >>> belief = GaussianBelief(pt.as_tensor([1.0, 2.0]), pt.as_tensor([[2.0, 0.0], [0.0, 3.0]]))
    >>> belief.draw(np.array([1.0, -1.0])).eval()
    array([ 3., -1.])
    >>> belief.variance(pt.as_tensor([[1.0, 0.0], [1.0, 1.0]])).eval()
    array([ 4., 13.])
    """

    mean: TensorVariable
    root: TensorVariable

    def draw(self, noise: TensorVariable) -> TensorVariable:
        """Transform standard normal `noise` (feature,) into rho ~ N(mu, Sigma)."""
        return self.mean + (self.root * noise).sum(axis=-1)

    def variance(self, context: TensorVariable) -> TensorVariable:
        """Return x' Sigma x for each row x of `context` (..., feature)."""
        projected = (context[..., :, None] * self.root).sum(axis=-2)
        return (projected**2).sum(axis=-1)


class PointBelief(NamedTuple):
    """A belief that is a point estimate of the reward parameter, without uncertainty.

    Attributes
    ----------
    mean : tensor (feature,)
        The estimate.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from icb_pymc.declare import PointBelief
    >>> PointBelief(pt.as_tensor([1.0, 2.0])).mean.eval()
    array([1., 2.])
    """

    mean: TensorVariable


Belief = Any
"""Any named tuple of tensors whose first field is ``mean`` (feature,), such as `GaussianBelief` and `PointBelief`."""


def isotropic_belief(mean: Any, variance: Any, features: int) -> GaussianBelief:
    """N(mean, variance I) over `features` weights.

    Parameters
    ----------
    mean : number or tensor (feature,)
        The mean; a number stands for all features.
    variance : number or tensor ()
        Variance of each weight.
    features : int
        Number of features k.

    Returns
    -------
    GaussianBelief

    Examples
    --------
    >>> from icb_pymc.declare import isotropic_belief
    >>> belief = isotropic_belief(-0.5, 4.0, features=2)
    >>> belief.mean.eval()
    array([-0.5, -0.5])
    >>> belief.root.eval()
    array([[2., 0.],
           [0., 2.]])
    """
    return GaussianBelief(
        mean=pt.as_tensor(mean, dtype="float64") * np.ones(features),
        root=pt.sqrt(pt.as_tensor(variance, dtype="float64")) * np.eye(features),
    )


def bayesian_update(
    belief: GaussianBelief, chosen_context: TensorVariable, reward: TensorVariable, sigma: Any
) -> GaussianBelief:
    """Posterior of the reward parameter after one reward (equation 1 of the paper).

    Sigma' = (Sigma^-1 + x x' / sigma^2)^-1 and mu' = Sigma' (Sigma^-1 mu + r x / sigma^2), written as
    Potter's rank-one update of the square root, which inverts nothing.

    Parameters
    ----------
    belief : GaussianBelief
        N(mu, Sigma), before the reward.
    chosen_context : tensor (feature,)
        x = x_t[a_t].
    reward : tensor ()
        r = r_t.
    sigma : number or tensor ()
        Standard deviation of a reward.

    Returns
    -------
    GaussianBelief
        N(mu', Sigma').

    Examples
    --------
    One reward, as noisy as the prior is wide, halves the variance in the direction of x:

    >>> import pytensor.tensor as pt
    >>> from icb_pymc.declare import bayesian_update, isotropic_belief
    >>> belief = isotropic_belief(0.0, 1.0, features=2)
    >>> updated = bayesian_update(belief, pt.as_tensor([1.0, 0.0]), pt.as_tensor(4.0), sigma=1.0)
    >>> updated.mean.eval()
    array([2., 0.])
    >>> (updated.root @ updated.root.T).eval().round(6)
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    projected = (belief.root * chosen_context[:, None]).sum(axis=0)
    gain = (belief.root * projected).sum(axis=-1)
    predictive_variance = sigma**2 + (projected**2).sum()
    prediction_error = reward - (belief.mean * chosen_context).sum()
    shrinkage = 1.0 / (predictive_variance + sigma * pt.sqrt(predictive_variance))
    return GaussianBelief(
        mean=belief.mean + gain * prediction_error / predictive_variance,
        root=belief.root - shrinkage * gain[:, None] * projected,
    )


def kalman_update(
    belief: GaussianBelief,
    chosen_context: TensorVariable,
    reward: TensorVariable,
    sigma: Any,
    memory: Any = 1.0,
    drift: Any = 0.0,
) -> GaussianBelief:
    """Equation 1 for an agent that never stops learning: its belief becomes vaguer before each reward.

    Sigma -> Sigma / memory + drift I, then `bayesian_update`. A `memory` below 1 forgets (the precision decays); a
    positive `drift` expects the reward parameter to move by a random walk (a Kalman filter).

    Parameters
    ----------
    belief : GaussianBelief
        N(mu, Sigma), before the reward.
    chosen_context : tensor (feature,)
        x = x_t[a_t].
    reward : tensor ()
        r = r_t.
    sigma : number or tensor ()
        Standard deviation of a reward.
    memory : number or tensor ()
        Share of the precision that is kept from one decision to the next.
    drift : number or tensor ()
        Variance of the innovations that the agent expects.

    Returns
    -------
    GaussianBelief

    Examples
    --------
    A belief that is forgotten to half of its precision learns from the reward as one that is twice as vague:

    >>> import pytensor.tensor as pt
    >>> from icb_pymc.declare import isotropic_belief, kalman_update
    >>> belief = isotropic_belief(0.0, 1.0, features=2)
    >>> x, reward = pt.as_tensor([1.0, 0.0]), pt.as_tensor(3.0)
    >>> kalman_update(belief, x, reward, sigma=1.0, memory=0.5).mean.eval().round(6)
    array([2., 0.])
    """
    faded = belief.root / pt.sqrt(memory)
    if not is_zero(drift):
        faded = pt.linalg.cholesky((faded[:, None, :] * faded[None, :, :]).sum(-1) + drift * pt.eye(faded.shape[0]))
    return bayesian_update(GaussianBelief(belief.mean, faded), chosen_context, reward, sigma)


def run_updates(
    initial: Belief,
    update: Callable[[Belief, TensorVariable, TensorVariable], Belief],
    chosen_context: TensorVariable,
    reward: TensorVariable,
) -> Belief:
    """All beliefs beta_1, ..., beta_T: a scan of one update function over chosen contexts and rewards.

    Parameters
    ----------
    initial : named tuple of tensors
        beta_1.
    update : callable
        ``update(belief, chosen_context, reward) -> belief``, the belief-update function f.
    chosen_context : tensor (time, feature)
        x_t[a_t].
    reward : tensor (time,)
        r_t.

    Returns
    -------
    named tuple of tensors
        Like `initial`, with a leading time dimension.
    """

    def one_update(
        context_t: TensorVariable, reward_t: TensorVariable, *fields: TensorVariable
    ) -> tuple[TensorVariable, ...]:
        return tuple(update(type(initial)(*fields), context_t, reward_t))

    later = scan_over_time(one_update, [chosen_context[:-1], reward[:-1]], list(initial))
    return type(initial)(*(pt.concatenate([first[None], rest]) for first, rest in zip(initial, later, strict=True)))


class BayesianLearning(KnownShape, OpFromGraph):
    """The graph of `bayesian_learning` as one op, so that steps recognise beliefs that follow equation 1."""

    def output_shapes(self, *inputs: list[Axis]) -> list[Any]:
        mean, root, context, *_ = inputs
        return [broadcast([context[0], *mean]), broadcast([context[0], *root])]


def bayesian_learning(
    initial: GaussianBelief, chosen_context: TensorVariable, reward: TensorVariable, sigma: Any
) -> GaussianBelief:
    """All beliefs of a Bayesian learner: `run_updates` with `bayesian_update`."""
    inputs = [pt.as_tensor(value, dtype="float64") for value in (*initial, chosen_context, reward, sigma)]
    mean, root, context, rewards, noise = dummies = [value.type() for value in inputs]
    path = run_updates(GaussianBelief(mean, root), partial(bayesian_update, sigma=noise), context, rewards)
    return GaussianBelief(*BayesianLearning(dummies, list(path), inline=True)(*inputs))


class PredictionErrorLearning(KnownShape, OpFromGraph):
    """The graph of `prediction_error_learning` as one op, so that steps recognise beliefs linear in rewards."""

    def output_shapes(self, *inputs: list[Axis]) -> list[Any]:
        start, _, context, _ = inputs
        return [broadcast([context[0], *start])]


def prediction_error_learning(start_mean: Any, gain: Any, chosen_context: Any, reward: Any) -> TensorVariable:
    """Means (time, feature) of a learner from prediction errors: mu_{t+1} = mu_t + g_t (r_t - <mu_t, x_t>).

    Parameters
    ----------
    start_mean : tensor (feature,)
        mu_1.
    gain : tensor (time - 1, feature)
        g_t: a learning rate times x_t for the delta rule, Sigma_t x_t / (sigma^2 + x_t' Sigma_t x_t) for equation 1.
    chosen_context : tensor (time, feature)
        x_t[a_t].
    reward : tensor (time,)
        r_t.
    """
    inputs = [pt.as_tensor(value, dtype="float64") for value in (start_mean, gain, chosen_context, reward)]
    start, gains, context, rewards = dummies = [value.type() for value in inputs]
    later = scan_over_time(
        lambda gain_t, context_t, reward_t, mean: (mean + gain_t * (reward_t - (mean * context_t).sum()),),
        [gains, context[:-1], rewards[:-1]],
        [start],
    )
    path = pt.concatenate([start[None], later[0]])
    return PredictionErrorLearning(dummies, [path], inline=True)(*inputs)


class ConstantWithin(OpFromGraph):
    """The graph of `constant_within` as one op, so that steps recognise beliefs that are constant within folds."""


def constant_within(weights: Any, fold: Any) -> TensorVariable:
    """Beliefs (time, feature) that are `weights[fold_t]`: they change only where a new fold begins.

    Parameters
    ----------
    weights : tensor (fold, feature)
        The belief in each fold.
    fold : tensor of int (time,)
        The fold that each decision belongs to, in order: 0, ..., 0, 1, ..., 1, and so on. All zero: beliefs never
        change.

    Returns
    -------
    tensor (time, feature)

    Examples
    --------
    >>> from icb_pymc.declare import constant_within
    >>> constant_within([[1.0, 2.0], [3.0, 4.0]], [0, 0, 1]).eval()
    array([[1., 2.],
           [1., 2.],
           [3., 4.]])
    """
    inputs = [pt.as_tensor(weights, dtype="float64"), pt.as_tensor(fold, dtype="int64")]
    dummies = [value.type() for value in inputs]
    return ConstantWithin(dummies, [dummies[0][dummies[1]]], inline=True)(*inputs)


class BeliefSampleRV(KnownShape, SymbolicRandomVariable):
    """Random graph of `BeliefSample`: the mean plus the root times standard normal noise."""

    name = "belief_sample"
    extended_signature = "[rng],[size],(k),(k,k)->[rng],(k)"
    _print_name = ("BeliefSample", "\\operatorname{BeliefSample}")

    @classmethod
    def rv_op(cls, mean: Any, root: Any, *, size: Any = None, rng: Any = None) -> TensorVariable:
        mean, root = pt.as_tensor(mean), pt.as_tensor(root)
        size = normalize_size_param(size)
        shape = mean.shape if rv_size_is_none(size) else (*size, mean.shape[-1])
        noise = pm.Normal.dist(shape=shape, rng=rng)
        next_rng, rng = noise.owner.outputs[0], noise.owner.inputs[0]
        sample = mean + (root * noise[..., None, :]).sum(axis=-1)
        inputs = [rng, size, mean, root]
        return cls(inputs=inputs, outputs=[next_rng, sample])(*inputs)

    def output_shapes(self, *inputs: list[Axis]) -> list[Any]:
        _, _, mean, root = inputs
        return [None, broadcast(mean, root[:-1])]


class BeliefSample(Continuous):
    r"""The reward parameter that the agent draws from its belief, :math:`\rho_t \sim N(\mu_t, L_t L_t')`.

    Parameters
    ----------
    mean : tensor (..., feature)
        mu_t.
    root : tensor (feature, feature) or (..., feature, feature)
        A square root L of the covariance: one for all decisions, or one for each.

    Returns
    -------
    tensor (..., feature)
        A random variable of the model or, from ``BeliefSample.dist``, one without a model.

    Examples
    --------
    The log-density of standard normal weights at zero is -log(2 pi):

    >>> import numpy as np
    >>> import pymc as pm
    >>> from icb_pymc.declare import BeliefSample
    >>> rho = BeliefSample.dist(np.zeros((3, 2)), np.eye(2))
    >>> pm.logp(rho, np.zeros((3, 2))).eval().round(3)
    array([-1.838, -1.838, -1.838])
    """

    rv_type = BeliefSampleRV
    rv_op = BeliefSampleRV.rv_op

    @classmethod
    def dist(cls, mean: Any, root: Any, **kwargs: Any) -> TensorVariable:
        # Registers our step methods, so that plain `pm.sample()` uses them; not at the top, as they import this file.
        import icb_pymc.steps  # noqa: F401

        return super().dist([pt.as_tensor(mean), pt.as_tensor(root)], **kwargs)

    def support_point(rv, size, mean, root):  # type: ignore[no-untyped-def]
        return mean if rv_size_is_none(size) else pt.zeros((*size, 1)) + mean

    def logp(value, mean, root):  # type: ignore[no-untyped-def]
        if root.type.ndim == 2:
            # One factorisation for all decisions.
            whitened = pt.linalg.solve(root, (value - mean).reshape((-1, value.shape[-1])).T, b_ndim=2).T
            squares = (whitened**2).sum(axis=-1).reshape(value.shape[:-1])
        else:
            squares = (pt.linalg.solve(root, value - mean, b_ndim=1) ** 2).sum(axis=-1)
        determinant = pt.linalg.det(root)
        # log |det|, but PyTensor's rewrite of that expression fails for one root for each decision.
        log_scale = pt.log(pt.maximum(determinant, -determinant))
        return -0.5 * squares - log_scale - 0.5 * value.shape[-1] * np.log(2 * np.pi)
