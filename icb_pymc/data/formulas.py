"""Formulas of features: their terms, and the values of their factors.

formulaic reads the grammar (`+`, `:`, `*`, `-`, powers and brackets). The factors themselves, such as `log(price)`, are
computed here, from a fixed list of functions: the formula that a file of decisions carries must never be able to run
code.
"""

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from icb_pymc.errors import InputError

FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "I": np.asarray,
}
# Those that are not functions of one number: of the whole column, of the decision before, of names.
STATEFUL, LAG, CATEGORY = ("center", "scale"), "lag", "C"
OPERATORS: dict[type, Callable[..., np.ndarray]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
MAX_LENGTH, MAX_TERMS = 2000, 10_000


@dataclass(frozen=True)
class Factor:
    """A factor of a term: a column, or an expression of columns."""

    text: str
    is_column: bool


@dataclass(frozen=True)
class Terms:
    """The terms of a formula, each a product of factors, and whether it has an intercept."""

    products: list[tuple[Factor, ...]]
    intercept: bool


def parse(formula: str) -> Terms:
    """Read a formula.

    Raises
    ------
    InputError
        If it is not one, or has a left side.
    """
    import formulaic

    if len(formula) > MAX_LENGTH:
        raise InputError(f"features: the formula has {len(formula)} characters; give at most {MAX_LENGTH}.")
    if "~" in formula.strip().lstrip("~"):
        raise _refused(formula, "it has a left side; give only the features, what stands right of '~'")
    if "{" in formula:
        raise _refused(formula, "braces are not read; write arithmetic as I(a + b)")
    try:
        if _most_terms(formulaic.parser.DefaultFormulaParser().get_ast(formula)) > MAX_TERMS:
            raise _refused(formula, f"it makes more than {MAX_TERMS} terms")
        parsed = formulaic.Formula(formula)
    except InputError:
        raise
    except Exception as error:
        # formulaic raises its own errors, and those of Python for some malformed expressions.
        raise _refused(formula, str(error).splitlines()[0].rstrip(".") if str(error) else "it cannot be read") from None
    if not isinstance(parsed, formulaic.SimpleFormula):
        raise _refused(formula, "it has several parts; join them with '+'")
    products, intercept = [], False
    for term in parsed:
        factors = tuple(Factor(str(each.expr), each.eval_method.value == "lookup") for each in term.factors)
        if [factor.text for factor in factors] == ["1"]:
            intercept = True
        elif any(each.eval_method.value == "literal" for each in term.factors):
            raise _refused(formula, f"'{term}' is a number; of numbers only 1 (constants) and 0 (none) mean anything")
        else:
            products.append(factors)
    return Terms(products, intercept)


def _most_terms(node: Any) -> int:
    """How many terms a part of a formula makes at most: powers and products of sums make many of few letters."""
    if not hasattr(node, "operator"):
        return 1
    counts = [_most_terms(part) for part in node.args]
    symbol = node.operator.symbol
    if symbol in ("**", "^"):
        # An exponent that is not a number is refused by formulaic.
        power = str(node.args[1])
        return min(counts[0] ** min(int(power), MAX_TERMS), MAX_TERMS + 1) if power.isdigit() else 1
    made = sum(counts) if symbol in ("+", "-") else math.prod(count + 1 for count in counts)
    return min(made, MAX_TERMS + 1)


def tree_of(factor: Factor) -> ast.expr:
    """The syntax of a factor."""
    try:
        return ast.parse(factor.text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"features: '{factor.text}' cannot be read as an expression.") from None


def call_of(factor: Factor, name: str) -> list[ast.expr] | None:
    """The arguments of a factor that is a call of this function; None if it is not."""
    if factor.is_column:
        return None
    node = tree_of(factor)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name):
        return None
    if not node.args:
        raise InputError(f"features: '{factor.text}' needs the name of a column.")
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def column_in(node: ast.expr, factor: Factor) -> str:
    """The name of the column that an argument is."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise InputError(f"features: in '{factor.text}' the first argument must be a column; compute it in the table.")


def evaluate(
    node: ast.expr,
    numbers: Callable[[str], np.ndarray],
    stateful: Callable[[str, np.ndarray, str], np.ndarray],
    lagged: Callable[[ast.Call], np.ndarray],
) -> np.ndarray:
    """The values of an expression.

    Parameters
    ----------
    node : expression
    numbers : callable
        From the name of a column to its numbers.
    stateful : callable
        From ``center`` or ``scale``, the values and the text of the expression to what it gives.
    lagged : callable
        From a call of ``lag`` to its values.
    """

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return numbers(node.id)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return float(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return -value(node.operand) if isinstance(node.op, ast.USub) else value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATORS:
            compared = OPERATORS[type(node.ops[0])](value(node.left), value(node.comparators[0]))
            return np.asarray(compared, dtype=np.float64)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            name = node.func.id
            if name == LAG:
                return lagged(node)
            if len(node.args) == 1 and name in STATEFUL:
                return stateful(name, value(node.args[0]), ast.unparse(node))
            if len(node.args) == 1 and name in FUNCTIONS:
                return FUNCTIONS[name](value(node.args[0]))
        known = ", ".join(sorted([*FUNCTIONS, *STATEFUL, LAG, CATEGORY]))
        raise InputError(
            f"features: '{ast.unparse(node)}' is not known; the functions are {known}, each of one argument."
        )

    with np.errstate(all="ignore"):
        return np.asarray(value(node), dtype=np.float64)


def _refused(formula: str, reason: str) -> InputError:
    return InputError(f"features: the formula '{formula}' cannot be read: {reason}.")
