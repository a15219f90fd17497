"""Process priors: how beliefs move when no update rule is assumed."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.distributions.distribution import Continuous, SymbolicRandomVariable
from pymc.distributions.shape_utils import rv_size_is_none
from pytensor.tensor.random.utils import normalize_size_param
from pytensor.tensor.variable import TensorVariable


def as_covariance(value: Any, features: int) -> TensorVariable:
    """A (feature, feature) covariance from a variance, a vector of variances, or a matrix."""
    tensor = pt.as_tensor(value, dtype="float64")
    if tensor.ndim == 2:
        return tensor
    return pt.diag(tensor * np.ones(features))


class WienerProcessRV(SymbolicRandomVariable):
    """Random graph of `WienerProcess`: a start, then the sum of the increments."""

    name = "wiener_process"
    extended_signature = "[rng],[size],(k),(k,k),(k,k),(s)->[rng],(t,k)"
    _print_name = ("WienerProcess", "\\operatorname{WienerProcess}")

    @classmethod
    def rv_op(
        cls,
        start_mean: Any,
        start_covariance: Any,
        innovation_covariance: Any,
        elapsed: Any,
        *,
        size: Any = None,
        rng: Any = None,
    ) -> TensorVariable:
        parameters = [pt.as_tensor(p) for p in (start_mean, start_covariance, innovation_covariance, elapsed)]
        mean, start, innovation, gaps = parameters
        size = normalize_size_param(size)
        batch = () if rv_size_is_none(size) else tuple(size)
        noise = pm.Normal.dist(shape=(*batch, gaps.shape[-1] + 1, mean.shape[-1]), rng=rng)
        next_rng, rng = noise.owner.outputs[0], noise.owner.inputs[0]
        first = mean + noise[..., :1, :] @ pt.linalg.cholesky(start).mT
        moves = pt.sqrt(gaps)[:, None] * (noise[..., 1:, :] @ pt.linalg.cholesky(innovation).mT)
        path = pt.cumsum(pt.concatenate([first, moves], axis=-2), axis=-2)
        inputs = [rng, size, *parameters]
        return cls(inputs=inputs, outputs=[next_rng, path])(*inputs)


class WienerProcess(Continuous):
    r"""Multivariate Gaussian random walk, seen at regular or irregular times (equation 7 of the paper).

    .. math:: \beta_1 \sim N(m, S), \quad \beta_t \sim N(\beta_{t-1}, \Delta_t \Sigma_B)

    Parameters
    ----------
    start_mean : tensor (feature,)
    start_covariance : tensor (feature, feature)
    innovation_covariance : tensor (feature, feature)
        Sigma_B, the covariance of a move over one unit of time.
    elapsed : tensor (time - 1,)
        Delta_t, the time between consecutive decisions; ones for plain steps.
    """

    rv_type = WienerProcessRV
    rv_op = WienerProcessRV.rv_op

    @classmethod
    def dist(
        cls, start_mean: Any, start_covariance: Any, innovation_covariance: Any, elapsed: Any, **kwargs: Any
    ) -> TensorVariable:
        parameters = (start_mean, start_covariance, innovation_covariance, elapsed)
        return super().dist([pt.as_tensor(p, dtype="float64") for p in parameters], **kwargs)

    def support_point(rv, size, start_mean, start_covariance, innovation_covariance, elapsed):  # type: ignore[no-untyped-def]
        path = pt.zeros((elapsed.shape[-1] + 1, 1)) + start_mean
        return path if rv_size_is_none(size) else pt.zeros((*size, 1, 1)) + path

    def logp(value, start_mean, start_covariance, innovation_covariance, elapsed):  # type: ignore[no-untyped-def]
        features, steps = value.shape[-1], elapsed.shape[-1]
        start_root = pt.linalg.cholesky(start_covariance)
        move_root = pt.linalg.cholesky(innovation_covariance)
        first = value[..., 0, :] - start_mean
        moves = (value[..., 1:, :] - value[..., :-1, :]) / pt.sqrt(elapsed)[:, None]
        squares = (pt.linalg.solve_triangular(start_root, first, lower=True, b_ndim=1) ** 2).sum(axis=-1)
        squares += (pt.linalg.solve_triangular(move_root, moves.mT, lower=True, b_ndim=2) ** 2).sum(axis=(-2, -1))
        log_scale = pt.log(pt.diagonal(start_root)).sum() + steps * pt.log(pt.diagonal(move_root)).sum()
        log_scale += 0.5 * features * pt.log(elapsed).sum()
        return -0.5 * squares - log_scale - 0.5 * (steps + 1) * features * np.log(2 * np.pi)


class LinearProcessRV(SymbolicRandomVariable):
    """Random graph of `LinearProcess`: a scan over its moves."""

    name = "linear_process"
    extended_signature = "[rng],[size],(k),(k,k),(s,k,k),(s,k,k),(s,k)->[rng],(t,k)"
    _print_name = ("LinearProcess", "\\operatorname{LinearProcess}")

    @classmethod
    def rv_op(
        cls,
        start_mean: Any,
        start_covariance: Any,
        transition: Any,
        innovation_covariance: Any,
        drift: Any,
        *,
        size: Any = None,
        rng: Any = None,
    ) -> TensorVariable:
        given = (start_mean, start_covariance, transition, innovation_covariance, drift)
        parameters = [pt.as_tensor(p) for p in given]
        mean, start, moves, innovation, drifts = parameters
        size = normalize_size_param(size)
        batch = () if rv_size_is_none(size) else tuple(size)
        # Time goes first: it is what the scan runs over.
        noise = pm.Normal.dist(shape=(drifts.shape[0] + 1, *batch, mean.shape[-1]), rng=rng)
        next_rng, rng = noise.owner.outputs[0], noise.owner.inputs[0]
        first = mean + (pt.linalg.cholesky(start) * noise[0][..., None, :]).sum(axis=-1)

        def move(matrix, root, shift, fresh, state):  # type: ignore[no-untyped-def]
            return (matrix * state[..., None, :]).sum(axis=-1) + shift + (root * fresh[..., None, :]).sum(axis=-1)

        later = pytensor.scan(
            move,
            sequences=[moves, pt.linalg.cholesky(innovation), drifts, noise[1:]],
            outputs_info=[first],
            return_updates=False,
        )
        path = pt.moveaxis(pt.concatenate([first[None], later]), 0, -2)
        inputs = [rng, size, *parameters]
        return cls(inputs=inputs, outputs=[next_rng, path])(*inputs)


class LinearProcess(Continuous):
    r"""Linear-Gaussian process (time, state): mean-reverting, smooth, or any other whose moves are linear.

    .. math:: s_1 \sim N(m, S), \quad s_{t+1} \sim N(F_t s_t + c_t, Q_t)

    Parameters
    ----------
    start_mean : tensor (state,)
    start_covariance : tensor (state, state)
    transition : tensor (time - 1, state, state) or (state, state)
        F_t. Give `steps` if none of F, Q and c has a time dimension.
    innovation_covariance : tensor (time - 1, state, state) or (state, state)
        Q_t, positive definite.
    drift : tensor (time - 1, state) or (state,), optional
        c_t; zero by default.
    steps : int, optional
        time - 1.
    """

    rv_type = LinearProcessRV
    rv_op = LinearProcessRV.rv_op

    @classmethod
    def dist(
        cls,
        start_mean: Any,
        start_covariance: Any,
        transition: Any,
        innovation_covariance: Any,
        drift: Any = 0.0,
        *,
        steps: int | None = None,
        **kwargs: Any,
    ) -> TensorVariable:
        mean, start, moves, innovation, drifts = (
            pt.as_tensor(p, dtype="float64")
            for p in (start_mean, start_covariance, transition, innovation_covariance, drift)
        )
        if steps is None:
            over_time = [p for p, core in ((moves, 2), (innovation, 2), (drifts, 1)) if p.type.ndim > core]
            if not over_time:
                raise ValueError("LinearProcess: give steps (one less than the times), or F, Q or c for each of them.")
            length = over_time[0].shape[0]
        else:
            length = pt.as_tensor(steps)
        size = mean.shape[-1]
        moves = pt.broadcast_to(moves, (length, size, size))
        innovation = pt.broadcast_to(innovation, (length, size, size))
        drifts = pt.broadcast_to(drifts, (length, size))
        return super().dist([mean, start, moves, innovation, drifts], **kwargs)

    def support_point(rv, size, start_mean, start_covariance, transition, innovation_covariance, drift):  # type: ignore[no-untyped-def]
        path = pt.zeros((drift.shape[0] + 1, 1)) + start_mean
        return path if rv_size_is_none(size) else pt.zeros((*size, 1, 1)) + path

    def logp(value, start_mean, start_covariance, transition, innovation_covariance, drift):  # type: ignore[no-untyped-def]
        roots = [pt.linalg.cholesky(start_covariance)[None], pt.linalg.cholesky(innovation_covariance)]
        moved = (transition * value[..., :-1, None, :]).sum(axis=-1) + drift
        surprises = [(value[..., 0, :] - start_mean)[..., None, :], value[..., 1:, :] - moved]
        log_density = -0.5 * value.shape[-2] * value.shape[-1] * np.log(2 * np.pi)
        for root, surprise in zip(roots, surprises, strict=True):
            whitened = pt.linalg.solve_triangular(root, surprise, lower=True, b_ndim=1)
            log_density -= 0.5 * (whitened**2).sum(axis=(-2, -1))
            log_density -= pt.log(pt.diagonal(root, axis1=-2, axis2=-1)).sum()
        return log_density


def mean_reverting(name: str, mean: Any, covariance: Any, memory: Any, elapsed: Any, **kwargs: Any) -> TensorVariable:
    """Beliefs (time, feature) of an Ornstein-Uhlenbeck process, N(mean, covariance) at any time.

    Parameters
    ----------
    name : str
    mean, covariance : tensor (feature,), (feature, feature)
        Of the stationary distribution.
    memory : tensor
        Time after which a deviation from the mean has shrunk by a factor e.
    elapsed : tensor (time - 1,)
    """
    center, spread = (pt.as_tensor(p, dtype="float64") for p in (mean, covariance))
    kept = pt.exp(-pt.as_tensor(elapsed, dtype="float64") / memory)[:, None, None]
    return LinearProcess(
        name,
        center,
        spread,
        kept * pt.eye(center.shape[0]),
        (1 - kept**2) * spread,
        (1 - kept[:, :, 0]) * center,
        **kwargs,
    )


def smooth_walk(
    name: str,
    start_mean: Any,
    start_covariance: Any,
    slope_covariance: Any,
    innovation_covariance: Any,
    elapsed: Any,
    **kwargs: Any,
) -> TensorVariable:
    """State (time, 2 features) of an integrated random walk: beliefs, then their slopes, which are a random walk.

    Parameters
    ----------
    name : str
    start_mean, start_covariance : tensor (feature,), (feature, feature)
        Of the first belief.
    slope_covariance : tensor (feature, feature)
        Of the first slope, whose mean is zero.
    innovation_covariance : tensor (feature, feature)
        Of the slope's move over one unit of time.
    elapsed : tensor (time - 1,)
    """
    mean, start, slope, innovation, gaps = (
        pt.as_tensor(p, dtype="float64")
        for p in (start_mean, start_covariance, slope_covariance, innovation_covariance, elapsed)
    )
    gap, one = gaps[:, None, None], pt.eye(mean.shape[0])
    none = pt.zeros_like(start)
    transition = _blocks(one + 0 * gap, gap * one, 0 * gap * one, one + 0 * gap)
    moves = _blocks(gap**3 / 3 * innovation, gap**2 / 2 * innovation, gap**2 / 2 * innovation, gap * innovation)
    first = pt.concatenate([mean, pt.zeros_like(mean)])
    return LinearProcess(name, first, _blocks(start, none, none, slope), transition, moves, **kwargs)


def _blocks(a: TensorVariable, b: TensorVariable, c: TensorVariable, d: TensorVariable) -> TensorVariable:
    """The matrices [[a, b], [c, d]]."""
    return pt.concatenate([pt.concatenate([a, b], axis=-1), pt.concatenate([c, d], axis=-1)], axis=-2)
