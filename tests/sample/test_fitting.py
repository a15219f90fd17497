import json

import numpy as np
import pytest
import xarray as xr
from helpers.settings import NB_ICB

from icb_pymc import fit
from icb_pymc.assess.metrics import unit_weights
from icb_pymc.errors import InputError
from icb_pymc.models import nb_icb
from icb_pymc.results.inference_data import group, group_names


def test_a_fit_holds_posterior_decisions_and_how_it_was_made(trace, dated_decisions):
    posterior = group(trace, "posterior")
    assert posterior["belief"].dims == ("chain", "draw", "time", "feature")
    assert posterior["belief"].shape == (2, 120, 40, 4)
    np.testing.assert_array_equal(posterior["time"], dated_decisions["time"])
    assert posterior["feature"].values.tolist() == dated_decisions["feature"].values.tolist()
    stats = group(trace, "sample_stats")
    assert {"hmc_accept", "hmc_energy_error", "hmc_path_length", "hmc_steps"} <= set(stats.data_vars)
    np.testing.assert_array_equal(group(trace, "observed_data")["chosen"], dated_decisions["chosen"])
    xr.testing.assert_equal(group(trace, "constant_data"), dated_decisions.drop_vars("chosen"))
    assert trace.attrs["model"] == "nb_icb"
    assert trace.attrs["sampler"] == "utility_hmc"
    assert json.loads(trace.attrs["hyperparameters"])["alpha"] == 20.0
    assert trace.attrs["seed"] == 1
    assert {"pymc", "numpy"} <= set(json.loads(trace.attrs["versions"]))
    assert trace.attrs["seconds"] > 0


def test_rho_is_not_kept_unless_asked_for_and_the_seed_fixes_the_rest(trace, dated_decisions):
    again = fit(nb_icb, dated_decisions, NB_ICB, draws=120, tune=50, chains=2, cores=1, seed=1, progressbar=False)
    assert list(group(again, "posterior").data_vars) == ["belief"]
    assert {"log_likelihood", "choice_probabilities"} <= set(group_names(again))
    both = fit(nb_icb, dated_decisions, NB_ICB, draws=120, tune=50, chains=2, cores=2, seed=1, progressbar=False)
    np.testing.assert_array_equal(group(again, "posterior")["belief"], group(both, "posterior")["belief"])


def test_the_paper_preset_sets_model_and_sampler_and_what_is_given_goes_before_it(dated_decisions):
    short = {"draws": 5, "tune": 2, "progressbar": False, "seed": 0}
    result = fit("nb-icb", dated_decisions, preset="paper", hyperparameters={"alpha": 10.0}, **short)
    assert result.attrs["preset"] == "paper"
    assert "kernel paper" in result.attrs["sampler"]
    hyperparameters = json.loads(result.attrs["hyperparameters"])
    assert (hyperparameters["alpha"], hyperparameters["start_mean"]) == (10.0, -0.25)
    assert group(result, "posterior").sizes == {"chain": 1, "draw": 5, "time": 40, "feature": 4}


def test_the_posterior_follows_a_change_of_priorities():
    """Without the data the belief stays at its start; with them it goes three quarters of the way to the truth."""
    from helpers.arrivals import make_arrivals

    from icb_pymc import simulate

    decisions = simulate("stepping", arrivals=make_arrivals(400, 2, 3, seed=5), seed=5)
    given = {"innovation_covariance": 1e-3, "sampling_covariance": 1e-3, "start_mean": -1 / 3}
    result = fit("nb_icb", decisions, given, draws=300, tune=200, chains=2, seed=2, progressbar=False)
    belief = group(result, "posterior")["belief"].mean(("chain", "draw"))
    late = slice(300, None)
    start = abs(-1 / 3 - decisions["true_belief"]).sum("feature")[late].mean()
    fitted = abs(unit_weights(belief) - decisions["true_belief"]).sum("feature")[late].mean()
    assert fitted < 0.25 * start


@pytest.mark.parametrize(
    ("model", "options", "sentence"),
    [
        ("nb_ibc", {}, "did you mean 'nb_icb'"),
        ("nb_icb", {"preset": "mine"}, "no preset 'mine'"),
        ("nb_icb", {"hyperparameters": {"beta": 1}}, "no hyperparameter 'beta'"),
        ("nb_icb", {"draws": 0}, "draws=0"),
        ("nb_icb", {"kernel": "fast"}, "'gibbs' or 'paper'"),
        ("nb_icb", {"method": "laplace", "chains": 2}, "leave chains out"),
        ("nb_icb", {"method": "laplace", "kernel": "engine"}, "leave kernel out"),
        ("nb_icb", {"method": "laplace", "sweeps": 2}, "leave sweeps out"),
        ("nb_icb", {"method": "laplace", "iterations": 2}, "leave iterations out"),
        ("nb_icb", {"sweeps": 2}, "only the kernels 'gibbs' and 'paper' make them"),
        ("nb_icb", {"iterations": 2}, "those of method 'em'"),
        ("t_rex", {"learn": ["steps"]}, "'estimate' takes no priors"),
    ],
)
def test_what_cannot_be_fitted_is_refused(model, options, sentence, dated_decisions):
    with pytest.raises(InputError, match=sentence):
        fit(model, dated_decisions, **options)


def test_an_interrupted_fit_says_so_and_the_command_line_writes_nothing(dated_decisions, monkeypatch, tmp_path, capsys):
    from icb_pymc.cli import main
    from icb_pymc.steps import RhoMetropolis

    made, step = [], RhoMetropolis.step

    def interrupted_step(self, point):
        made.append(1)
        if len(made) == 60:
            raise KeyboardInterrupt
        return step(self, point)

    monkeypatch.setattr(RhoMetropolis, "step", interrupted_step)
    options = {"draws": 50, "tune": 20, "chains": 1, "cores": 1, "sweeps": 1, "seed": 1, "kernel": "gibbs"}
    result = fit("nb_icb", dated_decisions, NB_ICB, **options, progressbar=False)
    assert result.attrs["interrupted"] == 1
    assert result.attrs["draws"] == group(result, "posterior").sizes["draw"] < 50

    made.clear()
    dated_decisions.to_netcdf(tmp_path / "decisions.nc", engine="h5netcdf")
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    words += [word for name, value in NB_ICB.items() for word in ("--set", f"{name}={value}")]
    assert main(["fit", "nb_icb", str(tmp_path / "decisions.nc"), *words, "-o", str(tmp_path / "trace.nc")]) == 130
    assert "no incomplete file was written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["decisions.nc"]


def test_a_model_of_ones_own_may_take_plain_arguments_be_partial_and_compute_its_belief(dated_decisions):
    from functools import partial

    import pymc as pm

    from icb_pymc.declare.choice import linear_utility
    from icb_pymc.declare.model import choose, decisions_model

    def constant(decisions, alpha=2.0):
        with decisions_model(decisions) as model:
            weights = pm.Normal("weights", dims="feature")
            belief = pm.Deterministic("belief", weights * np.ones((40, 1)), dims=("time", "feature"))
            choose(linear_utility(belief, model["context"], alpha))
        return model

    options = {"draws": 20, "tune": 20, "chains": 1, "cores": 1, "seed": 0, "progressbar": False}
    result = fit(partial(constant), dated_decisions, hyperparameters={"alpha": 3.0}, **options)
    assert result.attrs["model"] == "constant"
    assert json.loads(result.attrs["hyperparameters"]) == {"alpha": 3.0}
    assert group(result, "posterior")["belief"].shape == (1, 20, 40, 4)
