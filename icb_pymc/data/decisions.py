"""The data of every model: one `xarray.Dataset` of decisions, how to build it, and when it is valid."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from icb_pymc.data.answers import check_answers
from icb_pymc.data.deciders import check_agents, in_order_of_time, with_agents
from icb_pymc.data.observed_rewards import as_rewards, check_rewards
from icb_pymc.data.schema import CONTEXT_DIMS, DECISION_DIMS
from icb_pymc.data.sessions import check_sessions, seen, with_missed, with_sessions
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.io.attributes import check_kinds

# Beyond this, products of weights and features overflow.
LARGEST = 1e100


def from_arrays(
    context: ArrayLike,
    chosen: ArrayLike,
    *,
    available: ArrayLike | None = None,
    time: ArrayLike | None = None,
    features: Sequence[str] | None = None,
    agent: ArrayLike | None = None,
    reward: ArrayLike | None = None,
    session: ArrayLike | None = None,
    missed: ArrayLike | None = None,
) -> xr.Dataset:
    """Build decisions from plain arrays.

    Parameters
    ----------
    context : array (time, action, feature)
        Features x_t[a] of each candidate.
    chosen : array (time,)
        Slot a_t of the chosen candidate, counted from 0.
    available : array (time, action), optional
        Which slots hold a candidate. All by default.
    time : array (time,), optional
        Whole numbers or dates, in order. 1, 2, ... by default, as in the paper.
    features : sequence of str, optional
        Feature names; ``feature_0``, ``feature_1``, ... by default.
    agent : array (time,), optional
        Name or number of the agent that decided, where there are several. The decisions then have a dimension
        ``agent`` with the names in order, and ``decider`` (time) is the position of each decision's agent in it. Each
        agent's times must be in order; the decisions of all are put in order of time.
    reward : array (time,), optional
        What the agent received after each decision; NaN or None where the log does not say.
    session : array (time,), optional
        Name or number of the session of each decision; priorities may jump between sessions.
    missed : array of bool (time,), optional
        Decisions in which nobody was chosen: they stand for time that passes, and their candidates are emptied.

    Returns
    -------
    Dataset
        ``context`` (time, action, feature), zero where a slot is empty, ``chosen`` (time) and ``available``
        (time, action).

    Raises
    ------
    InputError
        If the shapes do not fit together or a value is missing, infinite or out of range.

    Warns
    -----
    InputWarning
        See `validate`.

    Examples
    --------
    Two decisions; in the first a third candidate was not available:

    >>> import icb_pymc
    >>> context = [[[50.0, 1.5], [60.0, 1.0], [0.0, 0.0]], [[51.0, 2.5], [40.0, 1.1], [45.0, 1.3]]]
    >>> available = [[True, True, False], [True, True, True]]
    >>> decisions = icb_pymc.from_arrays(context, [0, 2], available=available, features=["age", "inr"])
    >>> dict(decisions.sizes)
    {'time': 2, 'action': 3, 'feature': 2}
    >>> decisions["time"].values
    array([1, 2])
    """
    values = np.asarray(context, dtype=np.float64)
    if values.ndim != 3:
        raise InputError(f"context has {values.ndim} dimensions; give it as (time, action, feature).")
    steps, actions, width = values.shape
    mask = np.ones((steps, actions), bool) if available is None else np.asarray(available, dtype=bool)
    names = [f"feature_{i}" for i in range(width)] if features is None else list(features)
    shapes = {"chosen": (np.shape(chosen), (steps,)), "available": (mask.shape, (steps, actions))}
    shapes["features"] = ((len(names),), (width,))
    if time is not None:
        shapes["time"] = (np.shape(time), (steps,))
    for name, given in (("agent", agent), ("reward", reward), ("session", session), ("missed", missed)):
        if given is not None:
            shapes[name] = (np.shape(given), (steps,))
    if len(set(names)) < len(names):
        raise InputError(f"features contains a name twice: {', '.join(names)}.")
    for name, (shape, needed) in shapes.items():
        if shape != needed:
            raise InputError(f"{name} has shape {shape}, but for this context it must be {needed}.")
    slots = np.asarray(chosen)
    if slots.size and not np.issubdtype(slots.dtype, np.integer):
        raise InputError("chosen must hold whole numbers: the slot of the chosen candidate, from 0.")
    dataset = xr.Dataset(
        {
            "context": (CONTEXT_DIMS, np.where(mask[:, :, None], values, 0.0)),
            "chosen": ("time", slots.astype(np.int64)),
            "available": (("time", "action"), mask),
        },
        coords={
            "time": np.arange(1, steps + 1) if time is None else np.asarray(time),
            "action": np.arange(actions),
            "feature": np.asarray(names, dtype=str),
        },
    )
    if reward is not None:
        dataset["reward"] = ("time", as_rewards(reward))
    # Unavailable slots are set to zero above, so a NaN there is padding; elsewhere `validate` reports it.
    if session is not None:
        dataset = with_sessions(dataset, session)
    if missed is not None:
        dataset = with_missed(dataset, missed)
    return validate(dataset if agent is None else in_order_of_time(with_agents(dataset, agent)))


def validate(decisions: xr.Dataset, source: str = "the decisions") -> xr.Dataset:
    """Check that decisions follow the schema, and return them unchanged.

    Parameters
    ----------
    decisions : Dataset
        ``context`` (time, action, feature) of real numbers, ``chosen`` (time) of whole numbers and ``available``
        (time, action) of booleans, with coordinates ``time`` (whole numbers or dates, in order) and ``feature``;
        optionally ``decider`` (time), the position of each decision's agent along ``agent``, ``reward`` (time) of real
        numbers, NaN where none was observed, ``session`` (time), ``missed`` (time), true where nobody was chosen, and
        ``answer`` (time), the slot of the right answer, -1 where there is none.
    source : str
        What to call them in messages, such as the name of their file.

    Returns
    -------
    Dataset
        The same decisions.

    Raises
    ------
    InputError
        One sentence that names the decision, and the candidate or feature, and says what to do.

    Warns
    -----
    InputWarning
        If a decision has a single candidate, or a feature never differs between the candidates of a decision: both are
        legal but carry no information.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[50.0], [60.0]], [[51.0], [40.0]]], [0, 1], features=["age"])
    >>> icb_pymc.validate(decisions) is decisions
    True
    >>> icb_pymc.validate(decisions.assign(chosen=("time", [0, 2])), "log.nc")
    Traceback (most recent call last):
        ...
    icb_pymc.errors.InputError: log.nc: chosen slot 2 at time 2 (decision number 2) is outside 0..1.
    """
    _check_schema(decisions, source, required=("context", "chosen", "available"))
    _check_context(decisions, source)
    _check_chosen(decisions, source)
    _check_time(decisions, source)
    check_agents(decisions, source)
    check_rewards(decisions, source)
    check_sessions(decisions, source)
    check_answers(decisions, source)
    check_kinds(decisions.attrs, ("agent",), ("seed", "synthetic"), source)
    _warn_uninformative(decisions, source)
    return decisions


def validate_arrivals(arrivals: xr.Dataset, source: str = "the arrivals") -> xr.Dataset:
    """Check that arrivals (decisions without `chosen`) follow the schema, and return them unchanged."""
    _check_schema(arrivals, source, required=("context", "available"))
    _check_context(arrivals, source)
    _check_time(arrivals, source)
    check_agents(arrivals, source)
    return arrivals


def map_features(decisions: xr.Dataset, feature_map: Callable[[xr.DataArray], xr.DataArray]) -> xr.Dataset:
    """Replace the features by functions of them, for rewards that are not linear in the recorded features.

    Parameters
    ----------
    decisions : Dataset
    feature_map : callable
        From contexts (time, action, feature) to contexts with other features, labelled along ``feature``.

    Returns
    -------
    Dataset
        The decisions with the new ``context``. Variables per old feature (true weights, means and scales,
        ``reward_context``) are dropped, for they do not describe the new features.

    Raises
    ------
    InputError
        If the map does not return labelled contexts, or returns a missing or infinite value.

    Warns
    -----
    InputWarning
        See `validate`.

    Examples
    --------
    Add the square of a feature:

    >>> import icb_pymc
    >>> import xarray as xr
    >>> decisions = icb_pymc.from_arrays([[[1.0], [2.0]], [[3.0], [5.0]]], [0, 1], features=["age"])
    >>> def with_square(context):
    ...     return xr.concat([context, (context**2).assign_coords(feature=["age squared"])], "feature")
    >>> mapped = icb_pymc.map_features(decisions, with_square)
    >>> mapped["feature"].values.tolist()
    ['age', 'age squared']
    >>> mapped["context"].values[1].tolist()
    [[3.0, 9.0], [5.0, 25.0]]
    """
    mapped = feature_map(decisions["context"])
    if not isinstance(mapped, xr.DataArray) or set(mapped.dims) != set(CONTEXT_DIMS) or "feature" not in mapped.coords:
        raise InputError("feature_map must return a DataArray (time, action, feature) with names along 'feature'.")
    per_feature = [name for name in decisions.data_vars if "feature" in decisions[name].dims]
    context = mapped.transpose(*CONTEXT_DIMS).where(decisions["available"], 0.0)
    return validate(decisions.drop_vars([*per_feature, "feature"]).assign(context=context))


def _check_schema(dataset: xr.Dataset, source: str, required: Iterable[str]) -> None:
    kinds = {"context": "f", "chosen": "iu", "available": "b"}
    contents = {"context": "real numbers", "chosen": "whole numbers", "available": "true or false"}
    for name in required:
        if name not in dataset:
            raise InputError(f"{source}: variable '{name}' is missing; decisions need {', '.join(DECISION_DIMS)}.")
        if dataset[name].dims != DECISION_DIMS[name]:
            raise InputError(f"{source}: '{name}' has dims {dataset[name].dims}, expected {DECISION_DIMS[name]}.")
        if dataset[name].dtype.kind not in kinds[name]:
            raise InputError(f"{source}: '{name}' holds {dataset[name].dtype}, expected {contents[name]}.")
    for dim in ("time", "feature"):
        if dim not in dataset.coords:
            raise InputError(f"{source}: coordinate '{dim}' is missing.")
    for dim in CONTEXT_DIMS:
        if dataset.sizes[dim] == 0:
            raise InputError(f"{source}: dimension '{dim}' has length 0; give at least one.")


def _check_context(dataset: xr.Dataset, source: str) -> None:
    # Of what is missing, the comparison is false.
    bad = ~(np.abs(dataset["context"].values) <= LARGEST) & dataset["available"].values[:, :, None]
    if bad.any():
        step, action, feature = (int(i) for i in np.argwhere(bad)[0])
        value, name = dataset["context"].values[step, action, feature], dataset["feature"].values[feature]
        where = f"{source}: feature '{name}' of candidate {action} at {_format_step(dataset, step)}"
        if np.isfinite(value):
            raise InputError(f"{where} is {value:g}, too large to compute with; give it in a larger unit.")
        problem = "missing" if np.isnan(value) else "infinite"
        raise InputError(f"{where} is {problem}; fill it in or drop the candidate.")


def _check_chosen(dataset: xr.Dataset, source: str) -> None:
    chosen, available = dataset["chosen"].values, dataset["available"].values
    outside = (chosen < 0) | (chosen >= available.shape[1])
    if outside.any():
        step = int(np.argmax(outside))
        raise InputError(
            f"{source}: chosen slot {chosen[step]} at {_format_step(dataset, step)} is outside "
            f"0..{available.shape[1] - 1}."
        )
    unavailable = ~available[np.arange(len(chosen)), chosen]
    if unavailable.any():
        step = int(np.argmax(unavailable))
        raise InputError(
            f"{source}: the candidate chosen at {_format_step(dataset, step)} is marked unavailable; "
            "correct 'available' or 'chosen'."
        )


def _check_time(dataset: xr.Dataset, source: str) -> None:
    time = dataset["time"].values
    if time.dtype.kind not in "iuM":
        raise InputError(f"{source}: time holds {time.dtype}; give whole numbers or dates.")
    if time.dtype.kind == "M" and np.isnat(time).any():
        raise InputError(f"{source}: the date of decision number {int(np.argmax(np.isnat(time))) + 1} is missing.")
    backwards = time[1:] < time[:-1]
    if backwards.any():
        step = int(np.argmax(backwards)) + 1
        raise InputError(
            f"{source}: times are out of order: {_format_step(dataset, step)} comes after "
            f"{_format_step(dataset, step - 1)}; sort the decisions by time."
        )


def _warn_uninformative(dataset: xr.Dataset, source: str) -> None:
    available = dataset["available"].values
    single = seen(dataset).sum(axis=1) == 1
    if single.any():
        first = _format_step(dataset, int(np.argmax(single)))
        _warn(
            f"{source}: {int(single.sum())} decision(s) have a single candidate (first at {first}); "
            "they are kept and carry no information."
        )
    context, mask = dataset["context"].values, available[:, :, None]
    spread = np.where(mask, context, -np.inf).max(axis=1) - np.where(mask, context, np.inf).min(axis=1)
    for name, constant in zip(dataset["feature"].values, (spread == 0).all(axis=0), strict=True):
        if constant:
            _warn(
                f"{source}: feature '{name}' never varies between the candidates of a decision, "
                "so its weight cannot be learnt."
            )


def _warn(sentence: str) -> None:
    warnings.warn(sentence, InputWarning, stacklevel=4)


def _format_step(dataset: xr.Dataset, step: int) -> str:
    time: Any = dataset["time"].values[step]
    if np.issubdtype(dataset["time"].dtype, np.datetime64):
        return f"{np.datetime_as_string(time, unit='D')} (decision number {step + 1})"
    return f"time {time} (decision number {step + 1})"
