"""Features from a formula, and the coding by which new data get the same ones.

The coding is plain JSON in the attributes of decisions: the formula, the levels of categories (the first is the
reference), the numbers that `center` and `scale` subtracted and divided by, and which terms are the same for all
candidates of a decision.
"""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.data.candidates import Candidates
from icb_pymc.data.columns import TRIALS
from icb_pymc.data.factors import FactorReader
from icb_pymc.data.formulas import CATEGORY, Factor, Terms, call_of, column_in, parse
from icb_pymc.data.wide_tables import ALTERNATIVE
from icb_pymc.errors import InputError

# The attribute of decisions.
CODING = "coding"
# What PsyTrack calls the constant of two alternatives.
BIAS = "bias"


@dataclass
class Design:
    """Features of each candidate, (row, feature), their names, and the coding, which says what each means."""

    values: np.ndarray
    names: list[str]
    coding: dict[str, Any]


class Column(NamedTuple):
    """A feature: a product of factors, of categories with a level and whether that is told against the reference.

    Attributes
    ----------
    pieces : of (factor, level, is_against); the level of a number is None
    alternative : the one that it is for, against the reference; None if it differs between candidates by itself
    """

    pieces: tuple[tuple[Factor, str | None, bool], ...]
    alternative: str | None = None


Parts = tuple[np.ndarray, list[Column]]


def coding_of(decisions: xr.Dataset) -> dict[str, Any]:
    """The coding that decisions carry; empty if they were not made from a table.

    Raises
    ------
    InputError
        If it is not what this version writes.
    """
    try:
        coding = json.loads(decisions.attrs.get(CODING, "{}"))
    except (TypeError, ValueError, RecursionError):
        coding = None
    if not isinstance(coding, dict) or not _is_coding(coding):
        raise InputError(f"the attribute '{CODING}' of the decisions is not a JSON object with the coding of features.")
    return coding


def _is_coding(coding: dict[str, Any]) -> bool:
    factors, features = coding.get("factors", {}), coding.get("features", {})
    unused = coding.get("unused", [])
    if not isinstance(unused, list) or not all(isinstance(name, str) for name in unused):
        return False
    if (
        not isinstance(factors, dict)
        or not isinstance(features, dict)
        or not isinstance(coding.get("columns", {}), dict)
    ):
        return False
    for state in factors.values():
        if not isinstance(state, dict) or not isinstance(state.get("same"), bool):
            return False
        levels, moments = state.get("levels", []), state.get("moments", {})
        if not isinstance(levels, list) or not all(isinstance(level, str) for level in levels):
            return False
        if not isinstance(moments, dict) or not all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(n, float) for n in pair)
            for pair in moments.values()
        ):
            return False
    return isinstance(coding.get("formula", ""), str)


def design(candidates: Candidates, formula: str, known: dict[str, Any] | None = None) -> Design:
    """The features that a formula makes of candidates.

    Parameters
    ----------
    candidates : Candidates
    formula : str
    known : dict, optional
        The coding of other decisions, which these are to share.

    Raises
    ------
    InputError
        If the formula cannot be read, names a column that does not exist, or a cell does not suit it.
    """
    terms = _without_bias(parse(formula), candidates)
    reader = FactorReader(candidates, known)
    factors = list(dict.fromkeys(factor for product in terms.products for factor in product))
    columns = {factor: reader.column(factor) for factor in factors}
    same = {factor for factor in factors if reader.state[factor.text]["same"]}
    shared = [product for product in terms.products if set(product) <= same]
    own = [product for product in terms.products if not set(product) <= same]
    if shared and candidates.alternatives is None:
        text = ":".join(factor.text for factor in shared[0])
        raise InputError(
            f"features: '{text}' is the same for all candidates of a decision, so that it cannot matter by "
            "itself; cross it "
            f"with what differs between them, as in '{candidates.roles.candidate or 'price'}:{text}', or leave it out."
        )
    parts: list[Parts] = []
    if candidates.alternatives and (shared or terms.intercept):
        parts.append(_crossed(_matrix(columns, reader, shared, terms.intercept), candidates))
    if own:
        # What is the same for all candidates has no effect, as the intercept has none: categories need a reference.
        below = dict.fromkeys(tuple(factor for factor in product if factor in same) for product in own)
        values, made = _matrix(columns, reader, [*filter(None, below), *own], True)
        varying = [i for i, column in enumerate(made) if not {factor for factor, *_ in column.pieces} <= same]
        parts.append((values[:, varying], [made[i] for i in varying]))
    if not parts:
        raise InputError(f"features: the formula '{formula}' leaves no feature; add at least one.")
    found = [column for _, made in parts for column in made]
    order = sorted(range(len(found)), key=lambda i: _position(found[i], terms))
    names = [_title(found[i], candidates) for i in order]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"features: the formula '{formula}' gives the feature '{name}' twice; leave one out.")
    coding: dict[str, Any] = {"formula": formula, "factors": reader.state, "alternatives": candidates.alternatives}
    coding["features"] = {
        name: _meaning(found[i], reader.state, candidates) for name, i in zip(names, order, strict=True)
    }
    return Design(np.concatenate([values for values, _ in parts], axis=1)[:, order], names, coding)


def _without_bias(terms: Terms, candidates: Candidates) -> Terms:
    """PsyTrack's word for the constant is read as one."""
    if not candidates.alternatives or BIAS in candidates.frame:
        return terms
    kept = [product for product in terms.products if [factor.text for factor in product] != [BIAS]]
    return Terms(kept, terms.intercept or len(kept) < len(terms.products))


def _matrix(
    columns: dict[Factor, np.ndarray], reader: FactorReader, products: list[tuple[Factor, ...]], intercept: bool
) -> Parts:
    """The columns of terms, with as many levels of categories as are not already said by other terms."""
    import formulaic

    number = {factor: f"f{i}" for i, factor in enumerate(columns)}
    named = {name: factor for factor, name in number.items()}
    frame = pd.DataFrame(
        {
            number[factor]: pd.Categorical(values, range(len(reader.state[factor.text]["levels"])))
            if "levels" in reader.state[factor.text]
            else values
            for factor, values in columns.items()
        }
        or {"row": np.zeros(len(reader.candidates.codes))}
    )
    text = " + ".join(["1" if intercept else "0", *(":".join(number[f] for f in product) for product in products)])
    matrix = formulaic.Formula(text).get_model_matrix(frame, context={}, na_action="ignore")

    def piece(text: str) -> tuple[Factor, str | None, bool]:
        name, _, level = text.rstrip("]").partition("[")
        factor = named[name]
        if not level:
            return factor, None, False
        levels: list[str] = reader.state[factor.text]["levels"]
        return factor, levels[int(level.removeprefix("T."))], level.startswith("T.")

    made = [Column(() if name == "Intercept" else tuple(map(piece, name.split(":")))) for name in matrix.columns]
    return matrix.to_numpy(dtype=np.float64), made


def _crossed(parts: Parts, candidates: Candidates) -> Parts:
    """What is the same for all candidates, for each alternative against the first."""
    values, made = parts
    assert candidates.alternatives is not None
    assert candidates.name is not None
    later = candidates.alternatives[1:]
    crossed = [values * np.equal(candidates.name, name)[:, None] for name in later]
    columns = [column._replace(alternative=name) for name in later for column in made]
    return np.concatenate(crossed, axis=1), columns


def _position(column: Column, terms: Terms) -> int:
    """Where the term of a column stands in the formula; the constant comes first."""
    factors = {factor for factor, *_ in column.pieces}
    sets = [set(product) for product in terms.products]
    return sets.index(factors) if factors in sets else -1


def _title(column: Column, candidates: Candidates) -> str:
    words = [_factor_title(factor) + (f"[{level}]" if level is not None else "") for factor, level, _ in column.pieces]
    if column.alternative is not None and candidates.form == TRIALS:
        words = words or [BIAS]
    elif column.alternative is not None:
        words.insert(0, f"{ALTERNATIVE}[{column.alternative}]")
    return ":".join(words)


def _meaning(column: Column, state: dict[str, dict[str, Any]], candidates: Candidates) -> str:
    words = []
    for factor, level, is_against in column.pieces:
        name = _factor_title(factor)
        if level is None:
            words.append(f"per unit of {name}")
        else:
            words.append(f"{name} {level}" + (f" against {state[factor.text]['levels'][0]}" if is_against else ""))
    if column.alternative is not None:
        assert candidates.alternatives is not None
        words = words or ["constant"]
        words.append(f"for {column.alternative} against {candidates.alternatives[0]}")
    return ", ".join(words)


def _factor_title(factor: Factor) -> str:
    arguments = call_of(factor, CATEGORY)
    return factor.text if arguments is None else column_in(arguments[0], factor)
