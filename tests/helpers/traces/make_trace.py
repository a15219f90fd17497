"""Make the small trace of the installed PyMC line: run this file once on each line."""

from pathlib import Path

import numpy as np
import pymc as pm

from icb_pymc import fit, from_arrays, write_trace

rng = np.random.default_rng(0)
dates = np.array("2001-01-01", "datetime64[D]") + 30 * np.arange(12)
decisions = from_arrays(
    rng.normal(size=(12, 3, 2)),
    rng.integers(2, size=12),
    available=np.tile([True, True, False], (12, 1)),
    time=dates.astype("datetime64[ns]"),
    features=["age", "bilirubin"],
)
trace = fit("nb_icb", decisions, draws=10, tune=20, chains=2, seed=0, keep_latents=True, progressbar=False)
write_trace(trace, Path(__file__).parent / f"pymc_{pm.__version__.partition('.')[0]}.nc")
