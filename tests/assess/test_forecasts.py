import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc import fit, one_step_ahead, simulate
from icb_pymc.assess.forecasts import forecasts_of
from icb_pymc.errors import InputError

NB_ICB = {"innovation_covariance": 5e-3, "sampling_covariance": 5e-3, "alpha": 5.0, "start_covariance": 5e-3}


@pytest.fixture(scope="module")
def decisions():
    arrivals = make_arrivals(20, 3, 2, seed=6, share_available=0.9)
    return simulate("sampling", arrivals=arrivals, seed=6, hyperparameters={"alpha": 5.0})


def by_brute_force(decisions, paths, alpha=None, seed=0):
    """NB-ICB's forecasts from draws of the prior (and of alpha ~ Gamma(5, 1)), weighted by the choices so far."""
    rng = np.random.default_rng(seed)
    alpha = rng.gamma(5.0, size=(paths, 1)) if alpha is None else alpha
    belief, weight, scores = np.zeros((paths, 2)), np.zeros(paths), []
    for t in range(decisions.sizes["time"]):
        belief = belief + np.sqrt(5e-3) * rng.normal(size=belief.shape)
        rho = belief + np.sqrt(5e-3) * rng.normal(size=belief.shape)
        utility = alpha * rho @ decisions["context"].values[t].T
        utility[:, ~decisions["available"].values[t].astype(bool)] = -np.inf
        each = utility[:, int(decisions["chosen"][t])] - np.logaddexp.reduce(utility, axis=1)
        scores.append(np.logaddexp.reduce(weight + each) - np.logaddexp.reduce(weight))
        weight += each
    return np.array(scores)


def test_forecasts_of_nb_icb_are_those_of_brute_force(decisions):
    scores = one_step_ahead("nb_icb", decisions, NB_ICB, start=0)
    np.testing.assert_allclose(scores, by_brute_force(decisions, 200_000, alpha=5.0), atol=0.03)
    late = one_step_ahead("nb_icb", decisions, NB_ICB, start=15)
    np.testing.assert_array_equal(late["time"], decisions["time"].values[15:])
    np.testing.assert_array_equal(late, scores[15:])


def test_hyperparameters_with_a_prior_are_averaged_over_weighted_by_earlier_choices(decisions):
    scores = one_step_ahead("nb_icb", decisions, NB_ICB | {"alpha": pm.Gamma.dist(5.0, 1.0)}, start=0)
    np.testing.assert_allclose(scores, by_brute_force(decisions, 200_000), atol=0.06)
    assert scores.attrs["effective_draws"] > 90


@pytest.mark.parametrize("model", ["b_icb", "m_fold_irl"])
def test_later_choices_do_not_change_forecasts(decisions, model):
    # All scales are numbers: where they are learnt, they are drawn where all choices say, which leaves a random error.
    given = {"strength": 10.0, "sigma": 1.0, "rho_env_scale": 1.6} if model == "b_icb" else {}
    available = decisions["available"].values.astype(bool)
    # Another choice at the last five decisions, where there is one.
    chosen = decisions["chosen"].values.copy()
    others = available.copy()
    others[np.arange(20), chosen] = False
    chosen[15:] = np.where(others[15:].any(axis=1), others[15:].argmax(axis=1), chosen[15:])
    changed = decisions.assign(chosen=("time", chosen))
    before, after = (one_step_ahead(model, log, given, start=0).values for log in (decisions, changed))
    np.testing.assert_allclose(before[:15], after[:15], rtol=1e-9)
    assert not np.allclose(before[15:], after[15:])


def test_a_trace_alone_is_enough(decisions):
    options = {"draws": 10, "tune": 5, "chains": 1, "cores": 1, "seed": 0, "progressbar": False}
    result = fit("nb_icb", decisions, NB_ICB, every=4, **options)
    np.testing.assert_allclose(forecasts_of(result), one_step_ahead("nb_icb", decisions, NB_ICB))
    baseline = fit("uniform", decisions, **options)
    assert float(forecasts_of(baseline, start=0).sum()) == pytest.approx(
        float(baseline["log_likelihood"]["chosen"].sum())
    )
    with_prior = fit("nb_icb", decisions, NB_ICB | {"alpha": pm.Gamma.dist(5.0, 1.0)}, **options)
    same = one_step_ahead("nb_icb", decisions, NB_ICB | {"alpha": pm.Gamma.dist(5.0, 1.0)})
    np.testing.assert_allclose(forecasts_of(with_prior), same)


def test_a_flat_prior_has_no_forecasts_and_a_mixture_cannot_be_stored(decisions):
    options = {"method": "laplace", "draws": 5, "seed": 0, "progressbar": False}
    flat = fit("nb_icb", decisions, NB_ICB | {"alpha": pm.HalfFlat.dist()}, **options)
    with pytest.raises(InputError, match="flat prior of 'alpha'"):
        forecasts_of(flat)
    unusual = fit("nb_icb", decisions, NB_ICB | {"alpha": pm.Weibull.dist(2.0, 5.0)}, **options)
    with pytest.raises(InputError, match="'alpha' of this trace was a distribution"):
        forecasts_of(unusual)


@pytest.mark.parametrize("learn", [["alpha"], ["alpha", "innovation_covariance"]])
def test_hyperparameters_that_were_learnt_get_their_priors_again(decisions, learn):
    given = NB_ICB | {"innovation_covariance": np.diag([5e-3, 1e-2])}
    options = {"draws": 10, "tune": 5, "chains": 1, "cores": 1, "seed": 0, "progressbar": False}
    trace = fit("nb_icb", decisions, given, learn=learn, **options)
    forecasts = forecasts_of(trace, start=0)
    assert forecasts.attrs["effective_draws"] > 90
    if learn == ["alpha"]:
        expected = one_step_ahead("nb_icb", decisions, given | {"alpha": pm.LogNormal.dist(np.log(5.0), 1.0)}, start=0)
        np.testing.assert_allclose(forecasts, expected, atol=0.05)


def test_a_prior_that_a_fit_does_not_make_is_refused_in_one_sentence(decisions):
    trace = fit("uniform", decisions, draws=1, progressbar=False)
    trace.attrs["model"] = "nb_icb"
    for stored in ('{"alpha": {"median": 5.0, "prior": "Gamma(1, 1)"}}', '{"alpha": {}}'):
        trace.attrs["hyperparameters"] = stored
        with pytest.raises(InputError, match="the prior of 'alpha' of this trace"):
            forecasts_of(trace)
    trace.attrs["hyperparameters"] = '{"innovation_covariance": [["a", 1.0], [1.0, "b"]]}'
    with pytest.raises(InputError, match="'innovation_covariance' of this trace was a distribution"):
        forecasts_of(trace)
    trace.attrs["hyperparameters"] = '{"innovation_covariance": [[1.0, 0.0], [0.0]]}'
    with pytest.raises(InputError, match="'innovation_covariance' of this trace is neither a number nor"):
        forecasts_of(trace)


def test_a_file_that_a_trace_names_as_its_model_is_not_run(decisions, tmp_path):
    file, witness = tmp_path / "untrusted.py", tmp_path / "was_run"
    file.write_text(f"open({str(witness)!r}, 'w')\n\ndef untrusted(decisions): ...\n")
    trace = fit("uniform", decisions, draws=1, progressbar=False)
    trace.attrs["model"] = str(file)
    with pytest.raises(InputError, match="not a name of a model"):
        forecasts_of(trace)
    assert not witness.exists()


@pytest.mark.parametrize(
    ("model", "options", "sentence"),
    [
        ("cp_irl", {}, "computed from all choices"),
        ("b_irl", {"hyperparameters": {"prior": "flat"}}, "proper prior"),
        ("nb_icb", {"start": 20}, "from 0 to 19"),
        ("nb_icb", {"hyperparameters": {"gamma": 1}}, "no hyperparameter 'gamma'"),
    ],
)
@pytest.mark.filterwarnings("ignore:under a flat prior")
def test_what_cannot_be_forecast_is_refused(decisions, model, options, sentence):
    with pytest.raises(InputError, match=sentence):
        one_step_ahead(model, decisions, **options)
