"""Process priors: how beliefs move when no update rule is assumed."""

from typing import Any

import numpy as np
import pymc as pm
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
        squares = (pt.linalg.solve_triangular(start_root, first, lower=True, b_ndim=1) ** 2).sum()
        squares += (pt.linalg.solve_triangular(move_root, moves.mT, lower=True, b_ndim=2) ** 2).sum()
        log_scale = pt.log(pt.diagonal(start_root)).sum() + steps * pt.log(pt.diagonal(move_root)).sum()
        log_scale += 0.5 * features * pt.log(elapsed).sum()
        return -0.5 * squares - log_scale - 0.5 * (steps + 1) * features * np.log(2 * np.pi)
