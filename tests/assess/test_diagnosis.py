"""Verdicts on chains that are known to be good or bad."""

import numpy as np
import pytest
import xarray as xr

from icb_pymc import diagnose, from_arrays
from icb_pymc.cli import main
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import from_groups, group
from icb_pymc.results.traces import write_trace

ATTRS = {"model": "nb_icb", "method": "mcmc", "approximation": "none", "sampler": "utility_hmc", "interrupted": 0}
DATES = np.array("2001-01-01", "datetime64[ns]") + np.arange(5) * np.timedelta64(30, "D")


def chains(draws=500, number=4, correlation=0.0, seed=0):
    """Chains of beliefs (chain, draw, time, feature) of autoregressive draws."""
    noise = np.random.default_rng(seed).normal(size=(number, draws, 5, 2))
    for t in range(1, draws):
        noise[:, t] = correlation * noise[:, t - 1] + np.sqrt(1 - correlation**2) * noise[:, t]
    return noise


def trace_of(belief, stats=None, **attrs):
    coords = {"chain": np.arange(len(belief)), "draw": np.arange(belief.shape[1])}
    dims = ("chain", "draw", "time", "feature")
    posterior = xr.Dataset({"belief": (dims, belief)}, coords | {"time": DATES, "feature": ["age", "inr"]})
    contexts = np.random.default_rng(0).normal(size=(len(DATES), 2, 2))
    decisions = from_arrays(contexts, np.zeros(len(DATES), int), time=DATES, features=["age", "inr"])
    groups = {
        "posterior": posterior.assign(alpha=(("chain", "draw"), chains(belief.shape[1], len(belief))[:, :, 0, 0])),
        "observed_data": decisions[["chosen"]],
        "constant_data": decisions.drop_vars("chosen"),
    }
    if stats:
        groups["sample_stats"] = xr.Dataset({name: (("chain", "draw"), path) for name, path in stats.items()}, coords)
    return from_groups(groups, ATTRS | attrs)


def test_chains_that_agree_have_converged_and_constant_components_are_left_out_and_counted():
    belief = chains()
    belief[:, :, 0] = -0.5
    diagnosis = diagnose(trace_of(belief))
    assert diagnosis.converged
    assert diagnosis.blocks.loc["belief", ["components", "constant"]].tolist() == [10, 2]
    assert diagnosis.blocks.loc["belief", "R-hat"] < 1.01
    assert "converged: the chains agree" in str(diagnosis)
    assert not any("2001-01-01" in component for _, component in diagnosis.worst.index)


def test_a_chain_that_differs_is_detected_and_the_component_named_by_date_and_feature():
    belief = chains()
    belief[2, :, 3, 1] += 3.0
    diagnosis = diagnose(trace_of(belief))
    assert not diagnosis.converged
    assert diagnosis.worst.index[0] == ("belief", "time 2001-04-01, feature inr")
    assert diagnosis.worst["position"].iloc[0] == (3, 1)
    assert "have not converged to the same distribution" in diagnosis.verdict
    assert any("another sampler" in line for line in diagnosis.advice)


def test_with_too_few_effective_draws_the_advice_is_how_many_more_to_make():
    diagnosis = diagnose(trace_of(chains(draws=3000, correlation=0.9)))
    least = diagnosis.blocks.loc["belief", ["bulk ESS", "tail ESS"]].min()
    assert diagnosis.converged == (least >= 400 and diagnosis.blocks.loc["belief", "R-hat"] < 1.015)
    short = diagnose(trace_of(chains(draws=60)))
    assert not short.converged
    (line,) = [line for line in short.advice if "use more draws" in line]
    asked = int(line.split("about ")[1].split(" ")[0])
    least = short.blocks.loc["belief", ["bulk ESS", "tail ESS"]].min()
    assert asked >= 60 * 400 / least


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"approximation": "laplace", "method": "laplace"}, "Gaussian around the mode"),
        ({"approximation": "em", "method": "em"}, "point estimates"),
        ({"method": "estimate"}, "point estimate, not a posterior"),
    ],
)
def test_an_approximation_is_never_converged_and_the_verdict_says_why(change, sentence):
    diagnosis = diagnose(trace_of(chains(number=1), **change))
    assert not diagnosis.converged
    assert sentence in diagnosis.verdict
    assert "NOT converged" not in str(diagnosis)


def slightly_apart(size):
    """Chains of 2,000 independent draws of which one lies a little apart."""
    belief = chains(draws=2000)
    belief[2, :, 3, 1] += size
    return trace_of(belief)


def test_an_r_hat_hardly_above_its_limit_is_not_a_failure_and_the_worst_is_named():
    diagnosis = diagnose(slightly_apart(0.35))
    rhat = diagnosis.blocks["R-hat"].max()
    assert 1.01 < rhat < 1.015
    assert diagnosis.converged
    assert "hardly above the limit of 1.01, which 1 of 11 quantities exceed" in diagnosis.verdict
    assert "belief at time 2001-04-01, feature inr" in diagnosis.verdict
    far = diagnose(slightly_apart(0.5))
    assert not far.converged
    excess = far.blocks["R-hat"].max() - 1.01
    assert f"R-hat is {excess:.3f} above the limit of 1.01, which 1 of 11 quantities exceed" in far.verdict


def test_limits_are_arguments_and_options(tmp_path, capsys):
    trace, path = slightly_apart(0.5), str(tmp_path / "trace.nc")
    write_trace(trace, path)
    assert diagnose(trace, rhat_limit=1.05, ess_limit=100).converged
    assert not diagnose(trace, rhat_limit=1.05, ess_limit=100_000).converged
    assert main(["diagnose", path]) == 1
    assert main(["diagnose", path, "--rhat", "1.05", "--ess", "100"]) == 0
    assert main(["diagnose", path, "--rhat", "0.9"]) == 2
    assert "give limits above 1" in capsys.readouterr().err


def test_what_was_not_checked_is_said_with_the_reason():
    sampled = trace_of(chains())
    assert "choices: not checked, because the trace has no choice probabilities" in str(diagnose(sampled))
    posterior = group(sampled, "posterior").isel(time=[0, 4])
    thinned = from_groups({"posterior": posterior, "constant_data": group(sampled, "constant_data")}, sampled.attrs)
    assert "keeps 2 of 5 times" in diagnose(thinned).left_out


def test_small_numbers_are_not_printed_as_zero():
    trace = trace_of(chains())
    posterior = group(trace, "posterior")
    small = from_groups({"posterior": posterior.assign(variance=1e-6 * posterior["alpha"] ** 2)}, trace.attrs)
    (row,) = [line for line in str(diagnose(small)).splitlines() if line.split()[:1] == ["variance"] and "e-0" in line]
    assert "0.0000" not in row


def test_one_chain_few_draws_or_no_numbers_have_not_converged():
    single = diagnose(trace_of(chains(number=1)))
    assert not single.converged
    assert "R-hat needs two" in single.verdict
    assert np.isnan(single.blocks.loc["belief", "R-hat"])
    assert "too few" in diagnose(trace_of(chains(draws=5))).verdict
    broken = chains()
    broken[0, 0, 0, 0] = np.nan
    diagnosis = diagnose(trace_of(broken))
    assert not diagnosis.converged
    assert "not finite" in diagnosis.verdict
    with pytest.raises(InputError, match="no draws"):
        diagnose(from_groups({"posterior": xr.Dataset()}, ATTRS))


def test_sampler_statistics_are_reported_by_chain_with_warnings():
    belief = chains()
    accept = np.full(belief.shape[:2], 0.9)
    accept[3] = 0.1
    diverging = np.zeros(belief.shape[:2], bool)
    diverging[1, :7] = True
    stats = {"hmc_accept": accept, "hyper_accept": np.full_like(accept, np.nan), "diverging": diverging}
    diagnosis = diagnose(trace_of(belief, stats, interrupted=1))
    np.testing.assert_allclose(diagnosis.acceptance.loc["hmc_accept"], [0.9, 0.9, 0.9, 0.1])
    assert diagnosis.acceptance.loc["divergences"].tolist() == [0, 7, 0, 0]
    assert "hyper_accept" not in diagnosis.acceptance.index
    said = "\n".join(diagnosis.advice)
    assert "7 divergences" in said
    assert "hmc_accept is 0.10 in chain 3" in said
    assert "interrupted" in said


def test_the_kernel_of_the_paper_gets_a_warning_even_if_chains_agree():
    diagnosis = diagnose(trace_of(chains(), kernel="paper"))
    assert diagnosis.converged
    assert any("does not leave the posterior invariant" in line for line in diagnosis.advice)


def test_exit_codes_for_converged_not_converged_and_no_trace(tmp_path, capsys):
    good, bad = (str(tmp_path / name) for name in ("good.nc", "bad.nc"))
    write_trace(trace_of(chains()), good)
    write_trace(trace_of(chains(draws=20)), bad)
    picture = tmp_path / "diagnosis.png"
    assert main(["diagnose", good, "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["diagnose", bad]) == 1
    assert "NOT converged" in capsys.readouterr().out
    assert main(["diagnose", str(tmp_path / "nothing.nc")]) == 2
    assert main(["diagnose", good, "-o", str(tmp_path / "picture.doc")]) == 2


def test_a_real_trace_is_diagnosed_from_its_file_alone(trace):
    diagnosis = diagnose(trace)
    assert set(diagnosis.blocks.index) == {"belief", "rho"}
    assert {"hmc_accept", "hmc_steps", "|hmc_energy_error|"} <= set(diagnosis.acceptance.index)
    assert diagnosis.choices is not None
    assert "calibration error" in str(diagnosis)
    np.testing.assert_allclose(
        diagnosis.worst["mean"].iloc[0],
        group(trace, "posterior")[diagnosis.worst.index[0][0]]
        .values[(slice(None), slice(None), *diagnosis.worst["position"].iloc[0])]
        .mean(),
    )


@pytest.mark.slow
def test_the_papers_kernel_at_its_settings_has_not_converged_and_the_exact_engine_has():
    from icb_pymc import fit, simulate

    decisions = simulate("sampling", steps=500, seed=0)
    options = {"preset": "paper", "seed": 0, "progressbar": False}
    printed = diagnose(fit("nb_icb", decisions, chains=2, **options))
    assert not printed.converged
    assert printed.blocks.loc["belief", "R-hat"] > 1.05
    exact = diagnose(fit("nb_icb", decisions, kernel="engine", tune=500, chains=4, **options))
    assert exact.converged, str(exact)
