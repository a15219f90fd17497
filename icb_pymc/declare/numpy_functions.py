"""Functions of a graph that numpy evaluates one operation after the other: nothing is compiled, warm or cold."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pymc.pytensorf import compile as compile_graph
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.ifelse import IfElse
from pytensor.scalar.basic import Cast
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
    """Operations in order, with the numbers of the values that they take and make."""

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], nodes: Sequence[Apply], data: list[list[Any]]
    ) -> None:
        self._data = data
        self._dtypes = [variable.dtype for variable in inputs[: len(inputs) - len(data)]]
        numbers: dict[Variable, int] = {variable: number for number, variable in enumerate(inputs)}
        self._constants: list[Any] = []

        def number_of(variable: Variable) -> int:
            if variable not in numbers:
                numbers[variable] = len(inputs) + len(self._constants)
                self._constants.append(variable.data if isinstance(variable, Constant) else None)
            return numbers[variable]

        self._steps = [
            (_operation(node), tuple(map(number_of, node.inputs)), tuple(map(number_of, node.outputs)))
            for node in nodes
        ]
        self._outputs = [number_of(variable) for variable in outputs]

    def __call__(self, *given: Any) -> list[np.ndarray]:
        values = [*map(np.asarray, given, self._dtypes), *(storage[0] for storage in self._data), *self._constants]
        with np.errstate(all="ignore"):
            for operation, taken, made in self._steps:
                for number, value in zip(made, operation([values[number] for number in taken]), strict=True):
                    values[number] = value
        return [values[number] for number in self._outputs]


class _Elementwise:
    """An operation that is one of numpy's."""

    def __init__(self, function: Callable[..., Any], dtype: str) -> None:
        self._function, self._dtype = function, dtype

    def __call__(self, values: list[Any]) -> tuple[np.ndarray]:
        return (np.asarray(self._function(*values), self._dtype),)


class _Conversion:
    """Numbers in another type."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype

    def __call__(self, values: list[Any]) -> tuple[np.ndarray]:
        return (values[0].astype(self._dtype),)


class _Performed:
    """An operation that PyTensor has a Python implementation of."""

    def __init__(self, node: Apply) -> None:
        self._node = node

    def __call__(self, values: list[Any]) -> list[Any]:
        made: list[list[Any]] = [[None] for _ in self._node.outputs]
        self._node.op.perform(self._node, values, made)
        return [value for (value,) in made]


def _is_known(node: Apply) -> bool:
    """Whether numpy evaluates the operation as a whole, not number by number, nor by another function."""
    op = node.op.core_op if isinstance(node.op, Blockwise) else node.op
    if isinstance(op, Elemwise):
        is_whole = bool(op.nfunc_spec) or isinstance(op.scalar_op, Cast)
        return is_whole or node.outputs[0].type.ndim == 0
    return not isinstance(op, (HasInnerGraph, IfElse))


def _operation(node: Apply) -> Callable[[list[Any]], Sequence[Any]]:
    if not isinstance(node.op, Elemwise):
        return _Performed(node)
    if isinstance(node.op.scalar_op, Cast):
        return _Conversion(node.outputs[0].dtype)
    name, given, made = node.op.nfunc_spec or ("", 0, 0)
    function = import_func_from_string(name) if (given, made) == (len(node.inputs), len(node.outputs)) else None
    # On whole numbers some of numpy's functions compute with fewer digits than PyTensor.
    are_floats = all(variable.dtype == "float64" for variable in node.inputs)
    if function is np.where or (isinstance(function, np.ufunc) and are_floats):
        return _Elementwise(function, node.outputs[0].dtype)
    return _Performed(node)
