"""K-fold cross-validation against exact predictions, for any number of cores, and from the command line."""

import json

import numpy as np
import pytest
from scipy.special import expit

from icb_pymc import compare_folds, fit, from_arrays, k_fold, write_trace
from icb_pymc.assess.k_fold import folds_of
from icb_pymc.cli import main
from icb_pymc.data.sessions import with_missed
from icb_pymc.errors import InputError

# Weights that never move, with a known prior: predictions can be computed on a grid.
STILL = {"innovation_covariance": 1e-10, "start_covariance": 1.0}
QUIET = {"random_seed": 0, "progressbar": False}


def log_of(weight=1.0, steps=60, seed=0, change=None):
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(steps, 2, 1))
    path = np.full(steps, weight)
    if change is not None:
        path[steps // 2 :] = change
    utility = path[:, None] * context[:, :, 0] + rng.gumbel(size=(steps, 2))
    return from_arrays(context, utility.argmax(axis=1), features=["price"])


def exact_scores(decisions, fold):
    """log p(a_t | choices in other folds) of one weight with a standard normal prior, on a grid."""
    grid = np.linspace(-8, 8, 4001)
    context, chosen = decisions["context"].values[:, :, 0], decisions["chosen"].values
    steps = np.arange(len(chosen))
    probability = expit(np.multiply.outer(context[steps, chosen] - context[steps, 1 - chosen], grid))
    scores = np.empty(len(chosen))
    for number in np.unique(fold):
        out = fold == number
        density = np.exp(-0.5 * grid**2 + np.log(probability[~out]).sum(axis=0))
        scores[out] = np.log(probability[out] @ density / density.sum())
    return scores


@pytest.mark.parametrize(("method", "blocks"), [("laplace", False), ("mcmc", True)])
def test_scores_are_those_of_the_exact_posterior_without_the_fold(method, blocks):
    decisions = log_of()
    scores = k_fold("nb_icb", decisions, STILL, folds=4, blocks=blocks, method=method, cores=1)
    fold = scores["fold"].values
    assert np.bincount(fold).tolist() == [15] * 4
    assert blocks == bool((np.diff(fold) >= 0).all())
    # Laplace's Gaussian lies at the mode, which differs from the mean.
    np.testing.assert_allclose(scores, exact_scores(decisions, fold), atol={"mcmc": 0.06, "laplace": 0.2}[method])


def test_the_numbers_are_the_same_for_any_number_of_cores_and_differ_by_seed():
    decisions = log_of()
    one, two = (k_fold("nb_icb", decisions, STILL, folds=2, random_seed=1, cores=cores) for cores in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one["fold"], folds_of(decisions, 2, False, 1))
    assert not np.array_equal(one["fold"], folds_of(decisions, 2, False, 0))


def test_missed_decisions_are_in_no_fold_and_what_was_seen_is_not_told_to_the_fit():
    missed = np.arange(60) % 10 == 3
    decisions = with_missed(log_of(), missed)
    fold = folds_of(decisions, 3, False, 0)
    assert (fold[missed] == -1).all()
    scores = k_fold("nb_icb", decisions, STILL, folds=3, cores=1)
    np.testing.assert_array_equal(scores.values[missed], 0.0)
    # Other choices in a fold do not change what is predicted for it; those outside do.
    fold = scores["fold"].values
    inside = decisions.assign(chosen=decisions["chosen"].where(fold != 0, 0))
    again = k_fold("nb_icb", inside, STILL, folds=3, cores=1)
    same = (fold == 0) & (decisions["chosen"].values == 0)
    np.testing.assert_allclose(again.values[same], scores.values[same])
    assert not np.allclose(again.values[fold == 1], scores.values[fold == 1])


@pytest.fixture(scope="module")
def traces():
    """A log whose weight turns round, and two models of it."""
    decisions = log_of(3.0, 120, seed=1, change=-3.0)
    options = {"method": "laplace", "draws": 50} | QUIET
    moving = {"total_movement": 2.0, "start_scale": 1.5}
    return {
        "moving": fit("nb_icb", decisions, moving, **options),
        "still": fit("nb_icb", decisions, {"total_movement": 0.01, "start_scale": 1.5}, **options),
    }


def test_a_walk_predicts_weights_that_change_better_than_one_that_stands_still(traces):
    table = compare_folds(traces, folds=3, cores=1)
    assert table.index.tolist() == ["moving", "still"]
    assert table.loc["still", "elpd_diff"] > 2 * table.loc["still", "dse"] > 0
    np.testing.assert_allclose(table["elpd"], 120 * table["per_choice"])


def test_the_command_prints_the_table_and_refuses_what_it_cannot_do(traces, tmp_path, capsys):
    paths = [str(tmp_path / f"{name}.nc") for name in traces]
    for path, trace in zip(paths, traces.values(), strict=True):
        write_trace(trace, path)
    assert main(["compare", *paths, "--folds", "2", "--blocks", "--cores", "1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["score"] == "k_fold"
    assert main(["compare", *paths, "--folds", "2", "--cores", "1"]) == 0
    assert "choices at random, left out in 2 parts" in capsys.readouterr().out
    for options, sentence in (
        (["--blocks"], "--blocks can only be used with --folds"),
        (["--folds", "3", "--ahead"], "not both"),
        (["--folds", "500"], "give a whole number from 2 to 120"),
        (["--folds", "1"], "give a whole number from 2 to 120"),
    ):
        assert main(["compare", *paths, *options]) == 2
        assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "options", "sentence"),
    [
        ("cp_irl", {}, "computed from all choices"),
        ("t_rex", {}, "point estimate"),
        ("nb_icb", {"method": "em"}, "method='em'"),
        ("shrinkage_nb_icb", {}, "use method 'mcmc'"),
        ("nb_icb", {"cores": 0}, "give at least one"),
    ],
)
def test_what_cannot_be_cross_validated_is_refused(model, options, sentence):
    with pytest.raises(InputError, match=sentence):
        k_fold(model, log_of(), folds=3, **options)
