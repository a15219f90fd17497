"""`icb table`: weights over time and changes around events, as CSV."""

import numpy as np
import pandas as pd
import pytest

from icb_pymc import fit, from_table, log_odds_weights, weight_table, write_trace
from icb_pymc.assess.weights import weight_gaussian
from icb_pymc.cli import main
from icb_pymc.plots.weights import weights_over_time


@pytest.fixture(scope="module")
def trial_trace():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"choice": rng.choice(["left", "right"], 60), "s": rng.normal(size=60), "session": np.arange(60) // 20}
    )
    table.loc[7, "choice"] = None
    return fit("nb_icb", from_table(table), method="laplace", draws=40, every=2, seed=0, progressbar=False)


def test_weights_are_written_with_intervals_sessions_and_missed_decisions(trial_trace, tmp_path, capsys):
    write_trace(trial_trace, tmp_path / "trace.nc")
    output = tmp_path / "weights.csv"
    assert main(["table", str(tmp_path / "trace.nc"), "--ci-prob", "0.8", "-o", str(output)]) == 0
    table = pd.read_csv(output)
    weights = log_odds_weights(trial_trace)
    times = weights["time"].values
    assert len(table) == 2 * len(times)
    own = table[table["feature"] == "s"]
    np.testing.assert_array_equal(own["time"], times)
    np.testing.assert_array_equal(own["session"], (times - 1) // 20)
    np.testing.assert_array_equal(own["missed"], times == 8)
    mode, sd = weight_gaussian(trial_trace)
    np.testing.assert_allclose(own["weight"], mode.sel(feature="s"))
    np.testing.assert_allclose(own["lower"], (mode - 1.2815516 * sd).sel(feature="s"), rtol=1e-6)
    # Independent draws of the same Gaussian, in Monte-Carlo standard errors.
    away = (weights.mean(("chain", "draw")) - mode) / sd * np.sqrt(weights.sizes["draw"])
    assert abs(away).max() < 4.5
    assert (own["lower"] < own["upper"]).all()
    np.testing.assert_allclose(table.groupby("time")["importance"].sum(), 1, rtol=1e-6)
    assert f"{len(table)} rows of weights in log-odds per standard deviation" in capsys.readouterr().out


def test_dates_units_and_thinning(trace, tmp_path):
    write_trace(trace, tmp_path / "trace.nc")
    given = ["table", str(tmp_path / "trace.nc"), "-o", str(tmp_path / "weights.csv")]
    assert main([*given, "--unit", "user", "--every", "7"]) == 0
    table = pd.read_csv(tmp_path / "weights.csv", parse_dates=["time"])
    expected = weight_table(trace, unit="user", every=7)
    assert table["time"].tolist() == expected["time"].tolist()
    assert table["time"].iloc[-1] == pd.Timestamp(trace.posterior["time"].values[-1])
    np.testing.assert_allclose(table["weight"], expected["weight"])


def test_changes_around_events_are_written_with_the_probability_of_each_account(trace, tmp_path):
    write_trace(trace, tmp_path / "trace.nc")
    given = ["table", str(tmp_path / "trace.nc"), "-o", str(tmp_path / "changes.csv")]
    assert main([*given, "--event", "2002-06-01=rule"]) == 0
    changes = pd.read_csv(tmp_path / "changes.csv")
    assert changes["feature"].tolist() == trace.posterior["feature"].values.tolist()
    assert set(changes["label"]) == {"rule"}
    shares = changes.filter(like="probability_of_")
    assert shares.shape[1] == 3
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "weights.txt"], "must end in .csv"),
        (["-o", "weights.csv", "--ci-prob", "2"], "ci_prob=2.0"),
        (["-o", "weights.csv", "--event", "09/05/1998"], "give a date like 2002-02-27"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(options, words, trace, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_trace(trace, "trace.nc")
    assert main(["table", "trace.nc", *options]) == 2
    printed = capsys.readouterr().err
    assert words in printed
    assert printed.count("\n") == 1
    assert not (tmp_path / "weights.csv").exists()


def test_sessions_begin_at_faint_lines(trial_trace):
    ax = weights_over_time(trial_trace).axes[0]
    assert [line.get_xdata()[0] for line in ax.get_lines() if line.get_gid() == "session"] == [21, 41]
