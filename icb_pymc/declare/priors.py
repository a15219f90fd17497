"""The improper prior of the paper's benchmarks, and covariances that are zero."""

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
    """Weights (..., feature) with a flat prior; samplers and optimisers start at -1/k, as in the paper.

    `pm.Flat` with an ``initval`` would start there too, but `pm.observe` and `pm.compute_log_likelihood` do not support
    it.
    """

    rv_op = FlatWeightsRV()

    def support_point(rv, size):  # type: ignore[no-untyped-def]
        return pt.full(size, -1.0 / size[-1])

    def logp(value) -> TensorVariable:  # type: ignore[no-untyped-def,misc]
        return pt.zeros_like(value)


def is_zero(value: Any) -> bool:
    """Whether the value given for a hyperparameter is zero."""
    return isinstance(value, (int, float, np.ndarray, list)) and not np.any(value)
