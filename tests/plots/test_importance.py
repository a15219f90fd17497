"""What the pictures show, read back from the drawing."""

import matplotlib as mpl
import numpy as np
import pytest

from icb_pymc.assess.metrics import relative_importance
from icb_pymc.errors import InputError
from icb_pymc.plots.importance import importance_over_time
from icb_pymc.plots.radars import radar
from icb_pymc.results.inference_data import group

mpl.use("Agg")


def test_the_line_is_the_median_importance_and_the_dotted_one_the_truth(trace, dated_decisions):
    figure = importance_over_time(trace, features=["feature_1"])
    estimate, truth = figure.axes[0].get_lines()[:2]
    importance = relative_importance(group(trace, "posterior")["belief"]).sel(feature="feature_1")
    np.testing.assert_allclose(estimate.get_ydata(), importance.median(("chain", "draw")))
    expected = relative_importance(dated_decisions["true_belief"]).sel(feature="feature_1")
    np.testing.assert_allclose(truth.get_ydata(), expected)


def test_dates_features_and_events_are_labelled(trace):
    figure = importance_over_time(trace, events={"2002-02-27": "MELD"})
    ax = figure.axes[0]
    assert [text.get_text().strip() for text in ax.texts] == ["MELD"]
    assert {entry.get_text() for entry in ax.get_legend().get_texts()} == {f"feature {i}" for i in range(4)}
    assert "date" in figure.get_supxlabel()
    assert "AutoDate" in type(ax.xaxis.get_major_locator()).__name__


def test_many_features_get_a_panel_each(trace):
    wide = group(trace, "posterior")["belief"]
    names = [f"weight_{i}" for i in range(6)]
    belief = wide.isel(feature=[0, 1, 2, 3, 0, 1]).assign_coords(feature=names)
    from icb_pymc.results.inference_data import from_groups

    figure = importance_over_time(from_groups({"posterior": belief.to_dataset(name="belief")}, trace.attrs))
    titles = [ax.get_title() for ax in figure.axes if ax.get_visible()]
    assert titles == [name.replace("_", " ") for name in names]


def test_radars_show_the_decision_nearest_to_each_date(trace):
    figure = radar(trace, at=["2001-01-05", "2003-12-01"])
    assert [ax.get_title() for ax in figure.axes] == ["at 2001-01-01", "at 2003-11-17"]
    importance = relative_importance(group(trace, "posterior")["belief"]).median(("chain", "draw"))
    drawn = figure.axes[0].get_lines()[0].get_ydata()
    np.testing.assert_allclose(drawn[:-1], importance.isel(time=0))


@pytest.mark.parametrize(
    ("draw", "options", "sentence"),
    [
        (importance_over_time, {"features": ["height"]}, "no feature 'height'"),
        (importance_over_time, {"events": {"1990-01-01": "MELD"}}, "lies outside the decisions"),
        (radar, {"at": ["soon"]}, "give a date"),
        (radar, {"at": ["2001-02-01"], "features": ["feature_0"]}, "at least three features"),
    ],
)
def test_invalid_arguments_are_refused(draw, options, sentence, trace):
    with pytest.raises(InputError, match=sentence):
        draw(trace, **options)


def test_colours_of_eight_features_are_all_different():
    from icb_pymc.plots.common import COLOURS

    assert len(set(COLOURS)) == 8


def test_a_posterior_that_keeps_fewer_times_is_drawn_with_the_truth_of_those_times(trace, dated_decisions):
    from icb_pymc.results.inference_data import from_groups

    posterior = group(trace, "posterior").isel(time=slice(None, None, 3))
    thinned = from_groups({"posterior": posterior, "constant_data": group(trace, "constant_data")}, trace.attrs)
    expected = relative_importance(dated_decisions["true_belief"]).isel(time=slice(None, None, 3))
    truth = importance_over_time(thinned, features=["feature_1"]).axes[0].get_lines()[1]
    np.testing.assert_allclose(truth.get_ydata(), expected.sel(feature="feature_1"))
    drawn = radar(thinned, at=["2003-12-01"]).axes[0].get_lines()[1].get_ydata()
    np.testing.assert_allclose(drawn[:-1], expected.isel(time=-1))


def test_few_panels_are_left_empty(trace):
    from icb_pymc.results.inference_data import from_groups

    belief = group(trace, "posterior")["belief"].isel(feature=[0, 1, 2, 3, 0, 1, 2, 3, 0])
    nine = belief.assign_coords(feature=[f"weight_{i}" for i in range(9)]).to_dataset(name="belief")
    figure = importance_over_time(from_groups({"posterior": nine}, trace.attrs))
    assert len(figure.axes) == 9
