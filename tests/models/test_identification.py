"""What choices can tell and what they cannot: the lines of docs/identification.md that a few seconds can show."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from icb_pymc import fit, from_arrays, open_trace
from icb_pymc.assess.account_models import Evidence
from icb_pymc.assess.accounts import draw_unchanging_weights
from icb_pymc.data.standardisation import contrast_spread
from icb_pymc.results.inference_data import group

FIXED = {"total_movement": 0.5, "start_scale": 1.5}


def choices(context, weights, seed=0):
    """Decisions among the candidates of a context (time, action, feature) by softmax of weights (feature,)."""
    rng = np.random.default_rng(seed)
    utility = context @ np.asarray(weights, dtype=float) + rng.gumbel(size=context.shape[:2])
    return from_arrays(context, utility.argmax(axis=1))


def normal_context(steps=400, features=2, seed=0):
    return np.random.default_rng(seed).normal(size=(steps, 2, features))


def laplace(decisions, **hyperparameters):
    options = {"method": "laplace", "draws": 200, "random_seed": 0, "progressbar": False, "log_likelihood": False}
    return fit("nb_icb", decisions, FIXED | hyperparameters, **options)


def test_only_alpha_times_the_weights_is_known():
    decisions = choices(normal_context(100), [1.0, 0.5])
    one, twenty = (laplace(decisions, alpha=alpha) for alpha in (1.0, 20.0))
    assert twenty.attrs["log_evidence"] == pytest.approx(one.attrs["log_evidence"], abs=1e-6)
    beliefs = [group(trace, "posterior")["belief"].values for trace in (one, twenty)]
    np.testing.assert_allclose(20 * beliefs[1], beliefs[0], rtol=1e-6, atol=1e-9)


def test_the_weight_of_a_feature_that_all_candidates_share_keeps_its_prior():
    context = normal_context(200)
    context[:, :, 1] = context[:, :1, 1]
    drawn = draw_unchanging_weights(choices(context, [1.0, 3.0]), 4000, 0)
    # The prior of the unchanging account: 2.5 log-odds per typical difference, which is one where there is none.
    assert drawn[:, 1].mean() == pytest.approx(0.0, abs=0.15)
    assert drawn[:, 1].std() == pytest.approx(2.5, rel=0.05)
    assert drawn[:, 0].std() < 0.3


def test_of_collinear_features_the_sum_is_known_and_the_difference_is_not():
    rng, apart = np.random.default_rng(0), {}
    for correlation in (0.0, 0.99):
        context = normal_context(1000)
        context[:, :, 1] = correlation * context[:, :, 0] + np.sqrt(1 - correlation**2) * context[:, :, 1]
        drawn = draw_unchanging_weights(choices(context, [0.5, 0.5], int(rng.integers(100))), 2000, 0)
        apart[correlation] = drawn[:, 0].std(), drawn.sum(axis=1).std()
    # A weight is 1 / sqrt(1 - r^2) = 7.1 times as uncertain, the sum less than that of two independent features.
    assert apart[0.99][0] / apart[0.0][0] == pytest.approx(7.1, rel=0.3)
    assert apart[0.99][1] < apart[0.0][1]


def test_sampling_noise_is_hardly_told_from_a_lower_alpha():
    """Choices of an agent whose rho deviates from its belief by 0.45, explained with and without that noise."""
    context, rng = normal_context(2000), np.random.default_rng(1)
    rho = np.array([1.0, 0.5]) + 0.45 * rng.normal(size=(2000, 2))
    utility = (context * rho[:, None, :]).sum(axis=-1) + rng.gumbel(size=(2000, 2))
    decisions = from_arrays(context, utility.argmax(axis=1))
    chosen = decisions["chosen"].values[:, None, None]
    contrast = (np.take_along_axis(context, chosen, 1) - np.take_along_axis(context, 1 - chosen, 1))[:, 0]
    nodes, shares = np.polynomial.hermite_e.hermegauss(21)

    def surprise(weights, noise):
        utility = (contrast @ weights)[:, None] + noise * np.linalg.norm(contrast, axis=1)[:, None] * nodes
        return -np.log(expit(utility) @ (shares / shares.sum())).sum()

    without, true = (minimize(surprise, [0.5, 0.5], (noise,)) for noise in (0.0, 0.45))
    # 2,000 decisions tell the two apart by a few units of log-likelihood at most, though the weights differ.
    assert abs(true.fun - without.fun) < 4.0
    assert true.x[0] / without.x[0] > 1.15
    assert true.x[0] / true.x[1] == pytest.approx(without.x[0] / without.x[1], rel=0.05)


def test_small_movement_cannot_be_told_from_none_and_large_movement_can():
    decisions = choices(normal_context(1000), [1.0, 0.5])
    evidence = Evidence(decisions, 500)
    still = evidence(0.0, 0.0)
    assert abs(evidence(0.1, 0.0) - still) < 0.5
    assert evidence(3.0, 0.0) < still - 3.0


def test_with_one_feature_a_factor_and_a_step_are_the_same_thing():
    rng = np.random.default_rng(0)
    context = rng.normal(size=(1000, 2, 1))
    path = np.repeat([0.6, 1.2], 500)[:, None]
    decisions = from_arrays(context, (context[:, :, 0] * path + rng.gumbel(size=(1000, 2))).argmax(axis=1))
    evidence = Evidence(decisions, 500)
    assert abs(evidence.own_steps(0.0) - evidence.one_factor(0.0)) < 1.5


def test_a_slow_learner_of_a_distant_rho_env_looks_like_a_fast_one_of_a_near_one():
    """In the posterior of a reference trace of B-ICB, strength and the size of rho_env rise together."""
    posterior = group(open_trace("b-icb-stepping"), "posterior")
    size = np.abs(posterior["rho_env"]).sum("feature").values.ravel()
    assert np.corrcoef(np.log(posterior["strength"].values.ravel()), np.log(size))[0, 1] > 0.3


def test_the_unit_of_a_feature_changes_no_log_odds():
    context = normal_context(100)
    decisions, scaled = choices(context, [1.0, 0.5]), choices(context, [1.0, 0.5])
    scaled = scaled.assign(context=scaled["context"] * np.array([10.0, 1.0]))
    one, other = laplace(decisions), laplace(scaled)
    assert one.attrs["log_evidence"] == pytest.approx(other.attrs["log_evidence"], abs=1e-6)
    assert contrast_spread(scaled)[0] == pytest.approx(10 * contrast_spread(decisions)[0])
