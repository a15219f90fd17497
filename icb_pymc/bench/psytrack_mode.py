"""PsyTrack's model by PsyTrack and by this package: a dynamic logit whose scales maximise the evidence, on its rat."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

START_DEVIATION, FIRST_DEVIATION = 16.0, 2.0**-4
# The weights of the three models, and whether they jump between sessions.
FEW, MANY = ("bias", "s1", "s2"), ("bias", "s1", "s2", "s_avg", "h", "c")
MODELS = {"K = 3": (FEW, False), "K = 6": (MANY, False), "K = 3, sessions": (FEW, True)}


class Maximum(NamedTuple):
    """The greatest evidence found.

    Attributes
    ----------
    seconds : float
        Of CPU time.
    log_evidence : float
    deviations, session_deviations : (K,), optional
        Standard deviations of an innovation and of a jump between sessions, where they were learnt.
    """

    seconds: float
    log_evidence: float
    deviations: np.ndarray | None = None
    session_deviations: np.ndarray | None = None


def rat(weights: Sequence[str], trials: int) -> xr.Dataset:
    """The first trials of rat W053, which PsyTrack ships: one candidate has the stimuli, the other has zeros."""
    import psytrack

    from icb_pymc.data.decisions import from_arrays

    # Objects within arrays: a file of the package's own, which is as trusted as its code.
    with np.load(Path(psytrack.__file__).parent / "examples" / "sampleRatData.npz", allow_pickle=True) as file:
        animal = file["D"].item()
    one = np.ones((trials, 1))
    shown = np.column_stack([animal["inputs"].get(name, one)[:trials, 0] for name in weights])
    session = np.repeat(np.arange(len(animal["dayLength"])), animal["dayLength"])[:trials]
    context = np.stack([np.zeros_like(shown), shown], axis=1)
    return from_arrays(context, animal["y"][:trials].astype(int) - 1, features=list(weights), session=session)


def by_psytrack(decisions: xr.Dataset, with_sessions: bool) -> Maximum:
    """PsyTrack's decoupled Laplace method."""
    import psytrack

    shown = np.diff(decisions["context"].values, axis=1)[:, 0]
    # PsyTrack sorts weights by name, and makes a constant of the name `bias`.
    inputs = {f"w{i}": column[:, None] for i, column in enumerate(shown.T)}
    data = {"y": decisions["chosen"].values + 1, "inputs": inputs}
    data["dayLength"] = np.unique(decisions["session"], return_counts=True)[1]
    scales = [FIRST_DEVIATION] * len(inputs)
    hyper = {"sigInit": START_DEVIATION, "sigma": scales, "sigDay": scales if with_sessions else None}
    learnt = ["sigma", "sigDay"] if with_sessions else ["sigma"]
    started = time.process_time()
    best, evidence, _, _ = psytrack.hyperOpt(data, hyper, dict.fromkeys(inputs, 1), learnt, hess_calc=None)
    seconds = time.process_time() - started
    return Maximum(seconds, float(evidence), *(np.array(best[name]) for name in learnt))


def by_laplace(decisions: xr.Dataset, with_sessions: bool) -> Maximum:
    """`fit(method="laplace")` of NB-ICB with the same settings and flat priors on the variances."""
    import pymc as pm

    flat = [pm.HalfFlat.dist(shape=decisions.sizes["feature"]) for _ in range(1 + with_sessions)]
    return _fitted(decisions, *flat)


def at_maximum(decisions: xr.Dataset, maximum: Maximum) -> float:
    """This package's evidence where another's search ended."""
    found = [deviations**2 for deviations in maximum[2:] if deviations is not None]
    return _fitted(decisions, *found).log_evidence


def _fitted(decisions: xr.Dataset, innovation: Any, session: Any = 0.0) -> Maximum:
    from icb_pymc.results.inference_data import group
    from icb_pymc.sample.fitting import fit

    variances = {"innovation_covariance": innovation, "session_covariance": session}
    settings = {"alpha": 1.0, "sampling_covariance": 0.0, "start_covariance": START_DEVIATION**2, **variances}
    options: dict[str, Any] = {"method": "laplace", "draws": 1, "log_likelihood": False, "progressbar": False}
    started = time.process_time()
    trace = fit("nb_icb", decisions, settings, **options)
    seconds = time.process_time() - started
    posterior = group(trace, "posterior")
    found = [np.sqrt(posterior[name].values.ravel()) for name in variances if name in posterior]
    return Maximum(seconds, float(trace.attrs["log_evidence"]), *found)
