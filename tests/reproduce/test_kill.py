"""Runs whose processes are really killed."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.processes import alive, children

from icb_pymc.io.workers import cluster, processes
from icb_pymc.reproduce.paper_tables import TABLES, table_rows
from icb_pymc.reproduce.running import run_missing
from icb_pymc.reproduce.store import Store

pytestmark = pytest.mark.slow
# A small table 3 by two processes; killed and started again, it must end like one that was never disturbed.
SCRIPT = """
import sys
from icb_pymc.cli import main
from icb_pymc.reproduce import scale
from tests_scale import SMALL

if __name__ == "__main__":
    scale.QUICK = SMALL
    sys.exit(main(["reproduce", "--table", "3", "--quick", "--jobs", "2", "-o", sys.argv[1]]))
"""


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="reads /proc")
def test_kill_9_loses_only_what_is_in_flight_and_leaves_no_process_behind(tmp_path, small):
    (tmp_path / "tests_scale.py").write_text(f"from icb_pymc.reproduce.scale import Scale\nSMALL = {small!r}\n")
    script = tmp_path / "small.py"
    script.write_text(SCRIPT)
    units = tmp_path / "out" / "units-quick"
    command = [sys.executable, str(script), str(tmp_path / "out")]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 240
    while len(list(units.glob("[!.]*.nc"))) < 4:
        assert first.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.2)
    workers = children(first.pid)
    first.send_signal(signal.SIGKILL)
    first.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in units.glob("[!.]*.nc")}
    deadline = time.monotonic() + 30
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < deadline, "workers outlived their parent"
        time.sleep(0.2)
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"20 runs, of which {len(kept)} already exist" in second.stdout
    assert {name: (units / name).stat().st_mtime_ns for name in kept} == kept
    assert len(list(units.glob("[!.]*.nc"))) == 20


def test_a_dask_cluster_that_loses_a_worker_gives_the_same_complete_table(tmp_path, small):
    distributed = pytest.importorskip("distributed")
    table = replace(TABLES[3], algorithms=("Baseline", "B-IRL", "T-REX"))
    units = table.units("exact", small)
    by_cluster, by_processes = Store(tmp_path / "cluster"), Store(tmp_path / "processes")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
        pids = list(client.run(os.getpid).values())
        assert len(set(pids)) == 2
        done = []

        def kill_a_worker_after_two(unit):
            done.append(unit)
            if len(done) == 2:
                os.kill(pids[0], signal.SIGKILL)

        failures = run_missing(units, by_cluster, cluster(local.scheduler_address), kill_a_worker_after_two)
        assert not failures
        assert not alive(pids[0])
    assert len(done) == len(units)
    assert not run_missing(units, by_processes, processes(1), lambda unit: None)
    expected = table_rows(table, "exact", small, by_processes)
    assert expected["seeds"].eq(2).all()
    assert table_rows(table, "exact", small, by_cluster).equals(expected)


def test_an_address_without_a_scheduler_is_reported(monkeypatch):
    pytest.importorskip("distributed")
    from icb_pymc import InputError
    from icb_pymc.io import workers

    monkeypatch.setattr(workers, "SECONDS_TO_CONNECT", 2)
    with pytest.raises(InputError, match="no Dask scheduler responds"), cluster("tcp://127.0.0.1:1")():
        pass
