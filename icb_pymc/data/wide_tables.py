"""Wide tables: one row per decision, and a column for each alternative, such as `price_A` and `price_B`."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from icb_pymc.data.candidates import Candidates, as_labels, check_chosen, repeated
from icb_pymc.data.cells import Where, first_of, flags, in_order_of_names, names_of
from icb_pymc.data.columns import WIDE, Columns, Roles
from icb_pymc.errors import InputError, InputWarning

SEPARATORS = "_.: -"
AVAILABILITY = ("available", "avail", "av", "availability")
NOBODY = ("", "none", "missed", "missing", "nan", "na")
# The column that names the alternative of a row, in formulas.
ALTERNATIVE = "alternative"


def columns_by_alternative(names: Sequence[str], alternatives: Sequence[str]) -> dict[str, dict[str, str]]:
    """The columns of each feature by alternative, for names like `price_A` or `A_price`; in the order of the table.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    alternatives : sequence of str

    Returns
    -------
    dict
        From the feature (``price``) to the columns of its alternatives; features of one alternative only are among them
        if they are written as most others are, before or after the alternative.
    """
    found: dict[bool, dict[str, dict[str, str]]] = {True: {}, False: {}}
    for name in names:
        for alternative in alternatives:
            word = re.escape(alternative)
            after = re.fullmatch(rf"(.+)[{SEPARATORS}]{word}", name)
            before = re.fullmatch(rf"{word}[{SEPARATORS}](.+)", name)
            if after or before:
                match = after or before
                assert match is not None
                found[bool(after)].setdefault(match[1], {})[alternative] = name
    counts = {way: sum(len(columns) > 1 for columns in stems.values()) for way, stems in found.items()}
    best = counts[True] >= counts[False]
    return found[best] if counts[best] else {}


def choices_of(table: pd.DataFrame, roles: Roles, columns: Columns) -> tuple[np.ndarray, list[str]]:
    """The name of each decision's chosen alternative, empty where nobody was chosen, and the alternatives in order."""
    names = names_of(table[roles.chosen])
    names = np.where(np.isin(np.char.lower(names), NOBODY), "", names)
    if isinstance(columns.alternatives, Mapping):
        titles = {str(value): str(title) for value, title in columns.alternatives.items()}
        unknown = sorted({str(name) for name in names} - set(titles) - {""})
        names = np.array([titles.get(str(name), str(name)) for name in names])
        return names, list(dict.fromkeys(titles.values())) + unknown
    known = [str(name) for name in columns.alternatives or ()]
    return names, known + [name for name in in_order_of_names(names) if name not in known]


def from_wide(table: pd.DataFrame, roles: Roles, columns: Columns, where: Where, label: str) -> Candidates:
    """A wide table as candidates: a row for each alternative of each decision."""
    choice, alternatives = choices_of(table, roles, columns)
    given = list(
        columns.alternatives.values() if isinstance(columns.alternatives, Mapping) else columns.alternatives or ()
    )
    if given and not set(alternatives) <= set(given):
        wrong = next(name for name in alternatives if name not in given)
        raise InputError(
            f"{where(first_of(choice == wrong))}: column '{roles.chosen}' holds '{wrong}', which is none of the "
            f"alternatives {', '.join(map(str, given))}."
        )
    others = [name for name in table.columns if name not in _roles_used(roles)]
    stems = columns_by_alternative(others, alternatives)
    if len(alternatives) < 2 or not stems:
        raise InputError(
            f"{label}: no column belongs to an alternative ({', '.join(alternatives)}, from column "
            f"'{roles.chosen}'); name "
            "the columns of a wide table like price_A and price_B, or give the alternatives (--alternatives)."
        )
    if not given:
        _warn_of_unchosen(others, alternatives, stems, label)
    frame, origin = repeated(table, alternatives)
    slot = np.tile(np.arange(len(alternatives)), len(table))
    available = np.ones(len(frame), bool)
    titles: dict[str, str] = {}
    features = []
    for stem, by_alternative in stems.items():
        is_availability = stem.lower() in AVAILABILITY
        if not is_availability and stem in table.columns:
            raise InputError(
                f"{label}: '{stem}' is a column of its own and the name of "
                f"{', '.join(by_alternative.values())} without "
                "the alternative; rename it."
            )
        for number, alternative in enumerate(alternatives):
            if is_availability and alternative in by_alternative:
                name = by_alternative[alternative]
                available[slot == number] = flags(table[name], name, where)
        if is_availability:
            roles = replace(roles, available=stem)
        else:
            frame[stem] = _put_together(table, by_alternative, alternatives)
            features.append(stem)
        titles[stem] = ", ".join(by_alternative.values())
    frame = frame.drop(columns=[name for stem in stems.values() for name in stem.values()])
    frame[ALTERNATIVE] = np.array(alternatives)[slot]
    chosen = frame[ALTERNATIVE].to_numpy() == choice[origin]
    labels = table[roles.decision].to_numpy() if roles.decision else np.arange(1, len(table) + 1)
    result = Candidates(
        frame,
        roles,
        WIDE,
        origin,
        as_labels(labels),
        chosen,
        available,
        frame[ALTERNATIVE].to_numpy().astype(str),
        alternatives,
        features,
        lambda position: where(int(origin[position])),
        titles,
    )
    check_chosen(result, label)
    return result


def _put_together(table: pd.DataFrame, by_alternative: dict[str, str], alternatives: list[str]) -> pd.Series:
    """One column from those of the alternatives; zero for an alternative that has none."""
    parts = [
        table[by_alternative[name]].reset_index(drop=True)
        if name in by_alternative
        else pd.Series(np.zeros(len(table), int))
        for name in alternatives
    ]
    joined = pd.concat(parts, ignore_index=True)
    order = np.arange(len(joined)).reshape(len(alternatives), len(table)).T.ravel()
    return joined.iloc[order].reset_index(drop=True)


def _roles_used(roles: Roles) -> list[str]:
    used = (roles.decision, roles.chosen, roles.time, roles.agent, roles.session, roles.reward, roles.answer)
    return [name for name in used if name]


def _warn_of_unchosen(names: list[str], alternatives: list[str], stems: dict[str, dict[str, str]], label: str) -> None:
    """Columns that look like those of an alternative that was never chosen."""
    known = {name for columns in stems.values() for name in columns.values()}
    for stem in stems:
        for name in names:
            if name not in known and re.fullmatch(
                rf"{re.escape(stem)}[{SEPARATORS}].+|.+[{SEPARATORS}]{re.escape(stem)}", name
            ):
                warnings.warn(
                    f"{label}: column '{name}' looks like '{stem}' of an alternative that was never chosen, and is not "
                    f"used; if it is one, give all alternatives (--alternatives {','.join(alternatives)},...).",
                    InputWarning,
                    stacklevel=4,
                )
