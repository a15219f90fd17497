"""A dynamic logit (alpha = 1, rho = belief, one scale per feature) by PsyTrack and by this package: its evidence."""

import time
from typing import Any

import numpy as np
import xarray as xr

START_DEVIATION = 16.0


def by_psytrack(decisions: xr.Dataset) -> dict[str, float]:
    """PsyTrack's decoupled Laplace method."""
    import psytrack

    difference, first_chosen = _two_alternatives(decisions)
    names = [f"f{i:02d}" for i in range(difference.shape[1])]
    inputs = {name: difference[:, [i]] for i, name in enumerate(names)}
    data = {"y": np.where(first_chosen, 2, 1), "inputs": inputs}
    hyper = {"sigInit": START_DEVIATION, "sigma": [2.0**-4] * len(names)}
    started = time.perf_counter()
    _, evidence, _, _ = psytrack.hyperOpt(data, hyper, dict.fromkeys(names, 1), ["sigma"], hess_calc=None)
    return {"seconds": time.perf_counter() - started, "log_evidence": float(evidence)}


def by_laplace(decisions: xr.Dataset) -> dict[str, float]:
    """`fit(method="laplace")` of NB-ICB with the same settings and flat priors on the scales."""
    import pymc as pm

    from icb_pymc.sample.fitting import fit

    features = decisions.sizes["feature"]
    settings: dict[str, Any] = {
        "alpha": 1.0,
        "sampling_covariance": 0.0,
        "start_covariance": START_DEVIATION**2,
        "innovation_covariance": pm.HalfFlat.dist(shape=features),
    }
    started = time.perf_counter()
    result = fit(
        "nb_icb",
        decisions,
        method="laplace",
        draws=1,
        log_likelihood=False,
        progressbar=False,
        hyperparameters=settings,
    )
    return {"seconds": time.perf_counter() - started, "log_evidence": float(result.attrs["log_evidence"])}


def _two_alternatives(decisions: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    context = decisions["context"].values
    return context[:, 0] - context[:, 1], decisions["chosen"].values == 0
