import inspect
import warnings

import arviz as az
import numpy as np
import pytest
import xarray as xr
from helpers.arrivals import make_arrivals

from icb_pymc import compare, fit, simulate, write_trace
from icb_pymc.assess.comparison import _left_out, compare_ahead
from icb_pymc.cli import main
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import group

OPTIONS = {"draws": 400, "tune": 100, "chains": 2, "cores": 1, "seed": 0, "progressbar": False}
STEPS = 25


@pytest.fixture(scope="module")
def decisions():
    return simulate("stationary", arrivals=make_arrivals(STEPS, 2, 1, seed=8), seed=8, hyperparameters={"alpha": 3.0})


@pytest.fixture(scope="module")
def fits(decisions):
    return {
        "b_irl": fit("b_irl", decisions, hyperparameters={"alpha": 3.0, "prior_covariance": 0.1}, **OPTIONS),
        "nb_icb": fit("nb_icb", decisions, hyperparameters={"alpha": 3.0, "innovation_covariance": 0.1}, **OPTIONS),
        "baseline": fit("uniform", decisions, **OPTIONS),
    }


def exact_leave_one_out(decisions):
    """log p(a_t | all other choices) of B-IRL with one feature, on a grid of the weight: N(0, 0.1) a priori."""
    weight = np.linspace(-4, 2, 4001)
    context, chosen = decisions["context"].values[:, :, 0], decisions["chosen"].values
    contrast = context[np.arange(STEPS), 1 - chosen] - context[np.arange(STEPS), chosen]
    each = -np.logaddexp(0.0, 3.0 * contrast[:, None] * weight)
    whole = each.sum(axis=0) - 0.5 * weight**2 / 0.1
    return np.array([np.logaddexp.reduce(whole) - np.logaddexp.reduce(whole - row) for row in each])


def test_leaving_out_each_choice_is_the_same_as_refitting_without_it(fits, decisions):
    table = compare(fits)
    exact = exact_leave_one_out(decisions)
    assert table.loc["b_irl", "elpd"] == pytest.approx(exact.sum(), abs=0.1)
    assert table.loc["b_irl", "se"] == pytest.approx(np.sqrt(STEPS) * exact.std(), rel=0.1)
    chosen = decisions["chosen"].values
    left_out = group(fits["b_irl"], "choice_probabilities")["probability"].values[np.arange(STEPS), chosen]
    np.testing.assert_allclose(np.log(left_out), exact, atol=0.1)


def test_the_table_is_sorted_and_exact_for_a_model_without_parameters(fits):
    table = compare(fits)
    assert (np.diff(table["elpd"]) <= 0).all()
    assert table["elpd_diff"].iloc[0] == table["dse"].iloc[0] == 0
    assert (table["elpd_diff"].iloc[1:] > 0).all()
    known = float(group(fits["baseline"], "log_likelihood")["chosen"].sum())
    assert table.loc["baseline", "elpd"] == pytest.approx(known)
    assert table.loc["baseline", "p_loo"] == pytest.approx(0)
    assert 0 < table.loc["b_irl", "p_loo"] < 2


def test_differences_are_those_of_arviz_and_positive_for_worse_models(fits):
    """ArviZ counts them upwards from the best model before 1.0, and downwards since."""
    two = {name: fits[name] for name in ("b_irl", "nb_icb")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Since 1.0 it rounds by default.
        exact = {"round_to": "none"} if "round_to" in inspect.signature(az.compare).parameters else {}
        expected = az.compare(two, **exact)
    table = compare(two)
    assert table.index.tolist() == expected.index.tolist()
    assert table["elpd_diff"].iloc[1] == pytest.approx(abs(float(expected["elpd_diff"].iloc[1])), abs=0.02)
    assert table["dse"].iloc[1] == pytest.approx(float(expected["dse"].iloc[1]), abs=0.02)


def test_forecasts_are_compared_from_traces_alone(fits):
    table = compare_ahead(fits, start=5)
    assert set(table.index) == set(fits)
    assert ((table["probability"] > 0) & (table["probability"] < 1)).all()
    np.testing.assert_allclose(table["elpd"], 20 * np.log(table["probability"]))


def test_what_cannot_be_compared_is_refused(fits, decisions):
    other = simulate("stationary", arrivals=make_arrivals(STEPS, 2, 1, seed=9), seed=9, hyperparameters={"alpha": 3.0})
    with pytest.raises(InputError, match="different decisions: the choices differ"):
        compare({"a": fits["b_irl"], "b": fit("uniform", other)})
    with pytest.raises(InputError, match="different decisions: their times differ"):
        compare({"a": fits["b_irl"], "b": fit("uniform", decisions.isel(time=slice(20)))})
    with pytest.raises(InputError, match="two traces or more"):
        compare({"a": fits["b_irl"]})
    short = OPTIONS | {"draws": 5, "tune": 5}
    with pytest.raises(InputError, match="keeps 13 of 25 times"):
        compare({"a": fits["b_irl"], "b": fit("nb_icb", decisions, every=2, **short)})
    with pytest.raises(InputError, match="has no log-likelihood"):
        compare({"a": fits["b_irl"], "b": fit("t_rex", decisions, hyperparameters={"simplex": True})})


def test_the_command_line_compares_and_cautions(fits, tmp_path, capsys):
    paths = []
    for name, trace in fits.items():
        paths.append(str(tmp_path / f"{name}.nc"))
        write_trace(trace, paths[-1])
    assert main(["compare", *paths]) == 0
    said = capsys.readouterr().out
    assert "is not forecasting" in said
    assert all(name in said for name in fits)
    assert main(["compare", *paths, "--ahead", "--start", "5"]) == 0
    assert "given the choices before it" in capsys.readouterr().out
    assert main(["compare", paths[0]]) == 2
    assert main(["compare", paths[0], paths[0]]) == 2
    assert main(["compare", paths[0], str(tmp_path / "nothing.nc")]) == 2
    assert main(["compare", *paths, "--start", "5"]) == 2


def test_choices_that_are_certain_in_all_draws_have_a_score():
    """Their log probabilities differ only in the tenth digit, where importance sampling fails."""
    rng = np.random.default_rng(0)
    certain = -1e-10 * rng.random((2, 200))
    certain[0, 0] = -2e-10
    values = np.stack([certain, -0.5 + 0.1 * rng.random((2, 200))], axis=-1)
    elpd, k = _left_out(xr.DataArray(values, dims=("chain", "draw", "time")))
    assert np.isfinite(elpd).all()
    assert elpd[0] == pytest.approx(0.0, abs=1e-9)
    assert k[0] == 0.0


def test_where_smoothing_fails_the_score_is_that_of_plain_importance_sampling(monkeypatch):
    """PSIS has been seen to return NaN at a choice that is all but certain in most draws."""
    values = np.log(0.9 + 0.05 * np.random.default_rng(0).random((2, 100, 2)))
    failed = xr.DataArray([np.nan, -0.1], dims="time")
    monkeypatch.setattr("icb_pymc.assess.comparison.leave_one_out", lambda *_: (failed, xr.zeros_like(failed)))
    elpd, _ = _left_out(xr.DataArray(values, dims=("chain", "draw", "time")))
    np.testing.assert_allclose(elpd, [-np.log(np.mean(1 / np.exp(values[..., 0]))), -0.1])
