"""Libraries that store at home find another place where there is no home."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from icb_pymc import InputWarning, simulate, write_decisions
from icb_pymc.io import caches

NAMES = ("HOME", "PYTENSOR_FLAGS", "MPLCONFIGDIR")


@pytest.fixture
def environment(monkeypatch):
    """Variables that are as before after the test."""
    for name in NAMES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return monkeypatch


def no_home():
    raise RuntimeError("Could not determine home directory.")


def test_a_home_that_can_be_written_is_used(environment, tmp_path):
    environment.setenv("HOME", str(tmp_path))
    caches.ensure_place_for_caches()
    assert "PYTENSOR_FLAGS" not in os.environ


def test_without_a_home_there_is_a_private_folder_and_a_sentence(environment):
    environment.setattr(Path, "home", no_home)
    with pytest.warns(InputWarning, match="the home folder cannot be written"):
        caches.ensure_place_for_caches()
    folder = Path(os.environ["HOME"])
    assert folder.stat().st_mode & 0o077 == 0
    assert os.environ["PYTENSOR_FLAGS"] == f"base_compiledir={folder}"
    assert os.environ["MPLCONFIGDIR"] == str(folder)


def test_what_the_user_has_set_is_kept(environment):
    environment.setattr(Path, "home", no_home)
    environment.setenv("PYTENSOR_FLAGS", "compiledir=/elsewhere")
    environment.setenv("MPLCONFIGDIR", "/elsewhere")
    with pytest.warns(InputWarning):
        caches.ensure_place_for_caches()
    assert os.environ["PYTENSOR_FLAGS"] == "compiledir=/elsewhere"
    assert os.environ["MPLCONFIGDIR"] == "/elsewhere"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="nobody can make a folder in /proc")
def test_a_log_is_fitted_and_drawn_where_home_cannot_be_made(tmp_path):
    write_decisions(simulate("stepping", steps=30, random_seed=0), tmp_path / "log.nc")
    code = "import sys; from icb_pymc.cli import main; sys.exit(main(sys.argv[1:]))"
    for words in (["fit", "nb_icb", "log.nc", "--method", "laplace"], ["plot", "weights", "trace.nc", "-o", "a.png"]):
        ended = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=tmp_path,
            env=os.environ | {"HOME": "/proc/nobody"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert "warning: the home folder cannot be written" in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "log.nc", "trace.nc"]
