import argparse
import re
import subprocess
import sys

import pytest
import xarray as xr
from helpers.model_texts import PLAIN, write

from icb_pymc.catalogue.lookup import find
from icb_pymc.cli import VERBS, main
from icb_pymc.cli.options import given_settings
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import group
from icb_pymc.results.traces import read_trace, write_trace


def test_the_command_line_and_the_package_start_without_heavy_imports():
    heavy = "{'pymc', 'pytensor', 'arviz', 'xarray', 'pandas', 'numba', 'matplotlib'}"
    code = f"import sys, icb_pymc, icb_pymc.cli; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_commands_that_read_a_trace_do_not_import_pymc(trace, tmp_path):
    """It takes longer to import than their answers take."""
    for name in ("a", "b"):
        write_trace(trace, tmp_path / f"{name}.nc")
    code = """
import sys, warnings
from icb_pymc.cli import main
warnings.simplefilter("ignore")
for command in (
    "plot weights a.nc -o weights.png",
    "plot importance a.nc -o importance.png",
    "impact a.nc --event 2002-06-01",
    "diagnose a.nc -o diagnosis.png",
    "share a.nc -o shared.nc",
    "compare a.nc b.nc",
):
    assert main(command.split()) in (0, 1), command
    print(command.split()[0], sorted({"pymc", "pytensor"} & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    shown = [line for line in run.stdout.splitlines() if line.endswith("]")]
    assert shown == [f"{verb} []" for verb in ("plot", "plot", "impact", "diagnose", "share", "compare")]


@pytest.mark.parametrize("verb", [module.__name__.rpartition(".")[2] for module in VERBS])
def test_every_verb_has_help_with_an_example(verb, capsys):
    with pytest.raises(SystemExit) as stop:
        main([verb, "--help"])
    assert stop.value.code == 0
    assert f"example: icb {verb}" in " ".join(capsys.readouterr().out.split())


def test_models_lists_every_agent_with_one_line(capsys):
    assert main(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ("stationary", "sampling", "optimistic", "greedy", "stepping", "linear", "regressing"):
        (line,) = [line for line in lines if line.split()[:1] == [name]]
        assert len(line.split()) > 4


def test_simulate_writes_the_file_and_shows_that_it_is_synthetic(tmp_path, capsys):
    path = tmp_path / "decisions.nc"
    arguments = [
        "simulate",
        "stepping",
        "--steps",
        "20",
        "--seed",
        "3",
        "--set",
        "step_at=0.25",
        "-o",
        str(path),
    ]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "no real patient" in printed
    with xr.open_dataset(path) as decisions:
        assert decisions.sizes["time"] == 20
        assert (decisions["true_belief"].values[5] == decisions["true_rho_env"].values).all()
    assert main(["show", str(path)]) == 0


def test_a_cohort_goes_from_raw_file_to_decisions(tmp_path, capsys):
    raw, transplants, decisions = (str(tmp_path / name) for name in ("raw.csv", "transplants.csv", "decisions.csv"))
    assert main(["synthesise", "--patients", "3000", "-o", raw]) == 0
    assert main(["prepare", raw, "-o", transplants]) == 0
    printed = capsys.readouterr().out
    assert "never transplanted" in printed
    assert "no real patient" in printed
    assert main(["simulate", "linear", "--steps", "20", "--cohort", raw, "-o", decisions]) == 0
    assert "no real patient" in capsys.readouterr().out
    assert main(["convert", decisions, "--standardise", "-o", str(tmp_path / "decisions.nc")]) == 0


def test_a_history_goes_from_raw_file_to_dated_decisions(tmp_path, capsys):
    raw, decisions = (str(tmp_path / name) for name in ("history.csv", "decisions.nc"))
    assert main(["synthesise", "history", "--patients", "2000", "-o", raw]) == 0
    assert main(["prepare", raw, "--decisions", decisions, "--steps", "60"]) == 0
    assert "60 decisions written" in capsys.readouterr().out
    assert main(["show", decisions]) == 0
    assert "agent 'dated policies'" in capsys.readouterr().out
    assert main(["prepare", raw, "--decisions", str(tmp_path / "decisions.txt")]) == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["simulate", "nobody"], "no model called 'nobody'"),
        (["simulate", "linear", "--set", "beta=1"], "no hyperparameter 'beta'"),
        (["simulate", "linear", "--set", "beta=high"], "no hyperparameter 'beta'"),
        (["simulate", "linear", "--set", "beta"], "write it as NAME=VALUE"),
        (
            ["simulate", "linear", "--set", "alpha=high"],
            "'high' is not a number; 'alpha' of the model 'linear' takes a number",
        ),
        (["simulate", "linear", "--cohort", "nowhere.csv"], "nowhere.csv"),
        (["simulate", "linear", "--steps", "5", "-o", "no/where.nc"], "does not exist"),
        (["simulate", "linear", "--steps", "5", "-o", "where.txt"], "must end in .nc"),
        (["simulate", "switching", "--quadratic"], "quadratic rewards do not apply"),
    ],
)
def test_bad_options_are_answered_in_one_sentence(arguments, sentence, capsys):
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["simulate", "linear", "--steps", "0"], ["simulate", "linear", "--seed", "-1"]])
def test_numbers_out_of_range_are_refused_by_the_parser(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2


def test_a_log_goes_from_table_to_trace_to_pictures(tmp_path, capsys):
    log, trace = str(tmp_path / "log.csv"), str(tmp_path / "trace.nc")
    assert main(["simulate", "stepping", "--steps", "40", "-o", log]) == 0
    short = ["--draws", "20", "--tune", "5", "--chains", "2", "--seed", "0"]
    assert main(["fit", "nb_icb", log, *short, "-o", trace]) == 0
    printed = capsys.readouterr().out
    assert "features: numbers are scaled by their spread within decisions" in printed
    assert "worst R-hat" in printed
    output = tmp_path / "impact.png"
    assert main(["impact", trace, "--event", "20=rule", "--before", "15", "--after", "15", "-o", str(output)]) == 0
    assert "judged by 15 decisions before and 15 after" in capsys.readouterr().out
    assert output.read_bytes().startswith(b"\x89PNG")
    assert main(["impact", trace, "--event", "20", "--feature", "innr"]) == 2
    assert "did you mean 'inr'?" in capsys.readouterr().err
    for picture in (
        ["importance", "--event", "20=guideline"],
        ["weights", "--unit", "user"],
        ["radar", "--at", "5", "35"],
    ):
        output = tmp_path / f"{picture[0]}.png"
        assert main(["plot", picture[0], trace, *picture[1:], "-o", str(output)]) == 0
        assert output.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fit", "nb_icb", "nowhere.nc"], "nowhere.nc: there is no such file"),
        (["fit", "nobody", "nowhere.nc"], "no model called 'nobody'"),
        (["fit", "nb_icb", "nowhere.nc", "--learn", "strength"], "'nb_icb' has no hyperparameter 'strength'"),
        (["fit", "nb_icb", "nowhere.nc", "-o", "trace.txt"], "must end in .nc"),
        (["plot", "radar", "nowhere.nc", "-o", "radar.png"], "nowhere.nc: there is no such file"),
        (["plot", "radar", "nowhere.nc", "--event", "1=x", "-o", "radar.png"], "--event can only be used with"),
        (["plot", "importance", "nowhere.nc", "-o", "x.bmp"], "must end in .png"),
        (["impact", "nowhere.nc", "--event", "20"], "nowhere.nc: there is no such file"),
        (["impact", "nowhere.nc"], "--event is missing"),
        (["impact", "x.nc", "--event", "20", "-o", "x.bmp"], "must end in .png"),
    ],
)
def test_bad_fits_and_plots_are_answered_in_one_sentence(arguments, sentence, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize("model", ["uniform", "b_irl", "m_fold_irl", "cp_irl", "i_spi", "t_rex"])
def test_every_benchmark_is_fitted_by_name_and_its_trace_read_again(model, tmp_path, capsys):
    log, trace = str(tmp_path / "log.nc"), str(tmp_path / "trace.nc")
    assert main(["simulate", "stepping", "--steps", "60", "-o", log]) == 0
    capsys.readouterr()
    short = ["--draws", "8", "--tune", "2", "--chains", "1", "--kernel", "paper", "--seed", "0"]
    assert main(["fit", model, log, *short, "-o", trace]) == 0
    printed = capsys.readouterr()
    has_beliefs = model not in ("i_spi", "t_rex")
    assert ("relative importance" in printed.out) == has_beliefs
    assert ("rho_env" in printed.out) == (model not in ("m_fold_irl", "cp_irl"))
    drawn = main(["plot", "importance", trace, "-o", str(tmp_path / "importance.png")])
    assert drawn == (0 if has_beliefs else 2)
    if not has_beliefs:
        assert f"'{model}' does not estimate 'belief'" in capsys.readouterr().err


def test_text_hyperparameters_of_built_in_models_are_taken_from_the_command_line(tmp_path, capsys):
    log, trace = str(tmp_path / "log.nc"), str(tmp_path / "trace.nc")
    assert main(["simulate", "stepping", "--steps", "30", "-o", log]) == 0
    capsys.readouterr()
    fit = ["fit", "i_spi", log, "--draws", "4", "--tune", "0", "--chains", "1", "--kernel", "paper", "-o", trace]
    assert main([*fit, "--set", "reading=sharpening"]) == 0
    assert main([*fit, "--set", "reading=backwards"]) == 2
    assert "'improvement' or 'sharpening'" in capsys.readouterr().err
    assert main(["fit", "m_fold_irl", log, "--set", "folds=31", "-o", trace]) == 2
    assert "from 1 to 30" in capsys.readouterr().err


WORDED = PLAIN.replace(
    "alpha=2.0,", "alpha=2.0, rule='softmax', unit: 'str | None' = None, note=None, depth: float = 1,"
)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("rule=lapse", "lapse"),
        ("unit=7D", "7D"),
        ("note=free text", "free text"),
        ("alpha=3", 3.0),
        ("alpha=1,2.5", [1.0, 2.5]),
        ("alpha=True", True),
        ("rule=none", None),
    ],
)
def test_the_model_decides_whether_a_value_may_be_text(setting, value, tmp_path):
    options = argparse.Namespace(set=[setting])
    (given,) = given_settings(options, find(write(tmp_path, "plain", WORDED))).values()
    assert given == value
    assert type(given) is type(value)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("alpha=high", "--set alpha=high: 'high' is not a number; 'alpha' of the model 'plain' takes a number"),
        ("depth=high", "--set depth=high: 'high' is not a number; 'depth' of the model 'plain' takes a number"),
        ("alpha", "--set alpha: write it as NAME=VALUE"),
    ],
)
def test_text_where_a_number_is_expected_is_refused_with_option_and_model(setting, sentence, tmp_path):
    with pytest.raises(InputError, match=re.escape(sentence)):
        given_settings(argparse.Namespace(set=[setting]), find(write(tmp_path, "plain", WORDED)))


def test_text_reaches_a_user_defined_model_from_the_command_line(tmp_path, capsys):
    text = PLAIN.replace("alpha=2.0,", "alpha=2.0, rule='softmax',").replace(
        "    with decisions_model", "    assert rule == 'lapse', rule\n    with decisions_model"
    )
    simulate = ["simulate", write(tmp_path, "plain", text), "--steps", "5", "-o", str(tmp_path / "log.nc")]
    assert main([*simulate, "--set", "rule=lapse"]) == 0
    assert main([*simulate, "--set", "rule=other"]) == 2


def test_hyperparameters_are_learnt_where_the_command_line_asks_for_it(tmp_path, capsys):
    log, trace = str(tmp_path / "log.nc"), str(tmp_path / "trace.nc")
    assert main(["simulate", "stepping", "--steps", "30", "-o", log]) == 0
    short = ["--draws", "20", "--tune", "5", "--chains", "2", "--seed", "0", "-o", trace]
    learnt = ["--set", "innovation_covariance=0.01", "--learn", "alpha", "--learn", "innovation_covariance"]
    assert main(["fit", "nb_icb", log, *short, *learnt]) == 0
    posterior = group(read_trace(trace), "posterior")
    assert {"alpha", "innovation_covariance", "belief"} <= set(posterior.data_vars)
    assert (posterior["alpha"].std() > 0).item()
    capsys.readouterr()
    assert main(["fit", "nb_icb", log, *short, "--learn", "unit_of_time"]) == 2
    assert "learn unit_of_time" in capsys.readouterr().err


def test_b_icb_prints_rho_env_and_can_be_fitted_by_em(tmp_path, capsys):
    log, trace = str(tmp_path / "log.nc"), str(tmp_path / "trace.nc")
    assert main(["simulate", "sampling", "--steps", "30", "-o", log]) == 0
    short = ["--preset", "paper", "--iterations", "3", "--draws", "20", "--tune", "5", "--seed", "0"]
    assert main(["fit", "b_icb", log, *short, "-o", trace]) == 0
    assert "rho_env" in capsys.readouterr().out
    assert main(["plot", "importance", trace, "-o", str(tmp_path / "importance.png")]) == 0
