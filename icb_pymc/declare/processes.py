"""Process priors: how beliefs evolve when no update rule is assumed."""

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
    """A (feature, feature) covariance from a variance, a vector of variances, or a matrix.

    Parameters
    ----------
    value : number, vector or matrix
        A variance for all features, one for each, or the covariance itself; numbers or tensors.
    features : int
        Number of features k.

    Returns
    -------
    tensor (feature, feature)

    Examples
    --------
    >>> from icb_pymc.declare import as_covariance
    >>> as_covariance([1.0, 2.0], features=2).eval()
    array([[1., 0.],
           [0., 2.]])
    """
    tensor = pt.as_tensor(value, dtype="float64")
    if tensor.ndim == 2:
        return tensor
    return pt.diag(tensor * np.ones(features))


class WienerProcessRV(SymbolicRandomVariable):
    """Random graph of `WienerProcess`: the first state plus the cumulative sum of the increments."""

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
    r"""Multivariate Gaussian random walk, observed at regular or irregular times (equation 7 of the paper).

    .. math:: \beta_1 \sim N(m, S), \quad \beta_t \sim N(\beta_{t-1}, \Delta_t \Sigma_B)

    Parameters
    ----------
    start_mean : tensor (feature,)
        m, the mean of the first belief.
    start_covariance : tensor (feature, feature)
        S, the covariance of the first belief.
    innovation_covariance : tensor (feature, feature)
        Sigma_B, the covariance of the innovation over one unit of time.
    elapsed : tensor (time - 1,)
        Delta_t, the time between consecutive decisions; ones if time is counted in decisions.

    Returns
    -------
    tensor (time, feature)
        A random variable of the model or, from ``WienerProcess.dist``, one without a model.

    Examples
    --------
    Three decisions, the last after a longer gap, and the log-density of a walk that stays at zero:

    >>> import numpy as np
    >>> import pymc as pm
    >>> from icb_pymc.declare import WienerProcess
    >>> walk = WienerProcess.dist(np.zeros(2), np.eye(2), 0.1 * np.eye(2), elapsed=[1.0, 30.0])
    >>> round(float(pm.logp(walk, np.zeros((3, 2))).eval()), 3)
    -4.31
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
    """Random graph of `LinearProcess`: a scan over its transitions."""

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
        mean, start, transitions, innovation, drifts = parameters
        size = normalize_size_param(size)
        batch = () if rv_size_is_none(size) else tuple(size)
        # Time goes first: it is what the scan runs over.
        noise = pm.Normal.dist(shape=(drifts.shape[0] + 1, *batch, mean.shape[-1]), rng=rng)
        next_rng, rng = noise.owner.outputs[0], noise.owner.inputs[0]
        first = mean + (pt.linalg.cholesky(start) * noise[0][..., None, :]).sum(axis=-1)

        def next_state(matrix, root, shift, noise_t, state):  # type: ignore[no-untyped-def]
            return (matrix * state[..., None, :]).sum(axis=-1) + shift + (root * noise_t[..., None, :]).sum(axis=-1)

        later = pytensor.scan(
            next_state,
            sequences=[transitions, pt.linalg.cholesky(innovation), drifts, noise[1:]],
            outputs_info=[first],
            return_updates=False,
        )
        path = pt.moveaxis(pt.concatenate([first[None], later]), 0, -2)
        inputs = [rng, size, *parameters]
        return cls(inputs=inputs, outputs=[next_rng, path])(*inputs)


class LinearProcess(Continuous):
    r"""Linear-Gaussian process (time, state): mean-reverting, smooth, or any other with linear transitions.

    .. math:: s_1 \sim N(m, S), \quad s_{t+1} \sim N(F_t s_t + c_t, Q_t)

    Parameters
    ----------
    start_mean : tensor (state,)
        m, the mean of the first state.
    start_covariance : tensor (state, state)
        S, the covariance of the first state.
    transition : tensor (time - 1, state, state) or (state, state)
        F_t. Give `steps` if none of F, Q and c has a time dimension.
    innovation_covariance : tensor (time - 1, state, state) or (state, state)
        Q_t, positive definite.
    drift : tensor (time - 1, state) or (state,), optional
        c_t; zero by default.
    steps : int, optional
        time - 1, the number of transitions.

    Returns
    -------
    tensor (time, state)
        A random variable of the model or, from ``LinearProcess.dist``, one without a model.

    Raises
    ------
    ValueError
        If neither `steps` nor a parameter with a time dimension gives the length.

    Examples
    --------
    A first-order autoregression of five states, and the log-density of a path that stays at zero:

    >>> import numpy as np
    >>> import pymc as pm
    >>> from icb_pymc.declare import LinearProcess
    >>> path = LinearProcess.dist([0.0], [[1.0]], [[0.9]], [[0.19]], steps=4)
    >>> round(float(pm.logp(path, np.zeros((5, 1))).eval()), 3)
    -1.273
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
        mean, start, transitions, innovation, drifts = (
            pt.as_tensor(p, dtype="float64")
            for p in (start_mean, start_covariance, transition, innovation_covariance, drift)
        )
        if steps is None:
            over_time = [p for p, core in ((transitions, 2), (innovation, 2), (drifts, 1)) if p.type.ndim > core]
            if not over_time:
                raise ValueError(
                    "LinearProcess: give steps (the number of times less one), or F, Q or c with a time dimension."
                )
            length = over_time[0].shape[0]
        else:
            length = pt.as_tensor(steps)
        size = mean.shape[-1]
        transitions = pt.broadcast_to(transitions, (length, size, size))
        innovation = pt.broadcast_to(innovation, (length, size, size))
        drifts = pt.broadcast_to(drifts, (length, size))
        return super().dist([mean, start, transitions, innovation, drifts], **kwargs)

    def support_point(rv, size, start_mean, start_covariance, transition, innovation_covariance, drift):  # type: ignore[no-untyped-def]
        path = pt.zeros((drift.shape[0] + 1, 1)) + start_mean
        return path if rv_size_is_none(size) else pt.zeros((*size, 1, 1)) + path

    def logp(value, start_mean, start_covariance, transition, innovation_covariance, drift):  # type: ignore[no-untyped-def]
        roots = [pt.linalg.cholesky(start_covariance)[None], pt.linalg.cholesky(innovation_covariance)]
        predicted = (transition * value[..., :-1, None, :]).sum(axis=-1) + drift
        residuals = [(value[..., 0, :] - start_mean)[..., None, :], value[..., 1:, :] - predicted]
        log_density = -0.5 * value.shape[-2] * value.shape[-1] * np.log(2 * np.pi)
        for root, residual in zip(roots, residuals, strict=True):
            whitened = pt.linalg.solve_triangular(root, residual, lower=True, b_ndim=1)
            log_density -= 0.5 * (whitened**2).sum(axis=(-2, -1))
            log_density -= pt.log(pt.diagonal(root, axis1=-2, axis2=-1)).sum()
        return log_density


def mean_reverting(name: str, mean: Any, covariance: Any, memory: Any, elapsed: Any, **kwargs: Any) -> TensorVariable:
    """Beliefs (time, feature) of a stationary Ornstein-Uhlenbeck process, N(mean, covariance) at any time.

    Parameters
    ----------
    name : str
        Name of the variable in the model.
    mean : tensor (feature,)
        Mean of the stationary distribution.
    covariance : tensor (feature, feature)
        Covariance of the stationary distribution.
    memory : number or tensor ()
        Time after which the expected deviation from the mean has shrunk by a factor e.
    elapsed : tensor (time - 1,)
        The time between consecutive decisions.
    **kwargs
        Passed to the distribution, such as ``dims=("time", "feature")``.

    Returns
    -------
    tensor (time, feature)
        A `LinearProcess` of the model in whose context this is called.

    Examples
    --------
    >>> import numpy as np
    >>> import pymc as pm
    >>> import icb_pymc
    >>> with pm.Model() as model:
    ...     belief = icb_pymc.mean_reverting("belief", np.zeros(2), 0.1 * np.eye(2), memory=50.0, elapsed=np.ones(9))
    >>> model.initial_point()["belief"].shape
    (10, 2)
    """
    center, spread = (pt.as_tensor(p, dtype="float64") for p in (mean, covariance))
    decay = pt.exp(-pt.as_tensor(elapsed, dtype="float64") / memory)[:, None, None]
    return LinearProcess(
        name,
        center,
        spread,
        decay * pt.eye(center.shape[0]),
        (1 - decay**2) * spread,
        (1 - decay[:, :, 0]) * center,
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
        Name of the variable in the model.
    start_mean : tensor (feature,)
        Mean of the first belief.
    start_covariance : tensor (feature, feature)
        Covariance of the first belief.
    slope_covariance : tensor (feature, feature)
        Covariance of the first slope, whose mean is zero.
    innovation_covariance : tensor (feature, feature)
        Covariance of the slope's innovation over one unit of time.
    elapsed : tensor (time - 1,)
        The time between consecutive decisions.
    **kwargs
        Passed to the distribution, such as ``dims=("time", "state")``.

    Returns
    -------
    tensor (time, 2 features)
        A `LinearProcess` of the model in whose context this is called; its first half are the beliefs.

    Examples
    --------
    >>> import numpy as np
    >>> import pymc as pm
    >>> import icb_pymc
    >>> one = np.eye(2)
    >>> with pm.Model() as model:
    ...     state = icb_pymc.smooth_walk("state", np.zeros(2), one, 0.1 * one, 0.01 * one, elapsed=np.ones(9))
    ...     belief = pm.Deterministic("belief", state[:, :2])
    >>> model.initial_point()["state"].shape
    (10, 4)
    """
    mean, start, slope, innovation, gaps = (
        pt.as_tensor(p, dtype="float64")
        for p in (start_mean, start_covariance, slope_covariance, innovation_covariance, elapsed)
    )
    gap, one = gaps[:, None, None], pt.eye(mean.shape[0])
    zero = pt.zeros_like(start)
    transition = _blocks(one + 0 * gap, gap * one, 0 * gap * one, one + 0 * gap)
    noise = _blocks(gap**3 / 3 * innovation, gap**2 / 2 * innovation, gap**2 / 2 * innovation, gap * innovation)
    first = pt.concatenate([mean, pt.zeros_like(mean)])
    return LinearProcess(name, first, _blocks(start, zero, zero, slope), transition, noise, **kwargs)


def _blocks(a: TensorVariable, b: TensorVariable, c: TensorVariable, d: TensorVariable) -> TensorVariable:
    """The matrices [[a, b], [c, d]]."""
    return pt.concatenate([pt.concatenate([a, b], axis=-1), pt.concatenate([c, d], axis=-1)], axis=-2)
