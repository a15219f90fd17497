"""What the benchmark models declare."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals
from scipy.stats import multivariate_normal

from icb_pymc import fit
from icb_pymc.assess.metrics import belief_error, reward_error
from icb_pymc.data.standardisation import contrast_spread
from icb_pymc.declare.beliefs import constant_within
from icb_pymc.declare.change_points import score_segments
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.model import decisions_model
from icb_pymc.declare.priors import FlatWeights
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.models.irl import b_irl, cp_irl, i_spi, m_fold_irl, uniform
from icb_pymc.models.irl.b_irl import paper
from icb_pymc.results.inference_data import group
from icb_pymc.steps.weights_metropolis import WeightsMetropolis

STEPS, FEATURES, ALPHA = 12, 2, 2.0
SHORT = {"draws": 20, "tune": 5, "chains": 2, "cores": 1, "seed": 0, "progressbar": False, "kernel": "paper"}


@pytest.fixture(scope="module")
def decisions():
    arrivals = make_arrivals(STEPS, 3, FEATURES, seed=1, share_available=0.8)
    return arrivals.assign(chosen=("time", np.argmax(arrivals["available"].values, axis=1)))


def log_density(model, weights):
    return float(model.compile_logp(mode="FAST_COMPILE")({"weights": weights}))


def log_likelihood(decisions, rho):
    utility = ALPHA * np.einsum("tak,tk->ta", decisions["context"], rho)
    utility = np.where(decisions["available"], utility, -np.inf)
    return utility[np.arange(STEPS), decisions["chosen"]] - np.logaddexp.reduce(utility, axis=1)


def test_the_log_density_of_b_irl_is_prior_times_softmax(decisions):
    weights = np.array([[0.7, -1.2]])
    spread = np.array([[0.5, 0.2], [0.2, 0.9]])
    model = b_irl(decisions, alpha=ALPHA, prior_mean=[0.1, 0.2], prior_covariance=spread)
    expected = log_likelihood(decisions, np.tile(weights, (STEPS, 1))).sum()
    assert log_density(b_irl(decisions, alpha=ALPHA, prior="flat"), weights) == pytest.approx(expected)
    expected += multivariate_normal([0.1, 0.2], spread).logpdf(weights[0])
    assert log_density(model, weights) == pytest.approx(expected)


def default_prior(decisions):
    """N(0, 2.5^2) in log-odds per typical difference between two candidates."""
    return multivariate_normal(np.zeros(FEATURES), np.diag((2.5 / (ALPHA * contrast_spread(decisions))) ** 2))


def test_the_default_prior_is_wide_in_log_odds_and_assumes_no_sign(decisions):
    weights = np.array([[0.7, -1.2]])
    expected = log_likelihood(decisions, np.tile(weights, (STEPS, 1))).sum()
    expected += default_prior(decisions).logpdf(weights[0])
    assert log_density(b_irl(decisions, alpha=ALPHA), weights) == pytest.approx(expected)


def test_one_fold_is_b_irl(decisions):
    models = (m_fold_irl(decisions, folds=1), b_irl(decisions))
    one, other = (model.compile_logp(mode="FAST_COMPILE") for model in models)
    for weights in np.random.default_rng(0).normal(size=(5, 1, FEATURES)):
        assert one({"weights": weights}) == other({"weights": weights})


def test_folds_have_separate_weights_also_if_their_number_does_not_divide_the_log(decisions):
    weights = np.random.default_rng(1).normal(size=(5, FEATURES))
    rho = weights[[0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4]]
    expected = log_likelihood(decisions, rho).sum()
    model = m_fold_irl(decisions, folds=5, alpha=ALPHA)
    np.testing.assert_array_equal(model["belief"].eval({model["weights"]: weights}), rho)
    expected += default_prior(decisions).logpdf(weights).sum()
    assert log_density(model, weights) == pytest.approx(expected)


def test_as_many_folds_as_decisions_are_allowed_and_no_more(decisions):
    assert m_fold_irl(decisions, folds=STEPS).coords["fold"] == tuple(range(1, STEPS + 1))
    with pytest.raises(InputError, match=f"folds={STEPS + 1}: give a whole number from 1 to {STEPS}"):
        m_fold_irl(decisions, folds=STEPS + 1)


@pytest.mark.parametrize("steps", [1, 2, 5, 6])
def test_by_default_a_short_log_has_fewer_folds_and_segments(decisions, steps):
    short = decisions.isel(time=slice(steps))
    assert len(m_fold_irl(short).coords["fold"]) == min(steps, 5)
    assert len(cp_irl(short).coords["fold"]) == 1
    assert len(cp_irl(short, length=1).coords["fold"]) == min(steps, 5)
    np.testing.assert_array_equal(
        m_fold_irl(decisions)["fold_of_decision"].get_value(),
        m_fold_irl(decisions, folds=5)["fold_of_decision"].get_value(),
    )


def test_a_number_of_segments_that_was_asked_for_and_does_not_fit_is_refused(decisions):
    short = decisions.isel(time=slice(3))
    with pytest.raises(InputError, match="segments=5: give a whole number from 1 to 3, the number of sub-traj"):
        cp_irl(short, length=1, segments=5)
    with pytest.raises(InputError, match="segments=at most 9: give a whole number from 1 to 3"):
        cp_irl(short, length=1, segments="at most 9")


def test_a_short_log_is_fitted_by_default_and_its_trace_says_how_many_were_asked_for(decisions):
    result = fit("m_fold_irl", decisions.isel(time=slice(2)), **SHORT)
    assert group(result, "posterior").sizes["fold"] == 2
    assert '"folds": "at most 5"' in result.attrs["hyperparameters"]


def test_a_flat_prior_without_a_proper_posterior_gives_a_warning(decisions):
    with pytest.warns(InputWarning, match="12 of 12 folds have no proper posterior"):
        m_fold_irl(decisions, folds=STEPS, prior="flat")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"prior": "wide"}, "'gaussian' or 'flat'"), ({"prior": "flat", "prior_mean": 0.0}, "leave them out")],
)
def test_an_invalid_prior_is_refused(decisions, options, sentence):
    with pytest.raises(InputError, match=sentence):
        b_irl(decisions, **options)


def test_the_baseline_is_minus_one_kth_and_estimates_nothing(decisions):
    assert uniform(decisions).free_RVs == []
    result = fit("uniform", decisions, progressbar=False)
    posterior = group(result, "posterior")
    assert posterior["belief"].shape == (1, 1, STEPS, FEATURES)
    assert (posterior["belief"] == -0.5).all()
    assert (posterior["rho_env"] == -0.5).all()
    assert (result.attrs["method"], result.attrs["tune"]) == ("estimate", 0)


def test_b_irl_estimates_both_the_reward_and_a_constant_belief(decisions):
    posterior = group(fit("b_irl", decisions, dtype="float64", **SHORT), "posterior")
    assert posterior["rho_env"].dims == ("chain", "draw", "feature")
    for t in range(STEPS):
        np.testing.assert_array_equal(posterior["belief"][:, :, t], posterior["rho_env"])


def test_the_paper_preset_is_its_random_walk_under_a_flat_prior(decisions):
    preset = paper(decisions)
    assert preset.hyperparameters == {"alpha": 20.0, "prior": "flat"}
    assert preset.sampling == {"draws": 1000, "tune": 1000, "sweeps": 10, "chains": 1, "kernel": "paper"}
    with pytest.warns(InputWarning, match="no proper posterior"):
        result = fit(
            "m_fold_irl",
            decisions,
            preset="paper",
            hyperparameters={"folds": STEPS},
            draws=5,
            tune=2,
            seed=0,
            progressbar=False,
        )
    assert result.attrs["sampler"] == "weights_metropolis, kernel paper, 10 sweeps per draw"


def test_the_log_likelihood_of_each_choice_is_kept_on_request_under_either_prior(decisions):
    for prior in ("gaussian", "flat"):
        result = fit("b_irl", decisions, hyperparameters={"alpha": ALPHA, "prior": prior}, keep_latents=True, **SHORT)
        rho = group(result, "posterior")["rho_env"].values[1, -1]
        kept = group(result, "log_likelihood")["chosen"].values[1, -1]
        np.testing.assert_allclose(kept, log_likelihood(decisions, np.tile(rho, (STEPS, 1))), atol=1e-8)


def test_the_walk_uses_choices_given_by_observe(decisions):
    other = np.array([np.flatnonzero(row)[-1] for row in decisions["available"].values])
    model = pm.observe(_free_choice(decisions), {"chosen": other})
    again = b_irl(decisions.assign(chosen=("time", other)), alpha=ALPHA, prior="flat")
    moved = []
    for declared in (model, again):
        with declared:
            step = WeightsMetropolis([declared["weights"]], rng=1, sweeps=200)
        moved.append(step.step(declared.initial_point())[0]["weights"])
    np.testing.assert_array_equal(*moved)


def _free_choice(decisions):
    """B-IRL with the choice not observed yet."""
    with decisions_model(decisions) as model:
        model.add_coords({"fold": [1]})
        weights = FlatWeights("weights", dims=("fold", "feature"))
        belief = constant_within(weights, np.zeros(STEPS, int))
        SoftmaxChoice("chosen", linear_utility(belief, model["context"], ALPHA), model["available"], dims="time")
    return model


def test_one_core_and_two_give_the_same_draws(decisions):
    one, two = (group(fit("m_fold_irl", decisions, **SHORT | {"cores": n}), "posterior") for n in (1, 2))
    np.testing.assert_array_equal(one["belief"], two["belief"])


@pytest.fixture(scope="module")
def stepping():
    """A preference that is reversed after the 50th of 90 decisions."""
    arrivals = make_arrivals(90, 2, 2, seed=3)
    rho = np.where(np.arange(90)[:, None] < 50, [0.9, 0.1], [-0.1, -0.9])
    chosen = np.einsum("tak,tk->ta", arrivals["context"], rho).argmax(axis=1)
    return arrivals.assign(chosen=("time", chosen), true_belief=(("time", "feature"), rho))


def test_cp_irl_recovers_the_change_point_and_its_trace_contains_it(stepping):
    result = fit("cp_irl", stepping, hyperparameters={"segments": 2}, **SHORT | {"draws": 100})
    data = group(result, "constant_data")
    assert data["change_point"].values.tolist() == [50, 90]
    np.testing.assert_array_equal(data["fold_of_decision"], np.arange(90) >= 50)
    whole = fit("b_irl", stepping, **SHORT | {"draws": 100})
    assert belief_error(result) < 0.5 * belief_error(whole)


def test_cp_irl_chooses_the_number_of_segments_by_evidence(stepping):
    assert len(cp_irl(stepping, segments=None).coords["fold"]) == 2


def test_cp_irl_with_the_score_of_the_paper_recovers_the_change_point(stepping):
    with pytest.warns(InputWarning, match="no proper posterior"):
        model = cp_irl(stepping, segments=2, prior="flat", score="likelihood")
    assert model["change_point"].get_value().tolist() == [50, 90]


def test_cp_irl_takes_a_table_for_any_number_and_only_one_of_the_same_decisions(stepping, decisions):
    table = score_segments(stepping)
    for segments in (2, 4):
        model, alone = cp_irl(stepping, segments=segments, table=table), cp_irl(stepping, segments=segments)
        np.testing.assert_array_equal(model["change_point"].get_value(), alone["change_point"].get_value())
    with pytest.raises(InputError, match="the table is of 90 decisions, but there are 12"):
        cp_irl(decisions, segments=2, table=table)
    short = SHORT | {"draws": 4}
    result = fit("cp_irl", stepping, hyperparameters={"segments": 2, "table": table}, **short)
    assert '"table": "evidence of 45 segments"' in result.attrs["hyperparameters"]


def test_segments_of_features_in_any_units_have_the_same_evidence(stepping):
    scale = np.array([1e-8, 1e8])
    scaled = stepping.assign(context=stepping["context"] * scale)
    for spread in (None, np.array([[0.5, 0.2], [0.2, 0.9]])):
        expected = score_segments(stepping, prior_mean=[0.1, 0.2], prior_covariance=spread).scores
        there = None if spread is None else spread / np.outer(scale, scale)
        table = score_segments(scaled, prior_mean=np.array([0.1, 0.2]) / scale, prior_covariance=there)
        np.testing.assert_allclose(table.scores, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"prior_covariance": 1.0}, r"feature 'feature_0' differs between candidates by 1\.\d+e\+08 times alpha"),
        ({"score": "likelihood"}, r"by 1\.\d+e\+08, so large that the random walk"),
        ({"prior": "flat", "score": "likelihood"}, "never leaves its start: standardise the features"),
        ({"prior_covariance": [1.0, 0.0]}, "prior variance of the weight of '.*' is 0"),
        ({"prior_covariance": [[1.0, 1.0], [1.0, 1.0]]}, "prior_covariance is singular"),
        ({"alpha": 0.0}, "alpha=0: choices do not depend on weights"),
        ({"alpha": 0.0, "score": "likelihood", "prior_covariance": 1.0}, "alpha=0: choices that are uniform"),
    ],
)
def test_segments_that_cannot_be_scored_are_refused_by_the_name_of_their_feature(stepping, options, sentence):
    context = stepping["context"].values[:, :, [0, 0]] * 1e8
    with pytest.raises(InputError, match=sentence):
        score_segments(stepping.assign(context=(("time", "action", "feature"), context)), **options)


def soft_policy_improvement(context, available, rho, alpha, improvements):
    """Q after soft policy improvements of the uniform policy, by value iteration over all observed contexts."""
    reward = context @ rho
    q = np.zeros(reward.shape)
    for _ in range(improvements):
        utility = np.where(available, alpha * q, -np.inf)
        policy = np.exp(utility - np.logaddexp.reduce(utility, axis=1, keepdims=True))
        entropy = -np.where(policy > 0, policy * np.log(np.where(policy > 0, policy, 1.0)), 0.0).sum(axis=1)
        value = (policy * q).sum(axis=1) + entropy / alpha
        q = reward + value.mean()
    return q


def test_soft_policy_improvement_in_a_bandit_changes_values_by_a_constant_as_i_spi_declares(decisions):
    rho = np.array([0.7, -1.2])
    context, available = decisions["context"].values, decisions["available"].values
    reward = context @ rho
    expected = np.empty(STEPS)
    for t in range(STEPS):
        q = soft_policy_improvement(context, available, rho, ALPHA, improvements=t)
        if t > 0:
            assert np.ptp(q - reward) < 1e-12
        utility = np.where(available[t], ALPHA * q[t], -np.inf)
        expected[t] = utility[decisions["chosen"].values[t]] - np.logaddexp.reduce(utility)
    assert expected[0] == pytest.approx(-np.log(available[0].sum()))
    model = i_spi(decisions, alpha=ALPHA, prior="flat")
    assert log_density(model, rho[None]) == pytest.approx(expected.sum())


def test_the_other_reading_of_i_spi_sharpens_with_time(decisions):
    rho = np.array([0.7, -1.2])
    sharpness = np.arange(STEPS) / (STEPS - 1)
    expected = log_likelihood(decisions, sharpness[:, None] * rho).sum()
    model = i_spi(decisions, alpha=ALPHA, reading="sharpening", prior="flat")
    assert log_density(model, rho[None]) == pytest.approx(expected)
    with pytest.raises(InputError, match="'improvement' or 'sharpening'"):
        i_spi(decisions, reading="learning")


def test_i_spi_estimates_a_reward_and_no_beliefs(decisions):
    result = fit("i_spi", decisions, **SHORT)
    posterior = group(result, "posterior")
    assert "belief" not in posterior
    assert np.isfinite(reward_error(result))
    with pytest.raises(InputError, match="'i_spi' does not estimate 'belief'"):
        belief_error(result)


@pytest.mark.parametrize("declare", [b_irl, m_fold_irl, cp_irl, i_spi])
def test_choices_can_be_predicted_from_the_prior(declare, decisions):
    options = {"length": 2} if declare is cp_irl else {}
    with declare(decisions, **options) as model:
        chosen = pm.draw(model["chosen"], draws=20, random_seed=0)
    assert chosen.shape == (20, STEPS)
    assert decisions["available"].values[np.arange(STEPS), chosen].all()


def test_the_engine_samples_the_exact_posterior_of_b_irl(decisions):
    options = SHORT | {"kernel": "engine", "draws": 2000, "tune": 300, "chains": 1}
    exact = group(fit("b_irl", decisions, hyperparameters={"alpha": ALPHA}, **options), "posterior")["rho_env"]
    grid = np.stack(np.meshgrid(*[np.linspace(-5, 5, 121)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    log_posterior = np.array([log_likelihood(decisions, np.tile(point, (STEPS, 1))).sum() for point in grid])
    log_posterior += default_prior(decisions).logpdf(grid)
    density = np.exp(log_posterior - log_posterior.max())
    density /= density.sum()
    mean = density @ grid
    spread = np.sqrt(density @ (grid - mean) ** 2)
    # The standard error of about 300 effective draws, more than twice over.
    assert np.abs((exact.mean(("chain", "draw")).values - mean) / spread).max() < 0.15
