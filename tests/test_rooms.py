"""The plan of the package: what lies where, and which room may import which."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "icb_pymc"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def lint_imports(folder: Path) -> subprocess.CompletedProcess:
    pytest.importorskip("importlinter")
    environment = os.environ | {"PYTHONPATH": str(folder)}
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def whole_package(tmp_path):
    """The package with its models inside, as a wheel has it."""
    shutil.copytree(PACKAGE, tmp_path / "icb_pymc", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "models", tmp_path / "icb_pymc" / "models", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_root_of_the_package_holds_rooms_and_nothing_else():
    files = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__" and path.name not in ROOMS}
    assert files == {"__init__.py", "errors.py", "py.typed"}


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_says_what_belongs_in_it_and_maps_its_files(room):
    text = (PACKAGE / room / "__init__.py").read_text(encoding="utf-8")
    docstring = text.split('"""')[1].strip()
    assert 3 <= len(docstring.splitlines()) <= 20
    if room != "cli":
        files = {path.stem for path in (PACKAGE / room).glob("*.py")} - {"__init__"}
        assert {name for name in files if name not in docstring} == set()


def test_tests_have_the_same_rooms():
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - {"corpus", "helpers", "models", "examples"} <= set(ROOMS)
    assert set(ROOMS) - folders == set()


def test_the_order_of_the_rooms_holds(whole_package):
    result = lint_imports(whole_package)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("data/times.py", "from icb_pymc.results.traces import read_trace"),
        ("models/nb_icb.py", "from icb_pymc.sample.fitting import fit"),
        ("kernels/mode.py", "import pymc"),
    ],
)
def test_an_import_against_the_order_is_found(whole_package, file, line):
    path = whole_package / "icb_pymc" / file
    path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    result = lint_imports(whole_package)
    assert result.returncode != 0
    assert "BROKEN" in result.stdout
