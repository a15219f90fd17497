"""The picture of an impact shows the numbers of `icb_pymc.impact`."""

import numpy as np
import pytest

from icb_pymc.assess.impact import impact as estimate_impact
from icb_pymc.plots.change_around_event import impact

WINDOWS = {"before": "365D", "after": "365D"}
pytestmark = pytest.mark.filterwarnings("ignore::icb_pymc.errors.InputWarning")


def test_means_of_both_windows_are_levels_and_every_change_has_its_interval(trace):
    rows = estimate_impact(trace, "2002-08-24", ci_prob=0.8, **WINDOWS).table.loc[0]
    course, changes = impact(trace, "2002-08-24", ci_prob=0.8, **WINDOWS).axes
    levels = {line.get_ydata()[0] for line in course.get_lines() if len(line.get_xdata()) == 2}
    for value in [*rows["before"], *rows["after"]]:
        assert min(abs(level - value) for level in levels) < 1e-12
    assert course.get_title() == "2002-08-24"
    intervals = [line.get_xdata() for line in changes.get_lines() if len(line.get_xdata()) == 2][: len(rows)]
    np.testing.assert_allclose(intervals, rows[["lower", "upper"]].values[::-1])
    labels = [label.get_text() for label in changes.get_yticklabels()]
    assert labels[-1] == f"feature 0: {rows.loc['feature_0', 'verdict']}"


def test_each_event_has_a_row_and_features_can_be_chosen(trace):
    figure = impact(trace, {"2001-08-24": "first", "2002-08-24": "second"}, features=["feature_1"])
    assert [ax.get_title() for ax in figure.axes[::2]] == ["first (2001-08-24)", "second (2002-08-24)"]
    assert len(figure.axes[1].get_yticks()) == 1
