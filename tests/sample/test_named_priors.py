"""Priors written as text: the same distributions as PyMC's, and nothing else."""

import json

import numpy as np
import pymc as pm
import pytest

from icb_pymc import fit
from icb_pymc.cli import main
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import group
from icb_pymc.results.traces import read_trace
from icb_pymc.sample.named_priors import FAMILIES, improper, prior_from_text, text_of_prior

NUMBERS = {"sigma": 0.7, "beta": 2.0, "nu": 4.0, "lam": 3.0, "mu": -1.0, "alpha": 1.5, "lower": 0.5, "upper": 2.5}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("each", [False, True])
def test_a_text_is_the_distribution_that_it_names_and_comes_back(family, each):
    arguments = {name: NUMBERS[name] for name in FAMILIES[family].arguments}
    text = f"{family}({', '.join([*(f'{value:g}' for value in arguments.values()), *(['each'] if each else [])])})"
    prior = prior_from_text("start_mean", text, features=3)
    assert prior.type.shape == ((3,) if each else ())
    expected = getattr(pm, family).dist(**arguments)
    at = np.full(prior.type.shape, 0.8)
    np.testing.assert_allclose(pm.logp(prior, at).eval(), pm.logp(expected, at).eval(), rtol=1e-6)
    assert text_of_prior(prior, features=3) == text
    assert improper(prior) == ("Flat" in family)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Gama(1, 1)", "no family 'Gama'; there are HalfNormal"),
        ("Gamma(1)", r"write it as Gamma\(alpha, beta\), with numbers"),
        ("Gamma(1, 2, 3)", r"write it as Gamma\(alpha, beta\)"),
        ("Gamma(1, rate=2)", r"write it as Gamma\(alpha, beta\)"),
        ("Gamma(__import__('os').getpid(), 1)", r"write it as Gamma\(alpha, beta\)"),
        ("Gamma(1e400, 1)", r"write it as Gamma\(alpha, beta\)"),
        ("Gamma(-1, 2)", "alpha of Gamma must be a positive number"),
        ("Uniform(2, 1)", "must be less than the second"),
        ("Uniform(-1, 1)", "cannot be negative"),
        ("Normal(0, 1)", "cannot be negative"),
        ("HalfFlat(2)", "write it as HalfFlat"),
        ("pm.Gamma(1, 1)", "like Gamma"),
        ("(", "like Gamma"),
        ("", "like Gamma"),
    ],
)
def test_what_is_no_prior_of_this_hyperparameter_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(InputError, match=sentence) as refusal:
        prior_from_text("alpha", text, features=3)
    assert "\n" not in str(refusal.value)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    rows = ["choice,left,right", *(f"{rng.integers(2)},{a:.3f},{b:.3f}" for a, b in rng.normal(size=(60, 2)))]
    path = tmp_path_factory.mktemp("table") / "log.csv"
    path.write_text("\n".join(rows))
    return path


def test_the_command_line_learns_a_variance_for_each_weight_under_a_flat_prior(table, tmp_path, capsys):
    output = tmp_path / "trace.nc"
    options = ["--method", "laplace", "--draws", "5", "--seed", "0", "-o", str(output)]
    assert main(["fit", "nb_icb", str(table), "--prior", "innovation_covariance=HalfFlat(each)", *options]) == 0
    trace = read_trace(output)
    assert group(trace, "posterior")["innovation_covariance"].dims == ("chain", "draw", "feature")
    stored = json.loads(trace.attrs["hyperparameters"])
    assert stored["innovation_covariance"] == {"distribution": "HalfFlat(each)"}
    capsys.readouterr()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--prior", "innovation_covariance=HalfFlat"], "flat prior of 'innovation_covariance' has no integral"),
        (["--prior", "alfa=Gamma(1, 1)"], "no hyperparameter 'alfa'"),
        (["--prior", "alpha"], "write it as NAME=FAMILY"),
        (["--prior", "alpha=Gamma(1, 1)", "--learn", "alpha"], "given twice"),
        (["--prior", "start_covariance=Gamma(1, 1)"], "cannot take it as a random variable"),
        (["--prior", "mean_reward=Gamma(1, 1)"], "cannot take it as a random variable"),
        (["--prior", "unit_of_time=Gamma(1, 1)"], "unit of time"),
    ],
)
def test_the_command_refuses_what_it_cannot_learn(table, tmp_path, capsys, options, sentence):
    output = tmp_path / "trace.nc"
    assert main(["fit", "nb_icb", str(table), *options, "-o", str(output)]) == 2
    assert sentence in capsys.readouterr().err
    assert not output.exists()


def test_draws_of_a_hyperparameter_follow_the_prior_that_was_written(dated_decisions):
    prior = prior_from_text("alpha", "Uniform(2, 3)", features=4)
    options = {"draws": 200, "tune": 150, "chains": 1, "seed": 0, "progressbar": False}
    given = {"alpha": prior, "innovation_covariance": 1e-3, "start_covariance": 1.0}
    posterior = group(fit("nb_icb", dated_decisions, given, **options), "posterior")
    assert ((posterior["alpha"] > 2) & (posterior["alpha"] < 3)).all()
    assert posterior["alpha"].std() > 0.05
