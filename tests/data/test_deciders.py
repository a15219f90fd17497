"""Decisions of several agents: how they are built, checked, written and read."""

import numpy as np
import pandas as pd
import pytest

from icb_pymc.cli import main
from icb_pymc.data.deciders import decisions_by
from icb_pymc.data.decision_files import read_decisions, write_decisions
from icb_pymc.data.decisions import from_arrays, map_features, validate
from icb_pymc.data.standardisation import standardise
from icb_pymc.data.tables import Columns, from_table
from icb_pymc.errors import InputError

LOG = """decision,time,agent,chosen,age,inr
a,2001-01-01,Turin,1,50,1.5
a,2001-01-01,Turin,0,60,1.0
b,2001-01-01,Bari,0,51,2.5
b,2001-01-01,Bari,1,40,1.1
c,2001-03-01,Turin,0,45,1.3
c,2001-03-01,Turin,1,48,1.9
"""


def three_decisions(agent=("Turin", "Bari", "Turin")):
    context = np.random.default_rng(0).normal(size=(3, 2, 2))
    return from_arrays(context, [0, 1, 1], time=[1, 1, 2], agent=agent)


def test_names_become_a_dimension_and_decider_is_the_position_of_each_agent():
    decisions = three_decisions()
    assert decisions["agent"].values.tolist() == ["Bari", "Turin"]
    assert decisions["decider"].values.tolist() == [1, 0, 1]


def test_numbers_are_sorted_by_size_and_become_names():
    assert three_decisions([10, 9, 10])["agent"].values.tolist() == ["9", "10"]


@pytest.mark.parametrize("missing", [None, np.nan, ""])
def test_a_missing_agent_is_named_by_its_decision(missing):
    with pytest.raises(InputError, match="decision number 2 is missing"):
        three_decisions(np.array(["Turin", missing, "Bari"], dtype=object))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda d: d.assign(decider=("time", [0, 2, 1])), r"decider 2 of decision number 2 is outside 0..1"),
        (lambda d: d.assign(decider=("time", [0, -1, 1])), "decider -1 of decision number 2"),
        (lambda d: d.assign(decider=("time", [0.0, 1.0, 1.0])), "'decider' holds float64"),
        (lambda d: d.assign(decider=("feature", [0, 1])), "'decider' has dims"),
        (lambda d: d.drop_vars("agent"), "coordinate 'agent' .* is missing"),
        (lambda d: d.drop_vars("decider"), "'agent' needs a variable 'decider'"),
        (lambda d: d.assign_coords(agent=["Bari", "Bari"]), "a name twice: Bari, Bari"),
    ],
)
def test_decisions_with_wrong_agents_are_refused(spoil, sentence):
    with pytest.raises(InputError, match=sentence):
        validate(spoil(three_decisions()))


def test_agents_are_kept_when_features_change_or_times_are_selected():
    decisions = three_decisions()
    for changed in (standardise(decisions), map_features(decisions, lambda x: x**3), decisions.isel(time=[0, 1, 2])):
        np.testing.assert_array_equal(validate(changed)["decider"], decisions["decider"])
    assert validate(decisions.isel(time=[0, 2]))["agent"].values.tolist() == ["Bari", "Turin"]


def test_the_decisions_of_one_agent_are_plain_decisions():
    own = validate(decisions_by(three_decisions(), "Turin"))
    assert own["time"].values.tolist() == [1, 2]
    assert "agent" not in own.dims
    with pytest.raises(InputError, match="no agent 'Rome' in the decisions; the agents are Bari, Turin"):
        decisions_by(three_decisions(), "Rome")
    with pytest.raises(InputError, match="do not say who decided"):
        decisions_by(own, "Turin")


@pytest.mark.parametrize("suffix", [".nc", ".csv", ".parquet"])
def test_agents_survive_a_round_trip_through_every_kind_of_file(suffix, tmp_path):
    source, path = tmp_path / "log.csv", tmp_path / f"copy{suffix}"
    source.write_text(LOG)
    decisions = read_decisions(source)
    assert decisions["feature"].values.tolist() == ["age", "inr"]
    write_decisions(decisions, path)
    copy = read_decisions(path)
    for name in ("agent", "decider", "time", "context", "chosen"):
        np.testing.assert_array_equal(copy[name].values, decisions[name].values)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Bari,0", ",0", ["line 4", "'agent' is empty"]),
        ("Bari,1", "Turin,1", ["line 5", "'agent' differs from the other candidates"]),
    ],
)
def test_a_broken_agent_column_is_reported_in_one_sentence(old, new, words, tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text(LOG.replace(old, new))
    assert main(["show", str(path)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert all(word in printed for word in (str(path), *words))


def test_show_counts_the_agents_of_a_column_with_another_name(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text(LOG.replace("agent", "centre"))
    assert main(["show", str(path), "--agent", "centre"]) == 0
    assert "2 agent(s) and their decisions: Bari (1), Turin (2)" in capsys.readouterr().out


def test_a_column_called_agent_can_be_listed_as_a_feature():
    table = pd.DataFrame({"decision": [1, 1], "chosen": [1, 0], "age": [3.0, 4.0], "agent": [5, 6]})
    decisions = from_table(table, Columns(features=["age", "agent"]))
    assert decisions["feature"].values.tolist() == ["age", "agent"]
    assert "decider" not in decisions
    with pytest.raises(InputError, match="'agent' differs from the other candidates"):
        from_table(table)
