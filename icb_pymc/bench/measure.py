"""One measurement: a sampler on a problem, in a process of its own, so that caches can be cold."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

# What a sampler is given first; draws are then doubled until the chains agree.
FIRST_DRAWS = {"engine": 1000, "gibbs": 500, "paper": 500, "nuts": 100, "nutpie": 400}
TUNE = {"engine": 200, "gibbs": 200, "paper": 200, "nuts": 200, "nutpie": 300}
AGREED = 1.01
# Draws, and steps of tuning, of a run that is there for its compilation.
SHORT = 12


class Run(NamedTuple):
    """What was measured of one run with four chains on one core.

    Attributes
    ----------
    seconds : float
        From declaring the model to the last draw, compilation included.
    drawing : float
        Of these, the time spent with tuning and drawing.
    worst, median : float
        Effective draws of the belief's components.
    tail : float
        The fewest effective draws of their 5% and 95% quantiles.
    rhat : float
        The worst of the belief's components.
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


def run_sampler(model: str, kernel: str, steps: int, actions: int, draws: int, tune: int | None = None) -> Run:
    """Sample four chains, one after the other, and judge the beliefs."""
    from icb_pymc.assess.convergence import bulk_ess, rank_rhat, tail_ess
    from icb_pymc.results.inference_data import group
    from icb_pymc.sample.fitting import fit

    decisions = _simulated(steps, actions)
    tune = TUNE[kernel] if tune is None else tune
    options: dict[str, Any] = {"draws": draws, "tune": tune, "chains": 4, "cores": 1, "seed": 1}
    started = time.perf_counter()
    declare, given = _problem(model, kernel, decisions)
    trace = fit(
        declare, decisions, kernel=kernel, log_likelihood=False, progressbar=False, hyperparameters=given, **options
    )
    seconds = time.perf_counter() - started
    belief = group(trace, "posterior")["belief"]
    # The first belief of a learner is a number, and has no effective draws.
    moves = belief.std(("chain", "draw")) > 1e-12
    size, tail = bulk_ess(belief).where(moves), tail_ess(belief).where(moves)
    drawing, rhat = float(trace.attrs["drawing_seconds"]), float(rank_rhat(belief).max())
    return Run(seconds, drawing, float(size.min()), float(size.median()), float(tail.min()), rhat, draws, tune)


def _simulated(steps: int, actions: int) -> Any:
    from icb_pymc.sample.simulation import simulate

    return simulate("sampling", steps=steps, actions=actions, seed=0)


def _problem(model: str, kernel: str, decisions: Any) -> tuple[Callable[..., Any] | str, dict[str, Any]]:
    """What is fitted: the declared model, or for NUTS the same model by its noise."""
    if kernel in ("nuts", "nutpie"):
        from icb_pymc.bench import noncentred

        return {"nb_icb": noncentred.nb_icb_by_noise, "b_icb": noncentred.b_icb_by_noise}[model], {}
    if model == "nb_icb":
        from icb_pymc.models.nb_icb import paper

        return model, paper(decisions).hyperparameters
    return model, {"strength": 10.0}


def until_agreement(model: str, kernel: str, steps: int, actions: int, limit: float) -> Run:
    """The first run whose chains agree, with twice the draws each time, or the longest within `limit` seconds."""
    began = time.perf_counter()
    run = run_sampler(model, kernel, steps, actions, FIRST_DRAWS[kernel])
    # The next run takes about twice as long; if that is too long, the answer is known.
    while run.rhat >= AGREED and time.perf_counter() - began + 2 * run.seconds <= limit:
        run = run_sampler(model, kernel, steps, actions, 2 * run.draws)
    return run


def in_own_process(arguments: dict[str, Any], caches: str) -> dict[str, Any]:
    """Call `main` of this module in a new process, with compilation caches in the folder `caches`."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": os.path.join(caches, "numba"),
        "PYTENSOR_FLAGS": f"base_compiledir={os.path.join(caches, 'pytensor')}",
        "OMP_NUM_THREADS": "1",
    }
    # Without what lies in the current folder, which may be called like a module.
    command = [sys.executable, "-P", "-W", "ignore", "-m", "icb_pymc.bench.measure", json.dumps(arguments)]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if finished.returncode:
        reason = (finished.stderr.strip().splitlines() or ["no reason given"])[-1]
        return {"error": reason}
    return json.loads(finished.stdout.strip().splitlines()[-1])


def cold_and_warm(arguments: dict[str, Any]) -> dict[str, Any]:
    """A run with full caches, and after ``compiling`` how many seconds more it would have taken with empty ones."""
    with tempfile.TemporaryDirectory() as caches:
        cold = in_own_process(arguments | {"is_short": True}, caches)
        warm = in_own_process(arguments | {"is_short": False}, caches)
    if "error" in cold or "error" in warm:
        return warm | cold
    # Both of them declare and compile; what else a run takes is in proportion to its draws.
    drawn = warm["drawing"] * (cold["draws"] + cold["tune"]) / (warm["draws"] + warm["tune"])
    return warm | {"compiling": max(0.0, cold["seconds"] - drawn - (warm["seconds"] - warm["drawing"]))}


def main(text: str) -> None:
    """Measure what the JSON asks for, and print the result as JSON."""
    asked = json.loads(text)
    problem = (asked["model"], asked["kernel"], asked["steps"], asked["actions"])
    run = run_sampler(*problem, SHORT, SHORT) if asked["is_short"] else until_agreement(*problem, asked["limit"])
    print(json.dumps(run._asdict()))


if __name__ == "__main__":
    main(sys.argv[1])
