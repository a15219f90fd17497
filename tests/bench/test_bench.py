"""`icb bench` measures what it claims to, on models that are the same for all samplers."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc.bench import commands, growth, measure, psytrack_mode, tables, wide
from icb_pymc.bench.noncentred import b_icb_noncentred, nb_icb_noncentred
from icb_pymc.cli import main
from icb_pymc.data.decision_files import write_decisions
from icb_pymc.declare.graph import GraphReader
from icb_pymc.kernels.reward_given_rho import belief_means, covariance_path
from icb_pymc.models.nb_icb import paper


@pytest.fixture(scope="module")
def decisions():
    arrivals = make_arrivals(9, 2, 3)
    return arrivals.assign(chosen=("time", np.arange(9) % 2))


def evaluate_at_noise(model, names, seed=0):
    """A random point of a non-centred model, and the values of the named variables there."""
    rng = np.random.default_rng(seed)
    point = {name: rng.normal(size=np.shape(value)) for name, value in model.initial_point().items()}
    return point, GraphReader(model, {name: model[name] for name in names})(point)


def test_noncentred_nb_icb_has_the_published_covariances(decisions):
    hyperparameters = paper(decisions).hyperparameters
    point, values = evaluate_at_noise(nb_icb_noncentred(decisions), ["belief"])
    moves = np.diff(values["belief"], axis=0, prepend=np.full((1, 3), hyperparameters["start_mean"]))
    root = np.linalg.cholesky(hyperparameters["innovation_covariance"])
    np.testing.assert_allclose(moves, point["moves"] @ root.T, atol=1e-12)


def test_noncentred_b_icb_learns_by_equation_1(decisions):
    point, values = evaluate_at_noise(b_icb_noncentred(decisions), ["belief", "rho_env"])
    chosen_context = decisions["context"].values[np.arange(9), decisions["chosen"].values]
    reward = chosen_context @ values["rho_env"] + 0.1 * point["reward_noise"]
    expected = np.empty((9, 3))
    gain = covariance_path(0.001 * np.eye(3), chosen_context, 0.1).gain
    belief_means(gain, np.full(3, -1 / 3), np.ascontiguousarray(chosen_context), reward, expected)
    np.testing.assert_allclose(values["belief"], expected, atol=1e-10)


def test_a_run_reports_effective_sample_sizes_rhat_and_seconds():
    run = measure.run_sampler("b_icb", "engine", steps=15, actions=3, draws=60)
    assert 0 < run.drawing <= run.seconds
    assert 0 < run.worst <= run.median
    assert run.tail > 0
    assert 0.9 < run.rhat < 1.5
    assert (run.draws, run.tune) == (60, 200)


def test_draws_are_doubled_until_convergence_or_the_time_limit(monkeypatch):
    draws_requested = []

    def pretend(model, kernel, steps, actions, draws):
        draws_requested.append(draws)
        return measure.SamplerRun(1.0, 0.5, 10.0, 20.0, 8.0, 1.0 + 5.0 / draws, draws, 300)

    monkeypatch.setattr(measure, "run_sampler", pretend)
    monkeypatch.setitem(measure.FIRST_DRAWS, "engine", 100)
    assert measure.sample_until_convergence("nb_icb", "engine", 10, 2, limit=60.0).draws == 800
    assert draws_requested == [100, 200, 400, 800]
    longest = measure.sample_until_convergence("nb_icb", "engine", 10, 2, limit=1.0)
    assert longest.draws == 100
    assert longest.rhat > measure.MAX_RHAT


def test_a_cold_start_takes_longer_by_the_time_of_compilation(monkeypatch):
    """The short run with empty caches: 20 s of compilation, 3 s of imports, and 24 of the 800 draws that take 8 s."""
    warm = {"seconds": 11.0, "drawing": 8.0, "draws": 500, "tune": 300}
    cold = {"seconds": 23.24, "drawing": 4.0, "draws": 12, "tune": 12}
    monkeypatch.setattr(measure, "measure_in_subprocess", lambda request, caches: cold if request["is_short"] else warm)
    result = measure.measure_cold_and_warm({})
    assert result["seconds"] == 11.0
    assert result["compiling"] == pytest.approx(20.0)


def test_the_table_has_rates_ratios_and_cold_and_warm_seconds(monkeypatch):
    run = {"seconds": 5.0, "drawing": 2.0, "worst": 100.0, "median": 300.0, "tail": 80.0, "rhat": 1.004}
    run |= {"compiling": 20.0}
    results = {
        "engine": run,
        "gibbs": run | {"worst": 0.5, "rhat": 1.2},
        "nuts": {"error": "x"},
    }
    monkeypatch.setattr(tables, "measure_cold_and_warm", lambda request: results[request["kernel"]])
    *_, engine, gibbs, failed, best = tables.sampler_table(["nb_icb"], list(results), [2], 500, 60.0)
    assert engine.split()[-7:] == ["50", "40", "150", "5.0", "25.0", "1.004", "100"]
    assert gibbs.split()[-11:] == ["0.25", "200", "x", "40", "150", ">", "60", ">", "60", "1.200", "0"]
    assert failed.endswith("failed: x")
    assert best.endswith("best of the others: exact Gibbs/MH steps; engine is 200 x")


def test_the_command_prints_how_long_a_long_log_takes(capsys, monkeypatch):
    monkeypatch.setattr(tables, "LONG_MAX_RHAT", 1.5)
    assert main(["bench", "--only", "long", "--longest", "30"]) == 0
    head, laplace, engine, *_ = capsys.readouterr().out.splitlines()
    assert "T = 30," in head
    assert laplace.startswith("Laplace: ")
    assert "below 1.5), worst ESS" in engine


def test_the_command_prints_growth_and_its_slope_and_rejects_invalid_lengths(capsys, monkeypatch):
    def pretend(request):
        steps = int(Path(request["log"]).stem)
        return {"seconds": 1e-6 * steps**1.5, "megabytes": 300.0, "steps": 4.0, "accepted": 0.9}

    monkeypatch.setattr(growth, "measured", pretend)
    assert main(["bench", "--only", "growth", "--lengths", "20,40"]) == 0
    *_, short, long, slope, _ = capsys.readouterr().out.splitlines()
    assert short.split() == ["20", "0.09", "4.47", "4.0", "0.90", "300", "0.00", "300"]
    assert long.split()[0] == "40"
    assert slope.split() == ["slope", "1.50", "1.50"]
    assert main(["bench", "--only", "growth", "--lengths", "20,many"]) == 2
    assert "--lengths 20,many" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["mcmc", "laplace"])
def test_growth_measures_a_fit(method, decisions, tmp_path):
    write_decisions(decisions, tmp_path / "log.nc")
    found = growth.measure({"log": str(tmp_path / "log.nc"), "settings": "learnt", "method": method})
    assert 0 < found["seconds"] < 60
    assert found["megabytes"] > 50


def test_the_command_prints_what_features_and_candidates_cost(capsys, monkeypatch):
    monkeypatch.setattr(wide, "TUNE", 10)
    monkeypatch.setattr(wide, "DRAWS", 20)
    assert main(["bench", "--only", "wide", "--steps", "12", "--widths", "2"]) == 0
    *_, features, candidates, _ = capsys.readouterr().out.splitlines()
    assert [row.split()[:2] for row in (features, candidates)] == [["2", "2"], ["8", "2"]]
    assert all(float(word) > 0 for word in features.split())


def test_a_wide_log_has_masked_candidates():
    log = wide.wide_log(200, 3, 5)
    assert set(log["available"].sum("action").values.tolist()) == {2, 3, 4, 5}
    assert log["available"].isel(action=log["chosen"]).all()


def test_the_command_prints_the_seconds_of_commands_beside_those_of_another_version(capsys, monkeypatch):
    def run(python, command, folder, *, with_stages=False):
        if command[0] == "fit":
            (Path(folder) / command[command.index("-o") + 1]).write_bytes(bytes(2_000_000))
        ours = {"all": 4.0, "wall": 5.0, "stages": {"import": 1.5, "draw": 2.0, "rest": 0.5}}
        return ours if python == sys.executable else {"all": 10.0, "wall": 30.0, "stages": {}}

    monkeypatch.setattr(commands, "_run", run)
    assert main(["bench", "--only", "commands", "--steps", "60", "--against", "other-python"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "T = 60," in lines[0]
    (cold,) = [line for line in lines if line.startswith("nb_icb, cold")]
    assert [float(word) for word in cold.split()[-4:]] == [4.0, 5.0, 10.0, 2.5]
    assert "2.00" in cold.split()
    assert "traces: nb_icb 2 MB, b_icb 2 MB" in lines
    assert [line.split()[0] for line in lines[-5:-1]] == ["diagnose", "plot", "impact", "compare"]


def test_time_of_a_stage_inside_another_counts_once(monkeypatch):
    seconds = iter([0.0, 1.0, 4.0, 10.0])
    monkeypatch.setattr(commands, "cpu_seconds", lambda: next(seconds))
    watch = commands.Stopwatch()
    inner = watch.timed("inner", lambda: "answer")
    assert watch.timed("outer", lambda: inner())() == "answer"
    assert watch.seconds == {"inner": 3.0, "outer": 7.0}


def test_every_stage_of_a_command_is_a_function_of_this_package():
    for stages in (commands.FIT_STAGES, commands.READ_STAGES):
        for functions in stages.values():
            assert any(hasattr(import_module(module), name) for module, name in functions)


def test_the_rats_scales_have_the_evidence_of_psytrack(monkeypatch):
    pytest.importorskip("psytrack")
    monkeypatch.setattr(psytrack_mode, "MODELS", {"K = 2": (("bias", "s1"), True)})
    *_, row = tables.psytrack_table(trials=300)
    name, sessions = row[:5], row.split()[-5:]
    ours, _, theirs, _, there = (float(number) for number in sessions)
    assert name == "K = 2"
    assert there == pytest.approx(theirs, abs=0.01)
    assert ours > theirs - 0.01
