"""A scan over decisions whose step may use variables of the model as it finds them."""

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
    """What `step` gives at each time: its states first, then `others` that it is not given back.

    A step that closes over a random variable of the model, such as an unknown learning rate, would draw it anew inside
    of the scan, where no sampler can see it. So those that it uses are handed to the scan from outside.

    Parameters
    ----------
    step : callable
        ``step(*sequences_t, *states) -> (*states, *others)``.
    sequences : tensors (time, ...)
    states : tensors
        Before the first step.
    others : int
        How many others there are.
    """
    dummies = [sequence[0].type() for sequence in sequences] + [state.type() for state in states]
    results = list(step(*dummies))
    for i, state in enumerate(states):
        results[i] = state.type.filter_variable(pt.as_tensor(results[i]))
    model = pm.Model.get_context(error_if_none=False)
    variables = [] if model is None else model.basic_RVs
    inside = set(ancestors(results, blockers=variables))
    used = [variable for variable in variables if variable in inside]

    def replaced(*given: TensorVariable) -> list[TensorVariable]:
        return graph_replace(results, dict(zip([*dummies, *used], given, strict=True)), strict=False)

    found = pytensor.scan(
        replaced,
        sequences=list(sequences),
        outputs_info=[*states, *[None] * others],
        non_sequences=used,
        return_updates=False,
    )
    return list(found) if isinstance(found, (list, tuple)) else [found]
