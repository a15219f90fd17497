"""A table in its common form: one row per candidate per decision, whatever form its author gave it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from icb_pymc.data.cells import Where, first_of, flags, format_value, is_empty, names_of
from icb_pymc.data.columns import LONG, Roles
from icb_pymc.errors import InputError


@dataclass(frozen=True)
class Candidates:
    """One row per candidate per decision.

    Attributes
    ----------
    frame : the columns of the table, by candidate
    roles : which column is what
    form : the form of the user's table
    codes, labels : the position of each row's decision, and the names of the decisions in order
    chosen, available : of each row
    name : of each candidate, where the table names them
    alternatives : where every decision is between the same named alternatives, these; the first is the reference
    features : columns that are features if nothing else is said
    where : how an error calls a row
    titles : the user's columns that a column of a wide table was put together from
    """

    frame: pd.DataFrame
    roles: Roles
    form: str
    codes: np.ndarray
    labels: np.ndarray
    chosen: np.ndarray
    available: np.ndarray
    name: np.ndarray | None
    alternatives: list[str] | None
    features: list[str]
    where: Where
    titles: dict[str, str] = field(default_factory=dict)

    @property
    def first(self) -> np.ndarray:
        """The first row of each decision."""
        return np.unique(self.codes, return_index=True)[1]

    def title(self, column: str) -> str:
        """A column as the user knows it."""
        return self.titles.get(column, column)


def from_long(table: pd.DataFrame, roles: Roles, where: Where, label: str) -> Candidates:
    """A long table, checked."""
    if roles.decision is None:
        raise InputError(
            f"{label}: there is no column 'decision'; the columns are {', '.join(map(str, table.columns))}: "
            "name the one that says which rows belong to one decision (--decision), or in a table with one "
            "row per decision the one "
            "that names what was chosen (--choice)."
        )
    column = table[roles.decision]
    if column.isna().any():
        raise InputError(
            f"{where(first_of(column.isna()))}: column '{roles.decision}' is empty; say which decision it is, or drop "
            "the row."
        )
    codes, distinct = pd.factorize(column)
    labels = as_labels(np.asarray(distinct))
    chosen = flags(table[roles.chosen], roles.chosen, where)
    available = np.ones(len(table), bool)
    if roles.available is not None:
        available = flags(table[roles.available], roles.available, where)
    name = None
    if roles.candidate is not None:
        _check_no_duplicates(table, codes, roles, where)
        name = names_of(table[roles.candidate])
    result = Candidates(table, roles, LONG, codes, labels, chosen, available, name, None, roles.features, where)
    check_chosen(result, label)
    return result


def as_labels(names: np.ndarray) -> np.ndarray:
    """Names of decisions as a file can hold them: numbers as they are, anything else as text."""
    return names if names.dtype.kind in "iuf" else names.astype(str)


def check_chosen(candidates: Candidates, label: str) -> None:
    """Raise `InputError` if a decision has several chosen candidates, or one that was not available."""
    roles, where = candidates.roles, candidates.where
    wrong = candidates.chosen & ~candidates.available
    if wrong.any():
        raise InputError(
            f"{where(first_of(wrong))}: the candidate is chosen but unavailable; "
            f"correct column '{roles.chosen}' or '{candidates.title(roles.available or 'available')}'."
        )
    counts = np.bincount(candidates.codes[candidates.chosen], minlength=len(candidates.labels))
    if (counts > 1).any():
        code = int(np.argmax(counts > 1))
        raise InputError(
            f"{label}: decision {format_value(_plain(candidates.labels[code]))} has {counts[code]} chosen "
            "candidates in "
            f"column '{roles.chosen}'; mark exactly one."
        )
    if not counts.any():
        raise InputError(f"{label}: no decision has a chosen candidate in column '{roles.chosen}'; mark one in each.")


def per_decision(candidates: Candidates, column: str, advice: str) -> pd.Series:
    """A column that must be the same for all candidates of a decision, by decision.

    Raises
    ------
    InputError
        If it differs; the error ends with `advice`.
    """
    values = candidates.frame[column]
    texts = values.where(~is_empty(values), "").astype(str).to_numpy()
    differs = texts != texts[candidates.first][candidates.codes]
    if differs.any():
        raise InputError(
            f"{candidates.where(first_of(differs))}: column '{column}' differs from the other candidates of the same "
            f"decision{advice}."
        )
    return values.iloc[candidates.first].reset_index(drop=True)


def repeated(table: pd.DataFrame, names: Sequence[str]) -> tuple[pd.DataFrame, np.ndarray]:
    """Each row as many times as there are alternatives, and the positions of the rows."""
    origin = np.repeat(np.arange(len(table)), len(names))
    return table.iloc[origin].reset_index(drop=True), origin


def _check_no_duplicates(table: pd.DataFrame, codes: np.ndarray, roles: Roles, where: Where) -> None:
    assert roles.candidate is not None
    assert roles.decision is not None
    column = table[roles.candidate]
    if column.isna().any():
        raise InputError(
            f"{where(first_of(column.isna()))}: column '{roles.candidate}' is missing; name the candidate."
        )
    repeats = pd.DataFrame({"decision": codes, "candidate": column.to_numpy()}).duplicated()
    if repeats.any():
        position = first_of(repeats)
        raise InputError(
            f"{where(position)}: candidate {format_value(column.iloc[position])} of decision "
            f"{format_value(table[roles.decision].iloc[position])} (columns '{roles.candidate}', '{roles.decision}') "
            "appears twice; drop one row."
        )


def _plain(label: object) -> object:
    return label.item() if isinstance(label, np.generic) else label
