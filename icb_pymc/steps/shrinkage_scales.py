"""Recognise the scales of a shrinkage walk: a `WienerProcess` with elapsed = (tau lambda_t)^2 times the gaps."""

from typing import NamedTuple

import numpy as np
import pymc as pm
from pymc.distributions.continuous import HalfCauchyRV
from pymc.logprob.transforms import LogTransform
from pymc.pytensorf import compile as compile_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import children, has_op, parameters
from icb_pymc.declare.processes import WienerProcessRV


class ShrinkageScales(NamedTuple):
    """The random scales of the innovations of a `WienerProcess`.

    Attributes
    ----------
    local_scale : lambda (time - 1,), half-Cauchy
    global_scale : tau (), or None if it is known
    """

    local_scale: TensorVariable
    global_scale: TensorVariable | None

    @property
    def variables(self) -> list[TensorVariable]:
        """Both, or the one that there is."""
        return [self.local_scale, *([] if self.global_scale is None else [self.global_scale])]


def find_shrinkage(model: pm.Model, walk: TensorVariable) -> ShrinkageScales | None:
    """The scales of the innovations of `walk`, if they are random, multiply them, and nothing else depends on them."""
    if not has_op(walk, WienerProcessRV):
        return None
    *others, elapsed = parameters(walk)
    behind = set(ancestors([elapsed], blockers=set(model.basic_RVs)))
    elsewhere = set(ancestors(others, blockers=set(model.basic_RVs)))
    candidates = [
        rv
        for rv in model.free_RVs
        if rv in behind
        and rv not in elsewhere
        and isinstance(model.rvs_to_transforms.get(rv), LogTransform)
        and children(model, rv) == [walk]
    ]
    local = [
        rv
        for rv in candidates
        if rv.type.ndim == 1
        and has_op(rv, HalfCauchyRV)
        and not set(ancestors(parameters(rv))) & set(model.free_RVs)
        and _multiplies(model, rv, elapsed)
    ]
    if len(local) != 1:
        return None
    common = [rv for rv in candidates if rv.type.ndim == 0 and _multiplies(model, rv, elapsed)]
    return ShrinkageScales(local[0], common[0] if common else None)


def _multiplies(model: pm.Model, scale: TensorVariable, elapsed: TensorVariable) -> bool:
    """Whether `elapsed` is proportional to the square of `scale`, entry by entry, by evaluating it."""
    (graph,) = model.replace_rvs_by_values([elapsed])
    inside = set(ancestors([graph]))
    inputs = [value for value in model.value_vars if value in inside]
    evaluate = compile_graph(inputs, graph, mode="FAST_COMPILE")
    point, name = model.initial_point(), model.rvs_to_values[scale].name
    shift = np.random.default_rng(0).uniform(-1, 1, np.shape(point[name]))
    before, after = (
        evaluate(*(at[value.name] for value in inputs)) for at in (point, point | {name: point[name] + shift})
    )
    return np.shape(before) == np.shape(before * shift) and np.allclose(after, before * np.exp(2 * shift))
