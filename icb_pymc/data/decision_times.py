"""When each decision of a table was made, by whom and in which session."""

import warnings

import numpy as np
import pandas as pd

from icb_pymc.data.candidates import Candidates, per_decision
from icb_pymc.data.cells import first_of, format_value, is_dated, is_empty, names_of, times_of
from icb_pymc.data.deciders import own_backwards
from icb_pymc.errors import InputError, InputWarning

# With more decisions than this on a date, dates are probably sessions.
MANY_ON_A_DATE = 10


def agents_of_table(candidates: Candidates) -> np.ndarray | None:
    """The agent of each decision, if the table says it."""
    name = candidates.roles.agent
    if name is None:
        return None
    column = candidates.frame[name]
    missing = is_empty(column)
    if missing.any():
        raise InputError(f"{candidates.where(first_of(missing))}: column '{name}' is empty; say who decided.")
    advice = "; two decisions may not have the same number or name, even if their agents differ"
    agents = per_decision(candidates, name, advice)
    is_number = pd.api.types.is_integer_dtype(agents)
    return agents.to_numpy() if is_number else names_of(agents)


def sessions_of_table(candidates: Candidates) -> np.ndarray | None:
    """The session of each decision, if the table says it."""
    name = candidates.roles.session
    if name is None:
        return None
    missing = is_empty(candidates.frame[name])
    if missing.any():
        raise InputError(f"{candidates.where(first_of(missing))}: column '{name}' is empty; say which session it was.")
    sessions = per_decision(candidates, name, "")
    if pd.api.types.is_integer_dtype(sessions) or is_dated(sessions):
        return sessions.to_numpy()
    return names_of(sessions)


def times_of_table(candidates: Candidates, agent: np.ndarray | None, session: np.ndarray | None) -> np.ndarray | None:
    """The time of each decision; None if decisions are counted.

    Agents that follow one another without times, and a counter of trials that starts again in every session, are
    counted by agent.
    """
    name, count = candidates.roles.time, _own_count(agent)
    if name is None:
        return count
    column = candidates.frame[name]
    times = times_of(column, name, candidates.where)
    first = candidates.first
    by_decision = times[first]
    differs = times != by_decision[candidates.codes]
    if differs.any():
        raise InputError(
            f"{candidates.where(first_of(differs))}: column '{name}' differs from the other candidates of "
            "the same decision."
        )
    backwards = own_backwards(by_decision, agent)
    if backwards.any():
        is_counter = by_decision.dtype.kind != "M" and session is not None
        within = own_backwards(by_decision, session if agent is None else _pairs(agent, session))
        if is_counter and not within.any():
            return count
        position = int(first[first_of(backwards)])
        by_agent = "" if agent is None else " of the same agent"
        raise InputError(
            f"{candidates.where(position)}: column '{name}' is out of order "
            f"({format_value(column.iloc[position])} is earlier "
            f"than the previous decision{by_agent}); sort the table by time."
        )
    _warn_of_many(by_decision, name, session)
    return by_decision


def _own_count(agent: np.ndarray | None) -> np.ndarray | None:
    """1, 2, ... for each agent, if there are several and each has made all its decisions in a row."""
    if agent is None:
        return None
    blocks = 1 + int((agent[1:] != agent[:-1]).sum())
    if blocks == 1 or blocks > len(np.unique(agent)):
        return None
    return pd.Series(agent).groupby(agent).cumcount().to_numpy() + 1


def _pairs(agent: np.ndarray, session: np.ndarray | None) -> np.ndarray:
    return (
        pd.DataFrame({"agent": agent, "session": session})
        .groupby(["agent", "session"], dropna=False)
        .ngroup()
        .to_numpy()
    )


def _warn_of_many(times: np.ndarray, name: str, session: np.ndarray | None) -> None:
    per_date = len(times) / len(np.unique(times))
    if times.dtype.kind == "M" and session is None and per_date > MANY_ON_A_DATE:
        warnings.warn(
            f"column '{name}' has about {per_date:.0f} decisions for each date, between which weights can "
            "hardly move; if a "
            f"date is a session, say --session {name}, and decisions are counted.",
            InputWarning,
            stacklevel=4,
        )
