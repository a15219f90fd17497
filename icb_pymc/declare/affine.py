"""Whether a graph is affine in some of its variables, decided by its operations and not by trial values."""

from collections.abc import Iterable, Sequence

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise

# Ops by class name, which both PyTensor lines share, and the inputs that each is jointly linear in given the others (an
# empty tuple: all of them). An op that is not listed counts as nonlinear, and such models are sampled by NUTS.
LINEAR_IN: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("Add", "Sub", "Neg", "Identity", "Cast", "Sum", "Join", "MakeVector", "DimShuffle"), ()),
    **dict.fromkeys(("ViewOp", "DeepCopyOp", "TensorFromScalar", "ScalarFromTensor", "ExtractDiag", "AllocDiag"), ()),
    **dict.fromkeys(("Subtensor", "AdvancedSubtensor", "AdvancedSubtensor1", "Reshape", "SpecifyShape"), (0,)),
    **dict.fromkeys(("TrueDiv", "Alloc", "BroadcastTo", "Unbroadcast", "CumOp", "Repeat", "Split"), (0,)),
    **dict.fromkeys(("IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1"), (0, 1)),
    **dict.fromkeys(("Solve", "SolveTriangular", "CholeskySolve", "Second"), (1,)),
    "Switch": (1, 2),
}
# Linear in any one of their inputs given the others, but not in two at once.
PRODUCTS = ("Mul", "Dot", "MatMul", "BatchedDot")
# Of these inputs only the shape is used.
SHAPE_ONLY = {"Shape": (0,), "Shape_i": (0,), "Second": (0,)}

INDEPENDENT, AFFINE, NONLINEAR = range(3)


def is_affine(outputs: Iterable[Variable], inputs: Sequence[Variable]) -> bool:
    """Whether every output is an affine function of `inputs`, whatever the other variables.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x, y = pt.vectors("x", "y")
    >>> is_affine([2 * x + y**2], [x])
    True
    >>> is_affine([pt.clip(x, -5, 5)], [x])
    False
    """
    return all(state != NONLINEAR for state in _states(outputs, inputs))


def depends_on(outputs: Iterable[Variable], inputs: Sequence[Variable]) -> bool:
    """Whether the value of any output depends on that of an input; using its shape is not enough.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.vector("x")
    >>> depends_on([pt.zeros_like(x)], [x]), depends_on([x.sum()], [x])
    (False, True)
    """
    return any(state != INDEPENDENT for state in _states(outputs, inputs))


def _states(outputs: Iterable[Variable], inputs: Sequence[Variable]) -> list[int]:
    known: dict[Variable, int] = dict.fromkeys(inputs, AFFINE)
    wanted = list(outputs)
    pending = list(wanted)
    while pending:
        variable = pending[-1]
        if variable in known:
            pending.pop()
        elif variable.owner is None:
            known[variable] = INDEPENDENT
        else:
            missing = [parent for parent in variable.owner.inputs if parent not in known]
            if missing:
                pending.extend(missing)
            else:
                states = [known[parent] for parent in variable.owner.inputs]
                for output, state in zip(variable.owner.outputs, _apply(variable.owner, states), strict=True):
                    known[output] = state
    return [known[variable] for variable in wanted]


def _apply(node: Apply, states: list[int]) -> list[int]:
    """States of a node's outputs, from those of its inputs."""
    op = node.op.core_op if isinstance(node.op, Blockwise) else node.op
    name = type(op.scalar_op if isinstance(op, Elemwise) else op).__name__
    dependent = [i for i, state in enumerate(states) if state and i not in SHAPE_ONLY.get(name, ())]
    if not dependent:
        return [INDEPENDENT] * len(node.outputs)
    if any(states[i] == NONLINEAR for i in dependent):
        return [NONLINEAR] * len(node.outputs)
    if isinstance(op, OpFromGraph):
        return _states(op.inner_outputs, [op.inner_inputs[i] for i in dependent])
    if name in PRODUCTS:
        is_linear = len(dependent) == 1
    else:
        is_linear = name in LINEAR_IN and set(dependent) <= set(LINEAR_IN[name] or range(len(states)))
    is_rounded = name == "Cast" and not node.outputs[0].dtype.startswith("float")
    is_product = name == "CumOp" and op.mode != "add"
    return [AFFINE if is_linear and not is_rounded and not is_product else NONLINEAR] * len(node.outputs)
