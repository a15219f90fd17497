"""Fit a model to decisions; the result is an InferenceData that holds all that later steps need."""

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import xarray as xr

from icb_pymc import __version__
from icb_pymc.catalogue import described, find, settings
from icb_pymc.decisions import validate
from icb_pymc.errors import InputError
from icb_pymc.inference_data import InferenceData, from_groups, group
from icb_pymc.presets import Preset
from icb_pymc.steps.assign import sweep_for

SAMPLING: dict[str, Any] = {"draws": 1000, "tune": 1000, "chains": 4, "sweeps": 10, "kernel": "exact"}


def fit(
    model: str | Callable[..., pm.Model],
    decisions: xr.Dataset,
    *,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    cores: int | None = None,
    seed: int | None = None,
    preset: str | None = None,
    kernel: str | None = None,
    sweeps: int | None = None,
    keep_rho: bool = False,
    progressbar: bool = True,
    **hyperparameters: Any,
) -> InferenceData:
    """Sample the posterior of a model.

    Parameters
    ----------
    model : str or callable
        Name in the catalogue, or a function ``decisions -> pm.Model``.
    decisions : Dataset
    draws, tune, chains, cores : int, optional
        As in `pm.sample`; by default 1000, 1000, 4, and all the cores that this process may use.
    seed : int, optional
        Same seed, same result, whatever the number of cores.
    preset : {"paper"}, optional
        Hyperparameters and sampler as in the published experiments; what else is given goes before them.
    kernel : {"exact", "paper"}, optional
        How rho is sampled, see `RhoMetropolis`.
    sweeps : int, optional
        Sweeps of the sampler per recorded draw, 10 by default.
    keep_rho : bool
        Keep the draws of rho, which are as large as those of the belief, and the pointwise log-likelihood.
    **hyperparameters
        Handed to the model.

    Returns
    -------
    InferenceData
        Groups posterior, sample_stats, observed_data and constant_data (the decisions, truth included), and
        log_likelihood with `keep_rho`; attrs say how it was made.
    """
    declare = find(model, "inverse model") if isinstance(model, str) else model
    validate(decisions)
    chosen = _preset(declare, preset, decisions)
    asked = {"draws": draws, "tune": tune, "chains": chains, "kernel": kernel, "sweeps": sweeps}
    sampling = SAMPLING | chosen.sampling | {name: value for name, value in asked.items() if value is not None}
    _check_sampling(sampling)
    given = settings(declare, chosen.hyperparameters | hyperparameters)
    declared = declare(decisions, **chosen.hyperparameters | hyperparameters)

    started = time.perf_counter()
    sweep = sweep_for(declared, kernel=sampling["kernel"], sweeps=sampling["sweeps"])
    kept = [rv.name for rv in declared.free_RVs if keep_rho or rv.name != "rho"]
    with declared:
        sampled = pm.sample(
            draws=sampling["draws"],
            tune=sampling["tune"],
            chains=sampling["chains"],
            cores=cores or min(sampling["chains"], _usable_cores()),
            random_seed=seed,
            step=sweep,
            var_names=kept,
            # Starts drawn from the prior are far apart, so that R-hat can tell when chains have not met.
            initvals={rv: "prior" for rv in declared.free_RVs},
            progressbar=progressbar,
            # PyMC's checks go through the components one by one, which takes longer than the sampling.
            compute_convergence_checks=False,
        )
        if keep_rho:
            pm.compute_log_likelihood(sampled, progressbar=False)
    seconds = time.perf_counter() - started

    groups = {name: group(sampled, name) for name in ("posterior", "sample_stats", "log_likelihood")}
    groups = {name: dataset for name, dataset in groups.items() if dataset.data_vars}
    groups["observed_data"] = decisions[["chosen"]].drop_attrs()
    groups["constant_data"] = decisions.drop_vars("chosen")
    attrs = {
        "model": declare.__name__,
        "hyperparameters": described(given),
        "preset": preset or "none",
        "sampler": _sampler(declared, sweep, sampling),
        "draws": sampling["draws"],
        "tune": sampling["tune"],
        "chains": sampling["chains"],
        "seed": -1 if seed is None else seed,
        "seconds": round(seconds, 3),
        "icb_pymc": __version__,
        "versions": described(
            {
                "pymc": pm.__version__,
                "pytensor": pytensor.__version__,
                "numpy": np.__version__,
                "xarray": xr.__version__,
            }
        ),
    }
    return from_groups(groups, attrs)


def _preset(declare: Callable[..., pm.Model], name: str | None, decisions: xr.Dataset) -> Preset:
    if name is None:
        return Preset({}, {})
    if name != "paper":
        raise InputError(f"there is no preset '{name}'; there is 'paper'.")
    make = getattr(sys.modules[declare.__module__], "paper", None)
    if make is None:
        raise InputError(f"'{declare.__name__}' has no preset 'paper'.")
    return make(decisions)


def _usable_cores() -> int:
    """Cores that this process may use; PyMC itself counts only physical ones."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_sampling(sampling: dict[str, Any]) -> None:
    for name in ("draws", "chains", "sweeps"):
        if sampling[name] < 1:
            raise InputError(f"{name}={sampling[name]}: give at least one.")
    if sampling["tune"] < 0:
        raise InputError(f"tune={sampling['tune']}: give zero or more.")
    if sampling["kernel"] not in ("exact", "paper"):
        raise InputError(f"kernel={sampling['kernel']!r}: it is 'exact' or 'paper'.")


def _sampler(model: pm.Model, sweep: Any, sampling: dict[str, Any]) -> str:
    """The steps in words, e.g. 'belief_gibbs, rho_metropolis (kernel exact), 10 sweeps per draw'."""
    if sweep is None:
        return "PyMC's choice (NUTS where it applies)"
    names = ", ".join(f"{m.name} (kernel {m.kernel})" if hasattr(m, "kernel") else m.name for m in sweep.methods)
    rest = len(model.free_RVs) - len(sweep.methods)
    return f"{names}, {sampling['sweeps']} sweeps per draw" + (f"; {rest} variables by PyMC's choice" if rest else "")
