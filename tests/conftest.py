"""Data and fits shared by the tests, so that nothing is simulated or fitted twice."""

import gc
import sys
from collections.abc import Iterator

import numpy as np
import pymc  # noqa: F401  (its progress bar keeps the stderr it is imported with: not that of one captured test)
import pytensor
import pytest
import xarray as xr
from helpers.arrivals import make_arrivals
from helpers.graphs import graphs_compiled, graphs_in_python
from helpers.settings import NB_ICB

# Each variable of a graph notes the lines that made it, which is a fifth of the time that a small model takes.
pytensor.config.traceback__limit = 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Only tests marked `compiled` or `slow` compile graphs; kernels are compiled for all."""
    compiled = item.get_closest_marker("compiled") or item.get_closest_marker("slow")
    with graphs_compiled() if compiled else graphs_in_python():
        return (yield)


def pytest_collection_finish() -> None:
    """What is imported stays: each search for garbage would go through it again, which is another fifth."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_figure_left_open():
    """Pyplot keeps each figure that a test has made until it is closed."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def arrivals() -> xr.Dataset:
    """120 arrivals of three candidates, a fifth of the slots empty."""
    return make_arrivals(120, 3, 4, share_available=0.8)


@pytest.fixture(scope="session")
def dated_decisions() -> xr.Dataset:
    """Forty dated decisions of a Stepping agent, truth included."""
    from icb_pymc import simulate

    decisions = simulate("stepping", arrivals=make_arrivals(40, 2, 4, seed=3), seed=3)
    dates = np.array("2001-01-01", "datetime64[ns]") + np.arange(40) * np.timedelta64(30, "D")
    return decisions.assign_coords(time=dates)


@pytest.fixture(scope="session")
def trace(dated_decisions):
    """A small NB-ICB fit, with rho kept."""
    from icb_pymc import fit

    return fit(
        "nb_icb", dated_decisions, NB_ICB, draws=120, tune=50, chains=2, seed=1, keep_latents=True, progressbar=False
    )
