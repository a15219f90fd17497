"""How long whole commands take, from Enter to the prompt, and where the time goes: each in a process of its own."""

import contextlib
import functools
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from icb_pymc.io.late_modules import import_pymc

# Functions whose time is a stage of a command, less the stages inside them. Other versions may not have all of them.
FIT_STAGES = {
    "read": [("icb_pymc.cli.fit", "read_given_decisions")],
    "declare": [("icb_pymc.sample.fitting", "declare_with_priors")],
    "compile": [("icb_pymc.sample.fitting", "sample_posterior")],
    "draw": [("pymc.sampling.mcmc", "_sample_many"), ("pymc.sampling.mcmc", "_mp_sample")],
    "beliefs": [("icb_pymc.sample.mcmc", "learnt_beliefs")],
    "scores": [("icb_pymc.sample.fitting", "pointwise_groups")],
    "write": [("icb_pymc.results.traces", "write_trace")],
    "diagnose": [("icb_pymc.assess.diagnosis", "diagnose")],
}
READ_STAGES = {"read": [("icb_pymc.results.traces", "read_trace_as_tree")]}
ANSWERS = {
    "diagnose": ["diagnose", "nb_icb.nc"],
    "plot": ["plot", "weights", "nb_icb.nc", "-o", "weights.png"],
    "impact": ["impact", "nb_icb.nc", "--event"],
    "compare": ["compare", "nb_icb.nc", "b_icb.nc"],
}


def commands_table(steps: int, against: str | None = None) -> Iterator[str]:
    """CPU seconds of `icb fit` and of the commands that read its trace, stage by stage, line by line as measured.

    Parameters
    ----------
    steps : int
        Number of decisions.
    against : str, optional
        A Python in which another version of this package is installed, whose seconds are shown beside these.
    """
    yield f"CPU seconds of whole commands on one core, T = {steps}, k = 8, two candidates, four chains of 1,000 draws;"
    yield "cold: no compiled code; warm: the next run; wall: seconds on the clock, longer where others use the machine"
    fit = ["import", *FIT_STAGES, "rest"]
    yield _headings("icb fit", fit, against)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        for home in (folder, other) if against else (folder,):
            _run(sys.executable, ["simulate", "sampling", "--steps", str(steps), "--seed", "0", "-o", "log.nc"], home)
        for model in ("nb_icb", "b_icb"):
            command = ["fit", model, "log.nc", "--seed", "0", "--cores", "1", "-o", f"{model}.nc"]
            yield _row(f"{model}, cold", fit, command, folder, against, other)
            yield _row(f"{model}, warm", fit, command, folder, against, other)
        sizes = [f"{name} {(Path(folder) / f'{name}.nc').stat().st_size / 1e6:.0f} MB" for name in ("nb_icb", "b_icb")]
        yield f"traces: {', '.join(sizes)}"
        yield ""
        answer = ["import", *READ_STAGES, "rest"]
        yield _headings("icb, warm", answer, against)
        for name, command in ANSWERS.items():
            complete = [*command, str(steps // 2)] if name == "impact" else command
            # Kernels that only this command uses are compiled by a first run, which is not shown.
            _run(sys.executable, complete, folder)
            if against:
                _run(against, complete, other)
            yield _row(name, answer, complete, folder, against, other)


def _headings(title: str, stages: Sequence[str], against: str | None) -> str:
    more = f"{'before':>9}{'ratio':>7}" if against else ""
    return f"{title:<14}{''.join(f'{stage:>9}' for stage in stages)}{'all':>8}{'wall':>8}{more}"


def _row(name: str, stages: Sequence[str], command: list[str], folder: str, against: str | None, other: str) -> str:
    run = _run(sys.executable, command, folder, with_stages=True)
    more = ""
    if against:
        before = _run(against, command, other)["all"]
        more = f"{before:>9.1f}{before / run['all']:>7.1f}"
    cells = "".join(f"{run['stages'].get(stage, 0.0):>9.2f}" for stage in stages)
    return f"{name:<14}{cells}{run['all']:>8.1f}{run['wall']:>8.1f}{more}"


def _run(python: str, command: list[str], folder: str, *, with_stages: bool = False) -> dict[str, Any]:
    """Run `icb` with these arguments in `folder`, with the compilation caches in it: its CPU and wall seconds."""
    variables = os.environ | {
        "NUMBA_CACHE_DIR": os.path.join(folder, "numba"),
        "PYTENSOR_FLAGS": f"base_compiledir={os.path.join(folder, 'pytensor')}",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    # Other versions may not have `program`.
    code = "import sys, icb_pymc.cli as cli; getattr(cli, 'program', lambda: sys.exit(cli.main()))()"
    program = ["-m", "icb_pymc.bench.commands"] if with_stages else ["-c", code]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    finished = subprocess.run(
        # -P: a file in the current folder may have the name of a module.
        [python, "-P", "-W", "ignore", *program, *command],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    # Exit code 1 is an answer, too: chains that have not converged.
    if finished.returncode not in (0, 1) or "Traceback" in finished.stderr:
        reason = (finished.stderr.strip().splitlines() or ["no error message"])[-1]
        raise RuntimeError(f"icb {' '.join(command)}: {reason}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    stages = json.loads(finished.stdout.strip().splitlines()[-1]) if with_stages else {}
    if stages:
        stages["rest"] = seconds - sum(stages.values())
    return {"all": seconds, "wall": wall, "stages": stages}


class Stopwatch:
    """CPU seconds by stage; the time of a stage inside another counts for the inner one only."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner: list[float] = []

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its time added to a stage."""

        @functools.wraps(function)
        def measured(*arguments: Any, **options: Any) -> Any:
            started = cpu_seconds()
            self._inner.append(0.0)
            try:
                return function(*arguments, **options)
            finally:
                spent = cpu_seconds() - started
                self.seconds[stage] = self.seconds.get(stage, 0.0) + spent - self._inner.pop()
                if self._inner:
                    self._inner[-1] += spent

        return measured


def cpu_seconds() -> float:
    """User and system time of this process and of those that it has waited for, such as the C compiler's."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main(command: list[str]) -> None:
    """Run `icb` with these arguments, and print the seconds of its stages as JSON instead of its answer."""
    # The command line is what is measured, not a part of this room.
    cli = import_module("icb_pymc.cli")
    watch = Stopwatch()
    if command[0] == "fit":
        import_pymc()
    for stage, functions in (FIT_STAGES if command[0] == "fit" else READ_STAGES).items():
        for module, name in functions:
            place = import_module(module)
            if hasattr(place, name):
                setattr(place, name, watch.timed(stage, getattr(place, name)))
    watch.seconds["import"] = cpu_seconds()
    with contextlib.redirect_stdout(io.StringIO()):
        code = cli.main(command)
    print(json.dumps(watch.seconds))
    cli.leave(code)


if __name__ == "__main__":
    main(sys.argv[1:])
