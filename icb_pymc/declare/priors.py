"""The improper prior of the paper's benchmarks."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable


class FlatWeightsRV(type(pm.Flat.rv_op)):  # type: ignore[misc]
    """Random graph of `FlatWeights`: it cannot be drawn from."""

    name = "flat_weights"
    _print_name = ("FlatWeights", "\\operatorname{FlatWeights}")


class FlatWeights(pm.Flat):
    """Weights (..., feature) of which nothing is known; samplers and optimisers start at -1/k, as in the paper.

    That is what sets it apart from `pm.Flat` with an ``initval``, which `pm.observe` and `pm.compute_log_likelihood`
    refuse.
    """

    rv_op = FlatWeightsRV()

    def support_point(rv, size):  # type: ignore[no-untyped-def]
        return pt.full(size, -1.0 / size[-1])

    def logp(value) -> TensorVariable:  # type: ignore[no-untyped-def,misc]
        return pt.zeros_like(value)


def is_zero(value: Any) -> bool:
    """Whether a hyperparameter is given as zero."""
    return isinstance(value, (int, float, np.ndarray, list)) and not np.any(value)
