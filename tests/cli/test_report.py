"""`icb report` from a trace to a page, and what it answers to bad input."""

import json

import pytest
from helpers.made_traces import made_trace

from icb_pymc.cli import main
from icb_pymc.results.traces import write_trace


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "trace.nc"
    write_trace(made_trace(after=(-1.0, 0.5, 0.0), dates=True), path)
    return path


def test_a_page_is_written_and_the_answer_printed(trace, tmp_path, capsys):
    output = tmp_path / "report.html"
    options = ["--event", "2004-11-01=guideline", "--matters", "0.3", "--quick", "--title", "Did it work?"]
    assert main(["report", str(trace), *options, "-o", str(output)]) == 0
    assert "Clear: After 1 November 2004 (guideline), age changed sides" in capsys.readouterr().out
    text = output.read_text(encoding="utf-8")
    assert "<h1>Did it work?</h1>" in text
    assert "icb report trace.nc --event 2004-11-01=guideline --matters 0.3 --quick -o report.html" in text


def test_json_and_markdown(trace, tmp_path):
    for suffix in ("json", "md"):
        assert (
            main(["report", str(trace), "--event", "2004-11-01", "--quick", "-o", str(tmp_path / f"r.{suffix}")]) == 0
        )
    assert json.loads((tmp_path / "r.json").read_text())["answers"][0]["grade"] == "clear"
    assert "## 1. Answer" in (tmp_path / "r.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.nc", "-o", "r.html"], "nowhere.nc: there is no such file"),
        (["TRACE", "-o", "r.pdf"], "r.pdf: the output must end in .html or .md or .json"),
        (["TRACE", "-o", "no/r.html"], "the folder no does not exist"),
        (["TRACE", "--event", "1990-01-01", "-o", "r.html"], "1990-01-01 lies outside the decisions"),
        (["TRACE", "--event", "soon", "-o", "r.html"], "time 'soon': the decisions are dated"),
        (["TRACE", "--event", "2004-11-01", "--feature", "agee", "-o", "r.html"], "did you mean 'age'?"),
        (["TRACE", "--event", "2004-11-01", "--matters", "-1", "-o", "r.html"], "matters=-1.0: give a positive"),
        (["TRACE", "--event", "2004-11-01", "--example", "2004-11-02", "-o", "r.html"], "no decision at that time"),
        (["TRACE", "TRACE", "-o", "r.html"], "the same trace is given twice"),
    ],
)
def test_bad_input_is_answered_in_one_sentence_and_nothing_is_written(
    arguments, sentence, trace, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(["report", *[str(trace) if word == "TRACE" else word for word in arguments]]) == 2
    errors = capsys.readouterr().err
    assert sentence in errors
    assert len(errors.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
