"""The traces in `traces/` are those of the registry, small, whole, converged, and opened by anyone."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from icb_pymc.assess.registry_checks import verify
from icb_pymc.cli import VERBS
from icb_pymc.results.inference_data import group
from icb_pymc.results.registry import open_trace, read_registry

ROOT = Path(__file__).parents[2]
ENTRIES = read_registry(ROOT / "traces")
NAMES = {"nb-icb-sampling", "nb-icb-stepping", "b-icb-sampling", "b-icb-stepping", "nb-icb-history"}


def test_the_reference_traces_are_all_there_and_nothing_else():
    assert set(ENTRIES) == NAMES
    assert {path.name for path in (ROOT / "traces").glob("*.nc")} == {entry.file for entry in ENTRIES.values()}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_shipped_trace_is_small_as_registered_and_passes_its_checks(name):
    entry = ENTRIES[name]
    assert entry.bytes < 4_000_000
    assert verify(entry, ROOT / "traces") == []
    assert entry.checks["passed"]
    assert entry.checks["worst_rhat"] < 1.01
    assert min(entry.checks["worst_bulk_ess"], entry.checks["worst_tail_ess"]) > 400


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_commands_that_made_it_are_those_of_icb(name):
    verbs = {module.__name__.rpartition(".")[2] for module in VERBS}
    for command in ENTRIES[name].made_by:
        program, verb, *_ = shlex.split(command)
        assert program == "icb"
        assert verb in verbs


def test_the_traces_are_of_the_logs_in_their_names():
    for name, entry in ENTRIES.items():
        decisions = group(open_trace(name, ROOT / "traces"), "constant_data")
        assert entry.model == name.rpartition("-")[0].replace("-", "_")
        is_history = name.endswith("history")
        assert (decisions.sizes["time"], decisions.sizes["action"]) == ((2500, 3) if is_history else (500, 2))
        assert decisions.attrs["agent"] == ("dated policies" if is_history else name.rpartition("-")[2])


def test_the_example_opens_one_and_draws_it_without_this_package(tmp_path):
    (tmp_path / "traces").symlink_to(ROOT / "traces")
    code = f"import runpy, sys; runpy.run_path({str(ROOT / 'examples' / 'open_a_trace.py')!r})\n"
    code += "assert not [name for name in sys.modules if name.startswith(('icb_pymc', 'pymc', 'arviz'))]"
    options = {"cwd": tmp_path, "env": os.environ | {"MPLBACKEND": "Agg"}, "capture_output": True, "text": True}
    run = subprocess.run([sys.executable, "-c", code], **options, check=False)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "importance_by_xarray.png").stat().st_size > 20_000
