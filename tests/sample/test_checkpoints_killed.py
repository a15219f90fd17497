"""Long fits that are really killed, and the same draws from any number of cores, process and state of the caches."""

import json
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest
from helpers.processes import alive, children

from icb_pymc import read_trace, simulate, write_decisions
from icb_pymc.results.inference_data import group

pytestmark = pytest.mark.slow
# Blocks of a tenth of a second, so that a short fit has several.
COMMAND = """
import sys
from icb_pymc.cli import main
from icb_pymc.steps import resumable

if __name__ == "__main__":
    resumable.SECONDS = 0.1
    sys.exit(main(sys.argv[1:]))
"""
OPTIONS = ["--tune", "100", "--seed", "7", "--no-log-likelihood"]


def digest(trace):
    """A hash of all draws and statistics, but for the time that they took."""
    found = sha256()
    for name in ("posterior", "sample_stats"):
        dataset = group(trace, name)
        for variable in sorted(map(str, dataset.data_vars)):
            if "time" not in variable and "perf" not in variable:
                found.update(variable.encode() + dataset[variable].values.tobytes())
    return found.hexdigest()


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Decisions of an agent that learns."""
    path = tmp_path_factory.mktemp("log") / "decisions.nc"
    write_decisions(simulate("sampling", steps=60, random_seed=0), path)
    return path


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="reads /proc")
@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("nb_icb", ["--draws", "1500", "--learn", "alpha", "--cores", "2", "--chains", "3"]),
        ("nb_icb", ["--draws", "1500", "--learn", "alpha", "--cores", "1", "--chains", "2"]),
        ("b_icb", ["--draws", "500", "--kernel", "gibbs", "--learn", "alpha", "--cores", "2", "--chains", "2"]),
        ("shrinkage_nb_icb", ["--draws", "600", "--cores", "2", "--chains", "2"]),
        ("nb_icb", ["--draws", "200", "--kernel", "nuts", "--cores", "2", "--chains", "2"]),
    ],
    ids=["engine, two cores", "engine, one core", "alternating steps", "scales and engine", "NUTS"],
)
def test_kill_9_loses_less_than_a_block_and_the_same_command_ends_with_the_same_draws(model, options, log, tmp_path):
    folder, traces = tmp_path / "kept", [tmp_path / "whole.nc", tmp_path / "resumed.nc"]
    command = [sys.executable, "-c", COMMAND, "fit", model, str(log), *OPTIONS, *options]
    subprocess.run([*command, "-o", str(traces[0])], check=True, capture_output=True)
    command += ["--checkpoint", str(folder), "-o", str(traces[1])]
    blocks = 0
    # NUTS is compiled in each process, and killed once.
    for wanted in (3,) if "nuts" in options else (3, 6):
        with (tmp_path / "said.txt").open("w") as said:
            running = subprocess.Popen(command, stdout=said, stderr=said)
        while (blocks := len(list(folder.glob("chain-*-from-*.npz")))) < wanted:
            assert running.poll() is None, (tmp_path / "said.txt").read_text()
            time.sleep(0.02)
        workers = children(running.pid)
        running.send_signal(signal.SIGKILL)
        running.wait()
        deadline = time.monotonic() + 60
        while any(alive(pid) for pid in workers):
            assert time.monotonic() < deadline, "chains outlived their parent"
            time.sleep(0.1)
        assert not traces[1].exists()
    assert blocks >= wanted
    subprocess.run(command, check=True, capture_output=True)
    assert not folder.exists()
    assert digest(read_trace(traces[1])) == digest(read_trace(traces[0]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["resumed.nc", "said.txt", "whole.nc"]


@pytest.mark.parametrize("model", ["nb_icb", "b_icb"])
def test_the_draws_depend_neither_on_cores_nor_on_caches_nor_on_the_process(model, log, tmp_path):
    code = "import sys; from icb_pymc.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "fit", model, str(log), *OPTIONS, "--draws", "50", "--chains", "4"]
    # Each runs in a process of its own: with the caches of this machine, then with empty ones, then with those.
    empty = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
        "PYTENSOR_FLAGS": f"compiledir={tmp_path / 'pytensor'}",
    }
    found = {}
    for name, cores, environment in [
        ("1 core", 1, None),
        ("2 cores", 2, None),
        ("4 cores", 4, None),
        ("cold caches", 2, empty),
        ("warm caches", 1, empty),
    ]:
        path = tmp_path / "trace.nc"
        run = [*command, "--cores", str(cores), "-o", str(path)]
        subprocess.run(run, check=True, capture_output=True, env=environment)
        found[name] = digest(read_trace(path))
    assert len(set(found.values())) == 1, json.dumps(found)
    assert (tmp_path / "numba").is_dir()
