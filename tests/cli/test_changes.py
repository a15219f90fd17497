"""`icb changes` from files to sentences, JSON and pictures."""

import json

import numpy as np
import pytest

from icb_pymc.cli import main
from icb_pymc.data.decision_files import write_decisions
from icb_pymc.results.traces import write_trace


@pytest.fixture(scope="module")
def files(tmp_path_factory, trace, dated_decisions):
    """The same decisions as a table, as netCDF and inside a trace."""
    folder = tmp_path_factory.mktemp("changes")
    paths = [str(folder / name) for name in ("log.csv", "decisions.nc", "trace.nc")]
    for path in paths[:2]:
        write_decisions(dated_decisions, path)
    write_trace(trace, paths[2])
    return paths


def test_a_table_decisions_and_a_trace_of_them_give_the_same_answer(files, capsys):
    answers = []
    for path in files:
        assert main(["changes", path, "--json", "--seed", "0", "--draws", "20"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    for other in answers[1:]:
        assert other["number_of_changes"] == pytest.approx(answers[0]["number_of_changes"])
        assert [date["date"] for date in other["dates"]] == [date["date"] for date in answers[0]["dates"]]
    assert answers[0]["decisions"] == 40
    assert np.sum(list(answers[0]["number_of_changes"].values())) == pytest.approx(1.0, abs=0.01)


def test_sentences_and_a_picture(files, tmp_path, capsys):
    picture = tmp_path / "changes.png"
    assert main(["changes", files[1], "-o", str(picture), "--seed", "0", "--draws", "20"]) == 0
    output = capsys.readouterr().out
    assert "a priori 50.0%" in output
    assert f"written to {picture}" in output
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.nc"], "nowhere.nc: there is no such file"),
        (["nowhere.nc", "-o", "changes.bmp"], "must end in .png"),
        (["FILE", "--expected", "0"], "expected_changes=0.0: give a positive number"),
        (["FILE", "--length", "400"], "length=400: give a whole number from 1 to 40"),
    ],
)
def test_bad_input_is_answered_in_one_sentence(arguments, sentence, files, capsys):
    assert main(["changes", *[files[1] if word == "FILE" else word for word in arguments]]) == 2
    errors = capsys.readouterr().err
    assert sentence in errors
    assert len(errors.strip().splitlines()) == 1


def test_a_file_that_is_neither_is_refused(tmp_path, capsys):
    path = tmp_path / "broken.nc"
    path.write_bytes(b"not netCDF")
    assert main(["changes", str(path)]) == 2
    assert "broken.nc" in capsys.readouterr().err
