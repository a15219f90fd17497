"""Decisions as a long table: one row per candidate per decision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.data.decisions import from_arrays
from icb_pymc.errors import InputError

TRUE_TEXTS = ("1", "1.0", "true", "yes", "y")
FALSE_TEXTS = ("0", "0.0", "false", "no", "n")


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a long table.

    Columns called ``time``, ``candidate``, ``available`` and ``agent`` are used if the table has them, even if they
    are not given here; only a column ``agent`` that is listed in `features` is a feature.

    Parameters
    ----------
    decision : str
        Which decision a row belongs to.
    chosen : str
        Whether the candidate was chosen: 1 or 0, true or false, yes or no.
    time : str, optional
        When the decision was made: whole numbers, or dates like 2002-02-27.
    candidate : str, optional
        Names of the candidates.
    available : str, optional
        Whether the candidate could be chosen; all by default.
    features : sequence of str, optional
        The features; by default every column without another role.
    agent : str, optional
        Name or number of the agent that decided.

    Examples
    --------
    >>> import icb_pymc
    >>> import pandas as pd
    >>> table = pd.DataFrame({"offer": [1, 1], "taken": ["no", "yes"], "age": [50, 60], "note": ["a", "b"]})
    >>> columns = icb_pymc.Columns(decision="offer", chosen="taken", features=["age"])
    >>> icb_pymc.from_table(table, columns)["chosen"].values
    array([1])
    """

    decision: str = "decision"
    chosen: str = "chosen"
    time: str | None = None
    candidate: str | None = None
    available: str | None = None
    features: Sequence[str] | None = None
    agent: str | None = None


def from_table(table: pd.DataFrame, columns: Columns | None = None, *, source: str | None = None) -> xr.Dataset:
    """Build decisions from a long table.

    Parameters
    ----------
    table : DataFrame
        One row per candidate per decision; decisions in order of time.
    columns : Columns, optional
        The names of the columns, where they differ from the defaults.
    source : str, optional
        The file the table was read from; errors then name the line in this file.

    Returns
    -------
    Dataset
        See `from_arrays`; with the coordinate ``decision`` (time), and ``candidate`` (time, action) if the table names
        the candidates.

    Raises
    ------
    InputError
        One sentence that names the row and the column and says what to do.

    Warns
    -----
    InputWarning
        See `validate`.

    Examples
    --------
    >>> import icb_pymc
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {
    ...         "decision": ["a", "a", "b", "b", "b"],
    ...         "time": ["2001-01-01", "2001-01-01", "2001-03-01", "2001-03-01", "2001-03-01"],
    ...         "chosen": [1, 0, 0, 0, 1],
    ...         "age": [50, 60, 51, 40, 45],
    ...         "inr": [1.5, 1.0, 2.5, 1.1, 1.3],
    ...     }
    ... )
    >>> decisions = icb_pymc.from_table(table)
    >>> dict(decisions.sizes)
    {'time': 2, 'action': 3, 'feature': 2}
    >>> decisions["chosen"].values
    array([0, 2])
    >>> icb_pymc.from_table(table.replace(2.5, None))
    Traceback (most recent call last):
        ...
    icb_pymc.errors.InputError: row 2: feature column 'inr' is missing; fill it in or drop the candidate.
    """
    label = source or "the table"
    table = table.rename(columns=str)
    if len(table) == 0:
        raise InputError(f"{label} has no rows; give one row per candidate per decision.")
    roles = _assign_roles(table, columns or Columns(), label)

    def where(position: int) -> str:
        # The first line of a file is its header, and lines are counted from one.
        return f"{label}, line {position + 2}" if source else f"row {table.index[position]}"

    decision = _decision_codes(table[roles.decision], roles.decision, where)
    chosen = _flags(table[roles.chosen], roles.chosen, where)
    available = np.ones(len(table), bool)
    if roles.available is not None:
        available = _flags(table[roles.available], roles.available, where)
        _check_chosen_available(chosen, available, roles, where)
    _check_one_chosen(table, decision.codes, chosen, roles, label)
    if roles.candidate is not None:
        _check_no_duplicates(table, decision.codes, roles, where)
    assert roles.features is not None
    values = np.column_stack([_feature(table[name], name, available, where) for name in roles.features])

    slot = pd.Series(decision.codes).groupby(decision.codes).cumcount().to_numpy()
    steps, actions = len(decision.labels), int(slot.max()) + 1
    context = np.zeros((steps, actions, values.shape[1]))
    context[decision.codes, slot] = values
    mask = np.zeros((steps, actions), bool)
    mask[decision.codes, slot] = available
    chosen_slot = np.empty(steps, np.int64)
    chosen_slot[decision.codes[chosen]] = slot[chosen]
    time = None if roles.time is None else _decision_times(table[roles.time], roles.time, decision.codes, where)
    agent = None if roles.agent is None else _decision_agents(table[roles.agent], roles.agent, decision.codes, where)
    dataset = from_arrays(context, chosen_slot, available=mask, time=time, features=roles.features, agent=agent)
    dataset = dataset.assign_coords(decision=("time", decision.labels))
    if roles.candidate is not None:
        names = np.full((steps, actions), "", dtype=object)
        names[decision.codes, slot] = table[roles.candidate].astype(str).to_numpy()
        dataset["candidate"] = (("time", "action"), names.astype(str))
    return dataset


def to_table(decisions: xr.Dataset) -> pd.DataFrame:
    """Convert decisions to a long table, which `from_table` converts back.

    Parameters
    ----------
    decisions : Dataset

    Returns
    -------
    DataFrame
        One row per available candidate per decision, with columns ``decision``, ``time``, ``agent`` (if there are
        several), ``candidate``, ``chosen`` and the features. True weights and attributes are not in it.

    Examples
    --------
    >>> import icb_pymc
    >>> context = [[[50.0, 1.5], [60.0, 1.0]], [[51.0, 2.5], [40.0, 1.1]]]
    >>> decisions = icb_pymc.from_arrays(context, [0, 1], features=["age", "inr"])
    >>> icb_pymc.to_table(decisions)
       decision  time  candidate  chosen   age  inr
    0         1     1          0       1  50.0  1.5
    1         1     1          1       0  60.0  1.0
    2         2     2          0       0  51.0  2.5
    3         2     2          1       1  40.0  1.1
    """
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


def _assign_roles(table: pd.DataFrame, columns: Columns, label: str) -> Columns:
    present = [str(name) for name in table.columns]
    repeated_names = sorted({name for name in present if present.count(name) > 1})
    if repeated_names:
        raise InputError(f"{label}: column '{repeated_names[0]}' appears more than once; rename one of them.")

    def optional(name: str | None, default: str) -> str | None:
        return name if name is not None else (default if default in present else None)

    time = optional(columns.time, "time")
    candidate = optional(columns.candidate, "candidate")
    available = optional(columns.available, "available")
    is_feature = columns.agent is None and "agent" in (columns.features or ())
    agent = None if is_feature else optional(columns.agent, "agent")
    role_names = [name for name in (columns.decision, columns.chosen, time, candidate, available, agent) if name]
    features = [n for n in present if n not in role_names] if columns.features is None else list(columns.features)
    for name in (*role_names, *features):
        if name not in present:
            raise InputError(f"{label}: there is no column '{name}'; the columns are {', '.join(present)}.")
    for name in features:
        if name in role_names:
            raise InputError(
                f"{label}: column '{name}' is listed as a feature but has another role; remove it from one of them."
            )
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
    texts = column.astype(str).str.strip().str.lower()
    unknown = ~texts.isin([*TRUE_TEXTS, *FALSE_TEXTS])
    if unknown.any():
        position = _first(unknown)
        raise InputError(
            f"{where(position)}: column '{name}' holds {_format_value(column.iloc[position])}; "
            "write 1 for yes and 0 for no."
        )
    return texts.isin(TRUE_TEXTS).to_numpy()


def _check_chosen_available(
    chosen: np.ndarray, available: np.ndarray, roles: Columns, where: Callable[[int], str]
) -> None:
    wrong = chosen & ~available
    if wrong.any():
        raise InputError(
            f"{where(_first(wrong))}: the candidate is chosen but unavailable; "
            f"correct column '{roles.chosen}' or '{roles.available}'."
        )


def _check_one_chosen(table: pd.DataFrame, codes: np.ndarray, chosen: np.ndarray, roles: Columns, label: str) -> None:
    counts = np.bincount(codes[chosen], minlength=codes.max() + 1)
    if (counts != 1).any():
        code = int(np.argmax(counts != 1))
        name = table[roles.decision].iloc[_first(codes == code)]
        number = "no" if counts[code] == 0 else f"{counts[code]}"
        raise InputError(
            f"{label}: decision {_format_value(name)} has {number} chosen candidates in column '{roles.chosen}'; "
            "mark exactly one."
        )


def _check_no_duplicates(table: pd.DataFrame, codes: np.ndarray, roles: Columns, where: Callable[[int], str]) -> None:
    assert roles.candidate is not None
    column = table[roles.candidate]
    if column.isna().any():
        raise InputError(f"{where(_first(column.isna()))}: column '{roles.candidate}' is missing; name the candidate.")
    repeated = pd.DataFrame({"decision": codes, "candidate": column.to_numpy()}).duplicated()
    if repeated.any():
        position = _first(repeated)
        raise InputError(
            f"{where(position)}: candidate {_format_value(column.iloc[position])} of decision "
            f"{_format_value(table[roles.decision].iloc[position])} (columns '{roles.candidate}', '{roles.decision}') "
            "appears twice; drop one row."
        )


def _feature(column: pd.Series, name: str, available: np.ndarray, where: Callable[[int], str]) -> np.ndarray:
    if column.dtype.kind in "Mm":
        raise InputError(
            f"column '{name}' holds dates, which cannot be a feature; leave it out or convert it to a number."
        )
    numbers = pd.to_numeric(column, errors="coerce")
    missing = column.isna() | (column.astype(str).str.strip() == "")
    text = numbers.isna() & ~missing
    if (text & available).any():
        position = _first(text & available)
        raise InputError(
            f"{where(position)}: feature column '{name}' holds {_format_value(column.iloc[position])}, "
            "which is not a number; code it as numbers or leave the column out of the features."
        )
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    for problem, bad in (("missing", missing.to_numpy()), ("infinite", np.isinf(values))):
        if (bad & available).any():
            raise InputError(
                f"{where(_first(bad & available))}: feature column '{name}' is {problem}; "
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
            f"{where(position)}: column '{name}' is out of order ({_format_value(column.iloc[position])} is earlier "
            "than the previous decision); sort the table by time."
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
            "two decisions may not have the same number or name, even if their agents differ."
        )
    return per_decision


def _parse_times(column: pd.Series, name: str, where: Callable[[int], str]) -> np.ndarray:
    if column.isna().any():
        raise InputError(f"{where(_first(column.isna()))}: column '{name}' is missing; give a number or a date.")
    if pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=np.float64)
        is_whole = np.isfinite(numbers) & (numbers == np.floor(numbers))
        if not is_whole.all():
            position = _first(~is_whole)
            raise InputError(
                f"{where(position)}: column '{name}' holds {_format_value(column.iloc[position])}; "
                "times are whole numbers or dates."
            )
        return numbers.astype(np.int64)
    # Times with several offsets, as across the start of summer time, are all converted to UTC.
    dates = pd.to_datetime(column, errors="coerce", utc=True, format=None if _is_dated(column) else "ISO8601")
    if dates.isna().any():
        position = _first(dates.isna())
        raise InputError(
            f"{where(position)}: column '{name}' holds {_format_value(column.iloc[position])}, "
            "which is neither a number nor a date written like 2002-02-27."
        )
    return dates.dt.tz_localize(None).to_numpy(dtype="datetime64[ns]")


def _is_dated(column: pd.Series) -> bool:
    return pd.api.types.is_datetime64_any_dtype(column)


def _first(flags: Any) -> int:
    return int(np.argmax(np.asarray(flags)))


def _format_value(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
