"""Gaps in time are drawn as gaps, and sessions as lines, in every plot over time."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers.made_traces import made_trace

from icb_pymc.data.sessions import with_sessions
from icb_pymc.plots import importance_by_agent, importance_over_time, weights_by_agent, weights_over_time
from icb_pymc.plots.common import draw_band, draw_line, gap_positions
from icb_pymc.results.inference_data import from_groups, group

mpl.use("Agg")

DRAW = [importance_over_time, weights_over_time, importance_by_agent, weights_by_agent]


def dated(days):
    return np.datetime64("2001-01-01", "ns") + np.asarray(days) * np.timedelta64(1, "D")


def trace_at(days, session=None, agents=None):
    """A made trace whose decisions are at these days."""
    trace = made_trace(steps=len(days), draws=20, dates=True, label_agents=agents)
    at = {"time": dated(days)}
    groups = {name: group(trace, name).assign_coords(at) for name in ("posterior", "observed_data", "constant_data")}
    if session is not None:
        groups["constant_data"] = with_sessions(groups["constant_data"], session)
    return from_groups(groups, trace.attrs)


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (dated([0, 1, 2, 3, 200, 201, 202]), [4]),
        (dated([0, 7, 14, 21, 28]), []),
        # Many decisions on each date, and a date every week.
        (dated(np.repeat(np.arange(0, 140, 7), 5)), []),
        (np.arange(1, 500), []),
        (np.array([1, 2, 3, 50, 100, 101, 102]), [3, 4]),
        (dated([3]), []),
    ],
)
def test_a_gap_is_long_both_in_the_log_and_for_its_decisions(time, expected):
    np.testing.assert_array_equal(gap_positions(time), expected)


def test_decisions_at_random_times_have_no_gaps():
    rng = np.random.default_rng(0)
    for steps in (50, 500, 5000):
        assert len(gap_positions(np.cumsum(rng.exponential(size=steps)))) == 0


def test_lines_and_bands_are_interrupted_and_a_time_alone_is_a_dot():
    _, ax = plt.subplots()
    time, values = np.array([1, 2, 3, 50, 100, 101, 102]), np.arange(7.0)
    draw_line(ax, time, values)
    draw_band(ax, time, values - 1, values + 1)
    (line,) = ax.get_lines()
    drawn = line.get_ydata()
    np.testing.assert_array_equal(drawn[np.isfinite(drawn)], values)
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(drawn)), [3, 5])
    assert [line.get_xdata()[at] for at in line.get_markevery()] == [50]
    assert len(ax.collections) == 3
    plt.close("all")


@pytest.mark.parametrize("draw", DRAW)
def test_every_plot_over_time_has_gaps_and_sessions(draw):
    days = [*range(20), *range(400, 420)]
    session = np.repeat(["one", "two", "three", "four"], 10)
    trace = trace_at(days, session, agents=["Ada", "Bo"] * 20)
    figure = draw(trace)
    ax = figure.axes[0]
    begins = [line.get_xdata()[0] for line in ax.get_lines() if line.get_gid() == "session"]
    np.testing.assert_array_equal(np.array(begins, "datetime64[ns]"), dated([10, 400, 410]))
    labelled = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    assert labelled
    assert all(np.isnan(line.get_ydata()).sum() == 1 for line in labelled)
    assert "vertical lines: sessions" in figure.get_supxlabel()
    plt.close("all")


def test_without_gaps_and_sessions_there_is_one_unbroken_line():
    figure = weights_over_time(trace_at(range(40)))
    line = figure.axes[0].get_lines()[0]
    np.testing.assert_array_equal(line.get_xdata(), dated(range(40)))
    assert "sessions" not in figure.get_supxlabel()
    plt.close("all")
