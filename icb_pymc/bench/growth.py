"""How time and memory grow with the length of the log: each measurement in a process of its own."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

# Steps of tuning, and draws, of the engine: as many as go over so many decisions, within bounds.
DECISIONS, FEWEST, MOST = 10_000_000, 40, 500
# Times that are kept.
TIMES = 100
SETTINGS = {"learnt": "scales learnt (the defaults)", "paper": "the paper's fixed settings"}


def growth_table(lengths: Sequence[int]) -> Iterator[str]:
    """CPU seconds and peak memory of the engine and of Laplace's method, and how fast they grow."""
    yield f"NB-ICB, k = 8, two candidates, {TIMES} times kept, one core: CPU time of a draw of the engine after tuning,"
    yield "of Laplace's method with 1,000 draws, and the most memory that each process took; slope: of log time against"
    yield "log T between the two longest"
    with tempfile.TemporaryDirectory() as folder:
        for name, words in SETTINGS.items():
            yield ""
            yield words
            yield (
                f"{'T':>9}{'engine ms/draw':>16}{'us/(draw T)':>13}{'steps':>7}{'accepted':>10}{'MB':>7}"
                f"{'laplace s':>11}{'MB':>7}"
            )
            times: list[tuple[float, float]] = []
            for steps in lengths:
                log = _simulated(steps, Path(folder))
                engine = measured({"log": log, "settings": name, "method": "mcmc"})
                laplace = measured({"log": log, "settings": name, "method": "laplace"})
                times.append((engine["seconds"], laplace["seconds"]))
                yield (
                    f"{steps:>9}{1e3 * engine['seconds']:>16.2f}{1e6 * engine['seconds'] / steps:>13.2f}"
                    f"{engine['steps']:>7.1f}{engine['accepted']:>10.2f}{engine['megabytes']:>7.0f}"
                    f"{laplace['seconds']:>11.2f}{laplace['megabytes']:>7.0f}"
                )
            if len(lengths) > 1:
                slopes = np.diff(np.log(times[-2:]), axis=0)[0] / np.log(lengths[-1] / lengths[-2])
                yield f"{'slope':>9}{slopes[0]:>16.2f}{slopes[1]:>48.2f}"


def _simulated(steps: int, folder: Path) -> str:
    """The file of a log of the paper's environment."""
    from icb_pymc.data.decision_files import write_decisions
    from icb_pymc.sample.simulation import simulate

    path = folder / f"{steps}.nc"
    if not path.exists():
        write_decisions(simulate("sampling", steps=steps, seed=0), path)
    return str(path)


def measured(request: dict[str, Any]) -> dict[str, float]:
    """The measurement that `measure` makes, in a new process."""
    variables = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    # -P: a file in the current folder may have the name of a module.
    command = [sys.executable, "-P", "-W", "ignore", "-m", "icb_pymc.bench.growth", json.dumps(request)]
    finished = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if finished.returncode:
        reason = (finished.stderr.strip().splitlines() or ["no error message"])[-1]
        raise RuntimeError(f"{request}: {reason}")
    return json.loads(finished.stdout.strip().splitlines()[-1])


def measure(request: dict[str, Any]) -> dict[str, float]:
    """CPU seconds of a draw of the engine, or of a fit by Laplace's method, and the peak memory of this process."""
    from icb_pymc.data.decision_files import read_decisions
    from icb_pymc.models.nb_icb import paper
    from icb_pymc.results.inference_data import group
    from icb_pymc.sample.fitting import fit
    from icb_pymc.sample.quiet import quiet_pymc
    from icb_pymc.sample.simulation import simulate
    from icb_pymc.steps.utility_hmc import UtilityHMC

    decisions = read_decisions(request["log"])
    given = paper(decisions).hyperparameters if request["settings"] == "paper" else {}
    options: dict[str, Any] = {"method": request["method"], "log_likelihood": False, "progressbar": False, "seed": 0}
    # A first fit before anything is timed, since it compiles kernels.
    few: dict[str, Any] = {"draws": 4} | ({"tune": 4, "chains": 1, "cores": 1} if request["method"] == "mcmc" else {})
    with quiet_pymc():
        fit("nb_icb", simulate("sampling", steps=20, seed=0), hyperparameters=given, **few, **options)
        steps = decisions.sizes["time"]
        options["every"] = max(1, steps // TIMES)
        if request["method"] == "laplace":
            started = time.process_time()
            fit("nb_icb", decisions, hyperparameters=given, **options)
            return {"seconds": time.process_time() - started, "megabytes": peak_megabytes()}
        tuned: list[float] = []
        stop_tuning = UtilityHMC.stop_tuning

        def noted(step: UtilityHMC) -> None:
            tuned.append(time.process_time())
            stop_tuning(step)

        draws = int(np.clip(DECISIONS // steps, FEWEST, MOST))
        options |= {"draws": draws, "tune": draws, "chains": 1, "cores": 1}
        UtilityHMC.stop_tuning = noted  # type: ignore[method-assign, assignment]
        try:
            trace = fit("nb_icb", decisions, hyperparameters=given, **options)
        finally:
            UtilityHMC.stop_tuning = stop_tuning  # type: ignore[method-assign]
        seconds = (time.process_time() - tuned[0]) / draws
    stats = group(trace, "sample_stats")
    return {
        "seconds": seconds,
        "megabytes": peak_megabytes(),
        "steps": float(stats["hmc_steps"].mean()),
        "accepted": float(stats["hmc_accept"].mean()),
    }


def peak_megabytes() -> float:
    """The most memory that this process ever had."""
    # Linux counts kilobytes, macOS bytes.
    unit = 1.0 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
