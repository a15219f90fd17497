"""Times and lengths of time as people write them."""

import numpy as np
import pytest

from icb_pymc.data.times import format_time, length_of_time, time_within
from icb_pymc.errors import InputError

DATES = np.array(["2001-01-01", "2003-01-01"], "datetime64[ns]")
NUMBERS = np.array([1, 9])


def test_dates_and_numbers_are_told_in_the_time_of_the_log():
    assert time_within(DATES, "2002-02-27") == np.datetime64("2002-02-27")
    assert time_within(NUMBERS, "9") == 9
    assert [format_time(DATES[0]), format_time(NUMBERS[1]), format_time(4)] == ["2001-01-01", "t = 9", "t = 4"]
    assert length_of_time(DATES, "36h") == np.timedelta64(36, "h")
    assert length_of_time(NUMBERS, 5) == 5


@pytest.mark.parametrize("length", ["5", "-5D", "soon", ""])
def test_a_length_among_dates_needs_a_unit(length):
    with pytest.raises(InputError, match=r"before .*: the decisions are dated"):
        length_of_time(DATES, length, "before")


@pytest.mark.parametrize("length", ["5D", "0", "-1", "inf", "nan"])
def test_a_length_among_numbers_is_a_positive_number(length):
    with pytest.raises(InputError, match=r"unit of time .*: the decisions are not dated"):
        length_of_time(NUMBERS, length)


@pytest.mark.parametrize(("time", "moment"), [(DATES, "2000-12-31"), (NUMBERS, 10)])
def test_moments_outside_the_log_are_refused(time, moment):
    with pytest.raises(InputError, match="lies outside the decisions"):
        time_within(time, moment)
