"""A scan over decisions whose step may use random variables of the model."""

from collections.abc import Callable, Sequence

import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

Step = Callable[..., tuple[TensorVariable, ...]]


def scan_over_time(
    step: Step, sequences: Sequence[TensorVariable], states: Sequence[TensorVariable], others: int = 0
) -> list[TensorVariable]:
    """What `step` returns at each time: first its states, then `others` that are not passed to the next step.

    A step that closes over a random variable of the model, such as an unknown learning rate, would draw it again inside
    the scan, where no sampler can see it. So the variables that it uses are passed to the scan as arguments.

    Parameters
    ----------
    step : callable
        ``step(*sequences_t, *states) -> (*states, *others)``.
    sequences : tensors (time, ...)
        Inputs of the steps.
    states : tensors
        Values before the first step.
    others : int
        Number of other outputs.

    Returns
    -------
    list of tensors (time, ...)
    """
    dummies = [sequence[0].type() for sequence in sequences] + [state.type() for state in states]
    results = list(step(*dummies))
    for i, state in enumerate(states):
        results[i] = state.type.filter_variable(pt.as_tensor(results[i]))
    model = pm.Model.get_context(error_if_none=False)
    # Deterministics too, so that they are computed once and not at each step.
    variables = [] if model is None else [*model.basic_RVs, *model.deterministics]
    inside = set(ancestors(results, blockers=variables))
    used = [variable for variable in variables if variable in inside]

    def step_on(*arguments: TensorVariable) -> list[TensorVariable]:
        return graph_replace(results, dict(zip([*dummies, *used], arguments, strict=True)), strict=False)

    outputs = pytensor.scan(
        step_on,
        sequences=list(sequences),
        outputs_info=[*states, *[None] * others],
        non_sequences=used,
        return_updates=False,
    )
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
