"""Sessions and missed decisions: time that passes between decisions, and decisions in which nobody was chosen.

`session` (time) is the name or number of the session of each decision. `missed` (time) marks decisions in which nobody
was chosen: each keeps its place in time, with one empty candidate, which is chosen with probability one and from which
nothing is learnt.
"""

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from icb_pymc.errors import InputError


def with_sessions(decisions: xr.Dataset, session: ArrayLike) -> xr.Dataset:
    """Decisions (or arrivals) with the session of each.

    Parameters
    ----------
    decisions : Dataset
    session : array (time,)
        Its name or number; decisions of one session (and agent) follow each other.
    """
    given = np.asarray(session)
    if given.dtype.kind == "M":
        given = np.datetime_as_string(given, unit="D")
    return decisions.assign(session=("time", given if given.dtype.kind in "iu" else given.astype(str)))


def with_missed(decisions: xr.Dataset, missed: ArrayLike) -> xr.Dataset:
    """Decisions of which those marked were missed: nobody was chosen, so that all their candidates are emptied.

    Parameters
    ----------
    decisions : Dataset
    missed : array (time,)
    """
    flags = np.asarray(missed, dtype=bool)
    context, available = decisions["context"].copy(), decisions["available"].copy()
    context[flags], available[flags] = 0.0, False
    available[flags, 0] = True
    chosen = decisions["chosen"].where(~flags, 0).astype(np.int64)
    return decisions.assign(context=context, available=available, chosen=chosen, missed=("time", flags))


def seen(decisions: xr.Dataset) -> np.ndarray:
    """Which slots hold a candidate of a decision that was not missed (time, action)."""
    available = decisions["available"].values
    return available & ~decisions["missed"].values[:, None] if "missed" in decisions else available


def session_boundaries(decisions: xr.Dataset) -> np.ndarray:
    """The first decisions of all sessions but the first, by position.

    Raises
    ------
    InputError
        If sessions of several agents overlap, so that there is no boundary common to all.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.data.sessions import session_boundaries
    >>> decisions = icb_pymc.from_arrays([[[1.0], [0.0]]] * 5, [0, 1, 0, 1, 0], session=[1, 1, 2, 2, 2])
    >>> session_boundaries(decisions)
    array([2])
    """
    if "session" not in decisions:
        return np.zeros(0, np.int64)
    session = decisions["session"].values
    begins = np.flatnonzero(session[1:] != session[:-1]) + 1
    if len(begins) + 1 > len(np.unique(session)):
        raise InputError(
            "the sessions of the agents overlap, so that there are no boundaries common to all; fit the "
            "agents one by one."
        )
    return begins


def check_sessions(decisions: xr.Dataset, source: str) -> None:
    """Raise `InputError` if `session` or `missed` do not follow the schema, or a session is taken up again."""
    if "session" in decisions:
        session = decisions["session"]
        if session.dims != ("time",) or session.dtype.kind not in "iuUTO":
            raise InputError(f"{source}: 'session' must hold a name or a whole number for each time.")
        check_order_of_sessions(session.values, decisions["decider"].values if "decider" in decisions else None, source)
    if "missed" in decisions:
        missed = decisions["missed"]
        if missed.dims != ("time",) or missed.dtype.kind != "b":
            raise InputError(f"{source}: 'missed' must hold true or false for each time.")
        is_open = decisions["available"].values.sum(axis=1) > 1
        if (missed.values & is_open).any():
            step = int(np.argmax(missed.values & is_open))
            raise InputError(
                f"{source}: decision number {step + 1} is missed, but has several candidates; "
                "mark missed decisions with from_arrays(missed=...)."
            )


def check_order_of_sessions(session: np.ndarray, agent: np.ndarray | None, source: str) -> None:
    """Raise `InputError` if an agent takes up a session again after another.

    Parameters
    ----------
    session, agent : array (time,)
        Of each decision, in any coding; no agent if there is only one.
    source : str
        What to call the log.
    """
    agents = np.zeros(len(session), int) if agent is None else agent
    for name in np.unique(agents):
        _check_order(session[agents == name], np.flatnonzero(agents == name), source)


def _check_order(session: np.ndarray, position: np.ndarray, source: str) -> None:
    begins = np.concatenate([[0], np.flatnonzero(session[1:] != session[:-1]) + 1])
    names, counts = np.unique(session[begins], return_counts=True)
    if (counts > 1).any():
        name = names[np.argmax(counts > 1)]
        again = position[begins[session[begins] == name][1]]
        raise InputError(
            f"{source}: session {name} is taken up again at decision number {again + 1}, after another "
            "session; sort the "
            "decisions by session, or give sessions different names."
        )
