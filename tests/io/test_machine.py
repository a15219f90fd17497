"""Memory and cores that this process may use."""

import ctypes
import os

import numpy as np
import pytest
from helpers.settings import NB_ICB

from icb_pymc import fit
from icb_pymc.cli import main
from icb_pymc.data.decision_files import write_decisions
from icb_pymc.errors import InputError
from icb_pymc.io import machine
from icb_pymc.io.machine import available_memory, check_memory, format_bytes, usable_cores
from icb_pymc.models import b_icb, nb_icb
from icb_pymc.sample.kept_draws import KeptDraws


def test_a_fit_whose_draws_exceed_the_free_memory_is_refused_before_it_begins(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 3 * 2**30)
    with pytest.raises(InputError) as refusal:
        check_memory(bytes_per_draw=2**20, draws=1000, chains=4)
    sentence = str(refusal.value)
    for words in (
        "4 chains of 1000 draws need 7.8 GiB",
        "only 3.0 GiB are free",
        "every=",
        "times=",
        "dtype='float32'",
    ):
        assert words in sentence
    assert "\n" not in sentence


def test_the_command_names_its_own_options(monkeypatch, dated_decisions, tmp_path, capsys):
    path = str(tmp_path / "decisions.nc")
    write_decisions(dated_decisions, path)
    monkeypatch.setattr(machine, "available_memory", lambda: 1000)
    assert main(["fit", "nb_icb", path, "--as-is", "-o", str(tmp_path / "trace.nc")]) == 2
    said = capsys.readouterr().err
    assert "need" in said
    for option in ("--every 10", "--dtype float32", "--draws"):
        assert option in said
    assert "times=[" not in said


def test_draws_that_just_fit_are_accepted(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: machine.COPIES * 1000 * 10 * 2)
    check_memory(bytes_per_draw=1000, draws=10, chains=2)
    with pytest.raises(InputError, match="KiB"):
        check_memory(bytes_per_draw=1001, draws=10, chains=2)


def test_the_free_memory_of_this_machine_is_a_sensible_number():
    assert 2**24 < available_memory() < 2**50


def write_files(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


FREE_ON_MACHINE = {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 4000 kB\n"}
CONTROL_GROUPS = {
    "version 2, in a container": {
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": "3000000\n",
        "sys/fs/cgroup/memory.current": "2000000\n",
    },
    "version 2, the tightest of nested groups": {
        "proc/self/cgroup": "0::/batch/job\n",
        "sys/fs/cgroup/batch/job/memory.max": "max\n",
        "sys/fs/cgroup/batch/job/memory.current": "1500000\n",
        "sys/fs/cgroup/batch/memory.max": "3000000\n",
        "sys/fs/cgroup/batch/memory.current": "2000000\n",
    },
    "version 2, cached files can be dropped": {
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": "3000000\n",
        "sys/fs/cgroup/memory.current": "2700000\n",
        "sys/fs/cgroup/memory.stat": "anon 1\ninactive_file 700000\n",
    },
    "version 1, its own group": {
        "proc/self/cgroup": "5:cpu,cpuacct:/\n4:memory,hugetlb:/job\n0::/\n",
        "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "3000000\n",
        "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "2000000\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "5000000\n",
    },
    "version 1, in a container that sees the path of the host": {
        "proc/self/cgroup": "4:memory:/docker/0123456789\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "3000000\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "2000000\n",
    },
}


@pytest.mark.parametrize("case", CONTROL_GROUPS)
def test_the_limit_of_a_container_counts_where_it_is_tighter_than_the_machine(case, tmp_path):
    write_files(tmp_path, FREE_ON_MACHINE | CONTROL_GROUPS[case])
    assert available_memory(tmp_path) == 1_000_000


@pytest.mark.parametrize("limit", ["max", "900000000"])
def test_free_memory_of_the_machine_counts_where_the_container_allows_more(limit, tmp_path):
    groups = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.current": "5\n"}
    write_files(tmp_path, FREE_ON_MACHINE | groups | {"sys/fs/cgroup/memory.max": f"{limit}\n"})
    assert available_memory(tmp_path) == 4000 * 1024


def test_a_container_that_is_full_has_no_memory_left(tmp_path):
    groups = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "5\n", "sys/fs/cgroup/memory.current": "9\n"}
    write_files(tmp_path, FREE_ON_MACHINE | groups)
    assert available_memory(tmp_path) == 0


def test_without_proc_the_whole_memory_counts(tmp_path):
    assert available_memory(tmp_path) == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_windows_is_asked_for_its_free_memory(tmp_path, monkeypatch):
    class Windows:
        class kernel32:
            @staticmethod
            def GlobalMemoryStatusEx(reference):
                assert reference._obj.length == 64
                reference._obj.available_physical = 12345
                return 1

    monkeypatch.setattr(ctypes, "windll", Windows, raising=False)
    monkeypatch.delattr(os, "sysconf")
    assert available_memory(tmp_path) == 12345


def test_a_fit_goes_on_where_the_free_memory_cannot_be_known(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    assert available_memory(tmp_path) is None
    monkeypatch.setattr(machine, "available_memory", lambda: None)
    check_memory(bytes_per_draw=2**60, draws=1000, chains=4)


def test_usable_cores_are_those_the_process_is_bound_to(monkeypatch):
    assert usable_cores() >= 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 5, 6}, raising=False)
    assert usable_cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (1023, "1023 bytes"), (2048, "2 KiB"), (3 * 2**20, "3 MiB"), (2**30, "1.0 GiB")]
)
def test_bytes_are_given_in_the_largest_unit_that_they_fill(size, text):
    assert format_bytes(size) == text


@pytest.mark.parametrize("method", ["mcmc", "laplace"])
def test_fit_checks_the_memory_and_the_options_it_names_help(method, dated_decisions, monkeypatch):
    options = {"draws": 20, "seed": 1, "method": method, "progressbar": False}
    options |= {"tune": 5, "chains": 1} if method == "mcmc" else {}
    every_time = machine.COPIES * 20 * 40 * 4 * 8
    monkeypatch.setattr(machine, "available_memory", lambda: every_time - 1)
    with pytest.raises(InputError, match=r"keep fewer times \(every=10"):
        fit("nb_icb", dated_decisions, NB_ICB, dtype="float64", **options)
    fit("nb_icb", dated_decisions, NB_ICB, dtype="float64", every=2, **options)
    fit("nb_icb", dated_decisions, NB_ICB, **options)


@pytest.mark.parametrize(
    ("every", "dtype", "latents"),
    [(1, "float64", False), (1, "float64", True), (3, "float64", True), (7, "float32", False)],
)
@pytest.mark.parametrize("declare", [nb_icb, b_icb])
def test_the_estimated_size_is_that_of_the_kept_draws(declare, every, dtype, latents, dated_decisions):
    """All variables at the times and with the digits kept, except rewards, from which beliefs are computed later."""
    recording = KeptDraws(dated_decisions, every, None, dtype, latents)
    times, features, size = len(range(0, 40, every)), 4, np.dtype(dtype).itemsize
    expected = times * features * size * (2 if latents else 1)
    if declare is nb_icb:
        # rho is the belief itself; the scales of the first weights and of their movement, in full.
        expected = times * features * size + 8 * 2
    else:
        # Rewards at all times, rho_env, its scale, sigma and the strength, in full.
        expected += 8 * (40 + features + 3)
    assert recording.bytes_per_draw(declare(dated_decisions)) == expected
