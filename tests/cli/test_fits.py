"""`icb fit --each`, and what every verb says of the folder that it writes."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.subjects import here, stored_fits, subject_logs

from icb_pymc import read_fits, write_decisions
from icb_pymc.cli import main
from icb_pymc.data.tables import to_table
from icb_pymc.sample import each


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(each, "processes", lambda jobs, in_hand: here)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(stored_fits(tmp_path_factory.mktemp("fits") / "store").folder)


def log_of_agents(path):
    """A table of two agents."""
    parts = [to_table(log).assign(agent=name) for name, log in list(subject_logs().items())[:2]]
    table = pd.concat(parts)
    table["decision"] = table["agent"] + table["decision"].astype(str)
    table.to_csv(path, index=False)
    return str(path)


def test_each_agent_of_a_table_is_fitted_and_the_same_command_does_nothing_more(tmp_path, capsys):
    log, out = log_of_agents(tmp_path / "log.csv"), str(tmp_path / "out")
    command = [
        "fit",
        "nb_icb",
        log,
        "--each",
        "agent",
        "--method",
        "laplace",
        "--draws",
        "20",
        "--seed",
        "0",
        "-o",
        out,
    ]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "2 of 2 subjects fitted" in said
    assert "average weight" in said
    fits = read_fits(out)
    # One scale for all, so that weights can be compared.
    scales = [fits.tree(name)["constant_data"]["feature_scale"].values.tolist() for name in fits]
    assert scales[0] == scales[1]
    before = [fits.path(name).stat().st_mtime_ns for name in fits]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fitted"] == 2
    assert [fits.path(name).stat().st_mtime_ns for name in fits] == before
    assert main([*command[:-3], "1", "-o", out]) == 2
    assert "holds fits with seed 0, not 1" in capsys.readouterr().err


def test_each_file_is_fitted_with_features_on_one_scale(tmp_path, capsys):
    files = []
    for number, log in enumerate(list(subject_logs().values())[:2]):
        files.append(str(tmp_path / f"rat{number}.csv"))
        to_table(log).to_csv(files[-1], index=False)
    out = str(tmp_path / "out")
    assert main(["fit", "nb_icb", *files, "--each", "file", "--method", "laplace", "--draws", "5", "-o", out]) == 0
    fits = read_fits(out)
    assert list(fits) == ["rat0", "rat1"]
    scales = [fits.tree(name)["constant_data"]["feature_scale"].values.tolist() for name in fits]
    assert scales[0] == scales[1]
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["a.csv", "b.csv"], "say --each file"),
        (["a.csv", "--jobs", "2"], "--jobs is for many subjects"),
        (["a.csv", "--each", "agent", "--cores", "2"], "by --jobs"),
        (["a.csv", "a.csv", "--each", "file"], "the same file is given twice"),
        (["a.csv", "b.nc", "--each", "file"], "not both"),
        (["a.csv", "--each", "agent", "--jobs", "2", "--scheduler", "tcp://a:1"], "not both"),
    ],
)
def test_options_that_contradict_each_other_are_refused(arguments, sentence, capsys):
    assert main(["fit", "nb_icb", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_no_log_likelihood_is_kept_where_none_is_wanted(tmp_path, capsys):
    log, out = log_of_agents(tmp_path / "log.csv"), str(tmp_path / "out")
    options = ["--method", "laplace", "--draws", "5", "--no-log-likelihood", "-o", out]
    assert main(["fit", "nb_icb", log, "--each", "agent", *options]) == 0
    assert all("log_likelihood" not in tree.children for tree in map(read_fits(out).tree, read_fits(out)))
    capsys.readouterr()


def test_a_model_without_weights_over_time_is_fitted_without_a_summary(tmp_path, capsys):
    log, out = log_of_agents(tmp_path / "log.csv"), str(tmp_path / "out")
    command = ["fit", "t_rex", log, "--each", "agent", "--set", "simplex=true", "-o", out]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "2 of 2 subjects fitted" in said
    assert "no summary over subjects: " in said
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["population"] is None


def test_a_subject_that_fails_is_named_and_the_exit_code_says_so(tmp_path, capsys):
    logs = subject_logs()
    logs["Cy"] = logs["Cy"].isel(feature=[0])
    for name, log in (("ada", logs["Ada"]), ("cy", logs["Cy"])):
        write_decisions(log, tmp_path / f"{name}.nc")
    files = [str(tmp_path / f"{name}.nc") for name in ("ada", "cy")]
    options = ["--method", "laplace", "--draws", "5", "--set", "start_mean=0,0", "-o", str(tmp_path / "out")]
    assert main(["fit", "nb_icb", *files, "--each", "file", *options]) == 1
    output = capsys.readouterr()
    assert "icb fit: 'cy' failed:" in output.err
    assert "1 of 2 subjects fitted" in output.out


def test_diagnose_counts_subjects_and_exits_with_1_unless_all_have_converged(folder, capsys):
    assert main(["diagnose", folder]) == 1
    assert "0 of 3 subjects have converged" in capsys.readouterr().out
    assert main(["diagnose", folder, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["fitted"] == 3


def test_diagnose_judges_subjects_by_the_limits_given(tmp_path, capsys):
    sampling = {"draws": 40, "tune": 40, "chains": 2, "seed": 0, "progressbar": False}
    fits = each.fit_each("nb_icb", {"Ada": subject_logs()["Ada"]}, folder=tmp_path / "store", **sampling)
    assert main(["diagnose", str(fits.folder)]) == 1
    assert main(["diagnose", str(fits.folder), "--rhat", "5", "--ess", "1"]) == 0
    assert "1 of 1 subjects have converged" in capsys.readouterr().out


def test_compare_takes_folders(folder, tmp_path, capsys):
    assert main(["compare", folder, folder]) == 2
    assert "given twice" in capsys.readouterr().err
    assert main(["compare", folder, "trace.nc"]) == 2
    assert "trace.nc is not a folder of fits" in capsys.readouterr().err
    other = stored_fits(tmp_path / "other")
    assert main(["compare", folder, str(other.folder), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["subjects"]) == 6


def test_impact_prints_all_subjects_and_names_those_without_an_answer(folder, tmp_path, capsys):
    picture = tmp_path / "changes.png"
    assert main(["impact", folder, "--event", "33=rule", "-o", str(picture)]) == 0
    output = capsys.readouterr()
    assert "change at rule" in output.out
    assert "verdicts, by how many subjects" in output.out
    assert "no answer for 'Ada'" in output.err
    assert picture.stat().st_size > 5_000


def test_plot_draws_all_subjects(folder, tmp_path, capsys):
    for picture in ("weights", "importance"):
        path = tmp_path / f"{picture}.png"
        assert main(["plot", picture, folder, "--event", "20=rule", "-o", str(path)]) == 0
        assert path.stat().st_size > 5_000
    assert main(["plot", "radar", folder, "-o", str(tmp_path / "radar.png")]) == 2
    assert "draws one trace" in capsys.readouterr().err


def test_table_has_the_subject_in_the_first_column(folder, tmp_path, capsys):
    path = tmp_path / "weights.csv"
    assert main(["table", folder, "--every", "10", "-o", str(path)]) == 0
    table = pd.read_csv(path)
    assert table.columns[0] == "subject"
    assert table["subject"].unique().tolist() == ["Ada", "Bo / ward 3", "Cy"]
    assert main(["table", folder, "--event", "20", "-o", str(path)]) == 0
    changes = pd.read_csv(path)
    assert len(changes) == 6
    assert main(["table", folder, "--event", "20", "--unit", "user", "-o", str(path)]) == 0
    in_units = pd.read_csv(path)
    assert not np.allclose(in_units["mean"], changes["mean"])
    assert np.allclose(in_units["above"], changes["above"])
    capsys.readouterr()


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_report_writes_a_page_on_all_and_a_report_on_each(folder, tmp_path, capsys, suffix):
    page = tmp_path / f"report.{suffix}"
    assert main(["report", folder, "--event", "20=<b>rule</b>", "--quick", "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert len(list((tmp_path / "report_subjects").glob(f"*.{suffix}"))) == 3
    assert "report_subjects/0002_Bo-ward-3" in text
    if suffix == "html":
        assert "<b>" not in text
        assert "script" not in text
    capsys.readouterr()


def test_a_verb_that_takes_one_trace_says_so(folder, tmp_path, capsys):
    assert main(["share", folder, "-o", str(tmp_path / "shared.nc")]) == 2
    assert "give one trace" in capsys.readouterr().err
