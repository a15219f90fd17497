"""Times, dates and durations as users write them."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from icb_pymc.data.times import format_time, length_of_time, time_within
from icb_pymc.errors import InputError

DATES = np.array(["2001-01-01", "2003-01-01"], "datetime64[ns]")
NUMBERS = np.array([1, 9])


@pytest.mark.parametrize(
    "moment",
    [
        "2002-02-27",
        " 2002-02-27 ",
        "2002-02-27T00:00",
        "2002-02-27 00:00:00",
        "2002-02-27T01:00+01:00",
        date(2002, 2, 27),
        datetime(2002, 2, 27),
        datetime(2002, 2, 27, tzinfo=UTC),
        pd.Timestamp("2002-02-27"),
        np.datetime64("2002-02-27"),
        np.array("2002-02-27", "datetime64[D]"),
        xr.DataArray(np.datetime64("2002-02-27", "ns")),
    ],
    ids=repr,
)
def test_iso_dates_and_date_objects_become_dates_of_the_log(moment):
    assert time_within(DATES, moment) == np.datetime64("2002-02-27")


@pytest.mark.parametrize(
    "moment",
    [
        "09/05/2002",
        "27 February 2002",
        "2002",
        "2002-02",
        "2002-02-30",
        "2002-02-27 soon",
        "20020227",
        "now",
        "NaT",
        "",
        2002,
        2002.5,
        True,
        None,
        pd.NaT,
        np.datetime64("NaT"),
        np.nan,
        ["2002-02-27"],
    ],
    ids=repr,
)
def test_anything_else_is_refused_on_a_dated_log(moment):
    with pytest.raises(InputError, match=r"^time '.*': the decisions are dated, so give a date like 2002-02-27\.$"):
        time_within(DATES, moment)


@pytest.mark.parametrize(
    "moment", [9, "9", " 9 ", 9.0, np.int64(9), np.float32(9), np.array(9), xr.DataArray(9)], ids=repr
)
def test_whole_numbers_become_numbers_of_the_log(moment):
    value = time_within(NUMBERS, moment)
    assert value == 9
    assert type(value) is int


@pytest.mark.parametrize(
    "moment",
    [
        2.9,
        "2.9",
        np.nan,
        np.inf,
        True,
        np.True_,
        None,
        pd.NaT,
        "soon",
        "2002-02-27",
        date(2002, 2, 27),
        datetime(2002, 2, 27),
        pd.Timestamp("2002-02-27"),
        np.datetime64("2002-02-27"),
        np.timedelta64(5, "D"),
        [5],
    ],
    ids=repr,
)
def test_anything_else_is_refused_on_a_numbered_log(moment):
    with pytest.raises(
        InputError, match=r"^time '.*': the decisions are numbered, not dated, so give a whole number\.$"
    ):
        time_within(NUMBERS, moment)


def test_times_are_formatted_as_days_or_numbers():
    assert [format_time(DATES[0]), format_time(NUMBERS[1]), format_time(4)] == ["2001-01-01", "t = 9", "t = 4"]


@pytest.mark.parametrize("length", ["36h", timedelta(hours=36), pd.Timedelta("36h"), np.timedelta64(36, "h")], ids=repr)
def test_durations_are_texts_with_a_unit_or_timedeltas(length):
    assert length_of_time(DATES, length) == np.timedelta64(36, "h")


def test_a_length_on_a_numbered_log_is_a_number():
    assert length_of_time(NUMBERS, 5) == 5


@pytest.mark.parametrize("length", ["5", 5, "-5D", "soon", "", None, pd.NaT, timedelta(days=-5)], ids=repr)
def test_a_length_on_a_dated_log_needs_a_unit(length):
    with pytest.raises(InputError, match=r"before .*: the decisions are dated"):
        length_of_time(DATES, length, "before")


@pytest.mark.parametrize("length", ["5D", "0", "-1", "inf", "nan", timedelta(days=5), None, True], ids=repr)
def test_a_length_on_a_numbered_log_must_be_a_positive_number(length):
    with pytest.raises(InputError, match=r"unit of time .*: the decisions are not dated"):
        length_of_time(NUMBERS, length)


@pytest.mark.parametrize(("time", "moment"), [(DATES, "2000-12-31"), (NUMBERS, 10)])
def test_times_outside_the_log_are_refused(time, moment):
    with pytest.raises(InputError, match="lies outside the decisions"):
        time_within(time, moment)
