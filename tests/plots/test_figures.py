"""What all plots have in common: they draw on the figure given, and take text from a trace literally."""

import warnings

import arviz as az
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from icb_pymc import fit, from_arrays, plots
from icb_pymc.assess.calibration import Check
from icb_pymc.errors import InputError, InputWarning

mpl.use("Agg")

# Matplotlib would stop at the first of these: as mathematics it is not complete.
NAMES = [r"$\frac{$", "_a$b$", "100 $", "inr"]
AGENTS = [r"$x_{$", "_b"]


@pytest.fixture(scope="module")
def odd_trace():
    """A trace of dated decisions of two agents, with dollar signs in every name."""
    rng = np.random.default_rng(0)
    dates = np.array("2001-01-01", "datetime64[ns]") + np.arange(40) * np.timedelta64(30, "D")
    contexts, chosen = rng.normal(size=(40, 2, 4)), rng.integers(2, size=40)
    decisions = from_arrays(contexts, chosen, time=dates, features=NAMES, agent=AGENTS * 20)
    options = {"draws": 30, "tune": 20, "chains": 2, "cores": 1, "seed": 0, "progressbar": False}
    trace = fit("nb_icb", decisions, **options)
    trace.attrs["model"] = r"$\model{$"
    return trace


def check_of(quantities):
    ranks = pd.DataFrame({name: np.linspace(0.01, 0.99, 50) for name in quantities})
    table = pd.DataFrame({"p_value": 0.9, "ess": 49.0, "verdict": ""}, index=quantities)
    return Check(r"$\model{$", (), ranks, table)


DRAW = {
    "importance": lambda trace, **on: plots.importance_over_time(trace, events={"2002-02-27": r"$\event{$"}, **on),
    "radar": lambda trace, **on: plots.radar(trace, at=["2001-01-05", "2003-12-01"], **on),
    "impact": lambda trace, **on: plots.impact(trace, {"2002-08-24": r"$\event{$"}, before="365D", after="365D", **on),
    "weights": lambda trace, **on: plots.weights_over_time(trace, events={"2002-02-27": r"$\event{$"}, **on),
    "agents": lambda trace, **on: plots.importance_by_agent(trace, events={"2002-02-27": r"$\event{$"}, **on),
    "diagnosis": lambda trace, **on: plots.diagnosis_picture(trace, **on),
    "choices": lambda trace, **on: plots.choices_picture(trace, **on),
    "calibration": lambda trace, **on: plots.calibration_picture(check_of(NAMES), **on),
}


@pytest.mark.filterwarnings("ignore::icb_pymc.errors.InputWarning")
@pytest.mark.parametrize("name", DRAW)
@pytest.mark.parametrize("layout", [None, "constrained"])
def test_a_plot_is_drawn_on_the_subfigure_given_and_nowhere_else(name, layout, odd_trace):
    figure = plt.figure(figsize=(16, 6), layout=layout)
    left, right = figure.subfigures(1, 2)
    other = left.subplots()
    other.plot([0, 1], [0, 1])
    before = [(label.get_rotation(), label.get_text()) for label in other.get_xticklabels()]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", InputWarning)
        assert DRAW[name](odd_trace, figure=right) is right
        figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert left.axes == [other]
    assert len(right.axes) > 0
    assert [label.get_rotation() for label in other.get_xticklabels()] == [rotation for rotation, _ in before]


@pytest.mark.filterwarnings("ignore::icb_pymc.errors.InputWarning")
@pytest.mark.parametrize("name", DRAW)
def test_without_a_figure_one_is_made_and_names_appear_as_they_are(name, odd_trace):
    figure = DRAW[name](odd_trace)
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()
    texts = [text.get_text() for text in figure.findobj(Text)]
    # The ticks of a logarithmic axis are mathematics of matplotlib's own.
    assert all(text.count("$") == text.count(r"\$") for text in texts if "mathdefault" not in text)


@pytest.mark.filterwarnings("ignore::icb_pymc.errors.InputWarning")
@pytest.mark.parametrize("name", ["importance", "radar", "impact", "agents"])
def test_the_probability_of_bands_is_that_of_arviz_unless_it_is_given(name, odd_trace):
    setting = "stats.ci_prob" if "stats.ci_prob" in az.rcParams else "stats.hdi_prob"
    with az.rc_context({setting: 0.73}):
        assert "73% credible" in DRAW[name](odd_trace).get_supxlabel()
    assert "55% credible" in DRAW[name](odd_trace, ci_prob=0.55).get_supxlabel()
    with pytest.raises(InputError, match="ci_prob=90: give a number above 0"):
        DRAW[name](odd_trace, ci_prob=90)
