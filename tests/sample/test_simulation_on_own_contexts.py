"""Simulated choices on a user's own log: what stays, what is replaced, and whether the truth is recovered."""

import json

import numpy as np
import pandas as pd
import pytest

from icb_pymc import fit, from_arrays, log_odds_weights, read_decisions, simulate
from icb_pymc.cli import main
from icb_pymc.data.coding import CODING
from icb_pymc.errors import InputError, InputWarning

STILL = {"total_movement": 0.01, "start_scale": 2.0}


@pytest.fixture(scope="module")
def own():
    """A log of two agents in sessions, with a missed decision and unequal choice sets."""
    rng = np.random.default_rng(0)
    available = rng.random((60, 3)) < 0.8
    available[:, 0] = True
    missed = np.arange(60) == 7
    return from_arrays(
        rng.normal(size=(60, 3, 2)),
        np.zeros(60, int),
        available=available,
        features=["price", "speed"],
        agent=["Ada", "Bo"] * 30,
        session=np.repeat([1, 2, 3], 20),
        missed=missed,
    ).assign_attrs({CODING: json.dumps({"form": "long"})})


def test_contexts_agents_sessions_and_coding_stay_and_choices_are_new(own):
    simulated = simulate("nb_icb", STILL, decisions=own.assign(true_belief=own["context"][:, 0]), random_seed=0)
    for name in ("context", "available", "decider", "session", "missed", "time"):
        np.testing.assert_array_equal(simulated[name], own[name])
    assert simulated.attrs[CODING] == own.attrs[CODING]
    assert simulated["agent"].values.tolist() == ["Ada", "Bo"]
    assert len(set(simulated["chosen"].values.tolist())) == 3
    assert simulated["available"].values[np.arange(60), simulated["chosen"].values].all()
    # The truth of this simulation, not that of an earlier one.
    assert not np.allclose(simulated["true_belief"].values, own["context"].values[:, 0])


def test_the_truth_is_recovered_from_ones_own_design():
    rng = np.random.default_rng(1)
    design = from_arrays(rng.normal(size=(800, 2, 2)), np.zeros(800, int))
    simulated = simulate("nb_icb", STILL, decisions=design, random_seed=3)
    trace = fit("nb_icb", simulated, STILL, method="laplace", draws=200, random_seed=0, progressbar=False)
    weights = log_odds_weights(trace, "user").mean("time")
    truth = simulated["true_belief"].mean("time").values
    deviation = weights.std(("chain", "draw")).values
    assert (np.abs(weights.mean(("chain", "draw")).values - truth) < 3.5 * deviation).all()
    assert np.abs(truth).max() > 3 * deviation.max()


def test_rewards_are_observed_where_they_were_and_lagged_features_are_told(own):
    reward = np.where(np.arange(60) % 3, 0.5, np.nan)
    observed = own.drop_vars(["decider", "agent", "session", "missed"]).assign(reward=("time", reward))
    simulated = simulate("b_icb", decisions=observed, random_seed=0)
    np.testing.assert_array_equal(simulated["reward"].isnull(), np.isnan(reward))
    assert (simulated["reward"].dropna("time") != 0.5).all()
    lagged = own.assign_attrs({CODING: json.dumps({"formula": "price + lag(chosen)"})})
    with pytest.warns(InputWarning, match=r"features made by lag\(\) keep the choices"):
        simulate("nb_icb", STILL, decisions=lagged)
    with pytest.raises(InputError, match="give only one of them"):
        simulate("nb_icb", decisions=own, steps=10)


LONG = pd.DataFrame(
    {
        "decision": np.repeat(range(6), 2),
        "alternative": ["bus", "car"] * 6,
        "price": np.arange(12.0) % 5,
        "av": [1, 1, 0] * 4,
    }
)
WIDE = pd.DataFrame({"price_bus": np.arange(6.0), "price_car": np.arange(6.0)[::-1], "day": range(6)})
TRIALS = pd.DataFrame({"contrast": np.linspace(-1, 1, 6), "session": [1, 1, 1, 2, 2, 2]})


@pytest.mark.parametrize(
    ("table", "options", "features"),
    [
        (LONG, [], ["price"]),
        (LONG.assign(av=LONG["av"].astype(float)), [], ["price"]),
        (LONG.assign(av=LONG["av"].astype(bool)), [], ["price"]),
        (WIDE, ["--alternatives", "bus,car"], ["alternative[car]", "price"]),
        (WIDE, ["--alternatives", "1=bus,2=car"], ["alternative[car]", "price"]),
        (
            WIDE.rename(columns={"price_bus": "bus_price", "price_car": "car_price"}),
            ["--alternatives", "bus,car"],
            ["alternative[car]", "price"],
        ),
        (TRIALS, [], ["bias", "contrast"]),
        (TRIALS, ["--alternatives", "left,right", "--features", "contrast"], ["bias", "contrast"]),
        (TRIALS.assign(choice=["left", "right"] * 3), ["--features", "contrast + lag(choice)"], None),
    ],
)
@pytest.mark.filterwarnings("ignore::icb_pymc.errors.InputWarning")
def test_the_command_takes_tables_of_every_form_with_and_without_choices(table, options, features, tmp_path, capsys):
    path, output = str(tmp_path / "design.csv"), str(tmp_path / "simulated.nc")
    table.to_csv(path, index=False)
    assert main(["simulate", "nb_icb", "--contexts", path, "--seed", "1", *options, "-o", output]) == 0
    assert "6 decisions" in capsys.readouterr().out
    simulated = read_decisions(output)
    assert features is None or simulated["feature"].values.tolist() == features
    assert "true_belief" in simulated
    assert "session" not in table or simulated["session"].values.tolist() == table["session"].tolist()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--contexts", "{path}", "--steps", "5"], "--steps is for simulated transplants"),
        (["--contexts", "{path}", "--features", "contrast + lag(choice)"], "need a column of choices"),
        (["--contexts", "{path}", "--decision", "trip"], "there is no column 'trip'"),
        (["--contexts", "{path}", "--wide"], "say what the alternatives are"),
        (["--trials"], "options of a table are for --contexts"),
        (["--contexts", "{path}", "--decision", "session", "--available", "contrast"], "write 1 for yes and 0 for no"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, sentence, tmp_path, capsys):
    path = str(tmp_path / "design.csv")
    TRIALS.to_csv(path, index=False)
    arguments = [option.format(path=path) for option in options]
    assert main(["simulate", "nb_icb", *arguments, "-o", str(tmp_path / "simulated.nc")]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "simulated.nc").exists()
