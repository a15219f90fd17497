"""Fit a model to decisions; the result is an InferenceData that holds all that later steps need."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import xarray as xr

from icb_pymc import __version__
from icb_pymc.catalogue.lookup import companion, find, name_of, settings
from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.data.decisions import validate
from icb_pymc.declare.spec import Preset
from icb_pymc.errors import InputError
from icb_pymc.io.attributes import as_json
from icb_pymc.results.inference_data import InferenceData, from_groups
from icb_pymc.sample.em import by_em
from icb_pymc.sample.hyperpriors import declare_with_priors, describe_priors
from icb_pymc.sample.initial_values import scattered_starts
from icb_pymc.sample.kept_draws import NOISE, KeptDraws
from icb_pymc.sample.laplace import by_laplace
from icb_pymc.sample.mcmc import TUNE, sample_posterior, with_kernel
from icb_pymc.sample.point_estimate import as_estimate, by_estimate, given_values
from icb_pymc.sample.pointwise import fits_in, pointwise_groups

SAMPLING: dict[str, Any] = {"method": "mcmc", "kernel": "auto", "draws": 1000, "chains": 4, "iterations": 100}
CHOICES = {"method": ("mcmc", "laplace", "em", "estimate"), "kernel": ("auto", *TUNE)}


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
    recording = KeptDraws(decisions, every, times, dtype, keep_latents)
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
        fitted = by_em(declare, decisions, given, sampling, seed, progressbar)
    elif sampling["method"] == "estimate":
        fitted = by_estimate(declare, decisions, given)
    elif sampling["method"] == "laplace":
        graph = declare_with_priors(declare, decisions, given, learn)
        fitted = by_laplace(graph, sampling, recording, seed, progressbar)
    else:
        graph = declare_with_priors(declare, decisions, given, learn)
        own_steps = steps or (companion(declare, "steps") if sampling["kernel"] == "auto" else None)
        sampling = with_kernel(sampling, graph, own_steps is not None)
        starts = partial(scattered_starts, graph, decisions, complete.get("alpha"), sampling["chains"], seed)
        if graph.free_RVs:
            fitted = sample_posterior(graph, sampling, recording, own_steps, starts, seed, cores, progressbar)
        else:
            fitted = as_estimate(given_values(graph), decisions)
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
        "hyperparameters": as_json(describe_priors(complete, learn)),
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
        "versions": as_json({library.__name__: library.__version__ for library in (pm, pytensor, np, xr)}),
    }
    if hasattr(declare, "model_file"):
        # What the file was, not where: a trace that is passed on names no path, and none is opened for it.
        attrs["model_digest"] = digest_of(declare.model_file)
    if fitted.log_evidence is not None:
        attrs["log_evidence"] = fitted.log_evidence
    if fitted.drawing is not None:
        attrs["drawing_seconds"] = round(fitted.drawing, 3)
    return from_groups(groups, attrs)


def _preset(declare: Callable[..., pm.Model], name: str | None, decisions: xr.Dataset) -> Preset:
    if name is None:
        return Preset({}, {})
    if name != "paper":
        raise InputError(f"there is no preset '{name}'; there is 'paper'.")
    make = companion(declare, "paper")
    if make is None:
        raise InputError(f"'{name_of(declare)}' has no preset 'paper'.")
    return make(decisions)


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
