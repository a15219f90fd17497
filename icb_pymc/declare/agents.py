"""Several agents that learn, each on its own clock, from one declaration that is written for a single agent.

A parameter that differs between agents is declared by `of_each_agent`. What it returns stands for the value of one
agent, so that updates, first beliefs and rules are written as for one; `learn` puts those of all agents in its place.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.scan_over_time import Step, scan_over_time
from icb_pymc.errors import InputError

Link = Literal["log", "logit", "identity"]
LINKS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "log": (np.log, pt.exp),
    "logit": (lambda share: np.log(share / (1 - share)), pt.sigmoid),
    "identity": (lambda value: value, lambda value: value),
}


def of_each_agent(
    name: str, median: float, *, link: Link = "log", centre_sd: float = 1.0, spread_scale: float = 0.5
) -> TensorVariable:
    """A parameter that differs between agents, with the distribution of the population they come from.

    On the scale of the link, value_j = centre + spread z_j with z_j ~ N(0, 1) (non-centred), centre ~ N(link(median),
    centre_sd^2) and spread ~ half-normal.

    Declares `NAME` (agent), the values of all agents; `NAME_population`, the median of the population, in the same
    units; `NAME_spread`, on the scale of the link; and the unknowns behind them, `NAME_centre` and `NAME_noise`
    (agent).

    Parameters
    ----------
    name : str
        Such as ``"learning_rate"``.
    median : number
        Prior median of the population.
    link : {"log", "logit", "identity"}
        For positive numbers, for shares between 0 and 1, and for any numbers.
    centre_sd : number
        How uncertain the centre of the population is, on the scale of the link.
    spread_scale : number
        Scale of the half-normal prior of how much agents differ, on the scale of the link.

    Returns
    -------
    tensor ()
        The value of *one* agent, for use in the arguments of `learn`, which puts in those of all agents. It has no
        value elsewhere: to use the values of all agents, take ``model[name]``.

    Raises
    ------
    InputError
        If the decisions do not say who decided, or there is no such link or median.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import decisions_model, of_each_agent
    >>> context = [[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]]
    >>> decisions = icb_pymc.from_arrays(context, [0, 1], agent=["Ada", "Bo"])
    >>> with decisions_model(decisions) as model:
    ...     rate = of_each_agent("learning_rate", 0.2, link="logit")
    >>> model.free_RVs, model.deterministics, rate
    ([learning_rate_centre, learning_rate_spread, learning_rate_noise], [learning_rate_population, learning_rate], \
learning_rate of one agent)
    """
    model = pm.modelcontext(None)
    own_clocks(model)
    if link not in LINKS:
        raise InputError(f"link={link!r}: it must be {' or '.join(map(repr, LINKS))}.")
    forward, inverse = LINKS[link]
    if (link != "identity" and median <= 0) or (link == "logit" and median >= 1):
        raise InputError(f"median={median} of '{name}': with the link '{link}' it must be {_range_of(link)}.")
    centre = pm.Normal(f"{name}_centre", forward(median), centre_sd)
    spread = pm.HalfNormal(f"{name}_spread", spread_scale)
    noise = pm.Normal(f"{name}_noise", dims="agent")
    pm.Deterministic(f"{name}_population", inverse(centre))
    values = pm.Deterministic(name, inverse(centre + spread * noise), dims="agent")
    stand_in = pt.scalar(f"{name} of one agent", dtype="float64")
    stand_in.tag.of_each_agent = values
    return stand_in


class Clocks(NamedTuple):
    """The decisions of each agent in their order.

    Attributes
    ----------
    position : (N, J)
        Where the n-th decision of agent j is in the log. Agents with fewer than N repeat their last one; agents with
        none have the first of the log.
    agent, trial : (T,)
        Which agent makes a decision of the log, and which of its decisions it is, from 0.
    """

    position: np.ndarray
    agent: np.ndarray
    trial: np.ndarray

    @property
    def agents(self) -> int:
        """Number of agents J."""
        return self.position.shape[1]

    def in_log(self, values: TensorVariable) -> TensorVariable:
        """Values (N, J, ...) in the order of the log, (T, ...)."""
        return values[self.trial, self.agent]


def one_clock(times: int) -> Clocks:
    """All decisions are made by one agent."""
    return Clocks(np.arange(times)[:, None], np.zeros(times, int), np.arange(times))


def own_clocks(model: pm.Model) -> Clocks:
    """Each agent has a clock of its own, or an `InputError` if the decisions do not say who decided."""
    if "decider" not in model.named_vars:
        raise InputError(
            "a parameter or a belief of each agent needs to know who decided: pass `agent` to from_arrays, or add a "
            "column 'agent' to the table (or name it with --agent)."
        )
    agent = model["decider"].get_value()
    agents = len(model.coords["agent"])
    own = [np.flatnonzero(agent == j) for j in range(agents)]
    trial = np.empty(len(agent), int)
    position = np.zeros((max(map(len, own)), agents), int)
    for j, positions in enumerate(own):
        trial[positions] = np.arange(len(positions))
        if len(positions):
            position[: len(positions), j], position[len(positions) :, j] = positions, positions[-1]
    return Clocks(position, agent, trial)


def stand_ins(graphs: Iterable[Variable]) -> dict[Variable, TensorVariable]:
    """The values of all agents (agent,), by the variables that stand for one agent in these graphs."""
    return {
        variable: variable.tag.of_each_agent
        for variable in ancestors(list(graphs))
        if getattr(variable.tag, "of_each_agent", None) is not None
    }


def for_agents(value: Any, agents: int) -> TensorVariable:
    """Values (J, ...) of something that is written for one agent."""
    return vectorised([value], {}, (agents,))[0]


def vectorised(
    graphs: Sequence[Any],
    batches: dict[Variable, TensorVariable],
    batch: tuple[int, ...],
    select: Callable[[TensorVariable], TensorVariable] = lambda values: values,
) -> list[TensorVariable]:
    """Graphs that are written for one decision of one agent, for many.

    Parameters
    ----------
    graphs : sequence of tensors
    batches : dict
        What takes the place of their inputs, with the leading dimensions `batch`.
    batch : tuple of int
    select : callable
        From the values of all agents (agent,) to those of the batch.

    Returns
    -------
    list of tensors (*batch, ...)
    """
    given = [graph if isinstance(graph, Variable) else pt.as_tensor(graph, dtype="float64") for graph in graphs]
    replaced = batches | {variable: select(values) for variable, values in stand_ins(given).items()}
    found = vectorize_graph(given, replaced) if replaced else given
    if not batch:
        return found
    return [
        many if many.ndim > one.ndim else pt.alloc(many, *batch, *(many.shape[i] for i in range(many.ndim)))
        for one, many in zip(given, found, strict=True)
    ]


def scan_of_agents(
    step: Step,
    sequences: Sequence[TensorVariable],
    states: Sequence[TensorVariable],
    others: int,
    clocks: Clocks | None,
) -> list[TensorVariable]:
    """`scan_over_time` of a step that is written for one agent; results (time, ...) are in the order of the log.

    Without clocks, all decisions are those of a single agent, and nothing differs between agents.
    """
    if clocks is None:
        return scan_over_time(step, sequences, states, others)
    dummies = [sequence[0].type() for sequence in sequences] + [state.type() for state in states]
    results = list(step(*dummies))

    def step_of_all(*arguments: TensorVariable) -> tuple[TensorVariable, ...]:
        return tuple(vectorised(results, dict(zip(dummies, arguments, strict=True)), (clocks.agents,)))

    own = [sequence[clocks.position] for sequence in sequences]
    first = [for_agents(state, clocks.agents) for state in states]
    return [clocks.in_log(values) for values in scan_over_time(step_of_all, own, first, others)]


def _range_of(link: str) -> str:
    return "above 0" if link == "log" else "between 0 and 1"
