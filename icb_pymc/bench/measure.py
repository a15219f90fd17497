"""Measure one sampler on one problem, in a separate process, so that compilation caches can be empty."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

# Draws per chain of the first run; they are doubled until the chains have converged.
FIRST_DRAWS = {"engine": 1000, "gibbs": 500, "paper": 500, "nuts": 100, "nutpie": 400, "numpyro": 400, "blackjax": 400}
TUNE = {"engine": 200, "gibbs": 200, "paper": 200, "nuts": 200, "nutpie": 300, "numpyro": 300, "blackjax": 300}
# NUTS of libraries that need JAX, which compiles anew in every run.
BY_JAX = ("numpyro", "blackjax")
# All of these sample the non-centred form of the models.
BY_NUTS = ("nuts", "nutpie", *BY_JAX)
MAX_RHAT = 1.01
# Draws, and tuning steps, of a run that only measures the time of compilation.
COMPILATION_DRAWS = 12


class SamplerRun(NamedTuple):
    """Measurements of one run with four chains on one core.

    Attributes
    ----------
    seconds : float
        From declaring the model to the last draw, compilation included.
    drawing : float
        The part of these spent on tuning and drawing.
    worst, median : float
        Smallest and median effective sample size (ESS) of the belief's components.
    tail : float
        The smallest ESS of their 5% and 95% quantiles.
    rhat : float
        The largest R-hat of the belief's components.
    draws, tune : int
        Per chain.
    """

    seconds: float
    drawing: float
    worst: float
    median: float
    tail: float
    rhat: float
    draws: int
    tune: int


def run_sampler(model: str, kernel: str, steps: int, actions: int, draws: int, tune: int | None = None) -> SamplerRun:
    """Sample four chains, one after the other, and compute the diagnostics of the beliefs."""
    from icb_pymc.assess.convergence import bulk_ess, rank_rhat, tail_ess
    from icb_pymc.results.inference_data import group
    from icb_pymc.sample.fitting import fit

    decisions = _simulate(steps, actions)
    tune = TUNE[kernel] if tune is None else tune
    options: dict[str, Any] = {"draws": draws, "tune": tune, "chains": 4, "cores": 1, "seed": 1}
    started = time.perf_counter()
    declare, hyperparameters = _declared_model(model, kernel, decisions)
    if kernel in BY_JAX and callable(declare):
        # A user compiles once, and not a second time to know how long it takes.
        trace, drawing, compiling = _sample_by_jax(declare(decisions), kernel, options)
        started += compiling
    else:
        trace = fit(
            declare,
            decisions,
            kernel=kernel,
            every=1,
            log_likelihood=False,
            progressbar=False,
            hyperparameters=hyperparameters,
            **options,
        )
        drawing = float(trace.attrs["drawing_seconds"])
    seconds = time.perf_counter() - started
    belief = group(trace, "posterior")["belief"]
    # The first belief of a learner is a constant, and has no effective sample size.
    varies = belief.std(("chain", "draw")) > 1e-12
    ess, tail = bulk_ess(belief).where(varies), tail_ess(belief).where(varies)
    rhat = float(rank_rhat(belief).max())
    return SamplerRun(seconds, drawing, float(ess.min()), float(ess.median()), float(tail.min()), rhat, draws, tune)


def _sample_by_jax(model: Any, library: str, options: dict[str, Any]) -> tuple[Any, float, float]:
    """A trace, the seconds of tuning and drawing, and those of a short run before it, which mostly compiles."""
    import pymc as pm

    if hasattr(os, "sched_setaffinity"):
        # JAX takes all cores whatever the environment says.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    given = {"chains": options["chains"], "random_seed": options["seed"], "nuts_sampler": library}
    given |= {"nuts_sampler_kwargs": {"chain_method": "vectorized"}, "var_names": ["belief"]}
    given |= {"progressbar": False, "compute_convergence_checks": False}
    with model:
        started = time.perf_counter()
        pm.sample(draws=COMPILATION_DRAWS, tune=COMPILATION_DRAWS, **given)
        compiling = time.perf_counter() - started
        trace = pm.sample(draws=options["draws"], tune=options["tune"], **given)
    return trace, time.perf_counter() - started - 2 * compiling, compiling


def _simulate(steps: int, actions: int) -> Any:
    from icb_pymc.sample.simulation import simulate

    return simulate("sampling", steps=steps, actions=actions, seed=0)


def _declared_model(model: str, kernel: str, decisions: Any) -> tuple[Callable[..., Any] | str, dict[str, Any]]:
    """The model and its hyperparameters: the declared model, or for NUTS its non-centred form."""
    if kernel in BY_NUTS:
        from icb_pymc.bench import noncentred

        return {"nb_icb": noncentred.nb_icb_noncentred, "b_icb": noncentred.b_icb_noncentred}[model], {}
    from icb_pymc.catalogue.lookup import find
    from icb_pymc.declare.spec import spec_of

    paper = spec_of(find(model)).paper
    assert paper is not None
    given = paper(decisions).hyperparameters
    if model == "b_icb":
        given |= {"strength": 10.0, "rho_env_covariance": (2 / decisions.sizes["feature"]) ** 2}
    return model, given


def sample_until_convergence(model: str, kernel: str, steps: int, actions: int, limit: float) -> SamplerRun:
    """The first run whose chains converge, with twice the draws each time, or the longest within `limit` seconds."""
    started = time.perf_counter()
    run = run_sampler(model, kernel, steps, actions, FIRST_DRAWS[kernel])
    # The next run takes about twice as long.
    while run.rhat >= MAX_RHAT and time.perf_counter() - started + 2 * run.seconds <= limit:
        run = run_sampler(model, kernel, steps, actions, 2 * run.draws)
    return run


def measure_in_subprocess(arguments: dict[str, Any], caches: str) -> dict[str, Any]:
    """Call `main` of this module in a new process, with the compilation caches in the folder `caches`."""
    variables = os.environ | {
        "NUMBA_CACHE_DIR": os.path.join(caches, "numba"),
        "PYTENSOR_FLAGS": f"base_compiledir={os.path.join(caches, 'pytensor')}",
        "OMP_NUM_THREADS": "1",
    }
    # -P: a file in the current folder may have the name of a module.
    command = [sys.executable, "-P", "-W", "ignore", "-m", "icb_pymc.bench.measure", json.dumps(arguments)]
    finished = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if finished.returncode:
        reason = (finished.stderr.strip().splitlines() or ["no error message"])[-1]
        return {"error": reason}
    return json.loads(finished.stdout.strip().splitlines()[-1])


def measure_cold_and_warm(arguments: dict[str, Any]) -> dict[str, Any]:
    """A run with filled caches; its item ``compiling`` is how many more seconds it takes with empty ones."""
    with tempfile.TemporaryDirectory() as caches:
        cold = measure_in_subprocess(arguments | {"is_short": True}, caches)
        warm = measure_in_subprocess(arguments | {"is_short": False}, caches)
    if "error" in cold or "error" in warm:
        return warm | cold
    # The time of a run, except for declaring the model and compiling, is proportional to its draws.
    drawing = warm["drawing"] * (cold["draws"] + cold["tune"]) / (warm["draws"] + warm["tune"])
    return warm | {"compiling": max(0.0, cold["seconds"] - drawing - (warm["seconds"] - warm["drawing"]))}


def main(text: str) -> None:
    """Make the measurement requested as JSON, and print the result as JSON."""
    request = json.loads(text)
    problem = (request["model"], request["kernel"], request["steps"], request["actions"])
    run = (
        run_sampler(*problem, COMPILATION_DRAWS, COMPILATION_DRAWS)
        if request["is_short"]
        else sample_until_convergence(*problem, request["limit"])
    )
    print(json.dumps(run._asdict()))


if __name__ == "__main__":
    main(sys.argv[1])
