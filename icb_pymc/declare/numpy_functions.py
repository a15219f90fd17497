"""Functions of a graph that numpy evaluates one operation after the other: nothing is compiled, warm or cold."""

import operator
from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import itemgetter
from typing import Any

import numpy as np
from pymc.pytensorf import compile as compile_graph
from pytensor.compile.mode import Mode
from pytensor.compile.ops import DeepCopyOp
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.ifelse import IfElse
from pytensor.scalar.basic import Cast, Switch
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.utils import import_func_from_string

# All rewrites but those for a compiler, or that let an operation overwrite its inputs.
REWRITES = RewriteDatabaseQuery(include=["fast_run"], exclude=["fusion", "inplace", "BlasOpt", "cxx_only"])


def numpy_function(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Callable[..., list[np.ndarray]]:
    """A function of the values of `inputs` that returns those of `outputs`, ready at once.

    PyTensor's own functions start a C compiler, or read the cache of all that it has ever made, which takes seconds;
    its Python linker needs no start, but several times as long for each call. Where a graph holds loops, branches, or
    functions of single numbers that numpy does not have, PyTensor compiles it.

    Parameters
    ----------
    inputs, outputs : sequence of tensors

    Returns
    -------
    callable
        It takes the values of the inputs in their order, and can be called from several threads.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x, y = pt.vector("x"), pt.scalar("y")
    >>> numpy_function([x, y], [x * y, x.sum()])(np.array([1.0, 2.0]), 3.0)
    [array([3., 6.]), array(3.)]
    """
    function = compile_graph(inputs, outputs, mode=Mode("py", REWRITES), on_unused_input="ignore")
    rewritten = function.maker.fgraph
    nodes = rewritten.toposort()
    # Further outputs are new states of random generators.
    if len(rewritten.outputs) > len(outputs) or not all(_is_known(node) for node in nodes):
        return compile_graph(inputs, outputs, on_unused_input="ignore")
    # Further inputs are data of the model, which may be replaced.
    data = [container.storage for container in function.input_storage[len(inputs) :]]
    return _NumpyFunction(rewritten.inputs, rewritten.outputs, nodes, data)


class _NumpyFunction:
    """Operations in order, with the numbers of the values that they take and make.

    Single numbers are numpy's scalars: arrays without dimensions take ten times as long to compute with.
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], nodes: Sequence[Apply], data: list[list[Any]]
    ) -> None:
        self._data = data
        given = inputs[: len(inputs) - len(data)]
        self._given = [(variable.dtype, variable.type.ndim == 0) for variable in given]
        self._numbers: dict[Variable, int] = {variable: number for number, variable in enumerate(inputs)}
        self._values: list[Any] = [None] * len(inputs)
        self._steps: list[Step] = []
        fixed: set[Variable] = set()
        for node in nodes:
            steps = self._steps_of(node)
            # What is the same at each call is computed now, unless it is given away: it may then be overwritten.
            is_fixed = all(isinstance(variable, Constant) or variable in fixed for variable in node.inputs)
            if is_fixed and not isinstance(node.op, DeepCopyOp) and not set(node.outputs) & set(outputs):
                fixed |= set(node.outputs)
                _run(steps, self._values)
            else:
                self._steps += steps
        self._outputs = [self._number_of(variable) for variable in outputs]
        # Variables know the whole graph, which would go along to other processes.
        del self._numbers

    def _number_of(self, variable: Variable) -> int:
        if variable not in self._numbers:
            self._numbers[variable] = self._new(variable.data if isinstance(variable, Constant) else None)
        return self._numbers[variable]

    def _new(self, value: Any) -> int:
        self._values.append(value)
        return len(self._values) - 1

    def _steps_of(self, node: Apply) -> "list[Step]":
        function = _function_of_floats(node)
        if function is not None:
            # Constants may be floats of fewer digits, or whole numbers.
            taken = [
                self._new(np.float64(variable.data)) if _is_number(variable) else self._number_of(variable)
                for variable in node.inputs
            ]
            return [(function, _getter(taken), self._number_of(node.outputs[0]))]
        taken = [self._number_of(variable) for variable in node.inputs]
        if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Cast):
            convert = partial(_converted, node.outputs[0].dtype)
            return [(convert, _getter(taken), self._number_of(node.outputs[0]))]
        if len(node.outputs) == 1:
            return [(_Performed(node), _getter(taken), self._number_of(node.outputs[0]))]
        made = self._new(None)
        steps: list[Step] = [(_PerformedAll(node), _getter(taken), made)]
        parts = [(itemgetter(i), _getter([made]), self._number_of(output)) for i, output in enumerate(node.outputs)]
        return [*steps, *parts]

    def __call__(self, *given: Any) -> list[np.ndarray]:
        values = self._values.copy()
        for number, (value, (dtype, is_single)) in enumerate(zip(given, self._given, strict=True)):
            values[number] = np.asarray(value, dtype)[()] if is_single else np.asarray(value, dtype)
        for number, storage in enumerate(self._data, len(given)):
            values[number] = storage[0]
        with np.errstate(all="ignore"):
            _run(self._steps, values)
        return [np.asarray(values[number]) for number in self._outputs]


# An operation, what takes its arguments out of the list of all values, and the number of the value that it makes.
Step = tuple[Callable[..., Any], Callable[[list[Any]], Any], int]


def _run(steps: Sequence[Step], values: list[Any]) -> None:
    for operation, take, made in steps:
        values[made] = operation(*take(values))


def _getter(taken: list[int]) -> Callable[[list[Any]], Any]:
    if len(taken) < 2:
        return itemgetter(slice(taken[0], taken[0] + 1) if taken else slice(0, 0))
    return itemgetter(*taken)


class _PerformedAll:
    """An operation that PyTensor has a Python implementation of: all that it makes."""

    def __init__(self, node: Apply) -> None:
        self._node = node
        self._singles = [
            number for number, variable in enumerate(node.inputs) if getattr(variable.type, "ndim", 1) == 0
        ]

    def __call__(self, *given: Any) -> list[Any]:
        values = list(given)
        for number in self._singles:
            values[number] = np.asarray(values[number])
        made: list[list[Any]] = [[None] for _ in self._node.outputs]
        self._node.op.perform(self._node, values, made)
        return [value for (value,) in made]


class _Performed(_PerformedAll):
    """The same, of one value."""

    def __call__(self, *given: Any) -> Any:
        return super().__call__(*given)[0]


def _is_known(node: Apply) -> bool:
    """Whether numpy evaluates the operation as a whole, not number by number, nor by another function."""
    op = node.op.core_op if isinstance(node.op, Blockwise) else node.op
    if isinstance(op, Elemwise):
        is_whole = bool(op.nfunc_spec) or isinstance(op.scalar_op, Cast)
        return is_whole or node.outputs[0].type.ndim == 0
    return not isinstance(op, (HasInnerGraph, IfElse))


def _function_of_floats(node: Apply) -> Callable[..., Any] | None:
    """What computes an elementwise operation on floats; None if there is nothing better than PyTensor's own.

    On whole numbers some of numpy's functions compute with fewer digits than PyTensor.
    """
    if not isinstance(node.op, Elemwise) or node.op.nfunc_spec is None:
        return None
    (output,) = node.outputs
    is_choice = isinstance(node.op.scalar_op, Switch)
    numbers = node.inputs[1:] if is_choice else node.inputs
    if output.dtype not in ("float64", "bool") or not all(_is_number(one) or one.dtype == "float64" for one in numbers):
        return None
    if is_choice and _is_number(node.inputs[0]):
        return None
    name, taken, made = node.op.nfunc_spec
    function = import_func_from_string(name)
    if made != 1 or not (function is np.where or isinstance(function, np.ufunc)):
        return None
    if output.type.ndim == 0:
        function = OF_NUMBERS.get(name, function)
    if (name in ("add", "multiply")) and len(node.inputs) > taken:
        return partial(_all_by_twos, function)
    return function if taken == len(node.inputs) else None


def _is_number(variable: Variable) -> bool:
    return isinstance(variable, Constant) and variable.ndim == 0 and variable.dtype not in ("bool", "complex128")


def _all_by_twos(function: Callable[[Any, Any], Any], *values: Any) -> Any:
    return reduce(function, values)


def _converted(dtype: str, value: Any) -> Any:
    return value.astype(dtype)


def _either(condition: Any, one: Any, other: Any) -> Any:
    return one if condition else other


def _square(value: Any) -> Any:
    return value * value


# The same on single numbers, without the detour through arrays.
OF_NUMBERS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "true_divide": operator.truediv,
    "negative": operator.neg,
    "square": _square,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "less": operator.lt,
    "less_equal": operator.le,
    "where": _either,
}
