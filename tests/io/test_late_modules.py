"""PyMC imported without what only figures need."""

import subprocess
import sys
from importlib.metadata import version

import pytest

pytestmark = pytest.mark.skipif(not version("arviz").startswith("0."), reason="a later ArviZ imports less by itself")


def run(code: str) -> str:
    started = "from icb_pymc.io.late_modules import import_pymc\nimport_pymc()\nimport sys\n"
    finished = subprocess.run([sys.executable, "-c", started + code], capture_output=True, text=True, check=True)
    return finished.stdout.strip()


def test_figures_are_not_imported_until_they_are_asked_for():
    unwanted = ("arviz.plots", "matplotlib.pyplot", "scipy.signal")
    code = f"""
print([name for name in {unwanted} if name in sys.modules])
import arviz, pymc
from arviz import plot_trace
import scipy.signal
print(pymc.plot_trace is plot_trace is pymc.plots.plot_trace is arviz.plots.plot_trace)
print(hasattr(arviz, "no_such_name"), hasattr(pymc, "no_such_name"))
print(arviz.utils.plt.figure.__module__, scipy.signal.convolve([1, 2], [1, 1]).tolist())
"""
    printed = run(code).splitlines()
    assert printed == ["[]", "True", "False False", "matplotlib.pyplot [1, 3, 2]"]


def test_statistics_are_not_imported_until_they_are_asked_for():
    unwanted = ("arviz.stats", "scipy.stats", "scipy.optimize", "IPython", "dask")
    code = f"""
print([name for name in {unwanted} if name in sys.modules])
import arviz, numpy, pymc
from arviz import rhat
print(pymc.rhat is rhat is pymc.stats.rhat is arviz.stats.rhat, pymc.stats.compute_log_likelihood.__name__)
print(pymc.draw(pymc.InverseGamma.dist(3.0, 1.0), random_seed=0) > 0)
triangle = pymc.Interpolated.dist(numpy.arange(3.0), numpy.array([0.0, 1.0, 0.0]))
print(triangle.owner.inputs[4].data.tolist())
import dask, xarray
"""
    printed = run(code).splitlines()
    assert printed[:2] == ["[]", "True compute_log_likelihood"]
    assert printed[2:] == ["True", "[0.0, 0.5, 1.0]"]
