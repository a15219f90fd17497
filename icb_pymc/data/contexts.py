"""Contexts to simulate on: decisions of a user's own, or a table of what could be chosen, without choices."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.data.cells import flags
from icb_pymc.data.coding import CODING
from icb_pymc.data.columns import AVAILABLE_NAMES, CHOSEN_NAMES, DECISION_NAMES, LONG, TRIALS, WIDE, Columns
from icb_pymc.data.decision_files import read_table
from icb_pymc.data.tables import from_table
from icb_pymc.data.wide_tables import columns_by_alternative
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.io.files import existing


def read_contexts(path: str | Path, columns: Columns | None = None) -> xr.Dataset:
    """Read a table to simulate on; it may have no column of choices: those returned then mean nothing.

    Parameters
    ----------
    path : str or Path
        A CSV or Parquet file.
    columns : Columns, optional
        As in `read_decisions`. Without choices a wide table needs `alternatives`; one with a row per trial has the
        alternatives 0 and 1 where they are not named.

    Returns
    -------
    Dataset
        See `from_arrays`.

    Raises
    ------
    InputError
        As in `read_decisions`; and if features are made of earlier choices, but there are none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from icb_pymc.data.contexts import read_contexts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "design.csv")
    ...     _ = path.write_text("decision,age\\n1,50\\n1,60\\n2,55\\n2,45\\n")
    ...     dict(read_contexts(path).sizes)
    {'time': 2, 'action': 2, 'feature': 1}
    """
    source = existing(path)
    columns = columns or Columns()
    table = read_table(source)
    if _has_choices(table, columns):
        return from_table(table, columns, source=str(source))
    contexts = from_table(*_with_placeholder(table, columns, str(source)), source=str(source))
    if "lag(" in _formula_of(contexts):
        raise InputError(f"{source}: features made by lag() need a column of choices; leave them out.")
    return contexts


def contexts_of(decisions: xr.Dataset) -> xr.Dataset:
    """What could be chosen in some decisions, with agents, sessions and coding, but no choices, rewards or truth.

    Parameters
    ----------
    decisions : Dataset

    Warns
    -----
    InputWarning
        If features are made of earlier choices or rewards: they stay as they are.
    """
    if "lag(" in _formula_of(decisions):
        warnings.warn(
            "features made by lag() keep the choices and rewards of the log: what is simulated does not change them.",
            InputWarning,
            stacklevel=3,
        )
    known = [str(name) for name in decisions.variables if str(name).startswith("true_")]
    return decisions.drop_vars([*known, "chosen", "reward"], errors="ignore")


def _formula_of(decisions: xr.Dataset) -> str:
    return str(json.loads(decisions.attrs.get(CODING, "{}")).get("formula", ""))


def _has_choices(table: pd.DataFrame, columns: Columns) -> bool:
    return bool(columns.chosen or columns.choice or set(CHOSEN_NAMES) & set(map(str, table.columns)))


def _with_placeholder(table: pd.DataFrame, columns: Columns, label: str) -> tuple[pd.DataFrame, Columns]:
    """The table with a column of choices that mean nothing, and its form."""
    name = CHOSEN_NAMES[0]
    decision = columns.decision or next((word for word in DECISION_NAMES if word in table.columns), None)
    is_long = decision in table.columns and table[decision].duplicated().any()
    if columns.form == LONG or (columns.form is None and is_long):
        if decision not in table.columns:
            raise InputError(
                f"{label}: there is no column '{decision or 'decision'}'; the columns are "
                f"{', '.join(map(str, table.columns))}: name the one that says which rows belong to one decision "
                "(--decision)."
            )
        # Each decision's first candidate, of those that are available.
        available = next((word for word in (columns.available, *AVAILABLE_NAMES) if word in table), None)
        is_open = np.ones(len(table), bool)
        if available is not None:
            is_open = flags(table[available], available, lambda position: f"{label}, line {position + 2}")
        first = ~table.loc[is_open, decision].duplicated()
        return table.assign(**{name: first.reindex(table.index, fill_value=False).astype(int)}), columns
    alternatives = list(columns.alternatives or ())
    if columns.form == WIDE and len(alternatives) < 2:
        raise InputError(f"{label}: without a column of choices, say what the alternatives are (--alternatives A,B).")
    in_columns = columns.alternatives.values() if isinstance(columns.alternatives, Mapping) else alternatives
    form = columns.form or (WIDE if columns_by_alternative([*table.columns], [*map(str, in_columns)]) else TRIALS)
    alternatives = alternatives or ["0", "1"]
    # Both are named, so that none is missing.
    chosen = np.array(alternatives, dtype=object)[np.arange(len(table)) % len(alternatives)]
    given = columns.alternatives or alternatives
    return table.assign(**{name: chosen}), replace(columns, form=form, alternatives=given)
