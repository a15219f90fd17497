"""Cells of a table as values: flags, numbers, times, and names, with errors that name the row and the column."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from icb_pymc.errors import InputError

TRUE_TEXTS = ("1", "1.0", "true", "yes", "y")
FALSE_TEXTS = ("0", "0.0", "false", "no", "n")

# Dates are kept in nanoseconds, which reach from 1677 to 2262; whole numbers as far as floats hold each of them.
EARLIEST, LATEST = pd.Timestamp("1678-01-01", tz="UTC"), pd.Timestamp("2261-12-31", tz="UTC")
LARGEST_TIME = 2**53
# pandas would read a name of a day, such as 'now' and 'today', too.
STARTS_WITH_YEAR = r"\s*\d{4}"
TIME_ZONE = r"\d\d:?\d\d(?::?[\d.]+)?\s*(?:Z|[+-]\d\d:?(?:\d\d)?)\s*$"

Where = Callable[[int], str]
"""From the position of a row to how an error calls it: a line of a file, or a row of a DataFrame."""


def flags(column: pd.Series, name: str, where: Where) -> np.ndarray:
    """Whether cells say yes."""
    texts = column.astype(str).str.strip().str.lower()
    unknown = ~texts.isin([*TRUE_TEXTS, *FALSE_TEXTS])
    if unknown.any():
        position = first_of(unknown)
        raise InputError(
            f"{where(position)}: column '{name}' holds {format_value(column.iloc[position])}; "
            "write 1 for yes and 0 for no."
        )
    return texts.isin(TRUE_TEXTS).to_numpy()


def numbers_of(column: pd.Series, name: str, available: np.ndarray, where: Where) -> np.ndarray:
    """Cells as numbers; of candidates that are not available they may be missing."""
    if column.dtype.kind in "Mm":
        raise InputError(
            f"column '{name}' holds dates, which cannot be a feature; leave it out or convert it to a number."
        )
    numbers = pd.to_numeric(column, errors="coerce")
    missing = column.isna() | (column.astype(str).str.strip() == "")
    text = numbers.isna() & ~missing
    if (text & available).any():
        position = first_of(text & available)
        raise InputError(
            f"{where(position)}: feature column '{name}' holds {format_value(column.iloc[position])}, "
            f"which is not a number; take it as a category with features 'C({name})', or leave it out of the features."
        )
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    for problem, bad in (("missing", missing.to_numpy()), ("infinite", np.isinf(values))):
        if (bad & available).any():
            raise InputError(
                f"{where(first_of(bad & available))}: feature column '{name}' is {problem}; "
                "fill it in or drop the candidate."
            )
    return values


def times_of(column: pd.Series, name: str, where: Where) -> np.ndarray:
    """Cells as whole numbers or dates."""
    if column.isna().any():
        raise InputError(f"{where(first_of(column.isna()))}: column '{name}' is missing; give a number or a date.")
    if pd.api.types.is_bool_dtype(column):
        raise InputError(f"column '{name}' holds true and false; times are whole numbers or dates.")
    if pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=np.float64)
        is_whole = (np.abs(numbers) <= LARGEST_TIME) & (numbers == np.floor(numbers))
        if not is_whole.all():
            position = first_of(~is_whole)
            raise InputError(
                f"{where(position)}: column '{name}' holds {format_value(column.iloc[position])}; "
                "times are whole numbers or dates."
            )
        return numbers.astype(np.int64)
    _refuse_unclear_zones(column, name, where)
    # Times with several offsets, as across the start of summer time, are all converted to UTC.
    dates = pd.to_datetime(column, errors="coerce", utc=True, format=None if is_dated(column) else "ISO8601")
    is_date = dates.notna() & (is_dated(column) | column.astype(str).str.match(STARTS_WITH_YEAR))
    if not is_date.all():
        # In a column of numbers, what is none of them.
        others = pd.to_numeric(column, errors="coerce").isna() if not is_dated(column) else ~is_date
        position = first_of(others if 0 < others.sum() < is_date.size - others.sum() else ~is_date)
        raise InputError(
            f"{where(position)}: column '{name}' holds {format_value(column.iloc[position])}, "
            "which is neither a number nor a date written like 2002-02-27."
        )
    outside = (dates < EARLIEST) | (dates > LATEST)
    if outside.any():
        position = first_of(outside)
        raise InputError(
            f"{where(position)}: column '{name}' holds {format_value(column.iloc[position])}; "
            f"dates lie between {EARLIEST.year} and {LATEST.year}."
        )
    return dates.dt.tz_localize(None).to_numpy(dtype="datetime64[ns]")


def _refuse_unclear_zones(column: pd.Series, name: str, where: Where) -> None:
    """Of some moments with a time zone and some without, the order is not known."""
    if is_dated(column):
        return
    has_zone = column.astype(str).str.contains(TIME_ZONE, regex=True)
    if has_zone.any() and not has_zone.all():
        position = first_of(~has_zone)
        raise InputError(
            f"{where(position)}: column '{name}' holds {format_value(column.iloc[position])}, which has no time zone, "
            "but others have one; write all of them with it, or none."
        )


def is_dated(column: pd.Series) -> bool:
    """Whether a column holds dates."""
    return pd.api.types.is_datetime64_any_dtype(column)


def first_of(flags: Any) -> int:
    """The position of the first that is true."""
    return int(np.argmax(np.asarray(flags)))


def format_value(value: Any) -> str:
    """A cell as an error message shows it."""
    return repr(value) if isinstance(value, str) else str(value)


def is_empty(column: pd.Series) -> np.ndarray:
    """Whether cells are missing, or hold nothing but spaces."""
    if pd.api.types.is_numeric_dtype(column) or is_dated(column):
        return column.isna().to_numpy()
    return (column.isna() | (column.astype(str).str.strip() == "")).to_numpy()


def names_of(column: pd.Series) -> np.ndarray:
    """Cells as names: numbers that are whole without a decimal point, and nothing for an empty cell."""
    if pd.api.types.is_bool_dtype(column):
        column = column.astype(int)
    if pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        is_whole = bool((numbers[np.isfinite(numbers)] % 1 == 0).all())
        texts = [("" if np.isnan(n) else str(int(n)) if is_whole and np.isfinite(n) else str(n)) for n in numbers]
        return np.array(texts, dtype=str)
    return np.where(is_empty(column), "", column.astype(str).str.strip()).astype(str)


def in_order_of_names(names: np.ndarray) -> list[str]:
    """Different names in order: by size if all are numbers, else by the alphabet."""
    distinct = [str(name) for name in np.unique(names) if name != ""]
    try:
        return sorted(distinct, key=float)
    except ValueError:
        return distinct
