"""What a step method reads from the graph of a model."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
from pymc.pytensorf import compile as compile_graph
from pytensor.compile.ops import ViewOp
from pytensor.graph.traversal import ancestors
from pytensor.scalar.basic import Identity
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.numpy_functions import numpy_function

Point = dict[str, np.ndarray]


class GraphReader:
    """Values of variables of a model at the sampler's current point.

    Values that do not depend on a free variable (contexts, most covariances) are evaluated once, when the step is
    created; the others by one function at each call. So hyperpriors, `pm.observe` and `pm.do` are taken into
    account, and `pm.set_data` if it is called before the step is created.
    """

    def __init__(self, model: pm.Model, variables: Mapping[str, TensorVariable]) -> None:
        self.names = tuple(variables)
        graphs = dict(zip(variables, model.replace_rvs_by_values(list(variables.values())), strict=True))
        free = set(model.value_vars)
        varying = {name: graph for name, graph in graphs.items() if free & set(ancestors([graph]))}
        constant = {name: graph for name, graph in graphs.items() if name not in varying}
        # A Python linker: compiling code for one evaluation would take longer than the evaluation.
        evaluate = compile_graph([], list(constant.values()), mode="FAST_COMPILE")
        self.fixed: dict[str, np.ndarray] = dict(zip(constant, evaluate(), strict=True))
        self._direct = {name: graph.name for name, graph in varying.items() if graph in free}
        derived = {name: graph for name, graph in varying.items() if name not in self._direct}
        self._derived = list(derived)
        self._inputs = [value for value in model.value_vars if value in set(ancestors(list(derived.values())))]
        self._function = numpy_function(self._inputs, list(derived.values())) if derived else None

    def __call__(self, point: Point) -> dict[str, np.ndarray]:
        """All values at `point`."""
        values = self.fixed | {name: point[value] for name, value in self._direct.items()}
        if self._function is not None:
            computed = self._function(*(point[value.name] for value in self._inputs))
            values |= dict(zip(self._derived, computed, strict=True))
        return values

    def is_same(self, one: Point, other: Point) -> bool:
        """Whether all values are the same at two points, judged by what they are computed from."""
        names = [*self._direct.values(), *(value.name for value in self._inputs)]
        return all(np.array_equal(one[name], other[name]) for name in names)

    def is_fixed(self, *names: str) -> bool:
        """Whether none of the named values changes while sampling."""
        return all(name in self.fixed for name in names)


def children(model: pm.Model, parent: TensorVariable) -> list[TensorVariable]:
    """Random variables and potentials that depend on `parent` directly, not through another random variable."""
    others = [rv for rv in model.basic_RVs if rv is not parent]
    blockers = set(others)
    variables = [rv for rv in others if parent in set(ancestors(rv.owner.inputs, blockers=blockers))]
    potentials = [term for term in model.potentials if parent in set(ancestors([term], blockers=blockers))]
    return variables + potentials


def parameters(rv: TensorVariable) -> list[TensorVariable]:
    """The parameters of a distribution, without its random generator and size."""
    return list(rv.owner.op.dist_params(rv.owner))


def bare(variable: TensorVariable) -> TensorVariable:
    """A variable without the copies that `pm.Deterministic` makes to name it."""
    while has_op(variable, ViewOp) or (
        has_op(variable, Elemwise) and isinstance(variable.owner.op.scalar_op, Identity)
    ):
        variable = variable.owner.inputs[0]
    return variable


def has_op(variable: TensorVariable, op: type) -> bool:
    """Whether a variable is the output of an op of this type."""
    return variable.owner is not None and isinstance(variable.owner.op, op)


def is_only_one(model: pm.Model, op: type) -> bool:
    """Whether exactly one free variable of the model is the output of an op of this type."""
    return sum(has_op(rv, op) for rv in model.free_RVs) == 1


def only_variable(vars: Any, model: pm.Model, step: str) -> TensorVariable:
    """The single random variable that a step was given."""
    rvs = [model.values_to_rvs.get(var, var) for var in vars]
    if len(rvs) != 1:
        raise ValueError(f"{step} samples one variable, but was given {', '.join(str(rv) for rv in rvs)}.")
    return rvs[0]


def context_model() -> pm.Model | None:
    """The model in whose context this is called, if any."""
    try:
        return pm.modelcontext(None)
    except TypeError:
        return None
