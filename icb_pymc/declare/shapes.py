"""Shapes of our ops, from the shapes of their inputs.

Without them PyTensor goes through the graph inside an op each time that it asks for its shape, which took more than a
quarter of the time of a short fit of a learner.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pymc.distributions.distribution import SymbolicRandomVariable
from pymc.distributions.shape_utils import rv_size_is_none


class Axis(NamedTuple):
    """The length of an array along one axis: as its type has it, which may be None, and in the graph."""

    known: int | None
    length: Any


class KnownShape:
    """An op with a graph inside that has `output_shapes`: a base class before `OpFromGraph` or a random variable."""

    def infer_shape(self, *arguments: Any) -> list[Any]:
        """What PyTensor asks for; that of PyMC 5 passes the graph first, that of PyMC 6 does not."""
        node, shapes = arguments[-2:]
        if isinstance(self, SymbolicRandomVariable) and not rv_size_is_none(node.inputs[1]):
            return super().infer_shape(*arguments)  # type: ignore[misc]
        # Types as the graph inside was made with.
        types = [inside.type for inside in self.fgraph.inputs]  # type: ignore[attr-defined]
        inputs = [
            [] if shape is None else list(map(Axis, known.shape, shape))
            for known, shape in zip(types, shapes, strict=True)
        ]
        return self.output_shapes(*inputs)

    def output_shapes(self, *inputs: list[Axis]) -> list[Any]:
        """The shapes of the outputs from the axes of the inputs; generators and the size have none."""
        raise NotImplementedError


def broadcast(*arrays: Sequence[Axis]) -> tuple[Any, ...]:
    """The shape of arrays that are broadcast: PyTensor stretches only an axis that is one by its type."""
    lengths = []
    for number in range(-max(map(len, arrays)), 0):
        axes = [array[number] for array in arrays if len(array) >= -number]
        lengths.append(next((axis.length for axis in axes if axis.known != 1), axes[0].length))
    return tuple(lengths)
