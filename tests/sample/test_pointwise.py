"""The likelihood of each choice: against Monte Carlo over rho, and as ArviZ wants it."""

import arviz as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr
from helpers.arrivals import make_arrivals
from helpers.settings import NB_ICB

from icb_pymc import fit, from_arrays, simulate
from icb_pymc.declare.choice import linear_utility
from icb_pymc.declare.model import choose, decisions_model
from icb_pymc.errors import InputWarning
from icb_pymc.models import nb_icb
from icb_pymc.results.inference_data import group, group_names
from icb_pymc.sample.pointwise import pointwise, pointwise_groups

# In full, since likelihoods are compared to nine digits.
SHORT = {"dtype": "float64", "draws": 30, "tune": 30, "chains": 2, "cores": 1, "seed": 0, "progressbar": False}


@pytest.fixture(scope="module", params=[2, 4], ids=["two candidates", "four candidates, some missing"])
def decisions(request):
    share = 1.0 if request.param == 2 else 0.8
    return simulate("sampling", arrivals=make_arrivals(15, request.param, 3, seed=4, share_available=share), seed=4)


def log_softmax_of_chosen(decisions, rho, alpha):
    """For rho (..., time, feature)."""
    utility = alpha * np.einsum("tak,...tk->...ta", decisions["context"].values, rho)
    utility = np.where(decisions["available"].values, utility, -np.inf)
    chosen = np.broadcast_to(decisions["chosen"].values[:, None], (*utility.shape[:-1], 1))
    return np.take_along_axis(utility, chosen, -1)[..., 0] - np.logaddexp.reduce(utility, axis=-1)


def by_monte_carlo(decisions, belief, roots, alpha, draws=40_000):
    noise = np.random.default_rng(0).normal(size=(draws, *belief.shape))
    rho = belief + (roots @ noise[..., None])[..., 0]
    each = log_softmax_of_chosen(decisions, rho, alpha)
    return np.logaddexp.reduce(each, axis=0) - np.log(draws)


def test_rho_is_integrated_out_of_nb_icb(decisions):
    covariance = np.array([[4e-3, 1e-3, 0.0], [1e-3, 2e-3, 0.0], [0.0, 0.0, 3e-3]])
    result = fit("nb_icb", decisions, hyperparameters=NB_ICB | {"sampling_covariance": covariance}, **SHORT)
    log_likelihood = group(result, "log_likelihood")["chosen"]
    assert log_likelihood.dims == ("chain", "draw", "time")
    belief = group(result, "posterior")["belief"].values[1, 7]
    expected = by_monte_carlo(decisions, belief, np.linalg.cholesky(covariance), 20.0)
    np.testing.assert_allclose(log_likelihood.values[1, 7], expected, atol=0.05)
    if decisions.sizes["action"] == 2:
        np.testing.assert_allclose(log_likelihood.values[1, 7], expected, atol=0.02)


def test_rho_is_integrated_out_of_b_icb_with_the_covariances_of_each_draw(decisions):
    given = {"alpha": pm.Gamma.dist(20.0, 2.0), "sigma": 0.1, "information": 1.0}
    result = fit("b_icb", decisions, given, **SHORT)
    posterior = group(result, "posterior")
    strength, alpha = (float(posterior[name].values[0, 5]) for name in ("strength", "alpha"))
    steps = np.arange(15)
    chosen = decisions["context"].values[steps, decisions["chosen"].values]
    precision, roots = strength / 0.01 * np.eye(3), []
    for context in chosen:
        roots.append(np.linalg.cholesky(np.linalg.inv(precision)))
        precision = precision + np.outer(context, context) / 0.01
    expected = by_monte_carlo(decisions, posterior["belief"].values[0, 5], np.array(roots), alpha)
    log_likelihood = group(result, "log_likelihood")["chosen"].values[0, 5]
    np.testing.assert_allclose(log_likelihood, expected, atol=0.05)


@pytest.mark.parametrize("model", ["b_irl", "m_fold_irl", "cp_irl", "uniform"])
def test_models_without_rho_are_judged_by_their_beliefs(decisions, model):
    given = {"m_fold_irl": {"folds": 3}, "cp_irl": {"segments": 2, "length": 5}}.get(model, {})
    result = fit(model, decisions, {"alpha": 1.0} | given, **SHORT)
    belief = group(result, "posterior")["belief"].values
    expected = log_softmax_of_chosen(decisions, belief, 1.0)
    np.testing.assert_allclose(group(result, "log_likelihood")["chosen"], expected, atol=1e-9)


def test_i_spi_is_judged_by_its_sharpened_weights(decisions):
    result = fit("i_spi", decisions, hyperparameters={"reading": "sharpening"}, **SHORT)
    rho_env = group(result, "posterior")["rho_env"].values
    rho = np.linspace(0, 1, 15)[:, None] * rho_env[:, :, None, :]
    expected = log_softmax_of_chosen(decisions, rho, 1.0)
    np.testing.assert_allclose(group(result, "log_likelihood")["chosen"], expected, atol=1e-9)


def test_probabilities_are_those_with_the_choice_left_out(decisions):
    result = fit("b_irl", decisions, **SHORT)
    probability = group(result, "choice_probabilities")["probability"].values
    assert (probability[~decisions["available"].values] == 0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    likelihood = np.exp(group(result, "log_likelihood")["chosen"].values)
    chosen = probability[np.arange(15), decisions["chosen"].values]
    np.testing.assert_allclose(chosen, 1 / np.mean(1 / likelihood, axis=(0, 1)))


def test_arviz_scores_and_compares_our_fits(decisions):
    options = SHORT | {"draws": 200}
    fits = {model: fit(model, decisions, **options) for model in ("nb_icb", "b_irl")}
    assert len(az.compare(fits)) == 2


def test_a_model_of_ones_own_is_judged_by_pymc_where_its_utility_is_not_linear(decisions):
    def saturating(decisions):
        with decisions_model(decisions) as model:
            weights = pm.Normal("rho_env", dims="feature")
            utility = pm.math.tanh(linear_utility(weights * np.ones((15, 1)), model["context"], 1.0))
            choose(utility)
        return model

    draws = np.random.default_rng(0).normal(size=(2, 5, 3))
    coords = {"chain": [0, 1], "draw": np.arange(5), "feature": decisions["feature"].values}
    posterior = xr.Dataset({"rho_env": (("chain", "draw", "feature"), draws)}, coords)
    log_likelihood = pointwise_groups(saturating(decisions), posterior, decisions)["log_likelihood"]["chosen"]
    assert log_likelihood.dims == ("chain", "draw", "time")
    weights = draws[1, 3]
    utility = np.where(decisions["available"], np.tanh(decisions["context"].values @ weights), -np.inf)
    expected = utility[np.arange(15), decisions["chosen"].values] - np.logaddexp.reduce(utility, axis=1)
    np.testing.assert_allclose(log_likelihood.values[1, 3], expected, atol=1e-9)


def test_nothing_is_kept_where_times_are_thinned_or_it_is_not_wanted_or_rho_cannot_be_integrated_out(decisions):
    thinned = fit("nb_icb", decisions, every=2, **SHORT)
    unwanted = fit("nb_icb", decisions, log_likelihood=False, **SHORT)
    for result in (thinned, unwanted):
        assert not {"log_likelihood", "choice_probabilities"} & set(group_names(result))
    curved = nb_icb(decisions, **NB_ICB, mean_reward=lambda rho, x: pm.math.tanh((x * rho[:, None]).sum(-1)))
    assert pointwise(curved, group(unwanted, "posterior")) is None


def test_draws_are_kept_where_the_likelihood_of_a_choice_cannot_be_computed():
    decisions = from_arrays(1e8 * np.array([[[1.0], [0.0], [-1.0]], [[0.0], [1.0], [2.0]]]), [2, 2])
    given = {"prior_mean": -0.5, "prior_covariance": 1e-16}
    with pytest.warns(InputWarning, match="the log-likelihood of the choices is left out: under some draws"):
        result = fit("b_irl", decisions, given, method="laplace", draws=3, seed=0, progressbar=False)
    assert np.isfinite(group(result, "posterior")["belief"]).all()
    assert "log_likelihood" not in group_names(result)
