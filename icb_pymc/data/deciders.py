"""Decisions of several agents: which agent made which decision.

Such decisions have a dimension `agent` with the names as its coordinate, and `decider` (time) is the position along it
of the agent that made the decision. Several agents may decide at the same time.
"""

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from icb_pymc.errors import InputError


def with_agents(decisions: xr.Dataset, agent: ArrayLike) -> xr.Dataset:
    """Decisions (or arrivals) with the agent of each; agents are sorted, names as text and numbers by size.

    Parameters
    ----------
    decisions : Dataset
    agent : array (time,)
        The name or number of each decision's agent.

    Raises
    ------
    InputError
        If one of them is missing.
    """
    given = np.asarray(agent)
    for position, name in enumerate(given):
        # Only NaN differs from itself.
        if name is None or name != name or str(name) == "":
            raise InputError(f"agent: the agent of decision number {position + 1} is missing; give a name or a number.")
    if given.dtype.kind not in "iu":
        given = given.astype(str)
    names, decider = np.unique(given, return_inverse=True)
    others = decisions.drop_vars("decider", errors="ignore").drop_dims("agent", errors="ignore")
    return others.assign_coords(agent=names.astype(str)).assign(decider=("time", decider.astype(np.int64)))


def own_backwards(time: np.ndarray, agent: np.ndarray | None) -> np.ndarray:
    """Whether each decision is earlier than the one before it, of the same agent."""
    backwards = np.zeros(len(time), bool)
    groups = np.zeros(len(time), np.int64) if agent is None else np.unique(agent, return_inverse=True)[1]
    order = np.argsort(groups, kind="stable")
    same = groups[order[1:]] == groups[order[:-1]]
    backwards[order[1:]] = same & (time[order[1:]] < time[order[:-1]])
    return backwards


def in_order_of_time(decisions: xr.Dataset) -> xr.Dataset:
    """Decisions of several agents in order of time; each agent's own decisions must be in order already."""
    time = decisions["time"].values
    if time.dtype.kind not in "iuM" or own_backwards(time, decisions["decider"].values).any():
        # `validate` says what is wrong.
        return decisions
    return decisions.isel(time=np.argsort(time, kind="stable"))


def decisions_by(decisions: xr.Dataset, agent: str) -> xr.Dataset:
    """The decisions of one agent, without the dimension `agent`."""
    position = position_of(decisions, agent)
    is_own = decisions["decider"].values == position
    if not is_own.any():
        raise InputError(f"agent '{agent}' made none of the decisions.")
    return decisions.isel(time=is_own).drop_vars("decider").drop_dims("agent")


def agents_of(decisions: xr.Dataset) -> list[str]:
    """The names of the agents, or an `InputError` if the decisions do not say who decided."""
    if "decider" not in decisions:
        raise InputError(
            "the decisions do not say who decided: pass agent=... to from_arrays, or add a column to the table."
        )
    return [str(name) for name in decisions["agent"].values]


def position_of(decisions: xr.Dataset, agent: str) -> int:
    """The position of an agent along `agent`, or an `InputError` that lists the agents."""
    names = agents_of(decisions)
    if str(agent) not in names:
        raise InputError(f"there is no agent '{agent}' in the decisions; the agents are {', '.join(names)}.")
    return names.index(str(agent))


def check_agents(decisions: xr.Dataset, source: str) -> None:
    """Raise `InputError` if the decisions have agents that do not follow the schema."""
    if "decider" not in decisions:
        if "agent" in decisions.dims or "agent" in decisions.variables:
            raise InputError(f"{source}: 'agent' needs a variable 'decider' (time) that says which agent decided.")
        return
    decider = decisions["decider"]
    if decider.dims != ("time",):
        raise InputError(f"{source}: 'decider' has dims {decider.dims}, expected ('time',).")
    if decider.dtype.kind not in "iu":
        raise InputError(f"{source}: 'decider' holds {decider.dtype}, expected whole numbers: positions along 'agent'.")
    if "agent" not in decisions.coords or decisions["agent"].dims != ("agent",):
        raise InputError(f"{source}: coordinate 'agent' with the names of the agents is missing.")
    names = decisions["agent"].values
    if len(set(names)) < len(names):
        raise InputError(f"{source}: coordinate 'agent' contains a name twice: {', '.join(map(str, names))}.")
    outside = (decider.values < 0) | (decider.values >= len(names))
    if outside.any():
        step = int(np.argmax(outside))
        raise InputError(
            f"{source}: decider {decider.values[step]} of decision number {step + 1} is outside 0..{len(names) - 1}, "
            f"the positions of {', '.join(map(str, names))}."
        )
