"""Times, dates and durations as users write them, converted to the time of a log of decisions."""

import re
from datetime import date, timedelta
from typing import Any

import numpy as np

from icb_pymc.errors import InputError

ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\S+)?")
CALENDAR_LENGTH = re.compile(r"(\d+)\s*([yYM])")
WHOLE_NUMBER = re.compile(r"[+-]?\d+")


def time_within(time: np.ndarray, moment: Any) -> Any:
    """Convert a moment to a value of `time` between its first and last.

    Parameters
    ----------
    time : array
        The time of a log of decisions.
    moment : str, date, datetime, np.datetime64 or int
        Where `time` holds dates, an ISO date like ``"2002-02-27"`` or a date object; where it does not, a whole number
        or the text of one.

    Raises
    ------
    InputError
        If it is neither, or lies outside the log.
    """
    value = _as_date(moment) if time.dtype.kind == "M" else _as_number(moment)
    if not time[0] <= value <= time[-1]:
        raise InputError(f"{moment} lies outside the decisions, {format_time(time[0])} to {format_time(time[-1])}.")
    return value


def format_time(moment: Any) -> str:
    """A value of a log's time as text: the day, or 't = ' and its number."""
    dated = np.asarray(moment).dtype.kind == "M"
    return str(np.datetime_as_string(moment, unit="D")) if dated else f"t = {moment}"


def length_of_time(time: np.ndarray, length: Any, name: str = "unit of time") -> Any:
    """A duration like ``"30D"`` where `time` holds dates, a positive number where it does not.

    Parameters
    ----------
    time : array
        The time of a log of decisions.
    length : str, timedelta or number
    name : str
        What to call it in error messages.

    Raises
    ------
    InputError
        If it is not a positive length of the kind that `time` needs.
    """
    return _as_duration(length, name) if time.dtype.kind == "M" else _as_positive_number(str(length), name)


def time_shifted(time: np.ndarray, moment: Any, length: Any, sign: int, name: str = "length") -> Any:
    """The moment that lies a length of time after (`sign` 1) or before (-1) another.

    Parameters
    ----------
    time : array
        The time of a log of decisions.
    moment : datetime64 or int
        A value of that time.
    length : str, timedelta or number
        Where `time` holds dates, like ``"2y"``, ``"24M"`` (calendar years and months), ``"8W"`` or ``"30D"``; otherwise
        a positive number.
    sign : int
    name : str
        What to call the length in error messages.

    Raises
    ------
    InputError
        If it is not a positive length of the kind that `time` needs.

    Examples
    --------
    >>> time_shifted(np.array(["2002-01-01"], "datetime64[ns]"), np.datetime64("2004-02-29"), "2y", -1)
    np.datetime64('2002-02-28T00:00:00')
    >>> time_shifted(np.arange(10), 5, 3, 1)
    8.0
    """
    if time.dtype.kind != "M":
        return moment + sign * length_of_time(time, length, name)
    calendar = CALENDAR_LENGTH.fullmatch(str(length).strip())
    if calendar is None:
        return moment + sign * length_of_time(time, length, name)
    import pandas as pd

    number = int(calendar[1])
    if number < 1:
        raise InputError(f"{name} {str(length)!r}: give a positive length, like '2y', '24M', '8W' or '30D'.")
    offset = pd.DateOffset(months=number) if calendar[2] == "M" else pd.DateOffset(years=number)
    try:
        return (pd.Timestamp(moment) + sign * offset).to_datetime64()
    except (ValueError, OverflowError):
        raise InputError(f"{name} {str(length)!r} reaches beyond the calendar; give a shorter length.") from None


def _as_date(moment: Any) -> np.datetime64:
    import pandas as pd

    value = _without_array(moment)
    # Of other texts pandas would guess the order of day and month, and it would read a bare number as a year.
    is_iso = isinstance(value, str) and ISO_DATE.fullmatch(value.strip()) is not None
    try:
        stamp = pd.Timestamp(value) if is_iso or isinstance(value, (date, np.datetime64)) else pd.NaT
    except ValueError:
        stamp = pd.NaT
    if stamp is pd.NaT:
        raise InputError(f"time {_quote(value)}: the decisions are dated, so give a date like 2002-02-27.")
    return stamp.to_datetime64()


def _as_number(moment: Any) -> int:
    value = _without_array(moment)
    # bool is an int in Python, and numpy counts timedelta64 among its integers.
    is_other = isinstance(value, (bool, np.timedelta64))
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not is_other
    is_whole = is_number and float(value).is_integer()
    if not is_whole and not (isinstance(value, str) and WHOLE_NUMBER.fullmatch(value.strip())):
        raise InputError(f"time {_quote(value)}: the decisions are numbered, not dated, so give a whole number.")
    return int(value)


def _without_array(moment: Any) -> Any:
    """The scalar in an array without dimensions, such as one element of a DataArray; anything else as it is."""
    return np.asarray(moment)[()] if getattr(moment, "ndim", None) == 0 else moment


def _quote(value: Any) -> str:
    return f"'{value}'"


def _as_positive_number(text: str, name: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not 0 < number < np.inf:
        raise InputError(f"{name} {text!r}: the decisions are not dated, so give a positive number.")
    return number


def _as_duration(length: Any, name: str) -> np.timedelta64:
    import pandas as pd

    is_timedelta = isinstance(length, (timedelta, np.timedelta64))
    text = str(length)
    try:
        duration = pd.Timedelta(length if is_timedelta else text)
        # A bare number would be read as nanoseconds.
        has_unit = is_timedelta or not text.strip()[-1:].isdigit()
    except ValueError:
        has_unit = False
    if not (has_unit and duration > pd.Timedelta(0)):
        raise InputError(
            f"{name} {text!r}: the decisions are dated, so write it like '2y', '24M', '8W', '30D' or '12h'."
        )
    return duration.to_timedelta64()
