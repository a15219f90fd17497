"""A fit that is interrupted in its first draws leaves one sentence and no file."""

import pytest
from helpers.settings import NB_ICB

from icb_pymc import fit
from icb_pymc.cli import main
from icb_pymc.steps import RhoMetropolis, UtilityHMC

SHORT = {"draws": 5, "tune": 3, "seed": 0, "cores": 1, "chains": 1}
WORDS = [word for name, value in SHORT.items() for word in (f"--{name}", str(value))]
WORDS += [word for name, value in NB_ICB.items() for word in ("--set", f"{name}={value}")]


def interrupt(monkeypatch, method, at):
    """Press Ctrl-C in a step of a sampler: the first, or a later one."""
    made, step = [], method.step

    def interrupted_step(self, point):
        made.append(1)
        if len(made) == at:
            raise KeyboardInterrupt
        return step(self, point)

    monkeypatch.setattr(method, "step", interrupted_step)
    return made


@pytest.mark.parametrize(
    ("kernel", "method", "at"),
    [("engine", UtilityHMC, 1), ("engine", UtilityHMC, 3), ("engine", UtilityHMC, 5), ("gibbs", RhoMetropolis, 1)],
    ids=["first step", "while tuning", "after one draw", "first step of the alternating steps"],
)
def test_the_command_line_says_that_it_was_interrupted_and_writes_nothing(
    kernel, method, at, dated_decisions, monkeypatch, tmp_path, capsys
):
    log = tmp_path / "decisions.nc"
    dated_decisions.to_netcdf(log, engine="h5netcdf")
    made = interrupt(monkeypatch, method, at)
    assert main(["fit", "nb_icb", str(log), *WORDS, "--kernel", kernel, "-o", str(tmp_path / "trace.nc")]) == 130
    assert len(made) >= at
    said = capsys.readouterr().err
    assert [line for line in said.splitlines() if line.startswith("icb")] == [
        "icb fit: interrupted; no incomplete file was written."
    ]
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["decisions.nc"]


@pytest.mark.parametrize("at", [1, 5], ids=["first step", "after one draw"])
def test_an_interrupt_of_the_first_of_several_chains_in_one_process_is_one_sentence_too(
    at, dated_decisions, monkeypatch, tmp_path, capsys
):
    log = tmp_path / "decisions.nc"
    dated_decisions.to_netcdf(log, engine="h5netcdf")
    interrupt(monkeypatch, UtilityHMC, at)
    assert main(["fit", "nb_icb", str(log), *WORDS, "--chains", "3", "-o", str(tmp_path / "trace.nc")]) == 130
    said = capsys.readouterr().err
    assert "icb fit: interrupted; no incomplete file was written." in said.splitlines()
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["decisions.nc"]


def test_in_python_an_interrupt_before_the_first_draw_is_one_and_not_an_error(dated_decisions, monkeypatch):
    interrupt(monkeypatch, UtilityHMC, 2)
    with pytest.raises(KeyboardInterrupt):
        fit("nb_icb", dated_decisions, NB_ICB, **SHORT, progressbar=False)
