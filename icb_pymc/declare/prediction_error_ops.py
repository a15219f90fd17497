"""Learning from known rewards as two ops with derivatives: a gradient in O(T k^2) without a scan."""

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import register_funcify_default_op_cache_key
from pytensor.tensor.variable import TensorVariable

from icb_pymc.kernels.prediction_errors import belief_path, belief_path_pullback, kalman_gains, kalman_gains_pullback


class _KernelOp(Op):
    """An op that calls one kernel; its inputs and outputs are arrays of float64."""

    __props__ = ()
    kernel: Any
    ndims: tuple[int, ...]

    def make_node(self, *inputs: Any) -> Apply:
        given = [pt.as_tensor(value, dtype="float64") for value in inputs]
        return Apply(self, given, [pt.tensor(dtype="float64", shape=(None,) * ndim) for ndim in self.ndims])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        found = type(self).kernel(*(np.ascontiguousarray(value) for value in inputs))
        for storage, value in zip(output_storage, found if isinstance(found, tuple) else (found,), strict=True):
            storage[0] = value


class BeliefPath(_KernelOp):
    """Means (N, J, k) before each decision, from start_mean, gain, context and reward: see `belief_path`."""

    kernel, ndims = staticmethod(belief_path), (3,)

    def pullback(self, inputs: Any, outputs: Any, adjoints: Any) -> list[Any]:
        return BeliefPathPullback()(*inputs[1:], outputs[0], adjoints[0], return_list=True)

    # The name of the same method in older releases of PyTensor.
    L_op = pullback


class BeliefPathPullback(_KernelOp):
    """The derivatives of `BeliefPath`."""

    kernel, ndims = staticmethod(belief_path_pullback), (2, 3, 3, 2)


class KalmanGains(_KernelOp):
    """Gains (N, J, k) and covariances: see `kalman_gains`."""

    kernel, ndims = staticmethod(kalman_gains), (3, 4)

    def pullback(self, inputs: Any, outputs: Any, adjoints: Any) -> list[Any]:
        # Only the gains are used.
        return KalmanGainsPullback()(*inputs[1:], *outputs, adjoints[0], return_list=True)

    L_op = pullback


class KalmanGainsPullback(_KernelOp):
    """The derivatives of `KalmanGains` with respect to what the gains depend on."""

    kernel, ndims = staticmethod(kalman_gains_pullback), (3, 3, 1, 1, 1)


@register_funcify_default_op_cache_key(BeliefPath)
@register_funcify_default_op_cache_key(BeliefPathPullback)
@register_funcify_default_op_cache_key(KalmanGains)
@register_funcify_default_op_cache_key(KalmanGainsPullback)
def _kernel_of(op: _KernelOp, **kwargs: Any) -> Any:
    """PyTensor's numba mode calls the kernel itself."""
    return type(op).kernel


def path_of_means(start_mean: Any, gain: Any, context: Any, reward: Any) -> TensorVariable:
    """Means (N, J, k) of agents that learn from prediction errors."""
    return BeliefPath()(start_mean, gain, context, reward)


def gains_of_kalman(start_covariance: Any, context: Any, variance: Any, memory: Any, drift: Any) -> TensorVariable:
    """Gains (N, J, k) of Kalman filters."""
    return KalmanGains()(start_covariance, context, variance, memory, drift)[0]
