"""A correct model passes the check, and a wrong one does not."""

import logging
from functools import partial

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from helpers.model_texts import PLAIN, write

from icb_pymc import check
from icb_pymc.assess.model_requirements import declare_both, small_arrivals
from icb_pymc.assess.sbc_replicates import Replicates
from icb_pymc.cli import main
from icb_pymc.declare.beliefs import PointBelief
from icb_pymc.declare.choice import linear_utility
from icb_pymc.declare.learning import learn
from icb_pymc.declare.model import choose, decisions_model, true_preferences, uniform_preferences
from icb_pymc.errors import InputError

SMALL = {"replicates": 12, "steps": 8, "draws": 60}


def delta_rule(decisions, *, rate=0.1, biased=1.0, inflation=1.0, loss=1.0):
    """The delta rule; where it infers, rates may be `biased` and the prior of rho_env wider by a factor."""
    with decisions_model(decisions) as model:
        infers = "chosen" in decisions
        scale = 2 / 3 * (inflation if infers else 1.0)
        gain = rate * (biased if infers else 1.0)

        def update(belief, context, reward):
            surprise = reward - (belief.mean * context).sum()
            return PointBelief(belief.mean + gain * pt.where(surprise < 0, loss, 1.0) * surprise * context)

        rho_env = true_preferences(covariance=scale**2)
        learn(PointBelief(uniform_preferences()), update=update, alpha=20.0, sigma=0.1, rho_env=rho_env)
    return model


@pytest.mark.compiled
def test_the_result_does_not_depend_on_the_number_of_jobs(tmp_path, monkeypatch):
    path, logger = write(tmp_path, "plain", PLAIN), logging.getLogger("pymc")
    monkeypatch.setattr(logger, "level", logging.WARNING)
    one, two = (check(path, **SMALL, jobs=jobs, seed=3) for jobs in (1, 2))
    np.testing.assert_array_equal(one.relative_ranks, two.relative_ranks)
    assert one.relative_ranks.shape == (12, 3 + 6 + 1)
    assert ((one.relative_ranks > 0) & (one.relative_ranks < 1)).all(axis=None)
    assert "right: inference agrees with the simulation" in str(one)
    assert logger.level == logging.WARNING


def test_a_wrong_declaration_exits_with_1_and_bad_input_with_2(tmp_path, capsys):
    path = write(
        tmp_path, "turned", PLAIN.replace('belief, dims=("time", "feature")', 'belief.T, dims=("feature", "time")')
    )
    assert main(["check", path]) == 1
    assert "`belief` has dims ('feature', 'time'), expected ('time', 'feature')" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "nowhere.py")]) == 2
    assert main(["check", path, "-o", "check.txt"]) == 2
    assert main(["check", path, "--set", "gamma=1"]) == 2
    with pytest.raises(InputError, match="replicates=3: give at least 10"):
        check(path, replicates=3)


def test_a_model_that_reads_choices_itself_is_declared_again_for_each_log():
    def by_hand(decisions):
        with decisions_model(decisions) as model:
            weights = pm.Normal("weights", 0, 1, dims="feature")
            if "chosen" in decisions:
                pm.Potential("copy", weights.sum() * decisions["chosen"].values.sum())
            belief = pt.zeros((6, 3)) + weights
            pm.Deterministic("belief", belief, dims=("time", "feature"))
            choose(linear_utility(belief, model["context"], 1.0))
        return model

    arrivals = small_arrivals(6)
    for declare, can in ((by_hand, False), (partial(delta_rule, loss=2.0), True)):
        declared, problems = declare_both(declare, "it", arrivals, 4, 0)
        assert not problems
        assert Replicates(declare, declared, arrivals, 60, 0, {})._can_be_given_choices() is can


def test_the_level_of_the_pymc_logger_is_restored_after_an_error(tmp_path, monkeypatch):
    path, logger = write(tmp_path, "plain", PLAIN), logging.getLogger("pymc")
    monkeypatch.setattr(logger, "level", logging.WARNING)

    def fail(self, replicate):
        assert logger.level == logging.ERROR
        raise KeyboardInterrupt

    monkeypatch.setattr(Replicates, "infer", fail)
    with pytest.raises(KeyboardInterrupt):
        check(path, **SMALL, jobs=1)
    assert logger.level == logging.WARNING


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "where", "words"),
    [
        ({}, "", "right: inference agrees"),
        ({"inflation": 4.0}, "belief", "wrong: inference does not agree"),
        ({"biased": 0.2}, "belief", "wrong: inference does not agree"),
    ],
)
def test_a_correct_learner_passes_and_one_with_a_biased_update_or_too_wide_a_prior_fails(fault, where, words):
    result = check(delta_rule, replicates=32, steps=15, draws=100, hyperparameters=fault)
    assert result.problems == ()
    assert result.passed == (not fault)
    assert any(name.startswith(where) for name in result.wrong or [""])
    assert words in str(result)
