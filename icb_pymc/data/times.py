"""Times, dates and lengths of time as people write them, told in the time of a log of decisions."""

from typing import Any

import numpy as np

from icb_pymc.errors import InputError


def time_within(time: np.ndarray, moment: Any) -> Any:
    """A date like ``"2002-02-27"`` or a number as a value of `time`, between its first and its last."""
    at = _as_time(time, moment)
    if not time[0] <= at <= time[-1]:
        raise InputError(f"{moment} lies outside the decisions, {format_time(time[0])} to {format_time(time[-1])}.")
    return at


def format_time(moment: Any) -> str:
    """A value of a log's time for people: the day, or t = its number."""
    dated = np.asarray(moment).dtype.kind == "M"
    return str(np.datetime_as_string(moment, unit="D")) if dated else f"t = {moment}"


def length_of_time(time: np.ndarray, length: Any, name: str = "unit of time") -> Any:
    """A length like ``"30D"`` where `time` holds dates, a positive number where not.

    Parameters
    ----------
    time : array
        The time of a log of decisions.
    length : str or number
    name : str
        What to call it in error messages.
    """
    return _duration(str(length), name) if time.dtype.kind == "M" else _number(str(length), name)


def _as_time(time: np.ndarray, moment: Any) -> Any:
    import pandas as pd

    try:
        return pd.Timestamp(str(moment)).to_datetime64() if time.dtype.kind == "M" else int(moment)
    except ValueError:
        kind = "a date like 2002-02-27" if time.dtype.kind == "M" else "a whole number"
        raise InputError(f"time '{moment}': give {kind}, as in the decisions.") from None


def _number(text: str, name: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not 0 < number < np.inf:
        raise InputError(f"{name} {text!r}: the decisions are not dated, so give a positive number.")
    return number


def _duration(text: str, name: str) -> np.timedelta64:
    import pandas as pd

    try:
        duration = pd.Timedelta(text)
        # A bare number would be taken for nanoseconds.
        is_duration = duration > pd.Timedelta(0) and not text.strip()[-1].isdigit()
    except ValueError:
        is_duration = False
    if not is_duration:
        raise InputError(f"{name} {text!r}: the decisions are dated, so write it like '1D', '30D' or '12h'.")
    return duration.to_timedelta64()
