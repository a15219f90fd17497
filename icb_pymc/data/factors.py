"""The values of the factors of a formula: numbers, and categories with their levels."""

import ast
from typing import Any

import numpy as np
import pandas as pd

from icb_pymc.data.candidates import Candidates
from icb_pymc.data.cells import first_of, format_value, in_order_of_names, is_empty, names_of, numbers_of
from icb_pymc.data.columns import TRIALS
from icb_pymc.data.formulas import CATEGORY, LAG, Factor, call_of, column_in, evaluate, tree_of
from icb_pymc.data.lags import lagged_choice, lagged_number
from icb_pymc.data.wide_tables import ALTERNATIVE
from icb_pymc.errors import InputError

MAX_LEVELS = 50


class FactorReader:
    """Reads the factors of a formula from candidates; `state` is what new data need to get the same coding."""

    def __init__(self, candidates: Candidates, known: dict[str, Any] | None) -> None:
        self.candidates = candidates
        self._known = None if known is None else known.get("factors", {})
        self.state: dict[str, dict[str, Any]] = {}
        self._moments: dict[str, list[float]] = {}

    def column(self, factor: Factor) -> np.ndarray:
        """The values of a factor: numbers, or the positions of levels."""
        category = self._category_of(factor)
        self._moments = {}
        known = None if self._known is None else self._known.get(factor.text)
        if self._known is not None and known is None:
            raise InputError(f"features: '{factor.text}' is not in the coding that the decisions are to share.")
        if category is not None:
            values, levels = self._category(*category, None if known is None else known.get("levels"))
            self.state[factor.text] = {"levels": levels}
        else:
            self._moments = dict((known or {}).get("moments", {}))
            values = self._numbers(factor)
            self.state[factor.text] = {"moments": self._moments} if self._moments else {}
        self.state[factor.text]["same"] = bool(known["same"]) if known else self._is_same(values)
        return values

    def _category_of(self, factor: Factor) -> tuple[str, str | None] | None:
        """The column and the reference of a factor that is a category."""
        arguments = call_of(factor, CATEGORY)
        if arguments is not None:
            return self._existing(column_in(arguments[0], factor)), _reference(arguments[1:], factor)
        node = None if factor.is_column else tree_of(factor)
        name = factor.text if factor.is_column else node.id if isinstance(node, ast.Name) else None
        if name is None:
            return None
        column = self.candidates.frame[self._existing(name)]
        is_text = not pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_datetime64_any_dtype(column)
        return (self._existing(name), None) if is_text and self._holds_words(column) else None

    def _holds_words(self, column: pd.Series) -> bool:
        return bool((pd.to_numeric(column, errors="coerce").isna() & ~is_empty(column)).all())

    def _existing(self, name: str) -> str:
        roles, frame = self.candidates.roles, self.candidates.frame
        if name == ALTERNATIVE and name not in frame and roles.candidate:
            return roles.candidate
        if name in (roles.chosen, roles.reward):
            raise InputError(
                f"features: '{name}' is only known after the choice, so it cannot be a feature of the same decision; "
                f"lag({name}) is that of the decision before."
            )
        if name not in frame:
            known = ", ".join(map(str, frame.columns))
            raise InputError(f"features: there is no column '{name}'; the columns are {known}.")
        return name

    def _category(self, column: str, reference: str | None, levels: list[str] | None) -> tuple[np.ndarray, list[str]]:
        each = self.candidates
        names = names_of(each.frame[column])
        missing = (names == "") & each.available
        if missing.any():
            raise InputError(
                f"{each.where(first_of(missing))}: column '{each.title(column)}' is empty; fill it in or "
                "drop the candidate."
            )
        if levels is None:
            is_alternative = column == ALTERNATIVE and each.alternatives
            levels = list(each.alternatives or ()) if is_alternative else in_order_of_names(names[each.available])
            if reference is not None:
                if reference not in levels:
                    raise InputError(
                        f"features: the reference '{reference}' is not in column '{each.title(column)}', which holds "
                        f"{', '.join(levels[:10])}."
                    )
                levels = [reference, *(level for level in levels if level != reference)]
            if len(levels) > MAX_LEVELS:
                raise InputError(
                    f"features: column '{each.title(column)}' has {len(levels)} different values, too many "
                    "for a category "
                    f"(at most {MAX_LEVELS}); group them in the table."
                )
        position = {level: number for number, level in enumerate(levels)}
        values = np.array([position.get(str(name), -1) for name in names])
        unknown = (values < 0) & each.available
        if unknown.any():
            first = first_of(unknown)
            raise InputError(
                f"{each.where(first)}: column '{each.title(column)}' holds '{names[first]}', which the coding does not "
                f"know; it knows {', '.join(levels)}."
            )
        return np.maximum(values, 0), levels

    def _numbers(self, factor: Factor) -> np.ndarray:
        each = self.candidates
        node = ast.Name(factor.text) if factor.is_column else tree_of(factor)
        values = np.broadcast_to(evaluate(node, self._column, self._standardised, self._lagged), each.codes.shape)
        bad = ~np.isfinite(values) & each.available
        if bad.any():
            raise InputError(
                f"{each.where(first_of(bad))}: feature '{factor.text}' is not a finite number there; correct "
                "the cell or the "
                "formula."
            )
        return np.where(each.available, values, 0.0)

    def _column(self, name: str) -> np.ndarray:
        each = self.candidates
        name = self._existing(name)
        return numbers_of(each.frame[name], each.title(name), each.available, each.where)

    def _standardised(self, function: str, values: np.ndarray, text: str) -> np.ndarray:
        seen = np.broadcast_to(values, self.candidates.codes.shape)[self.candidates.available]
        mean, sd = self._moments.setdefault(text, [float(seen.mean()), float(seen.std()) or 1.0])
        return (values - mean) / (sd if function == "scale" else 1.0)

    def _lagged(self, node: ast.Call) -> np.ndarray:
        each, text = self.candidates, ast.unparse(node)
        column, *count = node.args or [ast.Constant(0)]
        back = count[0].value if count and isinstance(count[0], ast.Constant) else 1
        is_call = (
            isinstance(column, ast.Name) and len(count) < 2 and not (count and not isinstance(count[0], ast.Constant))
        )
        if not is_call or not isinstance(back, int) or isinstance(back, bool) or back < 1:
            raise InputError(f"features: write '{text}' as {LAG}(COLUMN), or {LAG}(COLUMN, 2) for two decisions back.")
        assert isinstance(column, ast.Name)
        if column.id in (each.roles.chosen, "chosen", "choice"):
            if each.name is None:
                raise InputError(
                    f"features: {text} needs the names of the candidates, to know which was chosen before "
                    "(--candidate COLUMN)."
                )
            values = lagged_choice(each, back)
            if each.form == TRIALS:
                # 1 after the second alternative, -1 after the first: the difference between the two.
                difference = values[1::2] - values[::2]
                return np.repeat(difference, 2)
            return values
        if column.id == "reward" and each.roles.reward is None:
            raise InputError(f"features: {text} needs a column with the rewards (--reward COLUMN).")
        if column.id == (each.roles.reward or ""):
            return lagged_number(each, rewards_of(each), back)
        values = self._column(column.id)
        if not self._is_same(values):
            raise InputError(
                f"features: in '{text}' the column differs between the candidates of a decision, so what it "
                "was before is "
                "not one number; compute it in the table."
            )
        return lagged_number(each, values[each.first], back)

    def _is_same(self, values: np.ndarray) -> bool:
        each = self.candidates
        shown = pd.Series(values[each.available]).groupby(each.codes[each.available])
        return bool((shown.min() == shown.max()).all())


def rewards_of(candidates: Candidates) -> np.ndarray:
    """The reward of each decision, that of its chosen candidate; NaN where it is empty or nobody was chosen."""
    roles = candidates.roles
    assert roles.reward is not None
    rewards = np.full(len(candidates.labels), np.nan)
    column = candidates.frame[roles.reward]
    is_seen = ~is_empty(column)
    is_text = is_seen & pd.to_numeric(column, errors="coerce").isna().to_numpy()
    if is_text.any():
        position = first_of(is_text)
        raise InputError(
            f"{candidates.where(position)}: reward column '{roles.reward}' holds "
            f"{format_value(column.iloc[position])}, which is not a number; correct it, or leave it empty where nobody "
            "saw the reward."
        )
    given = numbers_of(column, roles.reward, is_seen, candidates.where)
    rewards[candidates.codes[candidates.chosen]] = given[candidates.chosen]
    return rewards


def _reference(arguments: list[ast.expr], factor: Factor) -> str | None:
    """The reference in ``C(brand, "B")`` or ``C(brand, Treatment("B"))``."""
    if not arguments:
        return None
    (node, *more) = arguments
    if isinstance(node, ast.Call) and len(node.args) + len(node.keywords) == 1:
        node = (node.args or [node.keywords[0].value])[0]
    if more or not isinstance(node, ast.Constant):
        raise InputError(f"features: write '{factor.text}' as C(COLUMN), or C(COLUMN, \"REFERENCE\").")
    return str(node.value)
