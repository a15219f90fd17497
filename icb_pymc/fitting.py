"""Fit a model to decisions; the result is an InferenceData that holds all that later steps need."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor
import xarray as xr

from icb_pymc import __version__
from icb_pymc.belief_paths import learnt_beliefs
from icb_pymc.catalogue import described, find, name_of, settings
from icb_pymc.decisions import validate
from icb_pymc.em import expectation_maximisation
from icb_pymc.errors import InputError
from icb_pymc.estimates import Estimate, as_posterior, given_values
from icb_pymc.folds import declared_folds
from icb_pymc.hyperpriors import declare_with_priors, in_words
from icb_pymc.inference_data import InferenceData, from_groups, group
from icb_pymc.laplace import laplace_approximation
from icb_pymc.memory import check_room
from icb_pymc.model_files import digest_of
from icb_pymc.pointwise import fits_in, pointwise_groups
from icb_pymc.presets import Preset
from icb_pymc.recording import NOISE, Recording
from icb_pymc.starts import scattered_starts
from icb_pymc.steps.assign import alternating_steps, engine_step
from icb_pymc.steps.linear_gaussian import find_linear_gaussian
from icb_pymc.steps.sweep import Sweep

SAMPLING: dict[str, Any] = {"method": "mcmc", "kernel": "auto", "draws": 1000, "chains": 4, "iterations": 100}
# The engine and NUTS need less to begin with than alternating steps, which in turn make several sweeps per draw.
TUNE = {"engine": 500, "gibbs": 1000, "paper": 1000, "nuts": 1000, "nutpie": 1000}
OWN_TUNE = 1000
SWEEPS = {"gibbs": 10, "paper": 10}
# A draw of the engine takes a millisecond or two for this many times x features.
QUICK = 20_000
CHOICES = {"method": ("mcmc", "laplace", "em", "estimate"), "kernel": ("auto", *TUNE)}


class Fitted(NamedTuple):
    """What a method found, and how in words."""

    groups: dict[str, xr.Dataset]
    sampler: str
    interrupted: bool = False
    log_evidence: float | None = None
    is_estimate: bool = False
    drawing: float | None = None


def fit(
    model: str | Path | Callable[..., pm.Model],
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
    steps: Callable[[pm.Model], Any] | None = None,
    sweeps: int | None = None,
    iterations: int | None = None,
    learn: Sequence[str] = (),
    keep_latents: bool = False,
    every: int = 1,
    times: Sequence[Any] | None = None,
    dtype: str = "float64",
    log_likelihood: bool | None = None,
    progressbar: bool = True,
    **hyperparameters: Any,
) -> InferenceData:
    """Fit a model.

    Parameters
    ----------
    model : str or callable
        Name in the catalogue, path of a file with a model, or a function ``decisions -> pm.Model``.
    decisions : Dataset
    method : {"mcmc", "laplace", "em", "estimate"}, optional
        The posterior (default); its mode and the Gaussian around it, an approximation for very long logs; for B-ICB the
        point estimates of Algorithm 1; or the point estimate that the file of the model says how to make (default where
        it does, as for T-REX).
    draws, tune, chains, cores : int, optional
        As in `pm.sample`; by default 1000, 500 (1000 where the engine does not apply), 4, and all the cores that this
        process may use (the engine takes one where draws are so quick that passing them on would take longer).
    seed : int, optional
        Same seed, same result, whatever the number of cores.
    preset : {"paper"}, optional
        Hyperparameters and sampler as in the published experiments; what else is given goes before them.
    kernel : {"auto", "engine", "gibbs", "paper", "nuts", "nutpie"}, optional
        How the posterior is sampled: by the exact engine (`UtilityHMC`, the default where it applies), by the
        alternating steps of Algorithms 1 and 2, corrected ("gibbs") or as printed ("paper", see `RhoMetropolis`), or by
        NUTS, PyMC's or nutpie's.
    steps : callable, optional
        ``steps(model)`` gives step methods of one's own, for all free variables or for some; by default those that the
        file of the model gives, if it has such a function and no `kernel` is asked for.
    sweeps : int, optional
        Of the alternating steps per recorded draw, 10 by default.
    iterations : int, optional
        Of EM, 100 by default.
    learn : sequence of str
        Hyperparameters that get a log-normal prior around their value (see `declare_with_priors`): ``["alpha"]``.
    keep_latents : bool
        Keep the draws of rho and of rewards, which take more room than those of the belief.
    every, times : int, or sequence of times, optional
        Keep every n-th time, or these, where the draws of all would not fit into memory.
    dtype : {"float64", "float32"}
        Of the draws that are kept.
    log_likelihood : bool, optional
        Keep log p(a_t | beta_t) of each choice, rho_t integrated out, for `icb_pymc.compare` and `arviz.loo`, and the
        probability of each candidate given all other choices; by default where all times are kept and it takes less
        than 200 MB.
    **hyperparameters
        Handed to the model.

    Returns
    -------
    InferenceData
        Groups posterior, sample_stats (of MCMC), observed_data and constant_data (the decisions, truth included);
        log_likelihood and choice_probabilities (see above); em_path (the estimates of each iteration) for EM. Attrs say
        how it was made, with ``interrupted`` whether it holds only the draws made before an interrupt, with
        ``approximation`` whether it is one, and for Laplace's method the ``log_evidence``.
    """
    declare = find(model)
    validate(decisions)
    chosen = _preset(declare, preset, decisions)
    asked = {"method": method, "kernel": kernel, "draws": draws, "tune": tune, "chains": chains}
    asked |= {"sweeps": sweeps, "iterations": iterations}
    own = {"method": "estimate"} if companion(declare, "estimate") else {}
    sampling = SAMPLING | own | chosen.sampling | {name: value for name, value in asked.items() if value is not None}
    _check_sampling(sampling)
    recording = Recording(decisions, every, times, dtype, keep_latents)
    given = chosen.hyperparameters | hyperparameters
    complete = settings(declare, given)
    if learn and sampling["method"] in ("em", "estimate"):
        raise InputError(f"learn {learn[0]}: method '{sampling['method']}' takes no priors; use 'mcmc' or 'laplace'.")
    if sampling["method"] == "laplace":
        _refuse_what_laplace_ignores(asked)

    started, graph = time.perf_counter(), None
    if sampling["method"] in ("em", "estimate") and not recording.is_plain:
        raise InputError(f"method '{sampling['method']}' keeps all times in full: leave out every, times and dtype.")
    if sampling["method"] == "em":
        fitted = _maximise(declare, decisions, given, sampling, seed, progressbar)
    elif sampling["method"] == "estimate":
        fitted = _estimate(declare, decisions, given)
    elif sampling["method"] == "laplace":
        graph = declare_with_priors(declare, decisions, given, learn)
        fitted = _approximate(graph, sampling, recording, seed, progressbar)
    else:
        graph = declare_with_priors(declare, decisions, given, learn)
        own_steps = steps or (companion(declare, "steps") if sampling["kernel"] == "auto" else None)
        sampling = _complete(sampling, graph, own_steps is not None)
        starts = partial(scattered_starts, graph, decisions, complete.get("alpha"), sampling["chains"], seed)
        if graph.free_RVs:
            fitted = _sample(graph, sampling, recording, own_steps, starts, seed, cores, progressbar)
        else:
            fitted = _as_estimate(given_values(graph), decisions)
    if graph is not None and recording.all_times:
        posterior = fitted.groups["posterior"]
        if fits_in(posterior, decisions.sizes["time"]) if log_likelihood is None else log_likelihood:
            fitted.groups.update(pointwise_groups(graph, posterior, decisions))
    if not keep_latents:
        fitted.groups["posterior"] = fitted.groups["posterior"].drop_vars(NOISE, errors="ignore")
    seconds = time.perf_counter() - started

    found = fitted.groups.pop("constant_data", xr.Dataset())
    groups = fitted.groups | {
        "observed_data": decisions[["chosen"]].drop_attrs(),
        "constant_data": decisions.drop_vars("chosen").assign(found.data_vars),
    }
    attrs = {
        "model": name_of(declare),
        "hyperparameters": described(in_words(complete, learn)),
        "preset": preset or "none",
        "method": "estimate" if fitted.is_estimate else sampling["method"],
        "approximation": "none" if sampling["method"] == "mcmc" else sampling["method"],
        "sampler": fitted.sampler,
        "draws": groups["posterior"].sizes["draw"],
        "tune": 0 if fitted.is_estimate or sampling["method"] == "laplace" else sampling.get("tune", 0),
        "chains": groups["posterior"].sizes["chain"],
        "interrupted": int(fitted.interrupted),
        "seed": -1 if seed is None else seed,
        "seconds": round(seconds, 3),
        "icb_pymc": __version__,
        "versions": described({library.__name__: library.__version__ for library in (pm, pytensor, np, xr)}),
    }
    if hasattr(declare, "model_file"):
        # What the file was, not where: a trace that is passed on names no path, and none is opened for it.
        attrs["model_digest"] = digest_of(declare.model_file)
    if fitted.log_evidence is not None:
        attrs["log_evidence"] = fitted.log_evidence
    if fitted.drawing is not None:
        attrs["drawing_seconds"] = round(fitted.drawing, 3)
    return from_groups(groups, attrs)


def _sample(
    model: pm.Model,
    sampling: dict[str, Any],
    recording: Recording,
    own_steps: Callable[[pm.Model], Any] | None,
    starts: Callable[[], list[Any]],
    seed: int | None,
    cores: int | None,
    progressbar: bool,
) -> Fitted:
    kernel = sampling["kernel"]
    check_room(recording.bytes_per_draw(model), sampling["draws"], sampling["chains"])
    if own_steps is not None:
        with model:
            given = own_steps(model)
            steps = list(given) if isinstance(given, (list, tuple)) else [given]
    elif kernel == "engine":
        steps = engine_step(model, with_rho=recording.latents)
    elif kernel in SWEEPS:
        steps = alternating_steps(model, kernel="paper" if kernel == "paper" else "exact", sweeps=sampling["sweeps"])
    else:
        with model:
            steps = [pm.NUTS()] if kernel == "nuts" and model.free_RVs else []
    names = recording.declare(model)
    options = {"draws": sampling["draws"], "tune": sampling["tune"], "chains": sampling["chains"]}
    options["cores"] = cores or _cores(recording, sampling)
    with model:
        if kernel == "nutpie":
            sampled = _sample_by_nutpie(model, names, options, seed, progressbar)
        else:
            sampled = pm.sample(
                **options,
                random_seed=seed,
                step=steps or None,
                var_names=names,
                initvals=starts(),
                progressbar=progressbar,
                # PyMC's checks go through the components one by one, which takes longer than the sampling.
                compute_convergence_checks=False,
            )
    groups = {name: group(sampled, name) for name in ("posterior", "sample_stats")}
    drawing = float(groups["posterior"].attrs.get("sampling_time", np.nan))
    belief = learnt_beliefs(groups["posterior"], model, recording.index, recording.dtype)
    groups["posterior"] = recording.finish(groups["posterior"], belief)
    groups["constant_data"] = declared_folds(model)
    groups = {name: dataset for name, dataset in groups.items() if dataset.data_vars}
    # PyMC ends quietly when it is interrupted, with the draws made so far.
    made = groups["posterior"].sizes["chain"] * groups["posterior"].sizes["draw"]
    interrupted = made < sampling["chains"] * sampling["draws"]
    return Fitted(groups, _steps_in_words(model, steps, sampling), interrupted, drawing=drawing)


def _sample_by_nutpie(
    model: pm.Model, names: list[str], options: dict[str, Any], seed: int | None, progressbar: bool
) -> Any:
    try:
        import nutpie
    except ImportError:
        raise InputError("nutpie is not installed; pip install 'icb-pymc[nutpie]', or use the kernel 'nuts'.") from None
    compiled = nutpie.compile_pymc_model(model)
    started = time.perf_counter()
    sampled = nutpie.sample(compiled, seed=seed, progress_bar=progressbar, **options)
    posterior = group(sampled, "posterior").assign_attrs(sampling_time=time.perf_counter() - started)
    unwanted = [name for name in posterior.data_vars if name not in names]
    return from_groups({"posterior": posterior.drop_vars(unwanted), "sample_stats": group(sampled, "sample_stats")}, {})


def _complete(sampling: dict[str, Any], model: pm.Model, has_own_steps: bool) -> dict[str, Any]:
    """Settings with the kernel that applies, and its own defaults."""
    kernel = sampling["kernel"]
    if has_own_steps:
        if kernel != "auto":
            raise InputError(f"kernel={kernel!r} and steps were both given: leave one out.")
        return {"tune": OWN_TUNE, "sweeps": 1} | sampling | {"kernel": "own"}
    if kernel == "auto":
        kernel = "gibbs" if find_linear_gaussian(model) is None else "engine"
    return {"tune": TUNE[kernel], "sweeps": SWEEPS.get(kernel, 1)} | sampling | {"kernel": kernel}


def _approximate(
    model: pm.Model, sampling: dict[str, Any], recording: Recording, seed: int | None, progressbar: bool
) -> Fitted:
    check_room(recording.bytes_per_draw(model), sampling["draws"], 1)
    names = recording.declare(model)
    result = laplace_approximation(model, names, sampling["draws"], seed, recording.latents, progressbar)
    belief = learnt_beliefs(result.draws, model, recording.index, recording.dtype)
    words = "Laplace: independent draws from the Gaussian around the posterior mode"
    if find_linear_gaussian(model).hyperparameters:  # type: ignore[union-attr]
        words += ", hyperparameters at the maximum of prior times evidence"
    groups = {"posterior": recording.finish(result.draws, belief), "constant_data": declared_folds(model)}
    return Fitted(groups, words, False, result.log_evidence)


def _estimate(declare: Callable[..., pm.Model], decisions: xr.Dataset, given: dict[str, Any]) -> Fitted:
    estimate = companion(declare, "estimate")
    if estimate is None:
        raise InputError(f"'{name_of(declare)}' has no point estimate; use method 'mcmc'.")
    return _as_estimate(estimate(decisions, **given), decisions)


def _as_estimate(estimate: Estimate, decisions: xr.Dataset) -> Fitted:
    return Fitted({"posterior": as_posterior(estimate, decisions)}, estimate.how, is_estimate=True)


def _maximise(
    declare: Callable[..., pm.Model],
    decisions: xr.Dataset,
    given: dict[str, Any],
    sampling: dict[str, Any],
    seed: int | None,
    progressbar: bool,
) -> Fitted:
    sampling = {"tune": TUNE["gibbs"]} | sampling
    settings_of_em = companion(declare, "em_settings")
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
    kernel = "paper" if sampling["kernel"] == "paper" else "exact"
    return Fitted(groups, f"{words} (kernel {kernel}); rho_env and strength are point estimates")


def _preset(declare: Callable[..., pm.Model], name: str | None, decisions: xr.Dataset) -> Preset:
    if name is None:
        return Preset({}, {})
    if name != "paper":
        raise InputError(f"there is no preset '{name}'; there is 'paper'.")
    make = companion(declare, "paper")
    if make is None:
        raise InputError(f"'{name_of(declare)}' has no preset 'paper'.")
    return make(decisions)


def companion(declare: Callable[..., pm.Model], name: str) -> Any:
    """What the file of a model says beside the model itself."""
    return getattr(sys.modules.get(getattr(declare, "__module__", "")), name, None)


def _cores(recording: Recording, sampling: dict[str, Any]) -> int:
    """Cores to use: PyMC hands every draw from process to process, which pays only if it took long to make."""
    is_quick = sampling["kernel"] == "engine" and recording.weights_of_decisions < QUICK
    return 1 if is_quick else min(sampling["chains"], _usable_cores())


def _usable_cores() -> int:
    """Cores that this process may use; PyMC itself counts only physical ones."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _refuse_what_laplace_ignores(asked: dict[str, Any]) -> None:
    for name in ("kernel", "tune", "chains"):
        if asked[name] is not None:
            raise InputError(f"{name}: method 'laplace' makes independent draws, without chains; leave {name} out.")


def _check_sampling(sampling: dict[str, Any]) -> None:
    for name in ("draws", "chains", "sweeps", "iterations"):
        if sampling.get(name, 1) < 1:
            raise InputError(f"{name}={sampling[name]}: give at least one.")
    if sampling.get("tune", 0) < 0:
        raise InputError(f"tune={sampling['tune']}: give zero or more.")
    for name, words in CHOICES.items():
        if sampling[name] not in words:
            raise InputError(f"{name}={sampling[name]!r}: it is {' or '.join(repr(word) for word in words)}.")


def _steps_in_words(model: pm.Model, steps: list[Any], sampling: dict[str, Any]) -> str:
    """The steps in words, e.g. 'belief_gibbs, rho_metropolis, kernel exact, 10 sweeps per draw'."""
    if sampling["kernel"] == "nutpie":
        return "NUTS by nutpie"
    if not steps:
        return "PyMC's choice (NUTS where it applies)"
    words = []
    for step in steps:
        if isinstance(step, Sweep):
            kernel = "paper" if sampling["kernel"] == "paper" else "exact"
            words += [*(method.name for method in step.methods), f"kernel {kernel}"]
            words += [f"{sampling['sweeps']} sweeps per draw"]
        else:
            words += [getattr(step, "name", type(step).__name__)]
    rest = len(model.free_RVs) - sum(len(step.vars) for step in steps)
    return ", ".join(words) + (f"; {rest} variables by PyMC's choice" if rest else "")
