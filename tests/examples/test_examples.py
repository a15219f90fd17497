"""The declared models of the examples, and the scripts that show them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.arrivals import make_arrivals
from helpers.graphs import graphs_in_python

from icb_pymc import simulate
from icb_pymc.catalogue import lookup as catalogue
from icb_pymc.steps.linear_gaussian import find_linear_gaussian

EXAMPLES = Path(__file__).parents[2] / "examples"
UNKNOWN = {
    "b_icb_greedy": "strength",
    "b_icb_optimistic": "strength",
    "delta_rule": "learning_rate",
    "forgetting": "memory",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_the_model_of_an_example_can_be_simulated_and_is_recognised_by_the_engine(name):
    path = EXAMPLES / "models" / f"{name}.py"
    assert catalogue.name_of(catalogue.find(path)) == name
    decisions = simulate(path, arrivals=make_arrivals(10, 2, 3, seed=1), seed=1)
    assert f"true_{UNKNOWN[name]}" in decisions
    parts = find_linear_gaussian(catalogue.find(path)(decisions))
    assert [rv.name for rv in parts.hyperparameters] == [UNKNOWN[name]]


def run_script(path, name, text=None):
    """Run a script, or this text of it, as if it were called `name`."""
    code = compile(text or path.read_text("utf-8"), str(path), "exec")
    exec(code, {"__name__": name, "__file__": str(path)})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["averaging", "delta_rule", "forgetting", "four_scenarios", "optimists_and_greedy_ones", "which_learning_rule"],
)
def test_the_script_of_an_example_runs(name, capsys):
    path = EXAMPLES / f"{name}.py"
    text = re.sub(r"^STEPS, .* = .*$", "STEPS, DRAWS, SEEDS = 20, 20, 1", path.read_text("utf-8"), flags=re.M)
    run_script(path, name, text)
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("harder_benchmark", ["--seeds", "2", "--steps", "40", "44"]),
        ("logs_of_any_length", ["--steps", "20", "--logs", "2"]),
    ],
)
def test_the_script_of_a_study_runs_on_small_logs(name, options, capsys, monkeypatch):
    """And prints no mean that is not a number, which would be one of no logs."""
    monkeypatch.setattr("sys.argv", [name, *options])
    path, few = EXAMPLES / f"{name}.py", 'FIT = {"draws": 40, "tune": 20'
    text, replaced = re.subn(r'^FIT = {"draws": \d+, "tune": \d+', few, path.read_text("utf-8"), flags=re.M)
    assert replaced == 1
    with graphs_in_python():
        run_script(path, name, text)
    printed = capsys.readouterr().out
    assert printed
    assert "nan" not in printed.lower()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="reads /proc")
def test_faults_cost_nothing_that_was_finished_and_leave_nothing_behind(tmp_path):
    words = ["--verb", "fit", "--verb", "share", "--fault", "SIGINT", "--fault", "kill -9", "--fault", "damaged file"]
    command = [sys.executable, str(EXAMPLES / "faults.py"), *words, "-o", str(tmp_path / "faults.md")]
    subprocess.run(command, check=True, capture_output=True)
    lines = [line for line in (tmp_path / "faults.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heading, *cells = rows
    assert heading[-2:] == ["after the same command again", "equal"]
    assert len(cells) == 6
    assert {tuple(row[-2:]) for row in cells} == {("nothing", "yes")}
    assert "TRACEBACK" not in str(cells)


@pytest.mark.slow
def test_the_example_of_shrinkage_prints_a_row_for_each_method(capsys, monkeypatch):
    few = "--logs 1 --steps 100 --step-logs 1 --step-decisions 160 --draws 20 --agents stepping"
    monkeypatch.setattr("sys.argv", ["shrinkage.py", *few.split()])
    run_script(EXAMPLES / "shrinkage.py", "shrinkage")
    errors, intervals = capsys.readouterr().out.split("\n\n")
    methods = ("NB-ICB, default", "shrinkage NB-ICB, default", "changes, default", "5-fold CP-IRL")
    assert all(any(line.startswith(method) for line in errors.splitlines()) for method in methods)
    assert intervals.count("shrinkage NB-ICB") == 4
