"""The picture of dates of change, read back from the drawing."""

import matplotlib as mpl
import numpy as np
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc.assess.changes import changes as estimate_changes
from icb_pymc.plots.dates_of_change import changes

mpl.use("Agg")


def decided(steps, at, features=2):
    arrivals = make_arrivals(steps, 2, features, seed=1)
    rho = np.where(np.arange(steps)[:, None] < at, np.eye(features)[0], -np.eye(features)[1])
    utility = (4.0 * arrivals["context"].values * rho[:, None]).sum(axis=-1)
    chosen = (utility + np.random.default_rng(1).gumbel(size=utility.shape)).argmax(axis=1)
    return arrivals.assign(chosen=("time", chosen), true_belief=(("time", "feature"), rho))


@pytest.fixture(scope="module")
def result():
    return estimate_changes(decided(150, 80), random_seed=0, draws=50)


def vertical_lines(ax, style):
    lines = [line for line in ax.get_lines() if line.get_linestyle() == style and len(set(line.get_xdata())) == 1]
    return [line.get_xdata()[0] for line in lines]


def test_dates_are_lines_and_true_dates_are_dotted(result):
    figure = changes(result)
    for ax in figure.axes:
        assert [date.date for date in result.dates] == vertical_lines(ax, "-")
        assert vertical_lines(ax, ":") == [81]
    assert "t = " in figure.axes[0].get_title()
    assert "dotted: true dates" in figure.get_supxlabel()


def test_weights_are_medians_by_block(result):
    ax = changes(result).axes[1]
    weights = (result.weights * result.weights["spread"]).median("draw")
    for name, line in zip(weights["feature"].values, ax.get_lines(), strict=False):
        np.testing.assert_allclose(line.get_ydata()[:-1], weights.sel(feature=name))
        assert line.get_label() == str(name).replace("_", " ")
    assert len(ax.collections) == 2


def test_many_features_have_no_bands_and_a_given_figure_is_drawn_on():
    import matplotlib.pyplot as plt

    whole = plt.figure(figsize=(10, 6), layout="constrained")
    part = whole.subfigures(1, 2)[0]
    result = estimate_changes(decided(60, 60, features=5), random_seed=0, draws=20, length=10)
    assert changes(result, figure=part) is part
    assert len(part.axes) == 2
    assert len(part.axes[1].collections) == 0
    assert "no change reported" in part.axes[0].get_title()


def test_dates_of_a_dated_log_are_on_the_axis():
    days = np.array("2001-01-01", "datetime64[ns]") + np.arange(150) * np.timedelta64(1, "D")
    figure = changes(estimate_changes(decided(150, 80).assign_coords(time=days), random_seed=0, draws=20))
    assert figure.get_supxlabel().startswith("date")
    assert "2001-03-" in figure.axes[0].get_title()
