"""Many subjects: nothing but the seed and the name decides a subject's draws, and nothing finished is lost."""

from pathlib import Path

import numpy as np
import pytest
from helpers.model_texts import PLAIN, write
from helpers.subjects import LAPLACE, beliefs, here, stored_fits, subject_logs

import icb_pymc
from icb_pymc import InputError, fit_each, read_fits
from icb_pymc.results.fits import open_for_writing
from icb_pymc.sample import each
from icb_pymc.sample.each import seed_of


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(each, "processes", lambda jobs, in_hand: here)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Three subjects, fitted once."""
    return stored_fits(tmp_path_factory.mktemp("fits") / "store")


def test_the_folder_is_a_mapping_of_ordinary_traces(fitted):
    assert list(fitted) == ["Ada", "Bo / ward 3", "Cy"]
    assert fitted["Cy"].posterior.sizes["time"] == 35
    assert icb_pymc.read_trace(fitted.folder / "0002_Bo-ward-3.nc").attrs["subject"] == "Bo / ward 3"
    again = read_fits(fitted.folder)
    assert (list(again), again.settings, again.subjects) == (list(fitted), fitted.settings, fitted.subjects)
    with pytest.raises(KeyError):
        fitted["Dee"]


def test_draws_depend_on_the_seed_and_the_name_not_on_the_order_or_the_other_subjects(
    fitted, tmp_path, in_this_process
):
    logs = subject_logs()
    fewer = {name: logs[name] for name in ("Cy", "Ada")}
    other = beliefs(fit_each("nb_icb", fewer, folder=tmp_path / "store", **LAPLACE))
    expected = beliefs(fitted)
    assert all(np.array_equal(other[name], expected[name]) for name in fewer)
    alone = icb_pymc.fit("nb_icb", logs["Ada"], **LAPLACE | {"seed": seed_of(0, "Ada")})
    assert np.array_equal(alone.posterior["belief"].values, expected["Ada"])
    assert len({seed_of(0, name) for name in logs} | {seed_of(1, name) for name in logs}) == 6


def test_agents_of_one_log_are_subjects(fitted, tmp_path, in_this_process):
    log = subject_logs()["Bo / ward 3"]
    both = log.assign_coords(agent=["Ada", "Bo"]).assign(decider=("time", [0, 1] * 20))
    fits = fit_each("nb_icb", both, folder=tmp_path / "store", **LAPLACE)
    assert {name: path.shape[2] for name, path in beliefs(fits).items()} == {"Ada": 20, "Bo": 20}
    with pytest.raises(InputError, match="do not say who decided"):
        fit_each("nb_icb", log, folder=tmp_path / "other", **LAPLACE)


def test_a_run_that_is_continued_fits_only_what_is_missing_and_ends_with_the_same_draws(fitted, tmp_path, monkeypatch):
    started, fit_subject = [], each.fit_subject
    monkeypatch.setattr(each, "processes", lambda jobs, in_hand: here)
    monkeypatch.setattr(each, "fit_subject", lambda work: started.append(work.subject) or fit_subject(work))
    fits = fit_each("nb_icb", subject_logs(), folder=tmp_path / "store", **LAPLACE)
    kept = fits.path("Cy").stat().st_mtime_ns
    fits.path("Ada").unlink()
    cut = fits.path("Bo / ward 3")
    cut.write_bytes(cut.read_bytes()[:2000])
    (fits.folder / ".0001_Ada-unfinished-abc.nc").write_bytes(b"half")
    started.clear()
    again = fit_each("nb_icb", subject_logs(), folder=tmp_path / "store", **LAPLACE)
    assert sorted(started) == ["Ada", "Bo / ward 3"]
    assert again.path("Cy").stat().st_mtime_ns == kept
    assert not (fits.folder / ".0001_Ada-unfinished-abc.nc").exists()
    expected = beliefs(fitted)
    assert all(np.array_equal(path, expected[name]) for name, path in beliefs(again).items())


def test_without_a_seed_a_run_is_continued_with_its_own(tmp_path, in_this_process):
    logs = {"Ada": subject_logs()["Ada"]}
    options = LAPLACE | {"seed": None, "draws": 5}
    first = fit_each("nb_icb", logs, folder=tmp_path / "store", **options)
    assert fit_each("nb_icb", logs, folder=tmp_path / "store", **options).settings["seed"] == first.settings["seed"]


def test_names_and_seeds_may_be_numbers_of_any_kind(tmp_path, in_this_process):
    log, options = subject_logs()["Ada"], LAPLACE | {"draws": 5}
    fits = fit_each("nb_icb", {7: log}, folder=tmp_path / "store", **options | {"seed": np.int64(3)})
    assert (list(fits), read_fits(fits.folder).settings["seed"]) == (["7"], 3)
    again = fit_each("nb_icb", {"7": log}, folder=tmp_path / "store", **options | {"seed": 3})
    assert again.settings == fits.settings


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"seed": 1}, "holds fits with seed 0, not 1"),
        ({"draws": 50}, 'with options {"draws": 40, "method": "laplace"}, not {"draws": 50'),
        ({"hyperparameters": {"alpha": 2.0}}, 'with hyperparameters {}, not {"alpha": 2.0}'),
        ({"decisions": subject_logs(seed=1)}, "fits to other decisions of 'Ada'"),
        ({"decisions": dict(list(subject_logs().items())[:2])}, "fits to other decisions of more subjects"),
    ],
)
def test_a_store_with_other_settings_is_refused(fitted, changed, sentence):
    arguments = {"model": "nb_icb", "decisions": subject_logs(), "folder": fitted.folder} | LAPLACE | changed
    with pytest.raises(InputError) as refusal:
        fit_each(**arguments)
    assert sentence in str(refusal.value)


def test_two_processes_on_one_store_are_refused(fitted):
    with open_for_writing(read_fits(fitted.folder)), pytest.raises(InputError, match="written by another process"):
        fit_each("nb_icb", subject_logs(), folder=fitted.folder, **LAPLACE)


def test_a_subject_that_fails_is_recorded_with_its_sentence_and_the_others_go_on(tmp_path, in_this_process):
    logs = subject_logs()
    logs["Bo / ward 3"] = logs["Bo / ward 3"].isel(feature=[0])
    start = {"start_mean": [0.0, 0.0], "total_movement": 0.1, "start_scale": 1.0}
    options = LAPLACE | {"draws": 5}
    fits = fit_each("nb_icb", logs, start, folder=tmp_path / "store", **options)
    assert list(fits) == ["Ada", "Cy"]
    assert list(fits.failures) == list(read_fits(fits.folder).failures) == fits.missing == ["Bo / ward 3"]
    with pytest.raises(InputError, match="has no fit of 'Bo / ward 3'"):
        fits["Bo / ward 3"]
    # Once the reason is gone, the same call would fit it; another log is another store.
    only = {"Bo / ward 3": logs["Bo / ward 3"]}
    with pytest.raises(InputError, match="none of the 1 subjects could be fitted"):
        fit_each("nb_icb", only, start, folder=tmp_path / "none", **options)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"jobs": 0}, "give at least one"),
        ({"jobs": 2, "scheduler": "tcp://a:1"}, "not both"),
        ({"cores": 2}, "use jobs"),
        ({"decisions": {}}, "there are no subjects"),
        ({"decisions": dict.fromkeys([1, "1"], subject_logs()["Ada"])}, "two subjects have the same name"),
        ({"hyperparameters": {"nonsense": 1}}, "no hyperparameter 'nonsense'"),
        ({"model": lambda decisions: None}, "cannot be found by other processes"),
        ({"hyperparameters": {"alpha": object()}}, "numbers, arrays or text"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_written(tmp_path, arguments, sentence):
    given = {"model": "nb_icb", "decisions": subject_logs(), "folder": tmp_path / "store"} | LAPLACE | arguments
    with pytest.raises(InputError, match=sentence):
        fit_each(**given)
    assert not (tmp_path / "store").exists()


def test_a_folder_with_other_things_is_refused_and_left_as_it_is(tmp_path):
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty and not a folder of fits"):
        fit_each("nb_icb", subject_logs(), folder=tmp_path, **LAPLACE)
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


def test_a_model_in_a_file_is_recognised_by_its_contents(tmp_path, in_this_process):
    path = Path(write(tmp_path, "plain", PLAIN))
    logs, options = (
        {"Ada": subject_logs()["Ada"]},
        {"draws": 5, "tune": 5, "chains": 1, "seed": 0, "progressbar": False},
    )
    fits = fit_each(path, logs, folder=tmp_path / "store", **options)
    assert len(fits) == 1
    path.write_text(path.read_text() + "\n# another\n")
    with pytest.raises(InputError, match="holds fits with model_digest"):
        fit_each(path, logs, folder=tmp_path / "store", **options)
