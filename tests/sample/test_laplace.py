"""Laplace's method against the dense Gaussian around the mode of a small problem."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from helpers.arrivals import make_arrivals
from helpers.settings import NB_ICB
from helpers.state_spaces import log_likelihood, probabilities
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import lognorm, norm

from icb_pymc import fit, weight_table
from icb_pymc.assess.weights import feature_sd
from icb_pymc.errors import InputError
from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.models import nb_icb
from icb_pymc.results.inference_data import group, group_names
from icb_pymc.sample.most_probable import most_probable_hyperparameters
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

TIMES, FEATURES, ALPHA, MEAN = 8, 2, 3.0, np.array([0.3, -0.4])
START, MOVE, STRAY = 0.5, 0.2, 0.3
SETTINGS = {"start_mean": MEAN, "start_covariance": START, "sampling_covariance": STRAY, "alpha": ALPHA}
DRAWS = 3000

pytestmark = pytest.mark.filterwarnings("ignore:.*have a single candidate")


def small_decisions():
    """Three candidates, not all of them available, and one decision without an alternative."""
    arrivals = make_arrivals(TIMES, 3, FEATURES, seed=4, share_available=0.8)
    arrivals["available"][1] = [True, False, False]
    last = [int(np.flatnonzero(row)[-1]) for row in arrivals["available"].values]
    return arrivals.assign(chosen=("time", np.where(np.arange(TIMES) % 3 == 0, last, 0)))


DECISIONS = small_decisions()


class Dense:
    """NB-ICB with an innovation variance, as matrices that beliefs and rho are of independent normals."""

    def __init__(self, move=MOVE):
        reach = np.tril(np.ones((TIMES, TIMES))) * np.sqrt([START] + [move] * (TIMES - 1))
        self.belief = np.hstack([np.kron(reach, np.eye(FEATURES)), np.zeros((TIMES * FEATURES,) * 2)])
        self.rho = np.hstack([self.belief[:, : TIMES * FEATURES], np.sqrt(STRAY) * np.eye(TIMES * FEATURES)])
        rows, self.first = choice_contrasts(
            DECISIONS["context"].values, DECISIONS["available"].values, DECISIONS["chosen"].values, ALPHA
        )
        time = np.repeat(np.arange(TIMES), np.diff(self.first))
        paths = self.rho.reshape(TIMES, FEATURES, -1)
        self.matrix = np.einsum("nk,nkz->nz", rows, paths[time])
        self.shift = rows @ MEAN
        same = time[:, None] == time
        optimum = minimize(self.loss, np.zeros(self.matrix.shape[1]), jac=self.slope, tol=1e-12, options={"gtol": 1e-9})
        self.mode = optimum.x
        share = probabilities(self.first, self.shift + self.matrix @ self.mode)
        curvature = np.diag(share) - np.where(same, np.outer(share, share), 0.0)
        precision = np.eye(len(self.mode)) + self.matrix.T @ curvature @ self.matrix
        self.covariance = np.linalg.inv(precision)
        self.log_evidence = -optimum.fun - 0.5 * np.linalg.slogdet(precision)[1]

    def loss(self, noise):
        return 0.5 * noise @ noise - log_likelihood(self.first, self.shift + self.matrix @ noise)

    def slope(self, noise):
        return noise + self.matrix.T @ probabilities(self.first, self.shift + self.matrix @ noise)

    def moments(self, name):
        """Mean and standard deviation (time, feature) of beliefs or rho."""
        reach = getattr(self, name)
        mean = np.tile(MEAN, TIMES) + reach @ self.mode
        spread = np.sqrt(np.einsum("iz,zy,iy->i", reach, self.covariance, reach))
        return mean.reshape(TIMES, FEATURES), spread.reshape(TIMES, FEATURES)


@pytest.fixture(scope="module")
def result():
    options = {"method": "laplace", "draws": DRAWS, "seed": 1, "keep_latents": True, "progressbar": False}
    return fit("nb_icb", DECISIONS, SETTINGS | {"innovation_covariance": MOVE}, **options)


def test_the_result_keeps_the_contract_of_every_fit_and_says_that_it_is_an_approximation(result):
    posterior = group(result, "posterior")
    assert posterior["belief"].dims == posterior["rho"].dims == ("chain", "draw", "time", "feature")
    assert posterior.sizes["chain"] == 1
    assert posterior.sizes["draw"] == result.attrs["draws"] == DRAWS
    for dim in ("time", "feature"):
        np.testing.assert_array_equal(posterior[dim], DECISIONS[dim])
    pointwise = {"log_likelihood", "choice_probabilities"}
    assert {"posterior", "observed_data", "constant_data", "gaussian"} | pointwise == set(group_names(result))
    assert result.attrs["method"] == result.attrs["approximation"] == "laplace"
    assert "Laplace" in result.attrs["sampler"]
    assert isinstance(result.attrs["log_evidence"], float)


def test_only_laplace_has_an_evidence_and_is_an_approximation(trace):
    assert trace.attrs["approximation"] == "none"
    assert "log_evidence" not in trace.attrs


def test_the_evidence_is_that_of_the_dense_gaussian(result):
    assert result.attrs["log_evidence"] == pytest.approx(Dense().log_evidence, abs=1e-5)


@pytest.mark.parametrize("name", ["belief", "rho"])
def test_draws_have_the_mean_and_spread_of_the_dense_gaussian(name, result):
    """In Monte-Carlo standard errors: draws are independent."""
    draws = group(result, "posterior")[name].values[0]
    mean, spread = Dense().moments(name)
    assert np.abs((draws.mean(axis=0) - mean) / spread * np.sqrt(DRAWS)).max() < 4.5
    assert np.abs((draws.std(axis=0) / spread - 1) * np.sqrt(2 * DRAWS)).max() < 4.5


def test_the_mode_and_the_spread_of_beliefs_are_kept_whatever_the_number_of_draws(result):
    mean, spread = Dense().moments("belief")
    one = fit("nb_icb", DECISIONS, SETTINGS | {"innovation_covariance": MOVE}, method="laplace", draws=1, every=3)
    for trace, kept in ((result, slice(None)), (one, slice(None, None, 3))):
        gaussian = group(trace, "gaussian")
        np.testing.assert_allclose(gaussian["belief"], mean[kept], atol=1e-5)
        np.testing.assert_allclose(gaussian["belief_sd"], spread[kept], rtol=1e-5)
    table = weight_table(one, ci_prob=0.9)
    scale = ALPHA * feature_sd(group(one, "constant_data")).values
    np.testing.assert_allclose(table["weight"], (mean[::3] * scale).ravel(), atol=1e-5)
    upper = (mean + 1.6448536 * spread)[::3] * scale
    np.testing.assert_allclose(table["upper"], upper.ravel(), atol=1e-5)
    np.testing.assert_allclose(table["probability_above_zero"], norm.cdf(mean / spread)[::3].ravel(), atol=1e-5)


def test_beliefs_are_the_same_gaussian_where_rho_is_not_kept():
    """Then there is less noise to draw, and other draws of the same mean and spread."""
    options = {"method": "laplace", "draws": DRAWS, "seed": 2, "progressbar": False}
    result = fit("nb_icb", DECISIONS, SETTINGS | {"innovation_covariance": MOVE}, **options)
    draws = group(result, "posterior")["belief"].values[0]
    mean, spread = Dense().moments("belief")
    assert np.abs((draws.mean(axis=0) - mean) / spread * np.sqrt(DRAWS)).max() < 4.5
    assert np.abs((draws.std(axis=0) / spread - 1) * np.sqrt(2 * DRAWS)).max() < 4.5
    assert result.attrs["log_evidence"] == pytest.approx(Dense().log_evidence, abs=1e-5)


def test_the_seed_fixes_the_draws():
    def draws(seed):
        options = {"method": "laplace", "draws": 5, "seed": seed, "progressbar": False}
        return group(
            fit("nb_icb", DECISIONS, SETTINGS | {"innovation_covariance": MOVE}, **options),
            "posterior",
        )

    xr.testing.assert_identical(draws(3), draws(3))
    assert not draws(3).equals(draws(4))


@pytest.fixture(scope="module")
def best_move():
    """The innovation variance where prior density times dense evidence is greatest."""
    prior = lognorm(0.8, scale=0.3)
    grid = np.linspace(-4, 2, 25)
    values = [-prior.logpdf(np.exp(log)) - Dense(np.exp(log)).log_evidence for log in grid]
    around = grid[np.argmin(values)]
    optimum = minimize_scalar(
        lambda log: -prior.logpdf(np.exp(log)) - Dense(np.exp(log)).log_evidence,
        bounds=(around - 0.3, around + 0.3),
        method="bounded",
        options={"xatol": 1e-5},
    )
    return np.exp(optimum.x)


def test_hyperparameters_are_set_to_where_prior_times_evidence_is_greatest(best_move):
    prior = pm.LogNormal.dist(np.log(0.3), 0.8)
    model = nb_icb(DECISIONS, innovation_covariance=prior, **SETTINGS)
    reader = LinearGaussianModel(model, find_linear_gaussian(model))
    point = most_probable_hyperparameters(model, reader, model.initial_point())
    assert point["innovation_covariance_log__"] == pytest.approx(np.log(best_move), abs=2e-3)
    # From elsewhere the search ends there too.
    far = model.initial_point() | {"innovation_covariance_log__": np.array(3.0)}
    point = most_probable_hyperparameters(model, reader, far)
    assert point["innovation_covariance_log__"] == pytest.approx(np.log(best_move), abs=2e-3)


def test_a_fit_with_hyperparameters_holds_them_at_their_best_and_says_so(best_move):
    options = {"method": "laplace", "draws": DRAWS, "seed": 1, "progressbar": False}
    prior = pm.LogNormal.dist(np.log(0.3), 0.8)
    result = fit("nb_icb", DECISIONS, SETTINGS | {"innovation_covariance": prior}, **options)
    posterior = group(result, "posterior")
    np.testing.assert_allclose(posterior["innovation_covariance"], best_move, rtol=2e-3)
    assert result.attrs["log_evidence"] == pytest.approx(Dense(best_move).log_evidence, abs=1e-3)
    assert "maximum of prior times evidence" in result.attrs["sampler"]
    mean, spread = Dense(best_move).moments("belief")
    draws = posterior["belief"].values[0]
    assert np.abs((draws.mean(axis=0) - mean) / spread * np.sqrt(DRAWS)).max() < 4.5


def curved(decisions):
    """Rewards that are not linear in rho."""
    return nb_icb(decisions, **NB_ICB, mean_reward=lambda rho, context: (context * rho[:, None, :]).sum(axis=-1) ** 2)


def with_more(decisions):
    """A variable besides, which is none of the belief model's."""
    model = nb_icb(decisions)
    with model:
        pm.Normal("besides")
    return model


@pytest.mark.parametrize("declare", [curved, with_more])
def test_what_is_not_linear_and_gaussian_is_refused_in_one_sentence(declare):
    with pytest.raises(InputError, match="linear and Gaussian") as refusal:
        fit(declare, DECISIONS, method="laplace", draws=5, progressbar=False)
    assert "'mcmc'" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"start_covariance": 1e99, "innovation_covariance": 1e99},
            "too wide or too narrow for the computer's numbers",
        ),
        ({"alpha": 0.0}, "alpha=0: choices do not depend on weights"),
    ],
)
def test_a_posterior_that_cannot_be_computed_is_refused(given, sentence):
    with pytest.raises(InputError, match=sentence):
        fit("nb_icb", DECISIONS, given, method="laplace", draws=3, progressbar=False)


def test_an_alpha_of_zero_leaves_the_prior_as_it_was():
    given = {"start_covariance": 4.0, "innovation_covariance": 0.0, "alpha": 0.0}
    result = fit("nb_icb", DECISIONS, given, method="laplace", draws=3, seed=0, progressbar=False)
    np.testing.assert_allclose(group(result, "gaussian")["belief"], 0.0, atol=1e-12)
    np.testing.assert_allclose(group(result, "gaussian")["belief_sd"], 2.0)
