"""One trace from several models: weights, draws in proportion, one scale, and what every reader makes of it."""

import json

import numpy as np
import pytest

from icb_pymc import average, compare, diagnose, fit, impact, share
from icb_pymc.assess.averaging import _allocate
from icb_pymc.assess.forecasts import forecasts_of
from icb_pymc.assess.weights import log_odds_weights
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import from_groups, group, group_names
from icb_pymc.results.traces import check_trace

OPTIONS = {"draws": 120, "tune": 50, "chains": 2, "cores": 1, "seed": 2, "progressbar": False}


@pytest.fixture(scope="module")
def other(dated_decisions):
    """Another scale of the weights: a smaller alpha, larger beliefs, and they move more."""
    settings = {"alpha": 2.0, "start_mean": -1.0, "innovation_covariance": 5e-4, "sampling_covariance": 0.0}
    return fit("nb_icb", dated_decisions, settings, **OPTIONS)


@pytest.fixture(scope="module")
def baseline(dated_decisions):
    return fit("uniform", dated_decisions)


@pytest.fixture(scope="module")
def averaged(trace, other):
    return average({"still": trace, "moving": other}, score="loo")


def models_in(trace):
    return json.loads(trace.attrs["averaged"])["models"]


def test_it_is_a_trace_in_log_odds_that_says_its_weights(averaged, trace, other):
    check_trace(averaged)
    models = models_in(averaged)
    assert set(models) == {"still", "moving"}
    assert sum(model["weight"] for model in models.values()) == pytest.approx(1.0)
    assert sum(model["draws"] for model in models.values()) == 120
    table = compare({"still": trace, "moving": other})
    for name, fitted in (("still", trace), ("moving", other)):
        assert models[name]["elpd"] == pytest.approx(table.loc[name, "elpd"])
        assert models[name]["se"] == pytest.approx(table.loc[name, "se"])
        assert models[name]["seed"] == fitted.attrs["seed"]
        assert len(models[name]["sha256"]) == 64
        assert f"{name} ({models[name]['weight']:.0%})" in averaged.attrs["model"]
    assert json.loads(averaged.attrs["hyperparameters"]) == {"alpha": 1.0}


@pytest.mark.parametrize("weights", [(0.25, 0.75), (1.0, 0.0), (1 / 3, 2 / 3)])
def test_each_chain_takes_its_share_from_the_same_chain_of_each_model(monkeypatch, trace, other, weights):
    monkeypatch.setattr("icb_pymc.assess.averaging.stacking_weights", lambda scores: np.array(weights))
    mixed = group(average({"a": trace, "b": other}, score="loo"), "posterior")["belief"].values
    sources = [20.0 * group(trace, "posterior")["belief"].values, 2.0 * group(other, "posterior")["belief"].values]
    for chain in range(2):
        found = [
            {i for i in range(120) for j in range(120) if np.array_equal(mixed[chain, i], source[chain, j])}
            for source in sources
        ]
        assert [len(each) for each in found] == [round(120 * weight) for weight in weights]
        assert found[0] | found[1] == set(range(120))


def test_the_mean_is_that_of_the_models_in_log_odds(monkeypatch, trace, other):
    monkeypatch.setattr("icb_pymc.assess.averaging.stacking_weights", lambda scores: np.array([0.5, 0.5]))
    mixed = average({"a": trace, "b": other}, score="loo")
    parts = [log_odds_weights(each) for each in (trace, other)]
    expected = sum(part.isel(draw=slice(None, None, 2)).mean(("chain", "draw")) for part in parts) / 2
    np.testing.assert_allclose(log_odds_weights(mixed).mean(("chain", "draw")), expected, atol=1e-12)


def test_probabilities_are_mixed_and_log_likelihoods_go_with_their_draws(monkeypatch, trace, other):
    monkeypatch.setattr("icb_pymc.assess.averaging.stacking_weights", lambda scores: np.array([0.25, 0.75]))
    mixed = average({"a": trace, "b": other}, score="loo")
    first, second = (group(each, "choice_probabilities")["probability"].values for each in (trace, other))
    np.testing.assert_allclose(
        group(mixed, "choice_probabilities")["probability"].values, 0.25 * first + 0.75 * second, atol=1e-12
    )
    belief = group(mixed, "posterior")["belief"].values[1]
    likelihood = group(mixed, "log_likelihood")["chosen"].values[1]
    source = 20.0 * group(trace, "posterior")["belief"].values[1]
    of_source = group(trace, "log_likelihood")["chosen"].transpose("chain", "draw", "time").values[1]
    pairs = [(i, j) for i in range(120) for j in range(120) if np.array_equal(belief[i], source[j])]
    # A draw that was rejected is there twice.
    assert len({i for i, _ in pairs}) == 30
    for i, j in pairs:
        np.testing.assert_array_equal(likelihood[i], of_source[j])


def test_draws_keep_their_order_and_every_chain_counts():
    class Draws:
        def __init__(self, chains, draws):
            self.sizes = {"chain": chains, "draw": draws}

    shares = _allocate(np.array([0.4, 0.6]), [Draws(4, 10), Draws(2, 10)], np.random.default_rng(0))
    assert [each.draws for each in shares] == [4, 6]
    chain, draw = shares[0].source
    assert chain.tolist() == [0, 0, 2, 2, 1, 1, 3, 3]
    assert draw.tolist() == [0, 5, 0, 5, 0, 5, 0, 5]
    assert (np.diff(shares[1].target[1].reshape(2, 6)) > 0).all()
    taken = {(c, d) for share in shares for c, d in zip(*share.target, strict=True)}
    assert taken == {(c, d) for c in range(2) for d in range(10)}


def test_the_model_that_predicts_better_gets_the_weight(trace, baseline):
    """Where one model explains nearly every choice, little is left for another."""
    chosen = group(trace, "log_likelihood")["chosen"]
    sure = {name: group(trace, name) for name in group_names(trace)}
    sure["log_likelihood"] = group(trace, "log_likelihood").assign(chosen=chosen * 0 + np.log(0.99))
    result = average({"sure": from_groups(sure, trace.attrs), "baseline": baseline}, score="loo")
    models = models_in(result)
    assert models["sure"]["weight"] > 0.9
    assert models["sure"]["elpd"] > models["baseline"]["elpd"]


def test_identical_models_share_and_a_sequence_is_named_by_its_models(trace):
    result = average([trace, trace], score="loo")
    assert {name: model["draws"] for name, model in models_in(result).items()} == {"nb_icb": 60, "nb_icb 2": 60}


def test_the_order_of_the_models_changes_nothing_but_the_order_of_draws(averaged, trace, other):
    swapped = average({"moving": other, "still": trace}, score="loo")
    for name, model in models_in(averaged).items():
        assert models_in(swapped)[name]["weight"] == pytest.approx(model["weight"], abs=1e-4)
        assert models_in(swapped)[name]["draws"] == model["draws"]
    first, second = (group(each, "posterior")["belief"].values.reshape(240, -1) for each in (averaged, swapped))
    np.testing.assert_array_equal(np.sort(first, axis=0), np.sort(second, axis=0))


def test_same_seed_same_result(averaged, trace, other):
    again = average({"still": trace, "moving": other}, score="loo")
    assert again.attrs == averaged.attrs
    for name in group_names(averaged):
        assert group(again, name).equals(group(averaged, name)), name


def test_by_default_weights_are_posterior_probabilities(trace, other):
    models = models_in(average({"still": trace, "moving": other}))
    evidence = {name: float(forecasts_of(each, start=0).sum()) for name, each in (("still", trace), ("moving", other))}
    for name in models:
        assert models[name]["elpd"] == pytest.approx(evidence[name])
    odds = models["still"]["weight"] / models["moving"]["weight"]
    assert np.log(odds) == pytest.approx(evidence["still"] - evidence["moving"])


def test_forecasts_give_weights_too(trace, other):
    result = average({"still": trace, "moving": other}, score="ahead")
    assert json.loads(result.attrs["averaged"])["score"] == "ahead"
    assert 0 < models_in(result)["still"]["probability"] < 1


def test_rho_env_is_averaged_only_where_all_models_have_it(averaged, trace, baseline):
    assert "left_out" not in averaged.attrs
    partly = average({"still": trace, "baseline": baseline}, score="loo")
    assert "rho_env" not in group(partly, "posterior")
    assert "rho_env (not estimated by still)" in partly.attrs["left_out"]
    both = average([baseline, baseline], score="loo")
    np.testing.assert_allclose(group(both, "posterior")["rho_env"], -20.0 / 4)


def test_times_that_all_traces_keep(dated_decisions, trace, other):
    settings = {"draws": 20, "tune": 20, "chains": 2, "cores": 1, "seed": 0, "progressbar": False}
    thinned = fit("nb_icb", dated_decisions, every=3, **settings)
    result = average({"thinned": thinned, "moving": share(other, every=2)})
    posterior = group(result, "posterior")
    np.testing.assert_array_equal(posterior["position"], np.arange(0, 40, 6))
    check_trace(result)
    assert "log_likelihood (not in thinned)" in result.attrs["left_out"]
    with pytest.raises(InputError, match="keeps 14 of 40 times"):
        average({"thinned": thinned, "moving": other}, score="loo")
    time = dated_decisions["time"].values
    with pytest.raises(InputError, match="keep no time in common"):
        average({"a": share(trace, times=time[:2]), "b": share(other, times=time[2:4])}, score="loo")


def test_what_cannot_be_averaged_is_refused(trace, other, dated_decisions):
    shorter = fit("uniform", dated_decisions.isel(time=slice(20)))
    with pytest.raises(InputError, match="different decisions: their times differ"):
        average({"a": trace, "b": shorter})
    scaled = fit("uniform", dated_decisions.assign(context=2 * dated_decisions["context"]))
    with pytest.raises(InputError, match="different scales"):
        average({"a": trace, "b": scaled})
    with pytest.raises(InputError, match="two traces or more"):
        average([trace])
    with pytest.raises(InputError, match="score='waic'"):
        average([trace, other], score="waic")
    with pytest.raises(InputError, match="does not estimate 'belief'"):
        average({"a": trace, "b": fit("t_rex", dated_decisions, {"simplex": True})})


def test_an_average_has_converged_only_if_its_models_have(averaged):
    assert "still" in averaged.attrs["unconverged"]
    diagnosis = diagnose(averaged)
    assert not diagnosis.converged
    assert "not all models of this average have converged" in diagnosis.verdict
    assert diagnosis.advice == (
        "diagnose the trace of each model, fit again those that have not converged, and average again",
    )
    assert diagnosis.choices is not None
    assert diagnosis.unchanging is not None
    attrs = {name: value for name, value in averaged.attrs.items() if name != "unconverged"}
    groups = {name: group(averaged, name) for name in group_names(averaged)}
    # The draws of both models, with chains that do not differ: independent normal ones.
    rng = np.random.default_rng(0)
    belief = groups["posterior"]["belief"].isel(time=slice(2))
    many = np.where(rng.random((2, 1000, 1, 1)) < 0.5, 0.0, 5.0) + rng.normal(size=(2, 1000, *belief.shape[2:]))
    posterior = {"belief": (belief.dims, many)}
    sized = groups["posterior"].isel(time=slice(2), draw=[0]).drop_vars(["belief", "draw"]).assign(posterior)
    assert diagnose(from_groups({"posterior": sized}, attrs)).converged


def test_approximations_are_not_called_converged(dated_decisions, trace):
    laplace = fit("nb_icb", dated_decisions, {"alpha": 10.0}, method="laplace", draws=60, seed=0, progressbar=False)
    result = average({"mcmc": trace, "laplace": laplace})
    assert group(result, "posterior").sizes["chain"] == 1
    assert result.attrs["approximation"] == ("laplace" if models_in(result)["laplace"]["draws"] else "none")


def test_an_average_is_compared_with_a_caution_and_cannot_forecast(averaged, trace, other):
    table = compare({"average": averaged, "still": trace})
    assert "the weights of the models were chosen" in table.loc["average", "caution"]
    with pytest.raises(InputError, match="which cannot forecast: give the traces of its models"):
        average({"average": averaged, "moving": other})
    again = average({"average": averaged, "moving": other}, score="loo")
    assert group(again, "posterior").sizes["draw"] == 120


def test_impact_reads_the_weights_of_an_average(averaged, dated_decisions):
    middle = dated_decisions["time"].values[20]
    rows = impact(averaged, middle).table
    weights = log_odds_weights(averaged).mean(("chain", "draw"))
    expected = weights.isel(time=slice(20, None)).mean("time") - weights.isel(time=slice(20)).mean("time")
    np.testing.assert_allclose(rows["change"], expected, atol=1e-9)
