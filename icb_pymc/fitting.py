"""Fit a model to decisions; the result is an InferenceData that holds all that later steps need."""

import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor
import xarray as xr

from icb_pymc import __version__
from icb_pymc.belief_paths import with_beliefs
from icb_pymc.catalogue import described, find, name_of, settings
from icb_pymc.decisions import validate
from icb_pymc.em import expectation_maximisation
from icb_pymc.errors import InputError
from icb_pymc.estimates import as_posterior, given_values
from icb_pymc.folds import declared_folds
from icb_pymc.inference_data import InferenceData, from_groups, group
from icb_pymc.presets import Preset
from icb_pymc.starts import scattered_starts
from icb_pymc.steps.assign import steps_for

SAMPLING: dict[str, Any] = {
    "method": "mcmc",
    "draws": 1000,
    "tune": 1000,
    "chains": 4,
    "sweeps": 10,
    "kernel": "exact",
    "iterations": 100,
}
CHOICES = {"method": ("mcmc", "em", "estimate"), "kernel": ("exact", "paper")}
LATENTS = ("rho", "reward")


class Fitted(NamedTuple):
    """What a method found, and how in words."""

    groups: dict[str, xr.Dataset]
    sampler: str
    interrupted: bool = False
    is_estimate: bool = False


def fit(
    model: str | Callable[..., pm.Model],
    decisions: xr.Dataset,
    *,
    method: str | None = None,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    cores: int | None = None,
    seed: int | None = None,
    preset: str | None = None,
    kernel: str | None = None,
    sweeps: int | None = None,
    iterations: int | None = None,
    keep_latents: bool = False,
    progressbar: bool = True,
    **hyperparameters: Any,
) -> InferenceData:
    """Fit a model.

    Parameters
    ----------
    model : str or callable
        Name in the catalogue, or a function ``decisions -> pm.Model``.
    decisions : Dataset
    method : {"mcmc", "em", "estimate"}, optional
        The posterior (default), for B-ICB the point estimates of Algorithm 1, or the point estimate that the file of
        the model says how to make (default where it does, as for T-REX).
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
    iterations : int, optional
        Of EM, 100 by default.
    keep_latents : bool
        Keep the draws of rho and of rewards, which take more room than those of the belief, and the pointwise
        log-likelihood.
    **hyperparameters
        Handed to the model.

    Returns
    -------
    InferenceData
        Groups posterior, sample_stats (not for EM), observed_data and constant_data (the decisions, truth included);
        log_likelihood with `keep_latents`; em_path (the estimates of each iteration) for EM. Attrs say how it was made,
        and with ``interrupted`` whether it holds only the draws made before an interrupt.
    """
    declare = find(model, "inverse model") if isinstance(model, str) else model
    validate(decisions)
    chosen = _preset(declare, preset, decisions)
    asked = {
        "method": method,
        "draws": draws,
        "tune": tune,
        "chains": chains,
        "kernel": kernel,
        "sweeps": sweeps,
        "iterations": iterations,
    }
    default = {"method": "estimate"} if _companion(declare, "estimate") else {}
    sampling = (
        SAMPLING | default | chosen.sampling | {name: value for name, value in asked.items() if value is not None}
    )
    _check_sampling(sampling)
    given = chosen.hyperparameters | hyperparameters
    complete = settings(declare, given)

    started = time.perf_counter()
    if sampling["method"] == "em":
        fitted = _maximise(declare, decisions, given, sampling, seed, progressbar)
    elif sampling["method"] == "estimate":
        fitted = _estimate(declare, decisions, given)
    else:
        fitted = _sample(declare, decisions, complete, given, sampling, seed, cores, keep_latents, progressbar)
    seconds = time.perf_counter() - started

    found = fitted.groups.pop("constant_data", xr.Dataset())
    groups = fitted.groups | {
        "observed_data": decisions[["chosen"]].drop_attrs(),
        "constant_data": decisions.drop_vars("chosen").assign(found.data_vars),
    }
    attrs = {
        "model": name_of(declare),
        "hyperparameters": described(complete),
        "preset": preset or "none",
        "method": "estimate" if fitted.is_estimate else sampling["method"],
        "sampler": fitted.sampler,
        "draws": groups["posterior"].sizes["draw"],
        "tune": 0 if fitted.is_estimate else sampling["tune"],
        "chains": groups["posterior"].sizes["chain"],
        "interrupted": int(fitted.interrupted),
        "seed": -1 if seed is None else seed,
        "seconds": round(seconds, 3),
        "icb_pymc": __version__,
        "versions": described({library.__name__: library.__version__ for library in (pm, pytensor, np, xr)}),
    }
    return from_groups(groups, attrs)


def _sample(
    declare: Callable[..., pm.Model],
    decisions: xr.Dataset,
    complete: dict[str, Any],
    given: dict[str, Any],
    sampling: dict[str, Any],
    seed: int | None,
    cores: int | None,
    keep_latents: bool,
    progressbar: bool,
) -> Fitted:
    model = declare(decisions, **given)
    if not model.free_RVs:
        values = given_values(model)
        return Fitted({"posterior": as_posterior(values, decisions)}, values.how, is_estimate=True)
    steps = steps_for(model, kernel=sampling["kernel"], sweeps=sampling["sweeps"])
    with model:
        sampled = pm.sample(
            draws=sampling["draws"],
            tune=sampling["tune"],
            chains=sampling["chains"],
            cores=cores or min(sampling["chains"], _usable_cores()),
            random_seed=seed,
            step=steps or None,
            var_names=_kept(model, keep_latents),
            initvals=scattered_starts(model, decisions, complete.get("alpha"), sampling["chains"], seed),
            progressbar=progressbar,
            # PyMC's checks go through the components one by one, which takes longer than the sampling.
            compute_convergence_checks=False,
        )
        if keep_latents:
            pm.compute_log_likelihood(sampled, progressbar=False)
    groups = {name: group(sampled, name) for name in ("posterior", "sample_stats", "log_likelihood")}
    groups["posterior"] = with_beliefs(groups["posterior"], model)
    if not keep_latents:
        groups["posterior"] = groups["posterior"].drop_vars(LATENTS, errors="ignore")
    groups["constant_data"] = declared_folds(model)
    groups = {name: dataset for name, dataset in groups.items() if dataset.data_vars}
    # PyMC ends quietly when it is interrupted, with the draws made so far.
    made = groups["posterior"].sizes["chain"] * groups["posterior"].sizes["draw"]
    interrupted = made < sampling["chains"] * sampling["draws"]
    return Fitted(groups, _steps_in_words(model, steps, sampling), interrupted)


def _kept(model: pm.Model, keep_latents: bool) -> list[str]:
    """What is recorded: free variables, rho only where asked for, beliefs and rho_env where the model computes them."""
    free = [rv.name for rv in model.free_RVs if keep_latents or rv.name != "rho"]
    return free + [variable.name for variable in model.deterministics if variable.name in ("belief", "rho_env")]


def _estimate(declare: Callable[..., pm.Model], decisions: xr.Dataset, given: dict[str, Any]) -> Fitted:
    estimate = _companion(declare, "estimate")
    if estimate is None:
        raise InputError(f"'{name_of(declare)}' has no point estimate; use method 'mcmc'.")
    values = estimate(decisions, **given)
    return Fitted({"posterior": as_posterior(values, decisions)}, values.how, is_estimate=True)


def _maximise(
    declare: Callable[..., pm.Model],
    decisions: xr.Dataset,
    given: dict[str, Any],
    sampling: dict[str, Any],
    seed: int | None,
    progressbar: bool,
) -> Fitted:
    settings_of_em = _companion(declare, "em_settings")
    if settings_of_em is None:
        raise InputError(f"'{name_of(declare)}' cannot be fitted by EM; use method 'mcmc'.")
    result = expectation_maximisation(
        decisions,
        **settings_of_em(decisions, given, as_published=sampling["kernel"] == "paper"),
        iterations=sampling["iterations"],
        draws=sampling["draws"],
        tune=sampling["tune"],
        seed=seed,
        progressbar=progressbar,
    )
    coords = {"chain": [0], "draw": np.arange(sampling["draws"])}
    coords |= {dim: decisions[dim].values for dim in ("time", "feature")}
    estimates = {
        "rho_env": (("chain", "draw", "feature"), np.tile(result.rho_env[-1], (1, sampling["draws"], 1))),
        "strength": (("chain", "draw"), np.full((1, sampling["draws"]), result.strength[-1])),
        "belief": (("chain", "draw", "time", "feature"), result.belief[None]),
    }
    path = {
        "rho_env": (("iteration", "feature"), result.rho_env),
        "strength": ("iteration", result.strength),
        "rho_accept": ("iteration", result.accepted),
    }
    path_coords = {"iteration": np.arange(1, sampling["iterations"] + 1), "feature": coords["feature"]}
    groups = {"posterior": xr.Dataset(estimates, coords), "em_path": xr.Dataset(path, path_coords)}
    words = f"EM, {sampling['iterations']} iterations of {sampling['tune']} + {sampling['draws']} sweeps"
    return Fitted(groups, f"{words} (kernel {sampling['kernel']}); rho_env and strength are point estimates")


def _preset(declare: Callable[..., pm.Model], name: str | None, decisions: xr.Dataset) -> Preset:
    if name is None:
        return Preset({}, {})
    if name != "paper":
        raise InputError(f"there is no preset '{name}'; there is 'paper'.")
    make = _companion(declare, "paper")
    if make is None:
        raise InputError(f"'{name_of(declare)}' has no preset 'paper'.")
    return make(decisions)


def _companion(declare: Callable[..., pm.Model], name: str) -> Any:
    """What the file of a model says beside the model itself."""
    return getattr(sys.modules.get(getattr(declare, "__module__", "")), name, None)


def _usable_cores() -> int:
    """Cores that this process may use; PyMC itself counts only physical ones."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_sampling(sampling: dict[str, Any]) -> None:
    for name in ("draws", "chains", "sweeps", "iterations"):
        if sampling[name] < 1:
            raise InputError(f"{name}={sampling[name]}: give at least one.")
    if sampling["tune"] < 0:
        raise InputError(f"tune={sampling['tune']}: give zero or more.")
    for name, words in CHOICES.items():
        if sampling[name] not in words:
            raise InputError(f"{name}={sampling[name]!r}: it is {' or '.join(repr(word) for word in words)}.")


def _steps_in_words(model: pm.Model, steps: list[Any], sampling: dict[str, Any]) -> str:
    """The steps in words, e.g. 'belief_gibbs, rho_metropolis, kernel exact, 10 sweeps per draw'."""
    if not steps:
        return "PyMC's choice (NUTS where it applies)"
    swept, *others = steps
    words = [*(method.name for method in swept.methods), f"kernel {sampling['kernel']}"]
    words += [f"{sampling['sweeps']} sweeps per draw", *(step.name for step in others)]
    rest = len(model.free_RVs) - sum(len(step.vars) for step in steps)
    return ", ".join(words) + (f"; {rest} variables by PyMC's choice" if rest else "")
