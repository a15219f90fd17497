"""What the picture of a population shows, read back from the drawing."""

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr

from icb_pymc.errors import InputError
from icb_pymc.plots.population import parameters_by_agent
from icb_pymc.results.inference_data import from_groups

mpl.use("Agg")


@pytest.fixture(scope="module")
def trace():
    rng = np.random.default_rng(0)
    posterior = xr.Dataset(
        {
            "learning_rate": (("chain", "draw", "agent"), rng.uniform(size=(2, 40, 3))),
            "learning_rate_population": (("chain", "draw"), rng.uniform(size=(2, 40))),
            "other": (("chain", "draw"), rng.uniform(size=(2, 40))),
        },
        coords={"agent": ["Ada", "Bo", "Cy"]},
    )
    truth = xr.Dataset({"true_learning_rate": ("agent", [0.1, 0.5, 0.9])})
    return from_groups({"posterior": posterior, "constant_data": truth}, {"model": "delta"})


def test_points_are_the_medians_of_agents_and_the_line_that_of_the_population(trace):
    figure = parameters_by_agent(trace, ci_prob=0.8)
    (ax,) = figure.axes
    lines = {line.get_label(): line for line in ax.get_lines()}
    draws = trace["posterior"]["learning_rate"]
    np.testing.assert_allclose(lines["agent"].get_xdata(), draws.median(("chain", "draw")))
    np.testing.assert_allclose(lines["truth"].get_xdata(), [0.1, 0.5, 0.9])
    population = trace["posterior"]["learning_rate_population"]
    np.testing.assert_allclose(lines["population"].get_xdata(), float(population.median()))
    intervals = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(intervals.T, draws.quantile([0.1, 0.9], ("chain", "draw")))


def test_traces_without_such_parameters_are_refused(trace):
    with pytest.raises(
        InputError, match="'other' does not differ between agents in this trace; there is learning_rate"
    ):
        parameters_by_agent(trace, parameters=["other"])
    with pytest.raises(InputError, match="declare them by of_each_agent"):
        parameters_by_agent(from_groups({"posterior": xr.Dataset()}, {}))
