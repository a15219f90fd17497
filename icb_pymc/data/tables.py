"""Decisions as a long table: one row per candidate per decision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.data.decisions import from_arrays
from icb_pymc.errors import InputError

TRUE_WORDS = ("1", "1.0", "true", "yes", "y")
FALSE_WORDS = ("0", "0.0", "false", "no", "n")


@dataclass(frozen=True)
class Columns:
    """Which columns of a long table hold what.

    `time`, `candidate`, `available` and `agent` are used when the table has them. Every column that is left is a
    feature unless `features` names them. A column called `agent` says who decided, unless `features` has it.
    """

    decision: str = "decision"
    chosen: str = "chosen"
    time: str | None = None
    candidate: str | None = None
    available: str | None = None
    features: Sequence[str] | None = None
    agent: str | None = None


def from_table(table: pd.DataFrame, columns: Columns | None = None, *, source: str | None = None) -> xr.Dataset:
    """Build decisions from a long table, or raise `InputError` naming the row and the column.

    Parameters
    ----------
    table : DataFrame
        One row per candidate per decision; decisions in order of time.
    columns : Columns, optional
        What the columns are called.
    source : str, optional
        The file the table was read from; rows are then named by their line in it.
    """
    label = source or "the table"
    table = table.rename(columns=str)
    if len(table) == 0:
        raise InputError(f"{label} has no rows; give one row per candidate per decision.")
    found = _find_columns(table, columns or Columns(), label)

    def where(position: int) -> str:
        # A file's first line is its header, and people count lines from one.
        return f"{label}, line {position + 2}" if source else f"row {table.index[position]}"

    decision = _decision_codes(table[found.decision], found.decision, where)
    chosen = _flags(table[found.chosen], found.chosen, where)
    available = np.ones(len(table), bool)
    if found.available is not None:
        available = _flags(table[found.available], found.available, where)
        _check_chosen_available(chosen, available, found, where)
    _check_one_chosen(table, decision.codes, chosen, found, label)
    if found.candidate is not None:
        _check_no_duplicates(table, decision.codes, found, where)
    assert found.features is not None
    values = np.column_stack([_feature(table[name], name, available, where) for name in found.features])

    slot = pd.Series(decision.codes).groupby(decision.codes).cumcount().to_numpy()
    steps, actions = len(decision.labels), int(slot.max()) + 1
    context = np.zeros((steps, actions, values.shape[1]))
    context[decision.codes, slot] = values
    mask = np.zeros((steps, actions), bool)
    mask[decision.codes, slot] = available
    chosen_slot = np.empty(steps, np.int64)
    chosen_slot[decision.codes[chosen]] = slot[chosen]
    time = None if found.time is None else _decision_times(table[found.time], found.time, decision.codes, where)
    agent = None if found.agent is None else _decision_agents(table[found.agent], found.agent, decision.codes, where)
    dataset = from_arrays(context, chosen_slot, available=mask, time=time, features=found.features, agent=agent)
    dataset = dataset.assign_coords(decision=("time", decision.labels))
    if found.candidate is not None:
        names = np.full((steps, actions), "", dtype=object)
        names[decision.codes, slot] = table[found.candidate].astype(str).to_numpy()
        dataset["candidate"] = (("time", "action"), names.astype(str))
    return dataset


def to_table(decisions: xr.Dataset) -> pd.DataFrame:
    """Write decisions as a long table that `from_table` reads back."""
    available = decisions["available"].values
    step, slot = np.nonzero(available)
    labels = decisions["decision"].values if "decision" in decisions.coords else np.arange(1, len(available) + 1)
    table = pd.DataFrame({"decision": labels[step], "time": decisions["time"].values[step]})
    if "decider" in decisions:
        table["agent"] = decisions["agent"].values[decisions["decider"].values][step]
    table["candidate"] = decisions["candidate"].values[step, slot] if "candidate" in decisions else slot
    table["chosen"] = (decisions["chosen"].values[step] == slot).astype(int)
    features = pd.DataFrame(decisions["context"].values[step, slot], columns=decisions["feature"].values)
    return pd.concat([table, features], axis=1)


@dataclass(frozen=True)
class _Decisions:
    codes: np.ndarray
    labels: np.ndarray


def _find_columns(table: pd.DataFrame, columns: Columns, label: str) -> Columns:
    present = [str(name) for name in table.columns]
    doubled = sorted({name for name in present if present.count(name) > 1})
    if doubled:
        raise InputError(f"{label}: column '{doubled[0]}' appears more than once; rename one of them.")

    def optional(name: str | None, default: str) -> str | None:
        return name if name is not None else (default if default in present else None)

    time = optional(columns.time, "time")
    candidate = optional(columns.candidate, "candidate")
    available = optional(columns.available, "available")
    is_feature = columns.agent is None and "agent" in (columns.features or ())
    agent = None if is_feature else optional(columns.agent, "agent")
    roles = [name for name in (columns.decision, columns.chosen, time, candidate, available, agent) if name]
    features = [n for n in present if n not in roles] if columns.features is None else list(columns.features)
    for name in (*roles, *features):
        if name not in present:
            raise InputError(f"{label}: there is no column '{name}'; its columns are {', '.join(present)}.")
    for name in features:
        if name in roles:
            raise InputError(f"{label}: column '{name}' is named as a feature and has another role too.")
    if not features:
        raise InputError(f"{label}: no column is left for the features; add at least one.")
    return Columns(columns.decision, columns.chosen, time, candidate, available, features, agent)


def _decision_codes(column: pd.Series, name: str, where: Callable[[int], str]) -> _Decisions:
    if column.isna().any():
        raise InputError(
            f"{where(_first(column.isna()))}: column '{name}' is empty; say which decision it is, or drop the row."
        )
    codes, labels = pd.factorize(column)
    values = np.asarray(labels)
    return _Decisions(codes, values if values.dtype.kind in "iuf" else values.astype(str))


def _flags(column: pd.Series, name: str, where: Callable[[int], str]) -> np.ndarray:
    words = column.astype(str).str.strip().str.lower()
    unknown = ~words.isin([*TRUE_WORDS, *FALSE_WORDS])
    if unknown.any():
        position = _first(unknown)
        raise InputError(
            f"{where(position)}: column '{name}' holds {_shown(column.iloc[position])}; write 1 for yes and 0 for no."
        )
    return words.isin(TRUE_WORDS).to_numpy()


def _check_chosen_available(
    chosen: np.ndarray, available: np.ndarray, found: Columns, where: Callable[[int], str]
) -> None:
    wrong = chosen & ~available
    if wrong.any():
        raise InputError(
            f"{where(_first(wrong))}: the candidate is chosen but unavailable; "
            f"correct column '{found.chosen}' or '{found.available}'."
        )


def _check_one_chosen(table: pd.DataFrame, codes: np.ndarray, chosen: np.ndarray, found: Columns, label: str) -> None:
    counts = np.bincount(codes[chosen], minlength=codes.max() + 1)
    if (counts != 1).any():
        code = int(np.argmax(counts != 1))
        name = table[found.decision].iloc[_first(codes == code)]
        what = "no" if counts[code] == 0 else f"{counts[code]}"
        raise InputError(
            f"{label}: decision {_shown(name)} has {what} chosen candidates in column '{found.chosen}'; "
            "mark exactly one."
        )


def _check_no_duplicates(table: pd.DataFrame, codes: np.ndarray, found: Columns, where: Callable[[int], str]) -> None:
    assert found.candidate is not None
    column = table[found.candidate]
    if column.isna().any():
        raise InputError(f"{where(_first(column.isna()))}: column '{found.candidate}' is missing; name the candidate.")
    repeated = pd.DataFrame({"decision": codes, "candidate": column.to_numpy()}).duplicated()
    if repeated.any():
        position = _first(repeated)
        raise InputError(
            f"{where(position)}: candidate {_shown(column.iloc[position])} of decision "
            f"{_shown(table[found.decision].iloc[position])} (columns '{found.candidate}', '{found.decision}') "
            "appears twice; drop one row."
        )


def _feature(column: pd.Series, name: str, available: np.ndarray, where: Callable[[int], str]) -> np.ndarray:
    if column.dtype.kind in "Mm":
        raise InputError(f"column '{name}' holds dates, which are no feature; leave it out or turn it into a number.")
    numbers = pd.to_numeric(column, errors="coerce")
    missing = column.isna() | (column.astype(str).str.strip() == "")
    text = numbers.isna() & ~missing
    if (text & available).any():
        position = _first(text & available)
        raise InputError(
            f"{where(position)}: feature column '{name}' holds {_shown(column.iloc[position])}, "
            "which is not a number; code it as numbers or leave the column out of the features."
        )
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    for what, bad in (("missing", missing.to_numpy()), ("infinite", np.isinf(values))):
        if (bad & available).any():
            raise InputError(
                f"{where(_first(bad & available))}: feature column '{name}' is {what}; "
                "fill it in or drop the candidate."
            )
    return values


def _decision_times(column: pd.Series, name: str, codes: np.ndarray, where: Callable[[int], str]) -> np.ndarray:
    times = _parse_times(column, name, where)
    first = np.unique(codes, return_index=True)[1]
    per_decision = times[first]
    differs = times != per_decision[codes]
    if differs.any():
        raise InputError(
            f"{where(_first(differs))}: column '{name}' differs from the other candidates of the same decision."
        )
    backwards = per_decision[1:] < per_decision[:-1]
    if backwards.any():
        position = int(first[_first(backwards) + 1])
        raise InputError(
            f"{where(position)}: column '{name}' is out of order ({_shown(column.iloc[position])} is earlier than "
            "the decision before); sort the table by time."
        )
    return per_decision


def _decision_agents(column: pd.Series, name: str, codes: np.ndarray, where: Callable[[int], str]) -> np.ndarray:
    missing = column.isna() | (column.astype(str).str.strip() == "")
    if missing.any():
        raise InputError(f"{where(_first(missing))}: column '{name}' is empty; say who decided.")
    agents = column.to_numpy() if pd.api.types.is_numeric_dtype(column) else column.astype(str).str.strip().to_numpy()
    per_decision = agents[np.unique(codes, return_index=True)[1]]
    differs = agents != per_decision[codes]
    if differs.any():
        raise InputError(
            f"{where(_first(differs))}: column '{name}' differs from the other candidates of the same decision; "
            "no two decisions, of whichever agent, may have the same number or name."
        )
    return per_decision


def _parse_times(column: pd.Series, name: str, where: Callable[[int], str]) -> np.ndarray:
    if column.isna().any():
        raise InputError(f"{where(_first(column.isna()))}: column '{name}' is missing; give a number or a date.")
    if pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=np.float64)
        fractional = ~(numbers == np.floor(numbers))
        if fractional.any():
            position = _first(fractional)
            raise InputError(
                f"{where(position)}: column '{name}' holds {_shown(column.iloc[position])}; "
                "times are whole numbers or dates."
            )
        return numbers.astype(np.int64)
    # Times of several zones, as across a summer, are told in one.
    dates = pd.to_datetime(column, errors="coerce", utc=True, format=None if _is_dated(column) else "ISO8601")
    if dates.isna().any():
        position = _first(dates.isna())
        raise InputError(
            f"{where(position)}: column '{name}' holds {_shown(column.iloc[position])}, which is neither a number nor "
            "a date written like 2002-02-27."
        )
    return dates.dt.tz_localize(None).to_numpy(dtype="datetime64[ns]")


def _is_dated(column: pd.Series) -> bool:
    return pd.api.types.is_datetime64_any_dtype(column)


def _first(flags: Any) -> int:
    return int(np.argmax(np.asarray(flags)))


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
