"""Rewards that a log contains: how they are built, checked and simulated."""

import numpy as np
import pytest

from icb_pymc import simulate
from icb_pymc.cli import main
from icb_pymc.data.decision_files import read_decisions, write_decisions
from icb_pymc.data.decisions import from_arrays, validate
from icb_pymc.errors import InputError

CONTEXT = np.random.default_rng(0).normal(size=(3, 2, 2))


def test_rewards_are_real_numbers_and_what_was_not_observed_is_nan(tmp_path):
    decisions = from_arrays(CONTEXT, [0, 1, 1], reward=[1, None, 0])
    np.testing.assert_array_equal(decisions["reward"], [1.0, np.nan, 0.0])
    assert decisions["reward"].dims == ("time",)
    write_decisions(decisions, tmp_path / "log.nc")
    assert read_decisions(tmp_path / "log.nc").identical(decisions)


@pytest.mark.parametrize(
    ("reward", "sentence"),
    [
        ([1.0, 2.0], r"reward has shape \(2,\), but for this context it must be \(3,\)\."),
        ([1.0, "won", 2.0], "reward of decision number 2 is not a number; correct it, or leave it empty."),
        ([1.0, np.inf, 2.0], "the reward of decision number 2 is infinite; correct it, or leave it empty."),
    ],
)
def test_other_rewards_are_refused_in_a_sentence(reward, sentence):
    with pytest.raises(InputError, match=sentence):
        from_arrays(CONTEXT, [0, 1, 1], reward=reward)


@pytest.mark.parametrize(("values", "part"), [(("feature", [1.0, 2.0]), "dims"), (("time", [1, 0, 1]), "real numbers")])
def test_validate_refuses_rewards_of_other_dims_or_types(values, part):
    with pytest.raises(InputError, match=part):
        validate(from_arrays(CONTEXT, [0, 1, 1]).assign(reward=values), "log.nc")


def test_a_simulation_leaves_the_share_of_rewards_that_is_asked_for():
    options = {"steps": 200, "random_seed": 1}
    hidden = simulate("sampling", **options)
    some = simulate("sampling", observed_rewards=0.4, **options)
    every = simulate("sampling", observed_rewards=1, **options)
    assert "reward" not in hidden
    np.testing.assert_array_equal(every["reward"], hidden["true_reward"])
    is_seen = ~np.isnan(some["reward"].values)
    assert 0.3 < is_seen.mean() < 0.5
    np.testing.assert_array_equal(some["reward"][is_seen], hidden["true_reward"][is_seen])


def test_rewards_are_not_asked_of_models_that_have_none(tmp_path, capsys):
    with pytest.raises(InputError, match="observed_rewards=2"):
        simulate("sampling", observed_rewards=2)
    command = ["simulate", "nb_icb", "--steps", "10", "--observed-rewards", "1", "-o", str(tmp_path / "log.nc")]
    assert main(command) == 2
    assert "'nb_icb' draws no rewards" in capsys.readouterr().err
