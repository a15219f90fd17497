"""Performance, bias and psychometric curve: the numbers by hand, and bands that hold the choices of a right model."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import expit

from icb_pymc import from_arrays, from_table, standardise, write_trace
from icb_pymc.assess.choice_shares import bias, performance, psychometric
from icb_pymc.cli import main
from icb_pymc.data.columns import Columns
from icb_pymc.errors import InputError
from icb_pymc.plots import bias_over_time, performance_over_time, psychometric_curve
from icb_pymc.results.inference_data import from_groups, group

mpl.use("Agg")


@pytest.fixture(autouse=True)
def no_figures():
    yield
    plt.close("all")


def trials(steps=600, seed=0):
    """Trials between left and right, in three sessions: contrast speaks for right, and so does a bias."""
    rng = np.random.default_rng(seed)
    contrast = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], steps)
    right = rng.random(steps) < expit(1.5 * contrast + 0.8)
    return pd.DataFrame(
        {
            "choice": np.where(right, "right", "left"),
            "answer": np.where(contrast > 0, "right", "left"),
            "session": np.repeat([1, 2, 3], steps // 3),
            "contrast": contrast,
        }
    )


def trace_of(decisions, weights=(0.8, 1.5)):
    """A trace with the probabilities of a model with these weights (bias, contrast)."""
    utility = (decisions["context"].values * np.array(weights)).sum(-1)
    probability = np.exp(utility) / np.exp(utility).sum(axis=1, keepdims=True)
    dims = ("chain", "draw", "time", "feature")
    belief = np.broadcast_to(np.array(weights), (1, 2, len(utility), 2))
    coords = {"time": decisions["time"].values, "feature": decisions["feature"].values}
    groups = {
        "posterior": xr.Dataset({"belief": (dims, belief)}, coords),
        "observed_data": decisions[["chosen"]],
        "constant_data": decisions.drop_vars("chosen"),
        "choice_probabilities": xr.Dataset({"probability": (("time", "action"), probability)}),
    }
    return from_groups(groups, {"model": "nb_icb", "hyperparameters": '{"alpha": 1.0}', "method": "laplace"})


@pytest.fixture(scope="module")
def table():
    return trials()


@pytest.fixture(scope="module")
def right_model(table):
    return trace_of(from_table(table))


def test_performance_is_the_share_of_right_answers_by_session_within_the_band(table, right_model):
    result = performance(right_model, ci_prob=0.99)
    was_right = (table["choice"] == table["answer"]).to_numpy()
    np.testing.assert_allclose(result["observed"], was_right.reshape(3, 200).mean(axis=1))
    assert result["start"].tolist() == [1, 201, 401]
    assert ((result["low"] <= result["observed"]) & (result["observed"] <= result["high"])).all()
    expected = expit(np.sign(table["contrast"]) * (1.5 * table["contrast"] + 0.8)).to_numpy()
    np.testing.assert_allclose(result["expected"], expected.reshape(3, 200).mean(axis=1))


def test_bias_is_what_was_chosen_minus_what_was_right(table, right_model):
    result = bias(right_model, ci_prob=0.99)
    excess = (table["choice"] == "right").astype(float) - (table["answer"] == "right")
    np.testing.assert_allclose(result["observed"], excess.to_numpy().reshape(3, 200).mean(axis=1), atol=1e-12)
    assert (result["observed"] > 0.02).all()
    assert ((result["low"] <= result["observed"]) & (result["observed"] <= result["high"])).all()
    assert result.attrs["second"] == "right"


def test_running_windows_are_moving_averages(table, right_model):
    result = performance(right_model, window=50)
    was_right = (table["choice"] == table["answer"]).to_numpy()
    for row in (0, len(result) - 1):
        begin = int(result["start"].iloc[row]) - 1
        assert result["observed"].iloc[row] == pytest.approx(was_right[begin : begin + 50].mean())
    assert result["end"].iloc[-1] == 600


def test_the_psychometric_curve_has_the_values_of_the_feature_in_the_users_units(table):
    scaled = trace_of(standardise(from_table(table)), (0.8, 1.5))
    result = psychometric(scaled, "contrast")
    np.testing.assert_allclose(result["difference"], [-2, -1, -0.5, 0.5, 1, 2])
    share = (table["choice"] == "right").groupby(table["contrast"]).mean()
    np.testing.assert_allclose(result["observed"], share)
    assert psychometric(scaled, "contrast", bins=3)["count"].sum() == 600
    assert len(psychometric(scaled, "contrast", bins=3)) == 3


def test_a_wrong_model_lies_outside_its_band(table):
    wrong = psychometric(trace_of(from_table(table), (0.0, 0.2)), "contrast")
    assert ((wrong["observed"] < wrong["low"]) | (wrong["observed"] > wrong["high"])).sum() >= 4


def test_answers_may_be_told_by_a_column_of_correct_choices_and_are_never_features(table):
    correct = table.assign(correct=(table["choice"] == table["answer"]).astype(int)).drop(columns="answer")
    decisions = from_table(correct)
    assert decisions["feature"].values.tolist() == ["bias", "contrast"]
    np.testing.assert_array_equal(decisions["answer"], from_table(table)["answer"])
    long = pd.DataFrame({"decision": [1, 1, 2, 2], "chosen": [1, 0, 0, 1], "answer": [0, 1, 0, 1], "x": [1.0, 2, 3, 4]})
    assert from_table(long)["answer"].values.tolist() == [1, 1]
    both = table.assign(correct=1, key=table["answer"])
    assert from_table(both, Columns(answer="key"))["feature"].values.tolist() == ["bias", "contrast"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"answer": "up"}, "column 'answer' holds 'up', which is none of the alternatives left, right"),
        ({"correct": "maybe", "answer": None}, "column 'correct'"),
    ],
)
def test_an_answer_that_is_no_alternative_is_refused_by_row(table, change, sentence):
    changed = table.head(5).assign(**change)
    changed = changed.drop(columns=[name for name, value in change.items() if value is None])
    with pytest.raises(InputError, match=sentence):
        from_table(changed)


def test_rewarded_choices_stand_in_for_answers_without_a_band(table):
    rewarded = table.drop(columns="answer").assign(reward=(table["choice"] == table["answer"]).astype(float))
    trace = trace_of(from_table(rewarded))
    result = performance(trace)
    assert "expected" not in result
    np.testing.assert_allclose(result["observed"], performance(trace_of(from_table(table)))["observed"])
    assert performance_over_time(trace).axes[0].get_ylabel() == "rewarded choices"


def test_what_cannot_be_drawn_is_refused_with_the_reason(table, right_model):
    with pytest.raises(InputError, match="do not say which choices were right"):
        performance(trace_of(from_table(table.drop(columns="answer"))))
    with pytest.raises(InputError, match="there is no feature 'colour'"):
        psychometric(right_model, "colour")
    with pytest.raises(InputError, match="never differs"):
        psychometric(right_model, "bias")
    with pytest.raises(InputError, match="window=601"):
        performance(right_model, window=601)
    three = from_arrays(
        np.random.default_rng(0).normal(size=(3, 4, 2)), [0, 0, 0], available=[[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    )
    with pytest.raises(InputError, match="the decision at t = 2 is between 3 candidates"):
        bias(trace_of(three))
    parts = {name: group(right_model, name) for name in ("posterior", "observed_data", "constant_data")}
    with pytest.raises(InputError, match="no choice probabilities"):
        bias(from_groups(parts, right_model.attrs))


def test_the_figures_show_the_tables(right_model):
    (ax,) = performance_over_time(right_model).axes
    drawn = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    np.testing.assert_allclose(drawn["choices"], performance(right_model)["observed"])
    assert len([line for line in ax.get_lines() if line.get_gid() == "session"]) == 2
    (ax,) = bias_over_time(right_model, window=50).axes
    assert ax.get_ylabel() == "bias towards right"
    (ax,) = psychometric_curve(right_model, "contrast").axes
    assert ax.get_ylabel() == "chose right"
    on = plt.figure()
    assert psychometric_curve(right_model, "contrast", figure=on) is on


def test_the_command_draws_them_and_refuses_options_of_other_pictures(right_model, tmp_path, capsys):
    path, picture = str(tmp_path / "trace.nc"), tmp_path / "picture.png"
    write_trace(right_model, path)
    for options in (["performance"], ["bias", "--window", "50"], ["psychometric", "--feature", "contrast"]):
        assert main(["plot", options[0], path, *options[1:], "-o", str(picture)]) == 0
        assert picture.stat().st_size > 5_000
        picture.unlink()
    for options, sentence in (
        (["psychometric"], "--feature NAME belongs to the psychometric curve"),
        (["weights", "--feature", "contrast"], "--feature NAME belongs to the psychometric curve"),
        (["weights", "--window", "9"], "--window can only be used with performance and bias"),
    ):
        assert main(["plot", options[0], path, *options[1:], "-o", str(picture)]) == 2
        assert sentence in capsys.readouterr().err
