"""`icb bench` measures what it says, on models that are the same for all samplers."""

import numpy as np
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc.bench import measure, tables
from icb_pymc.bench.noncentred import b_icb_by_noise, nb_icb_by_noise
from icb_pymc.cli import main
from icb_pymc.declare.graph import GraphReader
from icb_pymc.kernels.reward_given_rho import belief_means, covariance_path
from icb_pymc.models.nb_icb import paper


@pytest.fixture(scope="module")
def decisions():
    arrivals = make_arrivals(9, 2, 3)
    return arrivals.assign(chosen=("time", np.arange(9) % 2))


def at_noise(model, names, seed=0):
    """Values of named variables at a random point of a model that is made of noise."""
    rng = np.random.default_rng(seed)
    point = {name: rng.normal(size=np.shape(value)) for name, value in model.initial_point().items()}
    return point, GraphReader(model, {name: model[name] for name in names})(point)


def test_nb_icb_by_its_noise_has_the_published_covariances(decisions):
    given = paper(decisions).hyperparameters
    point, values = at_noise(nb_icb_by_noise(decisions), ["belief"])
    moves = np.diff(values["belief"], axis=0, prepend=np.full((1, 3), given["start_mean"]))
    root = np.linalg.cholesky(given["innovation_covariance"])
    np.testing.assert_allclose(moves, point["moves"] @ root.T, atol=1e-12)


def test_b_icb_by_its_noise_learns_by_equation_1(decisions):
    point, values = at_noise(b_icb_by_noise(decisions), ["belief", "rho_env"])
    taken = decisions["context"].values[np.arange(9), decisions["chosen"].values]
    reward = taken @ values["rho_env"] + 0.1 * point["felt"]
    expected = np.empty((9, 3))
    gain = covariance_path(0.001 * np.eye(3), taken, 0.1).gain
    belief_means(gain, np.full(3, -1 / 3), np.ascontiguousarray(taken), reward, expected)
    np.testing.assert_allclose(values["belief"], expected, atol=1e-10)


def test_a_run_tells_effective_draws_agreement_and_seconds():
    run = measure.run_sampler("b_icb", "engine", steps=15, actions=3, draws=60)
    assert 0 < run.drawing <= run.seconds
    assert 0 < run.worst <= run.median
    assert run.tail > 0
    assert 0.9 < run.rhat < 1.5
    assert (run.draws, run.tune) == (60, 200)


def test_draws_are_doubled_until_chains_agree_or_time_is_up(monkeypatch):
    made = []

    def pretend(model, kernel, steps, actions, draws):
        made.append(draws)
        return measure.Run(1.0, 0.5, 10.0, 20.0, 8.0, 1.0 + 5.0 / draws, draws, 300)

    monkeypatch.setattr(measure, "run_sampler", pretend)
    monkeypatch.setitem(measure.FIRST_DRAWS, "engine", 100)
    assert measure.until_agreement("nb_icb", "engine", 10, 2, limit=60.0).draws == 800
    assert made == [100, 200, 400, 800]
    longest = measure.until_agreement("nb_icb", "engine", 10, 2, limit=1.0)
    assert longest.draws == 100
    assert longest.rhat > measure.AGREED


def test_a_cold_start_takes_longer_by_what_compilation_takes(monkeypatch):
    """A short run with empty caches: 20 seconds of compiling, 3 of reading code, and 24 of 800 draws that take 8 s."""
    warm = {"seconds": 11.0, "drawing": 8.0, "draws": 500, "tune": 300}
    cold = {"seconds": 23.24, "drawing": 4.0, "draws": 12, "tune": 12}
    monkeypatch.setattr(measure, "in_own_process", lambda asked, caches: cold if asked["is_short"] else warm)
    found = measure.cold_and_warm({})
    assert found["seconds"] == 11.0
    assert found["compiling"] == pytest.approx(20.0)


def test_the_table_has_rates_ratios_and_seconds_cold_and_warm(monkeypatch):
    run = {"seconds": 5.0, "drawing": 2.0, "worst": 100.0, "median": 300.0, "tail": 80.0, "rhat": 1.004}
    run |= {"compiling": 20.0}
    found = {
        "engine": run,
        "gibbs": run | {"worst": 0.5, "rhat": 1.2},
        "nuts": {"error": "x"},
    }
    monkeypatch.setattr(tables, "cold_and_warm", lambda asked: found[asked["kernel"]])
    *_, engine, gibbs, failed = tables.sampler_table(["nb_icb"], list(found), [2], 500, 60.0)
    assert engine.split()[-7:] == ["50", "40", "150", "5.0", "25.0", "1.004", "100"]
    assert gibbs.split()[-11:] == ["0.25", "200", "x", "40", "150", ">", "60", ">", "60", "1.200", "0"]
    assert failed.endswith("failed: x")


def test_the_command_prints_how_long_a_long_log_takes(capsys, monkeypatch):
    monkeypatch.setattr(tables, "LONG_AGREED", 1.5)
    assert main(["bench", "--only", "long", "--longest", "30"]) == 0
    head, laplace, engine, *_ = capsys.readouterr().out.splitlines()
    assert "T = 30," in head
    assert laplace.startswith("Laplace: ")
    assert "below 1.5), worst ESS" in engine


def test_the_command_prints_growth_and_refuses_lengths_that_are_none(capsys):
    assert main(["bench", "--only", "growth", "--lengths", "20,40"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows[2:4]] == ["20", "40"]
    assert main(["bench", "--only", "growth", "--lengths", "20,many"]) == 2
    assert "--lengths 20,many" in capsys.readouterr().err
