# %% [markdown]
# # What is lost when something goes wrong
#
# Each fault is really inflicted on each verb of the command line: the process is interrupted (SIGINT to its group, as
# by Ctrl-C) or killed (SIGKILL), the disk is full (a tiny tmpfs, or a limit on the size of files where that cannot be
# mounted), a worker process is killed, two processes write the same output, a file of what was kept is damaged. Then
# the same command is given again, and its result compared with that of an undisturbed run: draws and statistics, scores
# of runs, or the text of a page, to the last bit.
#
# `fit` keeps a checkpoint, written after every iteration here. Verbs that write one file are struck at the worst
# moment: when everything is written, but not yet under its name.

# %%
import argparse
import contextlib
import io
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from icb_pymc import read_trace, simulate, write_decisions
from icb_pymc.cli import main
from icb_pymc.reproduce import paper_tables, scale
from icb_pymc.results.inference_data import group
from icb_pymc.steps import resumable

TABLE = Path(__file__).parent / "tables" / "faults.md"
SAMPLING = ["--draws", "40", "--tune", "40", "--chains", "2", "--seed", "3"]
SMALL = scale.Scale(agents=("stepping",), seeds=2, steps=30, exact={"draws": 20, "tune": 20, "chains": 2})
# A disk that holds the inputs of a verb and a part of what it writes, in kilobytes.
DISKS = {"fit": 96, "share": 8, "report": 8, "reproduce": 96, "fit --each": 240}
PATIENCE = 300


class Verb(NamedTuple):
    """A verb: its words, given the folder of its output; what it keeps as it goes; and its result."""

    words: Callable[[Path], list[str]]
    output: str
    kept: str
    workers: bool
    enough: int


class Run(NamedTuple):
    """How a process ended, and what it said."""

    code: int
    said: str


# %%
def content(path: Path) -> str:
    """A hash of what a result says, without the seconds that it took."""
    found = sha256()
    for file in sorted(path.rglob("[!.]*.nc")) if path.is_dir() else [path]:
        if file.suffix != ".nc":
            found.update(file.read_bytes())
            continue
        trace = read_trace(file)
        found.update(file.name.encode() + str(trace.attrs.get("scores")).encode())
        for name in ("posterior", "sample_stats"):
            dataset = group(trace, name)
            for variable in sorted(map(str, dataset.data_vars)):
                found.update(variable.encode() + dataset[variable].values.tobytes())
    return found.hexdigest()


def start(words: list[str], log: Path, before: Callable[[], None] = lambda: None) -> int:
    """A process that runs a verb, in a group of its own; it is forked, so that it need not import everything again."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.setsid()
        with log.open("w") as file:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(stream, "w"), write_through=True) for stream in (1, 2))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        before()
        code = main(words)
    except SystemExit as error:
        code = int(error.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def wait(pid: int, log: Path) -> Run:
    """Wait for the process, and for those that it started."""
    _, status = os.waitpid(pid, 0)
    end = time.monotonic() + 60
    while members(pid):
        if time.monotonic() > end:
            os.killpg(pid, signal.SIGKILL)
            return Run(os.waitstatus_to_exitcode(status), "PROCESSES WERE LEFT BEHIND")
        time.sleep(0.1)
    return Run(os.waitstatus_to_exitcode(status), log.read_text(errors="replace"))


def members(pid: int) -> list[int]:
    """Processes of the group that a process leads, without itself and without those that have ended."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            state, _, of_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(of_group) == pid and int(entry.name) != pid and state != "Z":
                found.append(int(entry.name))
    return found


def run(words: list[str], log: Path, before: Callable[[], None] = lambda: None) -> Run:
    return wait(start(words, log, before), log)


# %%
def waits_before_the_name(marker: Path) -> Callable[[], None]:
    """A disk that is so slow that a file, once written, can be caught before it gets its name."""

    def patch() -> None:
        def fsync(handle: int) -> None:
            marker.touch()
            time.sleep(PATIENCE)

        os.fsync = fsync

    return patch


def strike(verb: Verb, folder: Path, fault: str) -> Run:
    """Start a verb, inflict a signal when it has begun to keep or to write something, and wait for its end."""
    log, marker = folder / ".log", folder / ".written"
    before = (lambda: None) if verb.kept else waits_before_the_name(marker)
    pid, end = start(verb.words(folder), log, before), time.monotonic() + PATIENCE
    while not marker.exists() and len(list(folder.glob(verb.kept or "nothing"))) < verb.enough:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) or time.monotonic() > end:
            raise RuntimeError(f"{verb.words(folder)} ended before it was struck: {log.read_text()}")
        time.sleep(0.01)
    if fault == "SIGINT":
        os.killpg(pid, signal.SIGINT)
    elif fault == "kill -9":
        os.kill(pid, signal.SIGKILL)
    else:
        os.kill(working(pid), signal.SIGKILL)
    return wait(pid, log)


def working(pid: int) -> int:
    """The youngest process of a group: a worker, not the one that watches over resources."""
    return max(members(pid))


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Callable[[], None]]:
    """Mount a small disk on a folder; where that is not allowed, limit the size of a file of the process."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode == 0:
        try:
            yield lambda: None
        finally:
            # What was kept is copied to a disk with space, where the command is given again.
            copy = folder.with_name(folder.name + "-copy")
            shutil.copytree(folder, copy)
            subprocess.run(["umount", folder], check=True)
            shutil.copytree(copy, folder, dirs_exist_ok=True)
    else:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 256, kilobytes * 256))


# %%
def cell(name: str, verb: Verb, fault: str, work: Path, expected: str) -> dict[str, str]:
    """Inflict one fault on one verb, give the command again, and say what came of it."""
    folder = work / f"{name}-{fault}".replace(" ", "")
    folder.mkdir()
    result = folder / verb.output
    if fault == "full disk":
        with small_disk(folder, DISKS[name]) as limit:
            first = run(verb.words(folder), work / "disk.log", limit)
            (folder / ".log").unlink(missing_ok=True)
    elif fault == "two processes":
        first = two(verb, folder, work)
    elif fault == "damaged file":
        first = damage(verb, folder)
    else:
        first = strike(verb, folder, fault)
    kept = len(list(folder.glob(verb.kept))) if verb.kept else 0
    has_result = result.is_file()
    behind = hidden(folder)
    again = run(verb.words(folder), folder / ".log")
    if again.code and fault == "damaged file" and "emove the folder" in again.said:
        shutil.rmtree(folder / "kept")
        again = run(verb.words(folder), folder / ".log")
    whole = result.exists() and content(result) == expected
    return {
        "fault": fault,
        "verb": name,
        "exit": str(first.code),
        "says": sentence(first.said, folder) or "nothing",
        "kept": f"{kept} files" if kept else ("the result" if has_result else "nothing"),
        "left behind": ", ".join(behind) or "nothing",
        "after the same command again": ", ".join(hidden(folder)) or "nothing",
        "equal": "yes" if whole and again.code == 0 else f"NO ({again.code}: {sentence(again.said, folder)})",
    }


def two(verb: Verb, folder: Path, work: Path) -> Run:
    """The same command twice at a time; what the one that is refused says, or nothing if none is."""
    words = verb.words(folder)
    pids = [start(words, work / f"two-{number}.log") for number in range(2)]
    runs = [wait(pid, work / f"two-{number}.log") for number, pid in enumerate(pids)]
    refused = [ended for ended in runs if ended.code]
    return refused[0] if refused else runs[0]._replace(said="")


def damage(verb: Verb, folder: Path) -> Run:
    """Cut a file that was kept, or the trace that is read, to half its length, and give the command."""
    if verb.kept:
        strike(verb, folder, "kill -9")
        file = sorted(folder.glob(verb.kept))[0]
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        return run(verb.words(folder), folder / ".log")
    damaged = folder / "damaged.nc"
    source = next(Path(word) for word in verb.words(folder) if word.endswith("trace.nc"))
    damaged.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
    ended = run([str(damaged) if word == str(source) else word for word in verb.words(folder)], folder / ".log")
    damaged.unlink()
    return ended


def hidden(folder: Path) -> list[str]:
    """Temporary files, which begin with a dot; locks are empty and stay."""
    own = {".log", ".written", ".lock"}
    return sorted({re.sub(r"-\w{8}\.", "-*.", path.name) for path in folder.rglob(".*") if path.name not in own})


def sentence(said: str, folder: Path) -> str:
    """What the verb said about the fault."""
    if "Traceback" in said:
        return "TRACEBACK: " + said.strip().splitlines()[-1][:150]
    if "LEFT BEHIND" in said:
        return said
    lines = [line for line in said.splitlines() if line.startswith(("icb ", "warning: "))]
    return lines[-1].replace(str(folder), "FOLDER").replace("|", "/") if lines else ""


# %%
def verbs(inputs: Path) -> dict[str, Verb]:
    """The verbs, on small logs."""
    logs = []
    for seed in range(3):
        logs.append(inputs / f"agent-{seed}.nc")
        write_decisions(simulate("stepping", steps=40, random_seed=seed), logs[-1])
    trace = inputs / "trace.nc"
    fit = ["fit", "nb_icb", str(logs[0]), *SAMPLING]
    assert run([*fit, "-o", str(trace)], inputs / "fit.log").code == 0
    each = ["fit", "nb_icb", *map(str, logs), "--each", "file", "--method", "laplace", "--draws", "40", "--seed", "0"]
    return {
        "fit": Verb(
            lambda folder: [*fit, "--cores", "2", "--checkpoint", f"{folder}/kept", "-o", f"{folder}/trace.nc"],
            *("trace.nc", "kept/chain-*-from-*.npz", True, 12),
        ),
        "share": Verb(
            lambda folder: ["share", str(trace), "--draws", "20", "-o", f"{folder}/shared.nc"],
            *("shared.nc", "", False, 1),
        ),
        "report": Verb(
            lambda folder: ["report", str(trace), "--quick", "-o", f"{folder}/report.html"],
            *("report.html", "", False, 1),
        ),
        "reproduce": Verb(
            lambda folder: ["reproduce", "--table", "3", "--quick", "-o", f"{folder}/out"],
            *("out", "out/units-quick/[!.]*.nc", True, 1),
        ),
        "fit --each": Verb(
            lambda folder: [*each, "-o", f"{folder}/fits"],
            *("fits", "fits/[!.]*.nc", True, 1),
        ),
    }


FAULTS = ("SIGINT", "kill -9", "full disk", "lost worker", "two processes", "damaged file")


def measure(only: list[str], faults: list[str]) -> list[dict[str, str]]:
    """All cells."""
    resumable.SECONDS = 0.0
    scale.QUICK = SMALL
    paper_tables.TABLES[3] = replace(paper_tables.TABLES[3], algorithms=("Baseline", "B-IRL", "T-REX"), added=())
    rows = []
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "inputs").mkdir()
        for label, verb in verbs(work / "inputs").items():
            if only and label not in only:
                continue
            undisturbed = work / f"{label}-undisturbed".replace(" ", "")
            undisturbed.mkdir()
            ended = run(verb.words(undisturbed), undisturbed / ".log")
            assert ended.code == 0, ended.said
            expected = content(undisturbed / verb.output)
            for fault in faults:
                if fault == "lost worker" and not verb.workers:
                    continue
                rows.append(cell(label, verb, fault, work, expected))
                print(rows[-1], flush=True)
    return rows


def as_markdown(rows: list[dict[str, str]]) -> str:
    """The table, with a line that says how it was made."""
    rows = sorted(rows, key=lambda row: FAULTS.index(row["fault"]))
    lines = ["| " + " | ".join(rows[0]) + " |", "|---" * len(rows[0]) + "|"]
    lines += ["| " + " | ".join(row.values()) + " |" for row in rows]
    return (
        "# Faults\n\nMade by `python examples/faults.py`. *kept* is counted after the fault, *left behind* are "
        "temporary files then; *equal* is whether the same command, given again, ends with the result of an "
        "undisturbed run, to the last bit; where it says to remove a folder, that was done first.\n\n"
        + "\n".join(lines)
        + "\n"
    )


# %%
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--verb", action="append", default=[])
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("-o", "--output", default=str(TABLE))
    options = parser.parse_args()
    found = measure(options.verb, options.fault or list(FAULTS))
    Path(options.output).write_text(as_markdown(found), encoding="utf-8")
    print(Path(options.output).read_text(encoding="utf-8"))
