"""The data of every model: one `xarray.Dataset` of decisions, how to build it, and what makes it valid."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from icb_pymc.data.deciders import check_agents, with_agents
from icb_pymc.data.schema import CONTEXT_DIMS, DECISION_DIMS
from icb_pymc.data.times import length_of_time
from icb_pymc.errors import InputError, InputWarning


def from_arrays(
    context: ArrayLike,
    chosen: ArrayLike,
    *,
    available: ArrayLike | None = None,
    time: ArrayLike | None = None,
    features: Sequence[str] | None = None,
    agent: ArrayLike | None = None,
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
        Feature names.
    agent : array (time,), optional
        Name or number of who decided, where there are several. The decisions then have a dimension ``agent`` with the
        names in order, and ``decider`` (time) says which of them it was.
    """
    values = np.asarray(context, dtype=np.float64)
    if values.ndim != 3:
        raise InputError(f"context has {values.ndim} dimensions; give it as (time, action, feature).")
    steps, actions, width = values.shape
    mask = np.ones((steps, actions), bool) if available is None else np.asarray(available, dtype=bool)
    names = [f"feature_{i}" for i in range(width)] if features is None else list(features)
    expected = {"chosen": (np.shape(chosen), (steps,)), "available": (mask.shape, (steps, actions))}
    expected["features"] = ((len(names),), (width,))
    if time is not None:
        expected["time"] = (np.shape(time), (steps,))
    if agent is not None:
        expected["agent"] = (np.shape(agent), (steps,))
    if len(set(names)) < len(names):
        raise InputError(f"features has a name twice: {', '.join(names)}.")
    for name, (found, wanted) in expected.items():
        if found != wanted:
            raise InputError(f"{name} has shape {found}, but context asks for {wanted}.")
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
    # Unavailable slots are zeroed above, so a NaN there is padding; elsewhere `validate` names it.
    return validate(dataset if agent is None else with_agents(dataset, agent))


def validate(decisions: xr.Dataset, source: str = "the decisions") -> xr.Dataset:
    """Return the decisions unchanged if they follow the schema, else raise `InputError`.

    Warns of decisions with a single candidate and of features that never differ between the
    candidates of a decision: both are legal and carry no information.
    """
    _check_schema(decisions, source, required=("context", "chosen", "available"))
    _check_context(decisions, source)
    _check_chosen(decisions, source)
    _check_time(decisions, source)
    check_agents(decisions, source)
    _warn_uninformative(decisions, source)
    return decisions


def validate_arrivals(arrivals: xr.Dataset, source: str = "the arrivals") -> xr.Dataset:
    """Return arrivals (decisions before anyone has chosen) unchanged if they follow the schema."""
    _check_schema(arrivals, source, required=("context", "available"))
    _check_context(arrivals, source)
    _check_time(arrivals, source)
    check_agents(arrivals, source)
    return arrivals


def map_features(decisions: xr.Dataset, feature_map: Callable[[xr.DataArray], xr.DataArray]) -> xr.Dataset:
    """Pass contexts through a feature map, for rewards that are not linear in what was recorded.

    Parameters
    ----------
    decisions : Dataset
    feature_map : callable
        From contexts (time, action, feature) to contexts with other features, labelled along ``feature``. What the
        decisions say of the old features (truth, means, scales) is dropped.
    """
    mapped = feature_map(decisions["context"]).transpose(*CONTEXT_DIMS)
    told = [name for name in decisions.data_vars if "feature" in decisions[name].dims]
    return validate(decisions.drop_vars([*told, "feature"]).assign(context=mapped.where(decisions["available"], 0.0)))


def elapsed_time(decisions: xr.Dataset, unit: str | None = None) -> np.ndarray:
    """Time between consecutive decisions, (time - 1,).

    Parameters
    ----------
    decisions : Dataset
    unit : str, optional
        Count time in this unit: like ``"30D"`` where decisions are dated, a number like ``"1"`` where not. Without a
        unit each decision is one step. Decisions at the same time count as a thousandth of a unit apart, so that
        the belief has a density at each.
    """
    time = decisions["time"].values
    if unit is None:
        return np.ones(len(time) - 1)
    gaps = np.diff(time) / length_of_time(time, unit)
    return np.maximum(gaps.astype(np.float64), 1e-3)


def _check_schema(dataset: xr.Dataset, source: str, required: Iterable[str]) -> None:
    kinds = {"context": "f", "chosen": "iu", "available": "b"}
    words = {"context": "real numbers", "chosen": "whole numbers", "available": "true or false"}
    for name in required:
        if name not in dataset:
            raise InputError(f"{source}: variable '{name}' is missing; decisions need {', '.join(DECISION_DIMS)}.")
        if dataset[name].dims != DECISION_DIMS[name]:
            raise InputError(f"{source}: '{name}' has dims {dataset[name].dims}, expected {DECISION_DIMS[name]}.")
        if dataset[name].dtype.kind not in kinds[name]:
            raise InputError(f"{source}: '{name}' holds {dataset[name].dtype}, expected {words[name]}.")
    for dim in ("time", "feature"):
        if dim not in dataset.coords:
            raise InputError(f"{source}: coordinate '{dim}' is missing.")
    for dim in CONTEXT_DIMS:
        if dataset.sizes[dim] == 0:
            raise InputError(f"{source}: there is nothing along '{dim}'; give at least one.")


def _check_context(dataset: xr.Dataset, source: str) -> None:
    bad = ~np.isfinite(dataset["context"].values) & dataset["available"].values[:, :, None]
    if bad.any():
        step, action, feature = (int(i) for i in np.argwhere(bad)[0])
        what = "missing" if np.isnan(dataset["context"].values[step, action, feature]) else "infinite"
        name = dataset["feature"].values[feature]
        raise InputError(
            f"{source}: feature '{name}' of candidate {action} at {_when(dataset, step)} is {what}; "
            "fill it in or drop the candidate."
        )


def _check_chosen(dataset: xr.Dataset, source: str) -> None:
    chosen, available = dataset["chosen"].values, dataset["available"].values
    outside = (chosen < 0) | (chosen >= available.shape[1])
    if outside.any():
        step = int(np.argmax(outside))
        raise InputError(
            f"{source}: chosen slot {chosen[step]} at {_when(dataset, step)} is outside 0..{available.shape[1] - 1}."
        )
    unavailable = ~available[np.arange(len(chosen)), chosen]
    if unavailable.any():
        step = int(np.argmax(unavailable))
        raise InputError(
            f"{source}: the candidate chosen at {_when(dataset, step)} is marked unavailable; "
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
            f"{source}: times are out of order: {_when(dataset, step)} comes after {_when(dataset, step - 1)}; "
            "sort the decisions by time."
        )


def _warn_uninformative(dataset: xr.Dataset, source: str) -> None:
    available = dataset["available"].values
    single = available.sum(axis=1) == 1
    if single.any():
        first = _when(dataset, int(np.argmax(single)))
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


def _when(dataset: xr.Dataset, step: int) -> str:
    time: Any = dataset["time"].values[step]
    if np.issubdtype(dataset["time"].dtype, np.datetime64):
        return f"{np.datetime_as_string(time, unit='D')} (decision number {step + 1})"
    return f"time {time} (decision number {step + 1})"
