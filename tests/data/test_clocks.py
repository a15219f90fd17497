"""How much time passes between decisions."""

import numpy as np
import pytest

from icb_pymc.data.clocks import elapsed_time
from icb_pymc.data.decisions import from_arrays
from icb_pymc.errors import InputError


def two_decisions(time):
    return from_arrays([[[1.0], [0.0]]] * 2, [0, 1], time=time)


def test_elapsed_time_is_one_step_per_decision_unless_a_unit_is_given():
    dates = np.array(["2002-01-01", "2003-01-01"], dtype="datetime64[ns]")
    assert elapsed_time(two_decisions(dates)).tolist() == [1.0]
    assert elapsed_time(two_decisions(dates), "73D").tolist() == [5.0]
    assert elapsed_time(two_decisions([3, 7]), "2").tolist() == [2.0]
    assert elapsed_time(two_decisions([3, 3]), "1").tolist() == [1e-3]


DATES = ["2002-01-01", "2003-01-01"]


@pytest.mark.parametrize(
    ("time", "unit"),
    [([3, 7], "30D"), ([3, 7], "0"), ([3, 7], "nan"), (DATES, "a while"), (DATES, "30"), (DATES, "-1D")],
)
def test_a_unit_that_does_not_fit_the_times_is_refused(time, unit):
    times = np.array(time, dtype="datetime64[ns]") if isinstance(time[0], str) else time
    with pytest.raises(InputError, match="unit of time"):
        elapsed_time(two_decisions(times), unit)
