"""A thousand subjects on a cluster of two workers: throughput, memory, and a worker killed in the middle.

    python examples/many_subjects.py --subjects 1000 --decisions 500 -o examples/tables/many_subjects.md

Subjects are fitted in a loop in one process (some of them) and by `fit_each` on a local Dask cluster, of which one
worker is killed halfway. Nothing may be lost, and the draws must be the same. From the cost of a task and of handing
it out, measured here, larger clusters are then simulated. It needs Linux, and icb-pymc[cluster].
"""

import argparse
import heapq
import os
import signal
import statistics
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import icb_pymc
from icb_pymc.io.files import replacing
from icb_pymc.results.inference_data import group
from icb_pymc.sample.each import seed_of

SEED = 0
OPTIONS = {"method": "laplace", "draws": 200, "every": 10}
FEATURES = ["left", "right", "habit", "outcome"]
WORKERS = (1, 2, 10, 30, 100, 300, 1000)


def simulated(subjects: int, decisions: int):
    """Decisions between two candidates, by subjects whose weights are random walks."""
    logs = {}
    for number in range(subjects):
        rng = np.random.default_rng([SEED, number])
        steps = rng.normal(size=(decisions, len(FEATURES))) * 0.04
        weights = rng.normal(size=len(FEATURES)) + steps.cumsum(axis=0)
        contexts = rng.normal(size=(decisions, 2, len(FEATURES)))
        utility = np.einsum("taf,tf->ta", contexts, weights) + rng.gumbel(size=(decisions, 2))
        logs[f"subject {number + 1}"] = icb_pymc.from_arrays(contexts, utility.argmax(axis=1), features=FEATURES)
    return logs


def in_one_process(logs):
    """Fit in a loop: CPU seconds per subject once everything is compiled, and the beliefs."""
    beliefs, seconds = {}, []
    for subject, log in logs.items():
        started = time.process_time()
        seed = seed_of(SEED, subject)
        trace = icb_pymc.fit("nb_icb", log, seed=seed, cores=1, progressbar=False, **OPTIONS)
        icb_pymc.write_trace(trace, Path(tempfile.gettempdir()) / "many-subjects.nc")
        seconds.append(time.process_time() - started)
        beliefs[subject] = group(trace, "posterior")["belief"].values
    return beliefs, statistics.median(seconds)


class Watch(threading.Thread):
    """CPU seconds and memory of the workers, and of this process, over time; kills a worker halfway."""

    def __init__(self, cluster, folder: Path, subjects: int) -> None:
        super().__init__(daemon=True)
        self.cluster, self.folder, self.subjects = cluster, folder, subjects
        self.cpu, self.memory, self.killed = {}, [], None
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(1.0):
            done = len(list(self.folder.glob("[!.]*.nc")))
            pids = [nanny.pid for nanny in self.cluster.workers.values() if nanny.pid]
            for pid in pids:
                self.cpu[pid] = cpu_seconds(pid) or self.cpu.get(pid, 0.0)
            sizes = [size for pid in pids if (size := megabytes(pid))]
            self.memory.append((done, max(sizes, default=0.0), megabytes(os.getpid())))
            if self.killed is None and done >= self.subjects // 2:
                self.killed = pids[0]
                os.kill(pids[0], signal.SIGKILL)


def cpu_seconds(pid: int) -> float | None:
    """User and system time of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int) -> float:
    """Resident memory of a process."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError):
        return 0.0


def on_a_cluster(logs, folder: Path):
    """Fit all on two workers, one of which is killed: the fits, seconds, and what was watched."""
    from distributed import LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster:
        watch = Watch(cluster, folder, len(logs))
        watch.start()
        started, own = time.perf_counter(), time.process_time()
        fits = icb_pymc.fit_each(
            "nb_icb", logs, folder=folder, scheduler=cluster.scheduler_address, seed=SEED, progressbar=False, **OPTIONS
        )
        seconds, own = time.perf_counter() - started, time.process_time() - own
        watch.over.set()
        watch.join()
    return fits, seconds, own, watch


def cost_of_handing_out(sent: int, returned: int, folder: Path, tasks: int = 400) -> float:
    """CPU seconds that this process, with the scheduler in it, needs for a task that does nothing, and to write it."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client, client.get_executor(pure=False) as executor:
        list(executor.map(echo, [b""] * 10))
        started, argument = time.process_time(), os.urandom(sent)
        waiting = []
        for number in range(tasks):
            waiting.append(executor.submit(echo, argument, returned))
            if len(waiting) == 4:
                with replacing(folder / f"handed-{number % 10}.nc") as temporary:
                    temporary.write_bytes(waiting.pop(0).result())
        for future in waiting:
            future.result()
        return (time.process_time() - started) / tasks


def echo(argument: bytes, returned: int = 0) -> bytes:
    """A task that only returns as many bytes as a trace has."""
    return os.urandom(returned)


def simulated_throughput(workers: int, task: float, hand_out: float, tasks: int = 20_000) -> float:
    """Subjects per second of so many workers, where one process hands out all tasks and receives all traces."""
    # Each worker has a task in hand and one waiting; a worker is free when its task ends, unless none has come yet.
    free = [0.0] * workers
    heapq.heapify(free)
    server = end = 0.0
    for _ in range(tasks):
        ready = heapq.heappop(free)
        # With a task waiting at the worker, the process has the length of a task to send the next.
        server = max(server, ready - task) + hand_out
        done = max(ready, server) + task
        heapq.heappush(free, done)
        end = max(end, done)
    return tasks / end


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subjects", type=int, default=1000)
    parser.add_argument("--decisions", type=int, default=500)
    parser.add_argument("--alone", type=int, default=40, help="subjects fitted in one process, to compare with")
    parser.add_argument("-o", "--output", default="many_subjects.md")
    asked = parser.parse_args()
    logs = simulated(asked.subjects, asked.decisions)
    beliefs, alone = in_one_process(dict(list(logs.items())[: asked.alone]))
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "fits"
        fits, seconds, own, watch = on_a_cluster(logs, store)
        same = sum(np.array_equal(group(fits[s], "posterior")["belief"].values, beliefs[s]) for s in beliefs)
        size = statistics.mean(fits.path(subject).stat().st_size for subject in fits)
        sent = sum(values.nbytes for values in next(iter(logs.values())).variables.values())
        hand_out = cost_of_handing_out(sent, int(size), Path(folder))
        task = sum(watch.cpu.values()) / len(fits)
        write(asked, fits, seconds, own, watch, same, len(beliefs), size, alone, task, hand_out)


def write(asked, fits, seconds, own, watch, same, compared, size, alone, task, hand_out) -> None:
    """The table, as Markdown."""
    tenths = [sample for sample in watch.memory if sample[0]]
    shown = [
        min(tenths, key=lambda sample: abs(sample[0] - share * len(fits.subjects))) for share in (0.1, 0.4, 0.9, 1)
    ]
    lines = [
        f"# {asked.subjects} subjects of {asked.decisions} decisions, {len(FEATURES)} features, on two workers",
        "",
        f"`python examples/many_subjects.py --subjects {asked.subjects} --decisions {asked.decisions}`; nb_icb with "
        f"learnt scales, {OPTIONS}. Other programs used the same two cores: CPU seconds count, not the clock.",
        "",
        "| | |",
        "|---|---|",
        f"| fitted | {len(fits)} of {len(fits.subjects)}, {len(fits.failures)} failed |",
        f"| worker killed halfway | {'yes' if watch.killed else 'no'} |",
        f"| same draws as in one process | {same} of {compared} compared |",
        f"| CPU s per subject, loop in one process | {alone:.2f} |",
        f"| CPU s per subject, workers (start and redone tasks included) | {task:.2f} |",
        f"| CPU s per subject, scheduler and this process | {own / len(fits):.3f} |",
        f"| seconds on the clock | {seconds:.0f} ({len(fits) / seconds:.1f} subjects per second) |",
        f"| a trace | {size / 1e3:.0f} kB |",
        "",
        "| subjects done | largest worker, MB | scheduler and this process, MB |",
        "|---|---|---|",
        *(f"| {done} | {worker:.0f} | {here:.0f} |" for done, worker, here in shown),
        "",
        f"Larger clusters, simulated: a task takes {alone:.2f} s of a worker, and {hand_out * 1e3:.1f} ms of the one "
        "process that hands out tasks, passes traces on and writes them (measured with empty tasks of the same sizes).",
        "",
        "| workers | subjects per second | of the ideal |",
        "|---|---|---|",
    ]
    for workers in WORKERS:
        rate = simulated_throughput(workers, alone, hand_out)
        lines.append(f"| {workers} | {rate:.1f} | {rate * alone / workers:.0%} |")
    lines += ["", f"The scheduler is the limit from about {alone / hand_out:.0f} workers on.", ""]
    with replacing(asked.output) as temporary:
        temporary.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
