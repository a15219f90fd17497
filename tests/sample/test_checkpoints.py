"""A fit that is interrupted and given again ends with the draws of one that was not, to the last bit."""

import errno
import os

import pytest
from helpers.settings import NB_ICB

from icb_pymc import InputError, InputWarning, fit, read_trace, write_decisions
from icb_pymc.cli import main
from icb_pymc.results.inference_data import group
from icb_pymc.steps import resumable
from icb_pymc.steps.resumable import ResumableStep

SHORT = {
    "draws": 6,
    "tune": 5,
    "chains": 2,
    "random_seed": 4,
    "cores": 1,
    "log_likelihood": False,
    "progressbar": False,
}


@pytest.fixture(autouse=True)
def every_iteration(monkeypatch):
    """Write a block after each iteration."""
    monkeypatch.setattr(resumable, "SECONDS", 0.0)


@pytest.fixture(scope="module")
def undisturbed(dated_decisions):
    return fit("nb_icb", dated_decisions, NB_ICB, **SHORT)


def interrupt(monkeypatch, at):
    """Press Ctrl-C when this many iterations of all chains have been made."""
    made, step = [], ResumableStep._keep

    def interrupted(self, point, stats):
        if len(made) == at:
            raise KeyboardInterrupt
        made.append(1)
        step(self, point, stats)

    monkeypatch.setattr(ResumableStep, "_keep", interrupted)
    return made


def same(one, other):
    """Whether draws and statistics are the same."""
    for name in ("posterior", "sample_stats"):
        first, second = group(one, name), group(other, name)
        if list(first) != list(second) or any(
            first[variable].values.tobytes() != second[variable].values.tobytes() for variable in first
        ):
            return False
    return True


@pytest.mark.parametrize("at", [3, 5, 6, 14], ids=["while tuning", "as tuning ends", "later", "in the second chain"])
def test_the_same_call_goes_on_and_ends_with_the_same_draws(at, dated_decisions, undisturbed, monkeypatch, tmp_path):
    folder = tmp_path / "kept"
    with monkeypatch.context() as patch:
        interrupt(patch, at)
        try:
            broken = fit("nb_icb", dated_decisions, NB_ICB, **SHORT, checkpoint=folder)
            assert broken.attrs["interrupted"]
        except KeyboardInterrupt:
            # Before the first draw of the last chain there is nothing to return.
            assert at < 12
    made = interrupt(monkeypatch, None)
    resumed = fit("nb_icb", dated_decisions, NB_ICB, **SHORT, checkpoint=folder)
    assert len(made) == 2 * 11 - at
    assert same(resumed, undisturbed)
    assert resumed.attrs["seed"] == 4
    # Once more: nothing is left to make.
    assert same(fit("nb_icb", dated_decisions, NB_ICB, **SHORT, checkpoint=folder), undisturbed)
    assert len(made) == 2 * 11 - at


def test_on_the_command_line_the_folder_goes_when_the_trace_is_written(dated_decisions, monkeypatch, tmp_path, capsys):
    log, folder = tmp_path / "decisions.nc", tmp_path / "kept"
    write_decisions(dated_decisions, log)
    command = ["fit", "nb_icb", str(log), "--draws", "6", "--tune", "5", "--chains", "2", "--cores", "1"]
    # No seed: that of the first attempt is remembered.
    command += ["--checkpoint", str(folder), "-o", str(tmp_path / "trace.nc"), "--no-log-likelihood"]
    with monkeypatch.context() as patch:
        interrupt(patch, 8)
        assert main(command) == 130
    said = capsys.readouterr().err.splitlines()
    assert f"to go on, give the same command again: {folder} has the chains so far" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["decisions.nc", "kept"]
    assert main(command) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["decisions.nc", "trace.nc"]
    seed = read_trace(tmp_path / "trace.nc").attrs["seed"]
    options = SHORT | {"random_seed": int(seed)}
    assert same(read_trace(tmp_path / "trace.nc"), fit("nb_icb", dated_decisions, **options))


def test_another_fit_is_refused_by_what_differs(dated_decisions, monkeypatch, tmp_path):
    folder = tmp_path / "kept"
    with monkeypatch.context() as patch:
        interrupt(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            fit("nb_icb", dated_decisions, NB_ICB, **SHORT, checkpoint=folder)
    others = {
        "model": ("uniform_walk", dated_decisions, NB_ICB, {}),
        "decisions": ("nb_icb", dated_decisions.isel(time=slice(0, 30)), NB_ICB, {}),
        "hyperparameters": ("nb_icb", dated_decisions, NB_ICB | {"alpha": 3.0}, {}),
        "sampling": ("nb_icb", dated_decisions, NB_ICB, {"draws": 7}),
        "kept draws": ("nb_icb", dated_decisions, NB_ICB, {"dtype": "float64"}),
        "seed": ("nb_icb", dated_decisions, NB_ICB, {"random_seed": 5}),
    }
    for what, (model, decisions, settings, options) in others.items():
        if what == "model":
            from icb_pymc.models import nb_icb

            def uniform_walk(decisions):
                return nb_icb(decisions, **NB_ICB)

            model, settings = uniform_walk, {}
        with pytest.raises(InputError, match=f"checkpoint of a fit with other {what}"):
            fit(model, decisions, settings, **SHORT | options, checkpoint=folder)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"method": "laplace"}, "method 'laplace' has no chains"), ({"kernel": "nutpie"}, "nutpie keeps no checkpoint")],
)
def test_what_makes_no_chains_of_ours_keeps_none(options, words, dated_decisions, tmp_path):
    with pytest.raises(InputError, match=words):
        fit("nb_icb", dated_decisions, NB_ICB, **options, checkpoint=tmp_path / "kept")
    assert not list(tmp_path.iterdir())


def test_a_full_disk_costs_the_checkpoint_and_not_the_fit(dated_decisions, undisturbed, monkeypatch, tmp_path):
    sync = os.fsync

    def full(handle):
        name = os.readlink(f"/proc/self/fd/{handle}")
        if "chain-" in name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(InputWarning, match="the checkpoint is not up to date: .*No space left on device") as said:
        trace = fit("nb_icb", dated_decisions, NB_ICB, **SHORT, checkpoint=tmp_path / "kept")
    assert len(said) == 2, "once for each chain"
    assert same(trace, undisturbed)
    assert not list((tmp_path / "kept").glob("*chain*"))
