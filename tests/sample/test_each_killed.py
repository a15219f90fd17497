"""Fits of many subjects whose processes are really killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.processes import alive, children
from helpers.subjects import LAPLACE, beliefs, subject_logs

from icb_pymc import InputError, fit_each, read_fits, write_decisions

pytestmark = pytest.mark.slow
SUBJECTS = 8


def logs():
    """Decisions of eight subjects."""
    return {f"{name} {seed}": log for seed in range(4) for name, log in list(subject_logs(seed=seed).items())[:2]}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Fits of all subjects by one process."""
    return beliefs(fit_each("nb_icb", logs(), folder=tmp_path_factory.mktemp("fits") / "store", **LAPLACE))


def same(found, expected):
    """Whether all draws are the same, to the last bit."""
    return list(found) == list(expected) and all(np.array_equal(found[name], expected[name]) for name in expected)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="reads /proc")
def test_the_command_after_kill_9_continues_and_ends_as_if_it_had_not_been_killed(tmp_path, undisturbed):
    files = [tmp_path / f"{name.replace(' / ', ' - ')}.nc" for name in undisturbed]
    for log, file in zip(logs().values(), files, strict=True):
        write_decisions(log, file)
    store = tmp_path / "store"
    command = [sys.executable, "-c", "import sys; from icb_pymc.cli import main; sys.exit(main(sys.argv[1:]))", "fit"]
    command += ["nb_icb", *map(str, files), "--each", "file", "--jobs", "2", "--method", "laplace", "--draws", "40"]
    command += ["--seed", "0", "-o", str(store)]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 900
    while len(list(store.glob("[!.]*.nc"))) < 3:
        assert first.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    workers = children(first.pid)
    first.send_signal(signal.SIGKILL)
    first.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in store.glob("[!.]*.nc")}
    assert len(kept) < SUBJECTS
    deadline = time.monotonic() + 30
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < deadline, "workers outlived their parent"
        time.sleep(0.2)
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "8 of 8 subjects fitted" in second.stdout
    assert {name: (store / name).stat().st_mtime_ns for name in kept} == kept
    fits = read_fits(store)
    once = fit_each(
        "nb_icb",
        {Path(file).stem: log for file, log in zip(files, logs().values(), strict=True)},
        folder=tmp_path / "once",
        **LAPLACE,
    )
    assert same(beliefs(fits), beliefs(once))


def test_a_cluster_that_loses_a_worker_and_two_processes_give_the_same_draws_as_one(tmp_path, undisturbed):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
        pids = list(client.run(os.getpid).values())
        store = tmp_path / "cluster"

        class Killing(dict):
            """Decisions that kill a worker when those of the fifth subject are asked for the second time."""

            asked = 0

            def __getitem__(self, name):
                if name == list(self)[4]:
                    self.asked += 1
                    if self.asked == 2:
                        os.kill(pids[0], signal.SIGKILL)
                return super().__getitem__(name)

        fits = fit_each("nb_icb", Killing(logs()), folder=store, scheduler=local.scheduler_address, **LAPLACE)
        assert not alive(pids[0])
    assert not fits.failures
    assert same(beliefs(fits), undisturbed)
    assert same(beliefs(fit_each("nb_icb", logs(), folder=tmp_path / "two", jobs=2, **LAPLACE)), undisturbed)


def test_a_scheduler_that_does_not_respond_is_reported_and_nothing_is_fitted(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    from icb_pymc.io import workers

    monkeypatch.setattr(workers, "SECONDS_TO_CONNECT", 2)
    with pytest.raises(InputError, match="no Dask scheduler responds"):
        fit_each("nb_icb", logs(), folder=tmp_path / "store", scheduler="tcp://127.0.0.1:1", **LAPLACE)
    assert len(read_fits(tmp_path / "store")) == 0
