"""What `icb show` says of a log: its form, time, sessions, and features with their coding and faults."""

import numpy as np
import pandas as pd
import pytest

from icb_pymc import Columns, InputWarning, from_arrays, from_table
from icb_pymc.cli import main
from icb_pymc.data.collinearity import collinear_features, constant_features
from icb_pymc.data.separation import separating_features
from icb_pymc.data.understanding import describe_time, sentences, summarise

STEPS = 60


@pytest.fixture(scope="module")
def faulty():
    """Features with every fault, and choices that none of them explains."""
    rng = np.random.default_rng(0)
    price, wait = rng.normal(size=(2, STEPS, 3))
    site = np.repeat(rng.normal(size=(STEPS, 1)), 3, axis=1)
    columns = {"price": price, "cents": 100 * price + site, "wait": wait, "sum": price + 2 * wait, "site": site}
    columns["almost"] = wait + 0.05 * rng.normal(size=wait.shape)
    context = np.stack(list(columns.values()), axis=-1)
    with pytest.warns(InputWarning, match="'site' never varies"):
        return from_arrays(context, rng.integers(0, 3, STEPS), features=list(columns))


def test_constant_and_collinear_features_are_named(faulty):
    assert constant_features(faulty) == ["site"]
    found = collinear_features(faulty)
    assert (["price", "cents"], 1.0) in found
    assert (["price", "wait", "sum"], 1.0) in found
    ((_, nearly),) = [pair for pair in found if pair[0] == ["wait", "almost"]]
    assert 0.98 < nearly < 1
    assert len(found) == 3
    said = sentences(summarise(faulty))
    assert "feature 'site' never varies between the candidates of a decision" in said
    assert "features 'price' and 'cents' are collinear: one is a multiple of the other; leave one out" in said
    assert "features 'price', 'wait' and 'sum' are collinear: each follows from the others; leave one out" in said


def test_features_that_explain_every_choice_are_named_and_others_are_not():
    rng = np.random.default_rng(1)
    context = rng.normal(size=(STEPS, 2, 3))
    features = ["a", "b", "c"]
    alone = from_arrays(context, context[:, :, 1].argmin(axis=1), features=features)
    assert separating_features(alone) == ["b"]
    both = from_arrays(context, (context @ [1.0, -2.0, 0.0]).argmax(axis=1), features=features)
    assert set(separating_features(both)) >= {"a", "b"}
    noisy = from_arrays(context, rng.integers(0, 2, STEPS), features=features)
    assert separating_features(noisy) == []


def test_how_time_is_read_is_said():
    context, chosen = [[[1.0], [0.0]]] * 3, [0, 1, 0]
    assert describe_time(from_arrays(context, chosen)) == "numbers; weights move from decision to decision"
    assert "gaps" in describe_time(from_arrays(context, chosen, time=[1, 2, 9]))
    dates = np.array(["2001-01-01", "2001-01-01", "2002-01-01"], "datetime64[ns]")
    assert describe_time(from_arrays(context, chosen, time=dates)).startswith(
        "dates, on 2 dates; weights move with the"
    )


def test_show_prints_what_was_understood(tmp_path, capsys):
    table = pd.DataFrame(
        {"choice": ["left", "right", None, "right", "left", "left"], "s": [0.3, 0.1, 0.2, 0.4, 0.5, 0.1]}
    )
    table = table.assign(side=list("abbaab"), day=[1, 1, 1, 2, 2, 2], reward=[1, 0, None, 1, None, 0], subject=1)
    table.to_csv(tmp_path / "trials.csv", index=False)
    given = ["--session", "day", "--features", "s + C(side) + lag(choice)"]
    assert main(["show", str(tmp_path / "trials.csv"), *given]) == 0
    printed = capsys.readouterr().out
    for line in (
        "6 decisions from 1 to 6, 2 candidates each, 4 features",
        "table: one row per trial",
        "alternatives: left and right; weights above zero speak for right",
        "features: s + C(side) + lag(choice)",
        "sessions: 2 of 3 decisions; weights may jump between them",
        "missed: 1 decision(s), in which time passes and nothing is learnt",
        "rewards: observed after 4 of 6 decisions; not a feature",
        "1 agent(s) and their decisions: 1 (6)",
        "side b against a, for right against left",
    ):
        assert line in printed
    # The same is said of the file that it is converted to.
    assert main(["convert", str(tmp_path / "trials.csv"), *given, "--standardise", "-o", str(tmp_path / "log.nc")]) == 0
    assert main(["show", str(tmp_path / "log.nc")]) == 0
    again = capsys.readouterr().out
    assert "side b against a, for right against left" in again
    assert "sessions: 2 of 3 decisions" in again


def test_agents_with_their_own_counters_need_not_be_interleaved():
    table = pd.DataFrame({"choice": [0, 1, 0, 1, 1], "s": np.arange(5.0), "subject": list("ppqqq")})
    counted = from_table(table)
    assert counted["time"].values.tolist() == [1, 1, 2, 2, 3]
    assert counted["agent"].values[counted["decider"].values].tolist() == ["p", "q", "p", "q", "q"]
    assert counted["context"].sel(feature="s").values[:, 1].tolist() == [0, 2, 1, 3, 4]
    given = from_table(table.assign(trial=[1, 2, 1, 2, 3]), Columns(time="trial"))
    assert given["context"].sel(feature="s").values[:, 1].tolist() == [0, 2, 1, 3, 4]


def test_a_counter_that_starts_again_in_each_session_counts_decisions(tmp_path, capsys):
    table = pd.DataFrame({"choice": [0, 1, 0, 1], "s": np.arange(4.0), "day": [1, 1, 2, 2], "time": [1, 2, 1, 2]})
    assert from_table(table, Columns(session="day"))["time"].values.tolist() == [1, 2, 3, 4]
    table.to_csv(tmp_path / "trials.csv", index=False)
    assert main(["show", str(tmp_path / "trials.csv")]) == 2
    assert "line 4: column 'time' is out of order (1 is earlier than the previous decision)" in capsys.readouterr().err


def test_many_decisions_on_a_date_are_probably_a_session():
    table = pd.DataFrame(
        {"choice": [0, 1] * 24, "s": np.arange(48.0), "date": ["2001-01-01"] * 24 + ["2001-01-02"] * 24}
    )
    with pytest.warns(InputWarning, match="about 24 decisions for each date.*--session date"):
        dated = from_table(table)
    assert dated["time"].dtype.kind == "M"
    counted = from_table(table, Columns(session="date"))
    assert counted["time"].values.tolist() == list(range(1, 49))
    assert counted["session"].values[-1] == "2001-01-02"
