"""Decisions from and to tables: long, wide, or one row per trial."""

import json
import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.data.answers import answers_of_table
from icb_pymc.data.candidates import Candidates, from_long
from icb_pymc.data.cells import FALSE_TEXTS, TRUE_TEXTS, format_value, numbers_of
from icb_pymc.data.coding import CODING, Design, coding_of, design
from icb_pymc.data.columns import LONG, TRIALS, WIDE, Columns, Roles, assign_roles, with_left_side
from icb_pymc.data.counters import is_counter
from icb_pymc.data.decision_times import agents_of_table, sessions_of_table, times_of_table
from icb_pymc.data.decisions import from_arrays
from icb_pymc.data.factors import rewards_of
from icb_pymc.data.sessions import check_order_of_sessions
from icb_pymc.data.trial_tables import from_trials
from icb_pymc.data.wide_tables import choices_of, columns_by_alternative, from_wide
from icb_pymc.errors import InputError, InputWarning


def from_table(
    table: pd.DataFrame,
    columns: Columns | None = None,
    *,
    source: str | None = None,
    like: xr.Dataset | None = None,
) -> xr.Dataset:
    """Build decisions from a table: long, wide, or one row per trial (see `Columns`).

    Parameters
    ----------
    table : DataFrame
        Decisions in order of time; those of several agents need not be interleaved.
    columns : Columns, optional
        The names of the columns, where they differ from the defaults, and the features, as columns or as a formula.
    source : str, optional
        The file the table was read from; errors then name the line in this file.
    like : Dataset, optional
        Decisions whose formula and coding these are to share: the same levels of categories and references.

    Returns
    -------
    Dataset
        See `from_arrays`; with the coordinate ``decision`` (time), and ``candidate`` (time, action) if the table names
        the candidates. The attribute ``coding`` says in JSON what the features are.

    Raises
    ------
    InputError
        One sentence that names the row and the column and says what to do.

    Warns
    -----
    InputWarning
        See `validate`; and where nobody was chosen in a decision of a long table, or many decisions share a date.

    Examples
    --------
    A long table has one row per candidate per decision:

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

    A wide table has one row per decision and a column for each alternative; trials have two alternatives and what was
    shown:

    >>> wide = pd.DataFrame({"choice": ["bus", "car"], "price_bus": [2.0, 3.0], "price_car": [5.0, 4.0]})
    >>> icb_pymc.from_table(wide)["feature"].values.tolist()
    ['alternative[car]', 'price']
    >>> trials = pd.DataFrame({"choice": ["left", "right", "right"], "contrast": [-0.5, 0.5, 1.0]})
    >>> decisions = icb_pymc.from_table(trials, icb_pymc.Columns(features="contrast + lag(choice)"))
    >>> decisions["feature"].values.tolist()
    ['bias', 'contrast', 'lag(choice)']
    """
    label = source or "the table"
    table = table.rename(columns=str)
    if len(table) == 0:
        raise InputError(f"{label} has no rows; give one row per candidate per decision, or one per decision.")
    columns = with_left_side(columns or Columns())
    roles = assign_roles(table, columns, label)

    def where(position: int) -> str:
        # The first line of a file is its header, and lines are counted from one.
        return f"{label}, line {position + 2}" if source else f"row {table.index[position]}"

    form = _form_of(table, roles, columns, label)
    if form != WIDE and like is None and roles.formula is None and not roles.is_listed:
        roles = _without_counters(table, roles, label)
    if form == LONG:
        candidates = from_long(table, roles, where, label)
    else:
        read = from_wide if form == WIDE else from_trials
        candidates = read(table.reset_index(drop=True), roles, columns, where, label)
    known = None
    if like is not None:
        known = coding_of(like)
        if "formula" not in known:
            # Columns as they are, in the order of the others' features, which their coding does not keep.
            known = known | {"features": dict.fromkeys(map(str, like["feature"].values))}
    coded = _coded(candidates, known)
    decisions = _decisions(candidates, coded, label)
    return _with_coding(decisions, candidates, coded, _unused(table, candidates, coded))


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


def _form_of(table: pd.DataFrame, roles: Roles, columns: Columns, label: str) -> str:
    """The form of a table, where it is clear."""
    if columns.form is not None:
        return columns.form
    if columns.choice is None:
        ids = table[roles.decision] if roles.decision else None
        is_flagged = _is_flagged(table[roles.chosen])
        if columns.chosen is not None or columns.decision is not None:
            return LONG
        if ids is not None and (ids.nunique() < len(ids) or (is_flagged and len(ids) == 1)):
            return LONG
        if roles.candidate is not None:
            return LONG
    _, alternatives = choices_of(table, roles, columns)
    others = [name for name in table.columns if name != roles.chosen]
    is_wide = len(alternatives) > 1 and bool(columns_by_alternative(others, alternatives))
    is_numbered = all(name.lstrip("-").isdigit() for name in alternatives)
    if is_wide and is_numbered and len(alternatives) == 2 and columns.alternatives is None:
        raise InputError(
            f"{label}: column '{roles.chosen}' holds {alternatives[0]} and {alternatives[1]}, and there are "
            "columns like "
            f"{next(iter(next(iter(columns_by_alternative(others, alternatives).values())).values()))}: say "
            "whether they "
            "belong to the alternatives (--wide), or are what was shown in a trial (--trials)."
        )
    return WIDE if is_wide else TRIALS


def _without_counters(table: pd.DataFrame, roles: Roles, label: str) -> Roles:
    """The roles without features that only count rows or trials, which nobody meant."""
    counters = [name for name in roles.features if is_counter(table[name])]
    for name in counters:
        warnings.warn(
            f"{label}: column '{name}' counts the rows, and is not taken for a feature; if it is one, say so "
            "(--features).",
            InputWarning,
            stacklevel=3,
        )
    return replace(roles, features=[name for name in roles.features if name not in counters])


def _unused(table: pd.DataFrame, candidates: Candidates, coded: Design) -> list[str]:
    """Columns that are neither features nor have another role."""
    roles = {value for value in vars(candidates.roles).values() if isinstance(value, str)}
    stems = {column: stem for stem, title in candidates.titles.items() for column in title.split(", ")}
    words = coded.coding.get("formula") or "\n".join(coded.names)

    def is_used(column: str) -> bool:
        names = {column, stems.get(column, column)}
        return bool(names & roles) or any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words) for name in names)

    return [column for column in table.columns if not is_used(column)]


def _is_flagged(column: pd.Series) -> bool:
    """Whether a column holds nothing but yes and no."""
    return bool(column.astype(str).str.strip().str.lower().isin([*TRUE_TEXTS, *FALSE_TEXTS]).all())


def _coded(candidates: Candidates, known: dict[str, Any] | None) -> Design:
    """The features: those of a formula, or the columns as they are."""
    formula = (known or {}).get("formula") or candidates.roles.formula
    if formula is not None:
        return design(candidates, str(formula), known if known and "formula" in known else None)
    names = list((known or {}).get("features") or candidates.features)
    if candidates.alternatives is not None:
        # A constant for each alternative, and the columns by their names.
        return design(candidates, " + ".join(["1", *(name if name.isidentifier() else f"`{name}`" for name in names)]))
    if not names:
        raise InputError("no column is left for the features; add at least one.")
    each = candidates
    for name in names:
        if name not in each.frame:
            raise InputError(f"there is no column '{name}'; the columns are {', '.join(map(str, each.frame.columns))}.")
    values = [numbers_of(each.frame[name], each.title(name), each.available, each.where) for name in names]
    return Design(np.column_stack(values), list(names), {"features": {name: f"per unit of {name}" for name in names}})


def _decisions(candidates: Candidates, coded: Design, label: str) -> xr.Dataset:
    """Candidates with their features as decisions, in order of time."""
    codes, roles = candidates.codes, candidates.roles
    slot = pd.Series(codes).groupby(codes).cumcount().to_numpy()
    steps, actions = len(candidates.labels), int(slot.max()) + 1
    context = np.zeros((steps, actions, coded.values.shape[1]))
    context[codes, slot] = coded.values
    available = np.zeros((steps, actions), bool)
    available[codes, slot] = candidates.available
    chosen = np.zeros(steps, np.int64)
    chosen[codes[candidates.chosen]] = slot[candidates.chosen]
    missed = np.bincount(codes[candidates.chosen], minlength=steps) == 0
    if missed.any() and candidates.form == LONG:
        first = candidates.labels[int(np.argmax(missed))]
        warnings.warn(
            f"{label}: {int(missed.sum())} decision(s) have no chosen candidate in column '{roles.chosen}' "
            "(the first is "
            f"{format_value(first.item() if isinstance(first, np.generic) else first)}); each is kept as a missed one, "
            "from which nothing is learnt.",
            InputWarning,
            stacklevel=3,
        )
    agent, session = agents_of_table(candidates), sessions_of_table(candidates)
    time = times_of_table(candidates, agent, session)
    if session is not None:
        check_order_of_sessions(session, agent, label)
    # Agents need not be interleaved; their decisions are put in order of time here.
    order = np.arange(steps) if time is None else np.argsort(time, kind="stable")
    dataset = from_arrays(
        context[order],
        chosen[order],
        available=available[order],
        time=None if time is None else time[order],
        features=coded.names,
        agent=None if agent is None else agent[order],
        reward=None if roles.reward is None else rewards_of(candidates)[order],
        session=None if session is None else session[order],
        missed=missed[order] if missed.any() else None,
    ).assign_coords(decision=("time", candidates.labels[order]))
    answer = answers_of_table(candidates, slot)
    if answer is not None:
        dataset["answer"] = ("time", answer[order].astype(np.int64))
    if candidates.name is not None:
        names = np.full((steps, actions), "", dtype=object)
        names[codes, slot] = candidates.name
        dataset["candidate"] = (("time", "action"), names[order].astype(str))
    return dataset


def _with_coding(decisions: xr.Dataset, candidates: Candidates, coded: Design, unused: list[str]) -> xr.Dataset:
    """Decisions with the coding of their features, and what else was understood of the table."""
    roles = candidates.roles
    used = {"form": candidates.form}
    named = {"session": roles.session, "agent": roles.agent, "reward": roles.reward, "time": roles.time}
    named |= {"answer": roles.answer}
    coding = coded.coding | used | {"columns": {role: name for role, name in named.items() if name}}
    if unused:
        coding["unused"] = unused
    return decisions.assign_attrs({CODING: json.dumps(coding, sort_keys=True)})
