"""The likelihood of a ranking in which later decisions are better than earlier ones (Brown et al., 2019)."""

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.variable import TensorVariable

from icb_pymc.kernels.pairwise_ranking import ranking_log_likelihood


class LaterIsBetter(Op):
    """sum_{t < t'} log sigmoid(R_t' - R_t) of rewards R (time,), with its gradient as second output."""

    __props__ = ()

    def make_node(self, reward: Any) -> Apply:
        return Apply(self, [pt.as_tensor(reward, dtype="float64")], [pt.dscalar(), pt.dvector()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        gradient = np.empty_like(inputs[0])
        output_storage[0][0] = np.asarray(ranking_log_likelihood(np.ascontiguousarray(inputs[0]), gradient))
        output_storage[1][0] = gradient

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Any) -> list[Any]:
        return [(), shapes[0]]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        return [cotangents[0] * outputs[1]]

    # Its name in PyTensor 2.
    L_op = pullback


def later_is_better(reward: Any) -> TensorVariable:
    """Log-likelihood of the ranking in which every decision beats all earlier ones.

    Parameters
    ----------
    reward : tensor (time,)
        R_t = <rho_env, x_t[a_t]>.
    """
    return LaterIsBetter()(reward)[0]
