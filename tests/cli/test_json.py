"""Every verb that prints results prints them as JSON with --json."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.model_texts import PLAIN, write

from icb_pymc import simulate, write_decisions, write_trace
from icb_pymc.cli import main
from icb_pymc.cli.options import say_json
from icb_pymc.results.inference_data import group
from icb_pymc.results.registry import read_registry, registry_folder


@pytest.fixture
def printed(capsys):
    """Runs a command and returns its exit code and the JSON that it prints."""

    def run(*arguments):
        code = main([*arguments, "--json"])
        return code, json.loads(capsys.readouterr().out, parse_constant=pytest.fail)

    return run


@pytest.fixture
def trace_file(trace, tmp_path):
    write_trace(trace, tmp_path / "trace.nc")
    return str(tmp_path / "trace.nc")


def test_numbers_stay_numbers_and_missing_ones_are_null(capsys):
    table = pd.DataFrame({"R-hat": [1.5, np.nan], "n": [1, 2]}, index=pd.Index(["a", "b"], name="variable"))
    dates = (np.datetime64("2001-02-03", "ns"), pd.Timestamp("2001-02-03 04:00"))
    say_json({"table": table, "dates": dates, "array": np.array([1.0, np.inf]), "flag": np.True_, "Mixed Case": 1})
    assert json.loads(capsys.readouterr().out) == {
        "table": [{"variable": "a", "r_hat": 1.5, "n": 1}, {"variable": "b", "r_hat": None, "n": 2}],
        "dates": ["2001-02-03", "2001-02-03 04:00:00"],
        "array": [1.0, None],
        "flag": True,
        "Mixed Case": 1,
    }


def test_models(printed, tmp_path):
    code, models = printed("models")
    assert code == 0
    assert {"name": "stepping", "kind": "agent", "module": "icb_pymc.models.agents.stepping"}.items() <= next(
        model for model in models if model["name"] == "stepping"
    ).items()
    _, model = printed("models", write(tmp_path, "plain", PLAIN.replace("*, alpha=2.0", "*, alpha")))
    assert (model["name"], model["docstring"]) == ("plain", "rho_t = w for all t.")
    assert model["hyperparameters"] == [
        {"name": "alpha", "required": True},
        {"name": "scale", "required": False, "default": 1.0},
    ]


def test_show(printed, tmp_path):
    write_decisions(simulate("stepping", steps=20, random_seed=3), tmp_path / "log.nc")
    code, summary = printed("show", str(tmp_path / "log.nc"))
    assert code == 0
    assert (summary["decisions"], summary["candidates"]) == (20, {"min": 2, "max": 2})
    assert summary["simulated"] == {"agent": "stepping", "seed": 3}
    assert summary["synthetic"] is True
    assert len(summary["features"]) == 8
    assert {"feature", "mean", "sd", "chosen_minus_others", "first_belief", "rho_env"} <= set(summary["features"][0])


def test_simulate_convert_and_share(printed, trace_file, tmp_path):
    log, table, small = (str(tmp_path / name) for name in ("log.nc", "log.csv", "small.nc"))
    code, simulated = printed("simulate", "stepping", "--steps", "20", "--seed", "3", "-o", log)
    assert (code, simulated["output"], simulated["decisions"]) == (0, log, 20)
    assert printed("convert", log, "-o", table) == (0, {"output": table, "decisions": 20})
    code, shared = printed("share", trace_file, "--draws", "5", "-o", small)
    assert (code, shared["output"]) == (0, small)
    assert shared["bytes"] < shared["bytes_before"]


def test_diagnose_with_a_picture(printed, trace_file, tmp_path):
    code, diagnosis = printed("diagnose", trace_file, "-o", str(tmp_path / "diagnosis.png"))
    assert code == (0 if diagnosis["converged"] else 1)
    assert {row["variable"] for row in diagnosis["variables"]} >= {"belief", "rho"}
    assert all(isinstance(row["bulk_ess"], float) for row in diagnosis["worst_components"])
    assert 0 <= diagnosis["choices"]["accuracy"] <= 1
    assert isinstance(diagnosis["choices"]["is_calibrated"], bool)
    assert (tmp_path / "diagnosis.png").exists()


def test_impact(printed, trace, trace_file):
    features = [str(name) for name in group(trace, "posterior")["feature"].values]
    windows = ["--before", "300D", "--after", "300D", "--matters", "0.1"]
    code, rows = printed("impact", trace_file, "--event", "2002-06-01=rule", *windows)
    assert code == 0
    assert [row["feature"] for row in rows] == features
    promised = {"feature", "event", "before", "after", "change", "lower", "upper", "probability", "importance_change"}
    for row in rows:
        assert promised | {"verdict", "account", "decisiveness_ratio", "decisiveness_verdict"} <= set(row)
        assert row["event"].startswith("2002-06-01")
        assert row["lower"] <= row["change"] <= row["upper"]
        assert row["change"] == pytest.approx(row["after"] - row["before"])
        assert row["verdict"] in ("clear", "probable", "no relevant change", "not clear")


@pytest.mark.parametrize(("options", "score"), [([], "psis_loo"), (["--ahead", "--start", "35"], "one_step_ahead")])
def test_compare(options, score, printed, trace, trace_file, tmp_path):
    write_trace(trace, tmp_path / "other.nc")
    code, comparison = printed("compare", trace_file, str(tmp_path / "other.nc"), *options)
    assert code == 0
    assert comparison["score"] == score
    assert {row["model"] for row in comparison["models"]} == {"trace", "other"}
    assert all(isinstance(row["elpd"], float) for row in comparison["models"])


def test_traces(printed):
    code, traces = printed("traces", "list")
    registry = read_registry(registry_folder())
    assert code == 0
    assert [trace["name"] for trace in traces] == list(registry)
    name = traces[0]["name"]
    _, trace = printed("traces", "show", name)
    assert trace["path"].endswith(registry[name].file)
    assert trace["made_by"] == registry[name].made_by
    code, verified = printed("traces", "verify", name)
    assert code == 0
    assert verified == {"unchanged": 1, "traces": [{"name": name, "problems": []}]}


def test_fit(printed, dated_decisions, tmp_path):
    write_decisions(dated_decisions, tmp_path / "log.nc")
    output = str(tmp_path / "trace.nc")
    short = ["--draws", "30", "--tune", "30", "--chains", "2", "--seed", "0"]
    code, result = printed("fit", "nb_icb", str(tmp_path / "log.nc"), *short, "-o", output)
    assert (code, result["output"], result["kernel"], result["draws"]) == (0, output, "engine", 30)
    assert isinstance(result["converged"], bool)
    assert isinstance(result["worse_than_unchanging"], bool)
    assert [row["feature"] for row in result["features"]] == list(dated_decisions["feature"].values)
    assert {"weight_at_2001_01_01", "importance_at_2001_01_01"} <= set(result["features"][0])


@pytest.mark.compiled
def test_check(printed, tmp_path):
    path = write(tmp_path, "plain", PLAIN)
    options = ["--replicates", "10", "--steps", "8", "--draws", "60", "--jobs", "1"]
    code, result = printed("check", path, *options, "-o", str(tmp_path / "check.png"))
    assert (code, result["passed"], result["problems"]) == (0, True, [])
    assert (tmp_path / "check.png").read_bytes().startswith(b"\x89PNG")
    assert {"quantity", "p_value", "ess"} <= set(result["quantities"][0])


def test_prepare(printed, capsys, tmp_path):
    raw = str(tmp_path / "liver.csv")
    assert main(["synthesise", "--patients", "300", "--seed", "0", "-o", raw]) == 0
    capsys.readouterr()
    code, result = printed("prepare", raw)
    assert (code, result["synthetic"]) == (0, True)
    assert result["transplants"] > 0
