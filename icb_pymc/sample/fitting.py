"""Fit a model to decisions; the result is an InferenceData that holds all that later steps need."""

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import xarray as xr

from icb_pymc import __version__
from icb_pymc.catalogue.lookup import find, name_of, settings
from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.data.decisions import validate
from icb_pymc.data.observed_rewards import rewards_of
from icb_pymc.declare.spec import Declare, ModelSpec, Preset, bound_hyperparameters, spec_of
from icb_pymc.errors import InputError
from icb_pymc.io.attributes import as_json
from icb_pymc.results.inference_data import InferenceData, from_groups
from icb_pymc.sample.declared import check_declared
from icb_pymc.sample.em import fit_by_em
from icb_pymc.sample.hyperpriors import check_proper, declare_with_priors, describe_priors
from icb_pymc.sample.initial_values import scattered_initial_values
from icb_pymc.sample.kept_draws import NOISE, KeptDraws
from icb_pymc.sample.laplace import fit_by_laplace
from icb_pymc.sample.mcmc import SWEEPS, TUNE, sample_posterior, with_kernel
from icb_pymc.sample.outcome import Outcome
from icb_pymc.sample.point_estimate import as_outcome, fit_by_estimate, given_values
from icb_pymc.sample.pointwise import fits_in, pointwise_groups
from icb_pymc.sample.resuming import checkpoint_of
from icb_pymc.sample.seeds import only_seed

DEFAULTS: dict[str, Any] = {"method": "mcmc", "kernel": "auto", "draws": 1000, "chains": 4, "iterations": 100}
ALLOWED = {"method": ("mcmc", "laplace", "em", "estimate"), "kernel": ("auto", *TUNE)}


def fit(
    model: str | Path | Declare,
    decisions: xr.Dataset,
    hyperparameters: Mapping[str, Any] | None = None,
    *,
    method: str | None = None,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    cores: int | None = None,
    random_seed: int | None = None,
    preset: str | None = None,
    kernel: str | None = None,
    step: Any = None,
    sweeps: int | None = None,
    iterations: int | None = None,
    learn: Sequence[str] = (),
    keep_latents: bool = False,
    every: int | None = None,
    times: Sequence[Any] | None = None,
    dtype: str | None = None,
    log_likelihood: bool | None = None,
    checkpoint: str | Path | None = None,
    progressbar: bool = True,
    seed: int | None = None,
) -> InferenceData:
    """Fit a model to decisions.

    Parameters
    ----------
    model : str, path or callable
        Name in the catalogue, path of a file with a model, or a function ``decisions -> pm.Model``.
    decisions : Dataset
    hyperparameters : mapping, optional
        Keyword arguments of the model, such as ``{"alpha": 5.0}``.
    method : {"mcmc", "laplace", "em", "estimate"}, optional
        The posterior (default); its mode and the Gaussian around it, an approximation for very long logs; for B-ICB the
        point estimates of Algorithm 1; or the model's own point estimate (the default for models that have one, such as
        T-REX).
    draws, tune, chains, cores : int, optional
        As in `pm.sample`; by default 1000, 500 (1000 where the engine does not apply), 4, and all the cores that this
        process may use (one where the engine is so fast that passing draws between processes would take longer).
    random_seed : int, optional
        Same seed, same result, whatever the number of cores. `seed` is accepted too.
    preset : {"paper"}, optional
        Hyperparameters and sampler of the published experiments; options given explicitly take precedence.
    kernel : {"auto", "engine", "gibbs", "paper", "nuts", "nutpie"}, optional
        How the posterior is sampled: by the exact engine (`UtilityHMC`, the default where it applies), by the
        alternating steps of Algorithms 1 and 2, corrected ("gibbs") or as printed ("paper", see `RhoMetropolis`), or by
        NUTS, PyMC's or nutpie's.
    step : callable, optional
        ``step(model)`` returns your own step methods, for all free variables or for some; by default those of the
        model's spec, if it has any and no `kernel` is asked for.
    sweeps : int, optional
        Sweeps of the alternating steps per recorded draw, 10 by default.
    iterations : int, optional
        Iterations of EM, 100 by default.
    learn : sequence of str
        Hyperparameters that get a log-normal prior around their value: ``["alpha"]``.
    keep_latents : bool
        Keep the draws of rho and of rewards, which are larger than those of the belief.
    every, times : int, or sequence of times, optional
        Keep every n-th time, or these. By default all are kept, or of a long log as many, evenly spaced from the first
        to the last, as take 64 MB (500 of eight weights in 4,000 draws); ``every=1`` keeps all of any log.
    dtype : {"float32", "float64"}, optional
        Type in which draws of paths over time are kept: by default float32, whose rounding is far below any Monte-Carlo
        error. Sampling is in float64 either way.
    log_likelihood : bool, optional
        Keep log p(a_t | beta_t) of each choice, rho_t integrated out, for `icb_pymc.compare` and `arviz.loo`, and the
        probability of each candidate given all other choices; by default unless every or times leave some out, or it
        would take more than 200 MB in float64.
    checkpoint : path, optional
        Folder in which the chains are kept while they are sampled, every quarter of a minute: the same call, given
        again after an interruption, a crash or a kill, goes on from there and ends with the same draws, to the last
        bit. Remove the folder when the result is written. Sampling other than by `method` "mcmc" has none.
    progressbar : bool
        Show one.
    seed : int, optional
        Another name of `random_seed`.

    Returns
    -------
    InferenceData (DataTree on PyMC 6)
        Groups posterior, sample_stats (MCMC only), observed_data and constant_data (the decisions, true values
        included), log_likelihood and choice_probabilities (see above), em_path (the estimates of each iteration, EM
        only). Its attributes record the model, hyperparameters, method, kernel, seed, versions and times;
        ``interrupted`` is 1 if sampling was interrupted, and ``log_evidence`` is there for Laplace's method.

    Raises
    ------
    InputError
        If the model, an option or a hyperparameter is unknown, a value cannot be meant, options contradict each other,
        the function is not a model, the decisions are not valid, or the draws would not fit into memory.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.simulate("stepping", steps=30, random_seed=0)
    >>> trace = icb_pymc.fit(
    ...     "nb_icb", decisions, {"alpha": 10.0}, draws=50, tune=50, chains=2, random_seed=0, progressbar=False
    ... )
    >>> dict(trace.posterior["belief"].sizes)
    {'chain': 2, 'draw': 50, 'time': 30, 'feature': 8}
    >>> trace.attrs["kernel"]
    'engine'
    """
    declare = find(model)
    spec = spec_of(declare)
    random_seed = only_seed(random_seed, seed)
    validate(decisions)
    published = _preset(declare, preset, decisions)
    asked = {"method": method, "kernel": kernel, "draws": draws, "tune": tune, "chains": chains}
    asked |= {"sweeps": sweeps, "iterations": iterations}
    own = {"method": "estimate"} if spec.estimate else {}
    sampling = DEFAULTS | own | published.sampling | {name: value for name, value in asked.items() if value is not None}
    _check_sampling(sampling)
    kept = _kept_draws(decisions, every, times, dtype, keep_latents, sampling, log_likelihood)
    given = published.hyperparameters | dict(hyperparameters or {})
    complete = settings(declare, given)
    _check_method(sampling["method"], asked, learn, kept)
    if checkpoint is not None and sampling["method"] != "mcmc":
        raise InputError(f"checkpoint: method '{sampling['method']}' has no chains to keep; leave checkpoint out.")

    started, graph = time.perf_counter(), None
    if sampling["method"] == "em":
        if not np.isnan(rewards_of(decisions)).all():
            raise InputError("method 'em' infers all rewards: use 'mcmc', or leave out the observed 'reward'.")
        outcome = fit_by_em(
            declare, decisions, bound_hyperparameters(declare) | given, sampling, random_seed, progressbar
        )
    elif sampling["method"] == "estimate":
        outcome = fit_by_estimate(declare, decisions, bound_hyperparameters(declare) | given)
    else:
        if sampling["method"] == "mcmc":
            check_proper(given)
        graph = check_declared(declare_with_priors(declare, decisions, given, learn), name_of(declare))
        if sampling["method"] == "laplace":
            outcome = fit_by_laplace(graph, sampling, kept, random_seed, progressbar)
        elif not graph.free_RVs:
            outcome = as_outcome(given_values(graph), decisions)
        else:
            own_step = step or (spec.steps if sampling["kernel"] == "auto" else None)
            sampling = with_kernel(sampling, graph, own_step is not None)
            if sweeps is not None and sampling["kernel"] not in SWEEPS:
                raise InputError(
                    "sweeps: only the kernels 'gibbs' and 'paper' make them; ask for one, or leave sweeps out."
                )
            kept_in = None
            if checkpoint is not None:
                described = _identity(declare, complete, learn, own_step, decisions)
                kept_in = checkpoint_of(checkpoint, described, graph, decisions, sampling, kept, random_seed)
                random_seed = kept_in.description["seed"]
            initial = partial(
                scattered_initial_values, graph, decisions, complete.get("alpha"), sampling["chains"], random_seed
            )
            with nullcontext() if kept_in is None else kept_in.open():
                outcome = sample_posterior(
                    graph, sampling, kept, own_step, initial, random_seed, cores, progressbar, kept_in
                )
    if graph is not None and kept.all_times:
        posterior = outcome.groups["posterior"]
        made = posterior.sizes["chain"] * posterior.sizes["draw"]
        if fits_in(made, decisions.sizes["time"]) if log_likelihood is None else log_likelihood:
            outcome.groups.update(pointwise_groups(graph, posterior, decisions, kept.dtype))
    outcome.groups["posterior"] = kept.at_final_times(outcome.groups["posterior"])
    if not keep_latents:
        outcome.groups["posterior"] = outcome.groups["posterior"].drop_vars(NOISE, errors="ignore")
    attrs = {
        "model": name_of(declare),
        "hyperparameters": as_json(describe_priors(complete, learn, decisions.sizes["feature"])),
        "preset": preset or "none",
        "seed": -1 if random_seed is None else random_seed,
        "seconds": round(time.perf_counter() - started, 3),
    }
    return _with_provenance(outcome, decisions, attrs, sampling, declare, spec)


def _identity(
    declare: Declare, complete: dict[str, Any], learn: Sequence[str], own_step: Any, decisions: xr.Dataset
) -> dict[str, Any]:
    """What a checkpoint must be a checkpoint of, besides the settings of sampling."""
    return {
        "model": name_of(declare),
        "model file": digest_of(declare.model_file) if hasattr(declare, "model_file") else None,
        "hyperparameters": as_json(describe_priors(complete, learn, decisions.sizes["feature"])),
        "own step": getattr(own_step, "__qualname__", None),
    }


def _with_provenance(
    outcome: Outcome,
    decisions: xr.Dataset,
    attrs: dict[str, Any],
    sampling: dict[str, Any],
    declare: Declare,
    spec: ModelSpec,
) -> InferenceData:
    """The groups of an outcome and its decisions, with attributes that say how it was made."""
    computed = outcome.groups.pop("constant_data", xr.Dataset())
    groups = outcome.groups | {
        "observed_data": decisions[["chosen"]].drop_attrs(),
        "constant_data": decisions.drop_vars("chosen").assign(computed.data_vars),
    }
    attrs |= {
        "method": "estimate" if outcome.is_estimate else sampling["method"],
        "kernel": outcome.kernel,
        "approximation": "none" if sampling["method"] == "mcmc" else sampling["method"],
        "sampler": outcome.sampler,
        "draws": groups["posterior"].sizes["draw"],
        "tune": 0 if outcome.is_estimate or sampling["method"] == "laplace" else sampling.get("tune", 0),
        "chains": groups["posterior"].sizes["chain"],
        "interrupted": int(outcome.interrupted),
        "icb_pymc": __version__,
        "versions": as_json({library.__name__: library.__version__ for library in (pm, pytensor, np, xr)}),
    }
    if hasattr(declare, "model_file"):
        # What the file was, not where: a trace that is passed on names no path, and none is opened for it.
        attrs["model_digest"] = digest_of(declare.model_file)
    if spec.hindsight is not None:
        attrs["hindsight"] = spec.hindsight
    if outcome.log_evidence is not None:
        attrs["log_evidence"] = outcome.log_evidence
    if outcome.drawing_seconds is not None:
        attrs["drawing_seconds"] = round(outcome.drawing_seconds, 3)
    return from_groups(groups, attrs)


def _preset(declare: Declare, name: str | None, decisions: xr.Dataset) -> Preset:
    if name is None:
        return Preset({}, {})
    if name != "paper":
        raise InputError(f"there is no preset '{name}'; there is 'paper'.")
    paper = spec_of(declare).paper
    if paper is None:
        raise InputError(f"'{name_of(declare)}' has no preset 'paper'.")
    return paper(decisions)


def _kept_draws(
    decisions: xr.Dataset,
    every: int | None,
    times: Sequence[Any] | None,
    dtype: str | None,
    latents: bool,
    sampling: dict[str, Any],
    log_likelihood: bool | None,
) -> KeptDraws:
    """What to keep, with the defaults of the method."""
    if sampling["method"] in ("em", "estimate"):
        # Point estimates are small, and kept whole.
        return KeptDraws(decisions, 1 if every is None and times is None else every, times, dtype or "float64", latents)
    draws = sampling["draws"] * (sampling["chains"] if sampling["method"] == "mcmc" else 1)
    # The likelihood of the choices needs all times, also where not all are kept.
    is_default = every is None and times is None
    wanted = fits_in(draws, decisions.sizes["time"]) if log_likelihood is None else log_likelihood
    return KeptDraws(decisions, every, times, dtype or "float32", latents, draws, is_default and wanted)


def _check_method(method: str, asked: dict[str, Any], learn: Sequence[str], kept: KeptDraws) -> None:
    """Refuse options that a method would ignore."""
    if learn and method in ("em", "estimate"):
        raise InputError(f"learn {learn[0]}: method '{method}' takes no priors; use 'mcmc' or 'laplace'.")
    if method in ("em", "estimate") and not kept.is_plain:
        raise InputError(f"method '{method}' keeps all times in full: leave out every, times and dtype.")
    if method == "mcmc" and asked["iterations"] is not None:
        raise InputError("iterations: they are those of method 'em'; leave iterations out, or ask for draws.")
    if method == "laplace":
        for name in ("kernel", "tune", "chains", "sweeps", "iterations"):
            if asked[name] is not None:
                raise InputError(f"{name}: method 'laplace' makes independent draws without chains; leave {name} out.")


def _check_sampling(sampling: dict[str, Any]) -> None:
    for name in ("draws", "chains", "sweeps", "iterations"):
        if sampling.get(name, 1) < 1:
            raise InputError(f"{name}={sampling[name]}: give at least one.")
    if sampling.get("tune", 0) < 0:
        raise InputError(f"tune={sampling['tune']}: give zero or more.")
    for name, words in ALLOWED.items():
        if sampling[name] not in words:
            raise InputError(f"{name}={sampling[name]!r}: it must be {' or '.join(repr(word) for word in words)}.")
