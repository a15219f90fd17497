"""Shapes of our ops, from the shapes of their inputs.

Without them PyTensor goes through the graph inside an op each time that it asks for its shape, which took more than a
quarter of the time of a short fit of a learner.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pytensor.compile.builders import OpFromGraph


class Axis(NamedTuple):
    """The length of an array along one axis: as its type has it, which may be None, and in the graph."""

    known: int | None
    length: Any


def axes_of_inputs(op: OpFromGraph, shapes: Sequence[Any]) -> list[list[Axis]]:
    """The axes of each input, from the types that the graph inside the op was made with; generators have none.

    Parameters
    ----------
    op : OpFromGraph
        The op.
    shapes : sequence of (tuple or None)
        The shapes of its inputs in the graph around it.
    """
    return [
        [] if shape is None else list(map(Axis, inside.type.shape, shape))
        for inside, shape in zip(op.fgraph.inputs, shapes, strict=True)
    ]


def broadcast(*arrays: Sequence[Axis]) -> tuple[Any, ...]:
    """The shape of arrays that are broadcast: PyTensor stretches only an axis that is one by its type."""
    lengths = []
    for number in range(-max(map(len, arrays)), 0):
        axes = [array[number] for array in arrays if len(array) >= -number]
        lengths.append(next((axis.length for axis in axes if axis.known != 1), axes[0].length))
    return tuple(lengths)
