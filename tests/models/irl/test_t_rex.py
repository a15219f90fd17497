"""T-REX: the likelihood that it declares, and its maximum."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals
from scipy.optimize import minimize

from icb_pymc import fit
from icb_pymc.assess.metrics import belief_error
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.models.irl import t_rex
from icb_pymc.models.irl.t_rex import estimate, paper
from icb_pymc.results.inference_data import group


@pytest.fixture(scope="module")
def decisions():
    arrivals = make_arrivals(60, 3, 3, seed=1, share_available=0.8)
    return arrivals.assign(chosen=("time", np.argmax(arrivals["available"].values, axis=1)))


def dense(decisions, rho, alpha=1.0):
    steps = decisions.sizes["time"]
    reward = alpha * decisions["context"].values[np.arange(steps), decisions["chosen"]] @ rho
    return -np.logaddexp(0.0, reward[None, :] - reward[:, None])[np.tri(steps, k=-1, dtype=bool)].sum()


def test_the_graph_is_the_likelihood_of_all_pairs_and_has_its_gradient(decisions):
    model = t_rex(decisions, alpha=2.0)
    rho = np.array([0.3, -0.2, 0.5])
    assert float(model.compile_logp()({"rho_env": rho})) == pytest.approx(dense(decisions, rho, 2.0))
    shift = 1e-5 * np.eye(3)
    slopes = [(dense(decisions, rho + move, 2.0) - dense(decisions, rho - move, 2.0)) / 2e-5 for move in shift]
    np.testing.assert_allclose(model.compile_dlogp()({"rho_env": rho}), slopes, atol=1e-4)


def test_adam_find_map_and_a_general_optimiser_agree_on_the_maximum(decisions):
    exact = minimize(lambda rho: -dense(decisions, rho), np.zeros(3)).x
    by_adam = estimate(decisions)
    np.testing.assert_allclose(by_adam.values["rho_env"], exact, atol=1e-3)
    assert "the last 100 without improvement" in by_adam.how
    with t_rex(decisions):
        by_pymc = pm.find_MAP(progressbar=False)
    np.testing.assert_allclose(by_pymc["rho_env"], exact, atol=1e-3)


def test_a_fit_is_one_chain_with_one_draw_and_names_its_optimiser(decisions):
    result = fit("t_rex", decisions, progressbar=False)
    posterior = group(result, "posterior")
    assert posterior["rho_env"].shape == (1, 1, 3)
    assert (result.attrs["method"], result.attrs["tune"]) == ("estimate", 0)
    assert result.attrs["sampler"].startswith("Adam")
    with pytest.raises(InputError, match="does not estimate 'belief'"):
        belief_error(result)


def test_the_paper_preset_stays_on_the_simplex_and_maximises_the_likelihood_there(decisions):
    assert paper(decisions).hyperparameters == {"alpha": 20.0, "simplex": True}
    rho = group(fit("t_rex", decisions, preset="paper", progressbar=False), "posterior")["rho_env"].values[0, 0]
    assert abs(rho).sum() == pytest.approx(1.0)
    assert (rho <= 0).all()
    others = -np.random.default_rng(0).dirichlet(np.full(3, 0.5), size=500)
    assert dense(decisions, rho, 20.0) > max(dense(decisions, other, 20.0) for other in others) - 0.05


def test_if_weights_can_rank_all_decisions_there_is_no_maximum_and_a_warning():
    arrivals = make_arrivals(4, 2, 5, seed=2)
    with pytest.warns(InputWarning, match="has not converged after 50000 steps"):
        last = estimate(arrivals.assign(chosen=("time", np.zeros(4, int))))
    assert "not converged" in last.how


def test_the_posterior_can_be_sampled_on_the_same_graph(decisions):
    options = {"draws": 150, "tune": 150, "chains": 1, "cores": 1, "seed": 0, "progressbar": False}
    sampled = group(fit("t_rex", decisions, method="mcmc", **options), "posterior")["rho_env"]
    mean = sampled.mean(("chain", "draw")).values
    np.testing.assert_allclose(mean, estimate(decisions).values["rho_env"], atol=0.05)
    with pytest.raises(InputError, match="'nb_icb' has no point estimate"):
        fit("nb_icb", decisions, method="estimate", progressbar=False)
