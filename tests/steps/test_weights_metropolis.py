"""The paper's random-walk sampler of weights that are constant within folds."""

import numpy as np
import pymc as pm
import pytest
from helpers.agreement import z_scores
from helpers.arrivals import make_arrivals

from icb_pymc.declare.beliefs import constant_within
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.errors import InputWarning
from icb_pymc.models.irl import b_irl, i_spi, m_fold_irl
from icb_pymc.results.inference_data import group
from icb_pymc.steps.assign import alternating_steps
from icb_pymc.steps.weights_metropolis import WeightsMetropolis

ALPHA, MEAN, SPREAD = 2.0, np.array([0.4, -0.3]), np.array([[1.0, 0.4], [0.4, 0.8]])
PRIOR = {"prior_mean": MEAN, "prior_covariance": SPREAD}


@pytest.fixture(scope="module")
def decisions():
    """Seven decisions between three candidates, with a fifth of the slots empty."""
    arrivals = make_arrivals(7, 3, 2, seed=1, share_available=0.8)
    available = arrivals["available"].values
    chosen = np.where(available, np.random.default_rng(5).random(available.shape), -1).argmax(axis=1)
    return arrivals.assign(chosen=("time", chosen))


def sample_walk(model, draws=2500, **options):
    with model:
        step = WeightsMetropolis([model["weights"]], sweeps=5, **options)
        sampled = pm.sample(
            draws=draws,
            tune=200,
            chains=2,
            cores=1,
            random_seed=4,
            step=step,
            progressbar=False,
            compute_convergence_checks=False,
            quiet=True,
        )
    return group(sampled, "posterior")["weights"].values


def importance_sampled(decisions, fold, sharpness=1.0, draws=150_000):
    """The same posterior by importance sampling: prior draws, weighted by the likelihood, then resampled."""
    rng = np.random.default_rng(8)
    folds = fold.max() + 1
    weights = MEAN + rng.standard_normal((draws, folds, 2)) @ np.linalg.cholesky(SPREAD).T
    utility = ALPHA * np.einsum("tak,ntk->nta", decisions["context"].values, weights[:, fold])
    utility = np.where(decisions["available"].values, utility * np.reshape(sharpness, (-1, 1)), -np.inf)
    chosen_utility = np.take_along_axis(utility, decisions["chosen"].values[None, :, None], axis=-1)[..., 0]
    weight = np.exp((chosen_utility - np.logaddexp.reduce(utility, axis=-1)).sum(axis=1))
    return weights[rng.choice(draws, size=draws // 10, p=weight / weight.sum())][None]


@pytest.mark.parametrize(
    ("declare", "options", "fold", "sharpness"),
    [
        (b_irl, {}, np.zeros(7, int), 1.0),
        (m_fold_irl, {"folds": 2}, np.array([0, 0, 0, 1, 1, 1, 1]), 1.0),
        (i_spi, {}, np.zeros(7, int), [0, 1, 1, 1, 1, 1, 1]),
        (i_spi, {"reading": "sharpening"}, np.zeros(7, int), np.arange(7) / 6),
    ],
    ids=["B-IRL", "2-fold IRL", "I-SPI", "I-SPI, sharpening"],
)
def test_the_walk_agrees_with_importance_sampling(decisions, declare, options, fold, sharpness):
    draws = sample_walk(declare(decisions, alpha=ALPHA, **PRIOR, **options), scale=0.9)
    assert np.abs(z_scores(importance_sampled(decisions, fold, sharpness), draws)).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize(("declare", "options"), [(b_irl, {}), (m_fold_irl, {"folds": 3}), (i_spi, {})])
def test_the_walk_agrees_with_nuts_on_the_same_graph(decisions, declare, options):
    model = declare(decisions, alpha=ALPHA, **PRIOR, **options)
    with model:
        sampled = pm.sample(
            draws=2000,
            tune=1000,
            chains=2,
            cores=1,
            random_seed=6,
            step=pm.NUTS(),
            progressbar=False,
            compute_convergence_checks=False,
        )
    nuts = group(sampled, "posterior")["weights"].values
    assert np.abs(z_scores(nuts, sample_walk(model, scale=0.9))).max() < 4.5


def test_it_is_used_for_the_kernel_of_the_paper_and_never_assigned_automatically(decisions):
    model = b_irl(decisions)
    (sweep,) = alternating_steps(model, kernel="paper", sweeps=10)
    assert [type(step) for step in sweep.methods] == [WeightsMetropolis]
    assert sweep.methods[0].sweeps == 10
    assert WeightsMetropolis not in pm.STEP_METHODS
    assert not any(isinstance(step, WeightsMetropolis) for step in alternating_steps(model))


def test_proposals_have_the_scale_of_the_paper_at_either_alpha(decisions):
    only_chosen = decisions["available"] & (decisions["action"] == decisions["chosen"])
    nothing_to_choose = decisions.assign(available=only_chosen)
    for alpha, expected in [(20.0, 0.005), (2.0, 0.05)]:
        with pytest.warns(InputWarning):
            model = b_irl(nothing_to_choose, alpha=alpha, prior="flat")
        with model:
            step = WeightsMetropolis([model["weights"]], rng=1)
        path = [model.initial_point()]
        for _ in range(1000):
            path.append(step.step(path[-1])[0])
        moves = np.diff([point["weights"] for point in path], axis=0)
        assert np.std(moves) == pytest.approx(expected, rel=0.1)


def test_the_initial_value_is_the_mean_of_the_prior_or_minus_one_kth_without_one(decisions):
    for prior, expected in (("gaussian", 0.0), ("flat", -0.5)):
        start = m_fold_irl(decisions, folds=1, prior=prior).initial_point()["weights"]
        np.testing.assert_array_equal(start, np.full((1, 2), expected))


def test_an_alpha_that_is_a_variable_is_used(decisions):
    model = b_irl(decisions, alpha=pm.HalfNormal.dist(20.0))
    with model:
        step = WeightsMetropolis([model["weights"]], rng=1, sweeps=500, scale=0.2)
    point = model.initial_point()
    mild, sharp = ({**point, "alpha_log__": np.array(np.log(alpha))} for alpha in (0.01, 1000.0))
    assert step.step(sharp)[1][0]["weights_accept"] < 0.8 * step.step(mild)[1][0]["weights_accept"]


def test_weights_that_enter_the_utility_in_another_way_are_rejected(decisions):
    context, available = decisions["context"].values, decisions["available"].values
    chosen = decisions["chosen"].values
    with pm.Model() as model:
        weights = pm.MvNormal("weights", np.zeros(2), np.eye(2), shape=(2, 2))
        utility = linear_utility(constant_within(2 * weights, [0, 0, 0, 1, 1, 1, 1]), context, ALPHA)
        SoftmaxChoice("chosen", utility, available, observed=chosen)
        with pytest.raises(ValueError, match="Sample it with NUTS"):
            WeightsMetropolis([weights])
    assert alternating_steps(model, kernel="paper") == []
    with pm.Model():
        weights = pm.MvNormal("weights", np.zeros(2), np.eye(2), shape=(2, 2))
        utility = linear_utility(constant_within(weights, [0, 1, 0, 1, 1, 1, 1]), context, ALPHA)
        SoftmaxChoice("chosen", utility, available, observed=chosen)
        step = WeightsMetropolis([weights])
    with pytest.raises(ValueError, match="folds in order"):
        step.step({"weights": np.zeros((2, 2))})
