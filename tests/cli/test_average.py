"""`icb average` from files to weights, and what every verb makes of the trace that it writes."""

import json

import pytest

from icb_pymc import fit, read_trace, write_trace
from icb_pymc.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory, trace, dated_decisions):
    """Two fits of the same decisions, one of others, and the average of the first two."""
    folder = tmp_path_factory.mktemp("average")
    write_trace(trace, folder / "still.nc")
    settings = {"alpha": 2.0, "start_mean": -1.0, "innovation_covariance": 5e-4, "sampling_covariance": 0.0}
    options = {"draws": 60, "tune": 30, "chains": 2, "cores": 1, "seed": 2, "progressbar": False}
    write_trace(fit("nb_icb", dated_decisions, settings, **options), folder / "moving.nc")
    write_trace(fit("uniform", dated_decisions.isel(time=slice(10))), folder / "short.nc")
    assert main(["average", *(str(folder / f"{name}.nc") for name in ("still", "moving")), "-o", path(folder)]) == 0
    return folder


def path(folder, name="average"):
    return str(folder / f"{name}.nc")


@pytest.mark.parametrize("score", ["evidence", "ahead", "loo"])
def test_weights_and_scores_are_printed(folder, tmp_path, capsys, score):
    output = path(tmp_path)
    arguments = ["average", path(folder, "still"), path(folder, "moving"), "--score", score, "-o", output]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert ("posterior probabilities" if score == "evidence" else "stacking weights") in said
    assert f"written to {output}: 2 chains of 120 draws" in said
    assert "NaN" not in said
    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert result["score"] == score
    assert sum(model["weight"] for model in result["models"]) == pytest.approx(1)
    assert {"name", "elpd", "se", "draws", "seed", "sha256"} <= set(result["models"][0])
    stored = json.loads(read_trace(output).attrs["averaged"])["models"]
    assert [{"name": name} | model for name, model in stored.items()] == result["models"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["plot", "weights", "FILE", "-o", "NEW.png"],
        ["plot", "weights", "FILE", "-o", "NEW.png", "--unit", "user"],
        ["plot", "importance", "FILE", "-o", "NEW.png"],
        ["plot", "radar", "FILE", "-o", "NEW.png"],
        ["plot", "choices", "FILE", "-o", "NEW.png"],
        ["impact", "FILE", "--event", "2002-06-01", "--json"],
        ["changes", "FILE", "--draws", "20", "--json"],
        ["compare", "FILE", "STILL", "--json"],
        ["share", "FILE", "--draws", "20", "-o", "NEW.nc"],
        ["average", "FILE", "STILL", "--score", "loo", "-o", "NEW.nc"],
        ["power", "FILE", "--event", "2002-06-01", "--replicates", "1", "--size", "1", "--feature", "feature_1"],
    ],
    ids=lambda arguments: "-".join(arguments[:2]),
)
def test_every_verb_reads_an_average(folder, tmp_path, arguments):
    names = {"FILE": path(folder), "STILL": path(folder, "still")}
    filled = [names.get(word, word.replace("NEW", str(tmp_path / "new"))) for word in arguments]
    assert main(filled) == 0


def test_diagnose_says_that_its_models_have_not_converged(folder, tmp_path, capsys):
    assert main(["diagnose", path(folder), "-o", str(tmp_path / "new.png")]) == 1
    said = capsys.readouterr().out
    assert "not all models of this average have converged" in said
    assert "average again" in said


def test_a_shared_average_still_says_what_it_is(folder, tmp_path):
    assert main(["share", path(folder), "--every", "4", "-o", path(tmp_path, "shared")]) == 0
    shared, whole = read_trace(path(tmp_path, "shared")), read_trace(path(folder))
    assert [shared.attrs[name] for name in ("model", "averaged")] == [
        whole.attrs[name] for name in ("model", "averaged")
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["still"], "give two traces or more"),
        (["still", "still"], "the same trace is given twice"),
        (["still", "short"], "different decisions: their times differ"),
        (["still", "nowhere"], "there is no such file"),
        (["still", "average"], "cannot forecast: give the traces of its models"),
        (["still", "moving", "--score", "loo", "--model", "m.py"], "--model cannot be used with --score loo"),
    ],
)
def test_bad_input_is_answered_in_one_sentence_and_nothing_is_written(arguments, sentence, folder, tmp_path, capsys):
    options = arguments.index("--score") if "--score" in arguments else len(arguments)
    files = [path(folder, name) for name in arguments[:options]]
    assert main(["average", *files, *arguments[options:], "-o", path(tmp_path, "new")]) == 2
    errors = capsys.readouterr().err
    assert sentence in errors
    assert len(errors.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_an_output_that_is_no_trace_is_refused_first(folder, capsys):
    assert main(["average", path(folder, "still"), path(folder, "moving"), "-o", "average.csv"]) == 2
    assert "must end in .nc" in capsys.readouterr().err
