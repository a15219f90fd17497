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
FIRST_DRAWS = {"engine": 500, "gibbs": 500, "paper": 500, "nuts": 100, "nutpie": 200}
TUNE = {"engine": 300, "gibbs": 200, "paper": 200, "nuts": 200, "nutpie": 300}
AGREED = 1.01


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
    rhat : float
        The worst of the belief's components.
    draws : int
        Per chain.
    """

    seconds: float
    drawing: float
    worst: float
    median: float
    rhat: float
    draws: int


def run_sampler(model: str, kernel: str, steps: int, actions: int, draws: int) -> Run:
    """Sample four chains, one after the other, and judge the beliefs."""
    from icb_pymc.convergence import bulk_ess, rank_rhat
    from icb_pymc.fitting import fit
    from icb_pymc.inference_data import group

    decisions = _simulated(steps, actions)
    options: dict[str, Any] = {"draws": draws, "tune": TUNE[kernel], "chains": 4, "cores": 1, "seed": 1}
    started = time.perf_counter()
    declare, given = _problem(model, kernel, decisions)
    trace = fit(declare, decisions, kernel=kernel, log_likelihood=False, progressbar=False, **options, **given)
    seconds = time.perf_counter() - started
    belief = group(trace, "posterior")["belief"]
    size = bulk_ess(belief)
    # The first belief of a learner is a number, and has no effective draws.
    size = size.where(belief.std(("chain", "draw")) > 1e-12)
    drawing = float(trace.attrs["drawing_seconds"])
    return Run(seconds, drawing, float(size.min()), float(size.median()), float(rank_rhat(belief).max()), draws)


def _simulated(steps: int, actions: int) -> Any:
    from icb_pymc.simulation import simulate

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


def until_agreement(model: str, kernel: str, steps: int, actions: int, limit: float) -> tuple[Run, Run | None]:
    """The first run, and the first one whose chains agree, with twice the draws each time, within `limit` seconds."""
    draws, began = FIRST_DRAWS[kernel], time.perf_counter()
    first = run = run_sampler(model, kernel, steps, actions, draws)
    while run.rhat >= AGREED:
        draws *= 2
        # The next run takes about twice as long; if that is too long, the answer is known.
        if time.perf_counter() - began + 2 * run.seconds > limit:
            return first, None
        run = run_sampler(model, kernel, steps, actions, draws)
    return first, run


def in_own_process(arguments: dict[str, Any], caches: str) -> dict[str, Any]:
    """Call `main` of this module in a new process, with compilation caches in the folder `caches`."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": os.path.join(caches, "numba"),
        "PYTENSOR_FLAGS": f"base_compiledir={os.path.join(caches, 'pytensor')}",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-W", "ignore", "-m", "icb_pymc.bench.measure", json.dumps(arguments)]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if finished.returncode:
        reason = (finished.stderr.strip().splitlines() or ["no reason given"])[-1]
        return {"error": reason}
    return json.loads(finished.stdout.strip().splitlines()[-1])


def cold_and_warm(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same measurement with empty caches and then with full ones; the second is what counts."""
    with tempfile.TemporaryDirectory() as caches:
        cold = in_own_process(arguments | {"limit": 0.0}, caches)
        return in_own_process(arguments, caches) | {"cold": cold}


def main(text: str) -> None:
    """Measure what the JSON asks for, and print the result as JSON."""
    asked = json.loads(text)
    first, agreed = until_agreement(asked["model"], asked["kernel"], asked["steps"], asked["actions"], asked["limit"])
    print(json.dumps({"first": first._asdict(), "agreed": None if agreed is None else agreed._asdict()}))


if __name__ == "__main__":
    main(sys.argv[1])
