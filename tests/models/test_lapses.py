"""NB-ICB with lapses, from simulation to reports: each part counts them."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals
from pytensor.graph.traversal import ancestors
from scipy.stats import beta, norm

from icb_pymc import compare, diagnose, fit, impact, k_fold, one_step_ahead, report, simulate
from icb_pymc.assess.accounts import compare_accounts
from icb_pymc.assess.unchanging import against_unchanging, unchanging_scores
from icb_pymc.assess.weights import chosen_if_higher, log_odds_weights
from icb_pymc.cli import main
from icb_pymc.data.standardisation import WEIGHT_SD, contrast_spread
from icb_pymc.declare.choice import LapsingChoice
from icb_pymc.declare.graph import has_op
from icb_pymc.errors import InputError
from icb_pymc.kernels.mode import find_mode
from icb_pymc.models import nb_icb
from icb_pymc.results.inference_data import group
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

GIVEN = {"innovation_covariance": 0.05, "start_covariance": 1.0, "alpha": 2.0}
TIMES, LAPSE = 30, 0.2
SHORT = {"draws": 300, "tune": 200, "chains": 2, "cores": 1, "seed": 0, "progressbar": False, "dtype": "float64"}


@pytest.fixture(scope="module")
def decisions():
    return simulate("nb_icb", GIVEN | {"lapse": LAPSE}, arrivals=make_arrivals(TIMES, 3, 1, seed=3), seed=3)


@pytest.fixture(scope="module")
def trace(decisions):
    return fit("nb_icb", decisions, GIVEN | {"lapse": pm.Beta.dist(2, 8)}, **SHORT)


def probabilities(decisions, belief, lapse):
    """The dense formula, for belief (..., time, feature) and lapse (...)."""
    available, lapse = decisions["available"].values, np.asarray(lapse)[..., None, None]
    utility = GIVEN["alpha"] * np.einsum("tak,...tk->...ta", decisions["context"].values, belief)
    utility = np.where(available, utility, -np.inf)
    softmax = np.exp(utility - np.logaddexp.reduce(utility, axis=-1, keepdims=True))
    return (1 - lapse) * softmax + lapse * available / available.sum(axis=1, keepdims=True)


def of_chosen(decisions, probability):
    return probability[..., np.arange(decisions.sizes["time"]), decisions["chosen"].values]


def test_only_a_model_with_lapses_has_them_in_its_graph(decisions):
    assert find_linear_gaussian(nb_icb(decisions, lapse=0.1)).lapse is not None
    without = nb_icb(decisions, lapse=0.0)
    assert find_linear_gaussian(without).lapse is None
    assert not any(has_op(variable, LapsingChoice) for variable in ancestors([without["chosen"]]))


def test_simulated_agents_choose_at_random_as_often_as_they_lapse():
    """The best candidate is better by far, so another one is only ever chosen by a lapse."""
    arrivals = make_arrivals(2000, 4, 1, seed=0, share_available=1.0)
    arrivals["context"][:] = np.array([50.0, 0.0, 0.0, 0.0])[:, None]
    still = {"innovation_covariance": 1e-9, "start_covariance": 1e-9, "start_mean": 1.0}
    chosen = simulate("nb_icb", still | {"lapse": 0.2}, arrivals=arrivals, seed=0)["chosen"].values
    share = np.array([(chosen == slot).mean() for slot in range(4)])
    np.testing.assert_allclose(share, [0.85, 0.05, 0.05, 0.05], atol=4 * np.sqrt(0.85 * 0.15 / 2000))


def test_the_posterior_is_that_of_importance_sampling(decisions, trace):
    rng, draws = np.random.default_rng(1), 100_000
    moves = np.sqrt(GIVEN["innovation_covariance"]) * rng.standard_normal((draws, TIMES - 1))
    belief = np.cumsum(np.column_stack([rng.standard_normal(draws), moves]), axis=1)
    lapse = rng.beta(2, 8, draws)
    weight = of_chosen(decisions, probabilities(decisions, belief[:, :, None], lapse)).prod(axis=1)
    weight /= weight.sum()
    posterior = group(trace, "posterior")
    assert trace.attrs["kernel"] == "engine"
    mean, sd = weight @ belief, np.sqrt(weight @ belief**2 - (weight @ belief) ** 2)
    np.testing.assert_allclose(posterior["belief"].mean(("chain", "draw")).values[:, 0], mean, atol=0.25 * sd.max())
    np.testing.assert_allclose(posterior["belief"].std(("chain", "draw")).values[:, 0], sd, rtol=0.25)
    assert float(posterior["lapse"].mean()) == pytest.approx(weight @ lapse, abs=0.03)


def test_likelihoods_and_probabilities_of_choices_count_lapses(decisions, trace):
    posterior = group(trace, "posterior")
    each = probabilities(decisions, posterior["belief"].values, posterior["lapse"].values)
    chosen = of_chosen(decisions, each)
    np.testing.assert_allclose(group(trace, "log_likelihood")["chosen"].values, np.log(chosen), rtol=1e-6)
    left_out = (each / chosen[..., None]).mean(axis=(0, 1))
    left_out /= left_out.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(group(trace, "choice_probabilities")["probability"].values, left_out, rtol=1e-6)


def test_comparisons_with_a_model_without_lapses_are_possible(decisions, trace):
    table = compare({"lapses": trace, "none": fit("nb_icb", decisions, GIVEN, **SHORT)})
    assert set(table.index) == {"lapses", "none"}


def by_brute_force(decisions, paths, lapse):
    """Log p(a_t | a_1, ..., a_{t-1}) from draws of the prior, weighted by the choices so far."""
    rng = np.random.default_rng(1)
    moves = np.sqrt(GIVEN["innovation_covariance"]) * rng.standard_normal((paths, TIMES - 1))
    belief = np.cumsum(np.column_stack([rng.standard_normal(paths), moves]), axis=1)
    rate = rng.beta(2, 8, paths) if lapse is None else np.full(paths, lapse)
    each = np.log(of_chosen(decisions, probabilities(decisions, belief[:, :, None], rate)))
    before = np.cumsum(each, axis=1) - each
    return np.logaddexp.reduce(before + each, axis=0) - np.logaddexp.reduce(before, axis=0)


@pytest.mark.parametrize("lapse", [LAPSE, None])
def test_forecasts_count_lapses_and_average_over_a_learnt_rate(decisions, lapse):
    given = GIVEN | {"lapse": pm.Beta.dist(2, 8) if lapse is None else lapse}
    scores = one_step_ahead("nb_icb", decisions, given, start=0)
    np.testing.assert_allclose(scores, by_brute_force(decisions, 100_000, lapse), atol=0.05)


def test_choices_left_out_are_predicted_with_lapses(decisions):
    scores = k_fold("nb_icb", decisions, GIVEN | {"lapse": LAPSE}, folds=2, method="laplace", cores=1)
    assert (scores.values >= np.log(LAPSE / 3)).all()


def test_laplace_puts_a_learnt_rate_where_prior_times_evidence_is_greatest(decisions):
    """The rate is at the maximum over a fine grid; evidence is within half a log unit of that by draws of the prior."""
    options = {"method": "laplace", "draws": 200, "seed": 0, "progressbar": False}
    found = group(fit("nb_icb", decisions, GIVEN | {"lapse": pm.Beta.dist(2, 8)}, **options), "posterior")["lapse"]
    assert float(found.std()) < 1e-12
    model = nb_icb(decisions, **GIVEN, lapse=0.1)
    reader = LinearGaussianModel(model, find_linear_gaussian(model))
    _, space = reader.state_space(reader.values({}))
    grid = np.linspace(0.01, 0.6, 60)
    evidence = np.array([find_mode(space._replace(lapse=rate)).log_evidence for rate in grid])
    assert float(found[0, 0]) == pytest.approx(grid[np.argmax(evidence + beta(2, 8).logpdf(grid))], abs=0.011)
    exact = by_brute_force(decisions, 100_000, grid[10]).sum()
    assert evidence[10] == pytest.approx(exact, abs=0.5)


def test_learning_about_a_given_rate_needs_a_prior(decisions):
    with pytest.raises(InputError, match="learn lapse: it is a probability"):
        fit("nb_icb", decisions, {"lapse": LAPSE}, learn=["lapse"], progressbar=False)


def test_accounts_of_an_event_and_unchanging_weights_lapse_as_often_as_the_trace(decisions, trace):
    result, rate = impact(trace, 15), float(group(trace, "posterior")["lapse"].mean())
    assert result.lapse == pytest.approx(rate)
    (account,) = result.accounts
    again = compare_accounts(decisions, 14, lapse=rate)
    assert account.log_evidence == pytest.approx(again.log_evidence)
    assert "never change" in str(against_unchanging(trace))
    assert "never change" in str(diagnose(trace))


def test_choices_of_unchanging_weights_are_predicted_with_lapses(decisions):
    """Leave-one-out by quadrature over the one weight."""
    grid = np.linspace(-12, 12, 1201)
    paths = np.broadcast_to(grid[:, None, None] / GIVEN["alpha"], (1201, TIMES, 1))
    each = of_chosen(decisions, probabilities(decisions, paths, np.full(1201, LAPSE)))
    weight = each.prod(axis=1) * norm(0, WEIGHT_SD / contrast_spread(decisions)[0]).pdf(grid)
    expected = np.log(weight.sum() / (weight[:, None] / each).sum(axis=0))
    # The Gaussian around the mode is off by up to 0.12, on the logs of either PyMC line.
    np.testing.assert_allclose(unchanging_scores(decisions, LAPSE), expected, atol=0.2)
    assert np.abs(unchanging_scores(decisions) - expected).max() > 0.15


@pytest.mark.slow
def test_a_report_says_how_often_choices_lapse_and_what_does_not_count_it(trace):
    text = report(trace, 15, quick=True).html
    assert "Choices lapse" in text
    assert "as if there were no lapses" in text


def test_a_file_whose_rate_is_no_probability_is_refused_in_a_sentence(decisions):
    trace = fit("nb_icb", decisions, GIVEN, method="laplace", draws=5, progressbar=False)
    for stored in ("1.5", "-0.1", "NaN"):
        trace.attrs["hyperparameters"] = f'{{"lapse": {stored}}}'
        with pytest.raises(InputError, match="of this file is no probability"):
            impact(trace, 15)


def test_how_often_a_better_candidate_is_chosen_is_bounded_by_lapses(trace):
    often, lapse = chosen_if_higher(trace, log_odds_weights(trace)), group(trace, "posterior")["lapse"]
    assert bool((often >= lapse / 2 - 1e-12).all())
    assert bool((often <= 1 - lapse / 2 + 1e-12).all())


def test_with_rho_drawn_likelihoods_count_lapses_too(decisions):
    result = fit("nb_icb", decisions, GIVEN | {"sampling_covariance": 1e-8, "lapse": LAPSE}, **SHORT)
    expected = of_chosen(decisions, probabilities(decisions, group(result, "posterior")["belief"].values, LAPSE))
    np.testing.assert_allclose(group(result, "log_likelihood")["chosen"].values, np.log(expected), atol=1e-3)


def test_the_command_line_takes_a_number_or_a_prior(tmp_path):
    log, trace = str(tmp_path / "log.nc"), str(tmp_path / "trace.nc")
    assert main(["simulate", "nb_icb", "--steps", "20", "--set", "lapse=0.1", "-o", log]) == 0
    options = ["--draws", "10", "--tune", "10", "--chains", "2", "--seed", "0", "-o", trace]
    assert main(["fit", "nb_icb", log, "--set", "lapse=1.5", *options]) == 2
    assert main(["fit", "nb_icb", log, "--prior", "lapse=HalfNormal(1)", *options]) == 2
    assert main(["fit", "nb_icb", log, "--prior", "lapse=Beta(1, 20)", *options]) == 0
    assert main(["diagnose", trace]) in (0, 1)
