import json
import os
import shutil
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace

import h5netcdf
import numpy as np
import pytest

from icb_pymc import read_trace
from icb_pymc.assess.metrics import reward_error
from icb_pymc.io.workers import Workers, processes
from icb_pymc.reproduce.log import Log
from icb_pymc.reproduce.paper_tables import table_rows
from icb_pymc.reproduce.running import run_missing
from icb_pymc.reproduce.store import Store
from icb_pymc.reproduce.unit import make_unit
from icb_pymc.reproduce.work import group_into_tasks
from icb_pymc.results.inference_data import group


def done_by(units, store, workers):
    """Names of the units that were done, and the failures."""
    done = []
    failures = run_missing(units, store, workers, lambda unit: done.append(unit.name))
    return done, failures


@pytest.fixture(scope="module")
def finished_once(tmp_path_factory, small, little_table, in_this_process):
    units, store = little_table.units("exact", small), Store(tmp_path_factory.mktemp("units"))
    done, failures = done_by(units, store, in_this_process)
    assert not failures
    assert done == [unit.name for unit in units]
    return units, store


@pytest.fixture
def finished(tmp_path, finished_once):
    """A store with the runs of the little table."""
    units, store = finished_once
    shutil.copytree(store.folder, tmp_path / "units")
    return units, Store(tmp_path / "units")


def test_a_rerun_does_nothing(finished):
    def nobody():
        raise AssertionError("workers were started")

    assert done_by(*finished, nobody) == ([], [])


def test_only_what_was_made_with_other_settings_is_done_again(finished, in_this_process):
    units, store = finished
    changed = [replace(unit, kept=(5, 15)) if unit.log.seed == 1 else unit for unit in units]
    done, failures = done_by(changed, store, in_this_process)
    assert done == [unit.name for unit in units if unit.log.seed == 1]
    assert not failures
    assert done_by(changed, store, in_this_process) == ([], [])


def test_what_a_kill_left_missing_or_cut_short_is_done_again_with_the_same_result(finished, in_this_process):
    units, store = finished
    before = [store.scores(unit) for unit in units]
    store.path(units[1]).unlink()
    cut = store.path(units[2])
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    # A kill while writing leaves a temporary file beside, which is nobody's run.
    (store.folder / f".{units[1].name}-unfinished-abc.nc").write_bytes(b"half")
    done, failures = done_by(units, store, in_this_process)
    assert done == [units[1].name, units[2].name]
    assert not failures
    assert [store.scores(unit) for unit in units] == before


def test_a_failing_unit_is_reported_and_the_others_finish(tmp_path, small, little_table, in_this_process):
    store = Store(tmp_path)
    impossible = make_unit("40-fold IRL", Log("stepping", 30, 2, 0), "exact", small)
    units = [impossible, *little_table.units("exact", small)]
    done, failures = done_by(units, store, in_this_process)
    assert len(done) == len(units)
    assert [failure.unit for failure in failures] == [impossible]
    assert "folds" in failures[0].error
    assert all(store.has(unit) for unit in units[1:])
    again, _ = done_by(units, store, in_this_process)
    assert again == [impossible.name]


def test_a_unit_whose_process_dies_is_found_and_costs_no_other(tmp_path, small, little_table):
    units = little_table.units("exact", small)
    deadly = units[1]

    starts = []

    class Mortal(Executor):
        """Breaks when it gets the deadly unit; the first of them loses all that is in flight, as a pool does."""

        def submit(self, work, task):
            future = Future()
            if deadly in task or len(starts) == 1:
                future.set_exception(BrokenProcessPool("died"))
            else:
                future.set_result(work(task))
            return future

    @contextmanager
    def start():
        starts.append(None)
        yield Workers(Mortal(), lambda: 2)

    store = Store(tmp_path)
    done, failures = done_by(units, store, start)
    assert sorted(done) == sorted(unit.name for unit in units)
    assert [failure.unit for failure in failures] == [deadly]
    assert "died" in failures[0].error
    assert all(store.has(unit) for unit in units if unit != deadly)


def test_the_file_of_a_unit_is_a_small_trace_that_says_what_it_is_of(finished):
    units, store = finished
    trace = read_trace(store.path(units[0]))
    described = json.loads(trace.attrs["unit"])
    assert described["log"]["agent"] == "stationary"
    assert described["version"] == trace.attrs["icb_pymc"]
    assert trace.attrs["unit_digest"] == units[0].digest
    assert group(trace, "posterior")["rho_env"].dtype == np.float32
    assert store.scores(units[0])["reward"] == pytest.approx(reward_error(trace), abs=1e-6)


def test_both_cp_irl_of_a_log_go_together_for_they_share_their_scores(small):
    logs = [Log("stepping", 30, 2, seed) for seed in (0, 1)]
    labels = ("B-IRL", "5-fold CP-IRL", "10-fold CP-IRL")
    units = [make_unit(label, log, "exact", small) for log in logs for label in labels]
    assert sorted(len(task) for task in group_into_tasks(units)) == [1, 1, 2, 2]


def test_runs_whose_chains_disagree_are_counted(finished, little_table, small):
    units, store = finished
    with h5netcdf.File(store.path(units[1]), "r+") as file:
        file.attrs["scores"] = json.dumps({"reward": 0.5, "rhat": 1.4})
    rows = table_rows(little_table, "exact", small, store).set_index(["algorithm", "agent"])
    row = rows.loc[(units[1].algorithm.label, units[1].log.agent)]
    assert (row["seeds"], row["chains"], row["not_converged"]) == (2, 1, 1)
    assert rows["not_converged"].sum() == 1


def test_results_do_not_depend_on_jobs(tmp_path, small, little_table, monkeypatch):
    # In the other processes, too, graphs are run by Python.
    monkeypatch.setenv("PYTENSOR_FLAGS", f"{os.environ.get('PYTENSOR_FLAGS', '')},mode=FAST_COMPILE,cxx=".strip(","))
    table = replace(little_table, score="belief", algorithms=("NB-ICB",))
    scale = replace(small, agents=("stepping",))
    rows = []
    for jobs in (1, 2):
        store = Store(tmp_path / str(jobs))
        units = table.units("exact", scale)
        # The order in which units come must not matter either.
        _, failures = done_by(units[:: -1 if jobs == 2 else 1], store, processes(jobs))
        assert not failures
        rows.append(table_rows(table, "exact", scale, store))
    assert rows[0].equals(rows[1])
    assert rows[0]["mean"].notna().all()
    kept = group(store.trace(units[0]), "posterior")["belief"]
    assert kept.dtype == np.float32
    assert (kept.sizes["draw"], kept.sizes["time"]) == (5, 15)
