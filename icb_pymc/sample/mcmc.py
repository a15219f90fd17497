"""The posterior by Markov chains: the engine, alternating steps, NUTS of PyMC or nutpie, or user-defined steps."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pymc as pm
from pymc.sampling.parallel import ParallelSamplingError

from icb_pymc.declare.folds import declared_folds
from icb_pymc.errors import InputError
from icb_pymc.io.machine import check_memory, keep_freed_memory, usable_cores
from icb_pymc.io.workers import no_orphans
from icb_pymc.results.checkpoint import Checkpoint
from icb_pymc.results.inference_data import from_groups, group
from icb_pymc.sample.kept_draws import KeptDraws
from icb_pymc.sample.learner_beliefs import learnt_beliefs
from icb_pymc.sample.outcome import Outcome
from icb_pymc.sample.recording import RecordedDraws
from icb_pymc.sample.resuming import held_draws, resumable_step, with_kept_draws
from icb_pymc.steps.assign import alternating_steps, engine_step
from icb_pymc.steps.linear_gaussian import find_linear_gaussian
from icb_pymc.steps.sweep import Sweep

# The engine needs the shortest tuning; alternating steps make several sweeps per draw.
TUNE = {"engine": 500, "gibbs": 1000, "paper": 1000, "nuts": 1000, "nutpie": 1000}
OWN_TUNE = 1000
SWEEPS = {"gibbs": 10, "paper": 10}
# What PyMC says if it is interrupted in the first draws, or before.
NO_DRAWS = ("Not enough samples to build a trace", "No traces to slice")
# With fewer weights than this a draw of the engine takes a millisecond or two.
QUICK = 20_000


def with_kernel(sampling: dict[str, Any], model: pm.Model, has_own_step: bool) -> dict[str, Any]:
    """Settings completed by the kernel that applies and its defaults."""
    kernel = sampling["kernel"]
    if has_own_step:
        if kernel != "auto":
            raise InputError(f"kernel={kernel!r} and step were both given: leave one out.")
        return {"tune": OWN_TUNE, "sweeps": 1} | sampling | {"kernel": "own"}
    if kernel == "auto":
        kernel = "gibbs" if find_linear_gaussian(model) is None else "engine"
    return {"tune": TUNE[kernel], "sweeps": SWEEPS.get(kernel, 1)} | sampling | {"kernel": kernel}


def sample_posterior(
    model: pm.Model,
    sampling: dict[str, Any],
    kept: KeptDraws,
    own_step: Callable[[pm.Model], Any] | None,
    initial_values: Callable[[], list[Any]],
    seed: int | None,
    cores: int | None,
    progressbar: bool,
    checkpoint: Checkpoint | None = None,
) -> Outcome:
    """Sample a declared model with the settings that `with_kernel` has completed, from ``initial_values()``.

    The chains are kept in a `checkpoint`, which must be open, and go on from there.
    """
    kernel = sampling["kernel"]
    check_memory(kept.bytes_per_draw(model), sampling["draws"], sampling["chains"])
    if own_step is not None:
        with model:
            given = own_step(model)
            steps = list(given) if isinstance(given, (list, tuple)) else [given]
    elif kernel == "engine":
        keep_freed_memory()
        steps = engine_step(model, with_rho=kept.latents)
    elif kernel in SWEEPS:
        steps = alternating_steps(model, kernel="paper" if kernel == "paper" else "exact", sweeps=sampling["sweeps"])
    else:
        with model:
            steps = [pm.NUTS()] if kernel == "nuts" and model.free_RVs else []
    names = kept.declare(model)
    options = {"draws": sampling["draws"], "tune": sampling["tune"], "chains": sampling["chains"]}
    options["cores"] = cores or _cores(kept, sampling)
    initial, chosen, held = initial_values(), steps or None, None
    with model, _explained(model):
        if checkpoint is not None:
            recorded = RecordedDraws(model, names)
            chosen = resumable_step(model, steps, checkpoint, recorded.at, sampling, initial)
            held = held_draws(checkpoint, sampling)
        if kernel == "nutpie":
            sampled = _sample_by_nutpie(model, names, options, seed, progressbar)
        else:
            with no_orphans():
                sampled = pm.sample(
                    **options,
                    random_seed=seed,
                    step=chosen,
                    var_names=names,
                    # Where PyMC chooses a sampler it may be one that keeps a record of its own.
                    trace=RecordedDraws(model, names) if chosen is not None else None,
                    initvals=initial,
                    progressbar=progressbar,
                    # PyMC's checks go through the components one by one, which takes longer than the sampling.
                    compute_convergence_checks=False,
                )
    groups = {name: group(sampled, name) for name in ("posterior", "sample_stats")}
    if checkpoint is not None and held is not None:
        groups["posterior"] = with_kept_draws(groups["posterior"], checkpoint, held)
    drawing = float(groups["posterior"].attrs.get("sampling_time", np.nan))
    learnt = learnt_beliefs(groups["posterior"], model, kept.index, kept.dtype)
    groups["posterior"] = kept.finish(groups["posterior"], learnt)
    groups["constant_data"] = declared_folds(model)
    groups = {name: dataset for name, dataset in groups.items() if dataset.data_vars}
    # When interrupted, PyMC returns the draws made so far without an error.
    made = groups["posterior"].sizes["chain"] * groups["posterior"].sizes["draw"]
    interrupted = made < sampling["chains"] * sampling["draws"]
    # Where none of our alternating steps applies, PyMC has chosen, which is NUTS for continuous variables.
    used = "pymc" if kernel in SWEEPS and not steps else kernel
    return Outcome(groups, _describe_steps(model, steps, sampling), used, interrupted, drawing_seconds=drawing)


@contextmanager
def _explained(model: pm.Model) -> Iterator[None]:
    """Errors of PyMC that come from the model, an interrupt or a lost process, in the words of their cause."""
    try:
        yield
    except pm.exceptions.SamplingError as error:
        values = model.point_logps(model.initial_point())
        bad = ", ".join(f"`{name}`" for name, value in values.items() if not np.isfinite(value))
        raise InputError(
            f"sampling cannot start: at the initial values the log-probability of {bad or 'the model'} is not finite; "
            "check its parameters, or whether the choices are possible."
        ) from error
    except ValueError as error:
        # Interrupted before any chain has made the draws that a trace needs.
        if any(words in str(error) for words in NO_DRAWS):
            raise KeyboardInterrupt from None
        raise
    except ParallelSamplingError as error:
        if isinstance(error.__cause__, InputError):
            raise error.__cause__ from None
        raise
    except (EOFError, ConnectionError) as error:
        raise InputError(
            "the process of a chain was killed, or ran out of memory: give fewer cores, or keep fewer times."
        ) from error


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


def _cores(kept: KeptDraws, sampling: dict[str, Any]) -> int:
    """Cores to use: PyMC passes every draw between processes, which pays only where a draw takes long."""
    is_quick = sampling["kernel"] == "engine" and kept.weights_of_decisions < QUICK
    return 1 if is_quick else min(sampling["chains"], usable_cores())


def _describe_steps(model: pm.Model, steps: list[Any], sampling: dict[str, Any]) -> str:
    """The steps for people, e.g. 'belief_gibbs, rho_metropolis, kernel gibbs, 10 sweeps per draw'."""
    if sampling["kernel"] == "nutpie":
        return "NUTS by nutpie"
    if not steps:
        return "PyMC's choice (NUTS where it applies)"
    words = []
    for step in steps:
        if isinstance(step, Sweep):
            kernel = sampling["kernel"]
            words += [*(method.name for method in step.methods), f"kernel {kernel}"]
            words += [f"{sampling['sweeps']} sweeps per draw"]
        else:
            words += [getattr(step, "name", type(step).__name__)]
    rest = len(model.free_RVs) - sum(len(step.vars) for step in steps)
    return ", ".join(words) + (f"; {rest} variables by PyMC's choice" if rest else "")
