"""Hierarchical NB-ICB compared with its definition, with NUTS, and with NB-ICB where the two are the same."""

import numpy as np
import pymc as pm
import pytest
from helpers.agreement import standard_error, z_scores
from helpers.arrivals import make_arrivals
from helpers.dense_walks import dense_covariance

from icb_pymc import fit, read_trace, simulate, write_trace
from icb_pymc.assess.forecasts import one_step_ahead
from icb_pymc.data.clocks import own_moments
from icb_pymc.data.deciders import decisions_by, with_agents
from icb_pymc.errors import InputError
from icb_pymc.models import hierarchical_nb_icb
from icb_pymc.results.inference_data import group

KNOWN = {"innovation_covariance": 0.1, "sampling_covariance": 0.2, "alpha": 3.0, "start_covariance": 0.4}
SHARED = KNOWN | {"clock": "calendar"}
KINDS = {
    "constant deviations": {"deviation_covariance": np.array([0.8, 0.3])},
    "moving deviations": {"deviation_covariance": 0.3, "deviation_innovation_covariance": np.array([0.1, 0.4])},
}
DECIDER = np.array([1, 0, 1, 1, 2, 0])
QUICK = {"tune": 100, "chains": 2, "seed": 1, "log_likelihood": False, "progressbar": False}


def make_decisions(agents, seed=1):
    arrivals = make_arrivals(len(agents), 3, 2, seed=seed, share_available=0.8)
    rng = np.random.default_rng(seed)
    chosen = [rng.choice(np.flatnonzero(row)) for row in arrivals["available"].values]
    return with_agents(arrivals.assign(chosen=("time", np.array(chosen))), agents)


@pytest.fixture(scope="module")
def decisions():
    return make_decisions(DECIDER)


@pytest.fixture(scope="module")
def alone():
    return make_decisions(["Turin"] * 12)


@pytest.fixture(scope="module", params=KINDS)
def fitted(request, decisions):
    options = SHARED | KINDS[request.param]
    return options, fit("hierarchical_nb_icb", decisions, options, draws=2500, **QUICK)


def dense_prior(options):
    """Covariances over decisions and features of the trend and of the deviation of the agent that decides."""
    clock = np.arange(6.0)
    trend = np.kron(np.full((6, 6), 0.4) + 0.1 * np.minimum.outer(clock, clock), np.eye(2))
    start = options["deviation_covariance"] * np.eye(2)
    move = options.get("deviation_innovation_covariance", 0.0) * np.eye(2)
    return trend, dense_covariance(DECIDER, np.ones(5), start, move)


def choice_weights(decisions, rho):
    """Weights of draws of rho (draw, time, feature): the probabilities of the choices, normalised."""
    utility = 3.0 * np.einsum("tak,ntk->nta", decisions["context"].values, rho)
    utility = np.where(decisions["available"].values, utility, -np.inf)
    taken = utility[:, np.arange(6), decisions["chosen"].values]
    weight = np.exp((taken - np.logaddexp.reduce(utility, axis=2)).sum(axis=1))
    return weight / weight.sum()


def weighted_posterior(decisions, options, draws=100_000):
    """Means of trend and belief by their definition: prior draws, weighted by the choices."""
    rng = np.random.default_rng(0)
    covariances = [*dense_prior(options), 0.2 * np.eye(12)]
    trend, deviation, noise = (
        rng.multivariate_normal(np.zeros(12), covariance, draws, method="eigh").reshape(draws, 6, 2)
        for covariance in covariances
    )
    weight = choice_weights(decisions, trend + deviation + noise)
    draws_of_both = np.stack([trend, trend + deviation])
    mean = np.einsum("n,vntk->vtk", weight, draws_of_both)
    error = np.sqrt(np.einsum("n,vntk->vtk", weight**2, (draws_of_both - mean[:, None]) ** 2))
    return mean, error


def test_the_posterior_is_that_of_the_definition(decisions, fitted):
    options, trace = fitted
    expected, error = weighted_posterior(decisions, options)
    posterior = group(trace, "posterior")
    draws = np.stack([posterior["trend"].values, posterior["belief"].values], axis=2)
    scores = (draws.mean(axis=(0, 1)) - expected) / np.hypot(standard_error(draws), error)
    assert np.abs(scores).max() < 4.5
    assert np.sqrt(np.mean(scores**2)) < 1.6


OWN = KNOWN | {"deviation_covariance": np.array([0.8, 0.3])}


def test_on_clocks_of_their_own_the_posterior_is_that_of_the_definition(decisions):
    trials = np.array([0, 0, 1, 2, 0, 1])
    same = DECIDER[:, None] == DECIDER
    deviation = np.kron(same, np.diag([0.8, 0.3])) + np.kron(same * np.minimum.outer(trials, trials), 0.1 * np.eye(2))
    covariances = [np.kron(np.full((6, 6), 0.4), np.eye(2)), deviation, 0.2 * np.eye(12)]
    rng, draws = np.random.default_rng(0), 100_000
    population, moved, noise = (
        rng.multivariate_normal(np.zeros(12), covariance, draws, method="eigh").reshape(draws, 6, 2)
        for covariance in covariances
    )
    weight = choice_weights(decisions, population + moved + noise)
    wanted = np.stack([population, population + moved, population + moved + noise])
    expected = np.einsum("n,vntk->vtk", weight, wanted)
    error = np.sqrt(np.einsum("n,vntk->vtk", weight**2, (wanted - expected[:, None]) ** 2))

    trace = fit("hierarchical_nb_icb", decisions, OWN, draws=2500, keep_latents=True, **QUICK)
    assert trace.attrs["sampler"] == "utility_hmc"
    posterior = group(trace, "posterior")
    shown = posterior["population"].expand_dims(time=6).transpose("chain", "draw", "time", "feature").values
    found = np.stack([shown, posterior["belief"].values, posterior["rho"].values], axis=2)
    scores = (found.mean(axis=(0, 1)) - expected) / np.hypot(standard_error(found), error)
    assert np.abs(scores).max() < 4.5
    assert np.sqrt(np.mean(scores**2)) < 1.6


def test_the_order_of_agents_in_the_log_does_not_matter_on_clocks_of_their_own(decisions):
    sorted_log = decisions.isel(time=np.argsort(DECIDER, kind="stable")).assign_coords(time=decisions["time"].values)
    options = {"method": "laplace", "draws": 2, "seed": 1, "progressbar": False}
    one, other = (fit("hierarchical_nb_icb", log, OWN, **options) for log in (decisions, sorted_log))
    assert one.attrs["log_evidence"] == pytest.approx(other.attrs["log_evidence"], abs=1e-8)


def test_time_on_own_clocks_is_counted_or_measured_for_each_agent(decisions):
    np.testing.assert_allclose(own_moments(decisions), np.array([0, 0, 1, 2, 0, 1]) / 2)
    days = np.array(
        ["2001-01-01", "2001-01-01", "2001-01-03", "2001-01-11", "2001-01-20", "2001-01-06"], "datetime64[D]"
    )
    dated = decisions.assign_coords(time=np.sort(days))
    np.testing.assert_allclose(own_moments(dated), np.array([0, 0, 2, 5, 0, 19]) / 19)
    np.testing.assert_allclose(own_moments(dated, "1D", as_shares=False), [0, 0, 2, 5, 0, 19])


def test_the_belief_is_the_trend_plus_the_deviation_of_the_agent_that_decides(decisions, fitted):
    posterior = group(fitted[1], "posterior")
    deviation = posterior["deviation"]
    shown = deviation.isel(agent=decisions["decider"]) if "agent" in deviation.dims else deviation
    total = (posterior["trend"] + shown).transpose(*posterior["belief"].dims)
    # Each is kept as float32.
    np.testing.assert_allclose(posterior["belief"], total, atol=1e-6)


def test_a_trace_still_has_the_deciders_after_it_was_written_and_read(decisions, fitted, tmp_path):
    write_trace(fitted[1], tmp_path / "trace.nc")
    again = read_trace(tmp_path / "trace.nc")
    data = group(again, "constant_data")
    assert data["agent"].values.tolist() == ["0", "1", "2"]
    np.testing.assert_array_equal(data["decider"], decisions["decider"])
    for name in ("trend", "deviation", "belief"):
        np.testing.assert_array_equal(group(again, "posterior")[name], group(fitted[1], "posterior")[name])


def test_without_deviations_draws_are_those_of_nb_icb(alone):
    options = {"draws": 50, **QUICK}
    hierarchical = fit("hierarchical_nb_icb", alone, SHARED | {"deviation_covariance": 0.0}, **options)
    plain = fit("nb_icb", alone, KNOWN, **options)
    np.testing.assert_array_equal(*(group(trace, "posterior")["belief"] for trace in (hierarchical, plain)))


@pytest.mark.parametrize("kind", KINDS)
def test_one_agent_with_a_deviation_is_nb_icb_with_the_sum_of_the_covariances(alone, kind):
    given = {"deviation_innovation_covariance": 0.0} | KINDS[kind]
    options = {"method": "laplace", "draws": 2, "seed": 1, "progressbar": False}
    hierarchical = fit("hierarchical_nb_icb", alone, SHARED | given, **options)
    wider = KNOWN | {
        "start_covariance": 0.4 + given["deviation_covariance"],
        "innovation_covariance": 0.1 + given["deviation_innovation_covariance"],
    }
    plain = fit("nb_icb", alone, wider, **options)
    assert hierarchical.attrs["log_evidence"] == pytest.approx(plain.attrs["log_evidence"], abs=1e-8)


def test_the_posterior_of_the_deviation_covariances_is_that_of_the_definition(decisions):
    scale = 1.0
    names = ("deviation_covariance", "deviation_innovation_covariance")
    priors = {name: pm.LogNormal.dist(np.log(0.3), scale) for name in names}
    trace = fit("hierarchical_nb_icb", decisions, SHARED | priors, draws=1200, **QUICK)
    assert trace.attrs["sampler"] == "utility_hmc"
    logs = np.stack([np.log(group(trace, "posterior")[name].values) for name in names], axis=-1)

    rng, draws = np.random.default_rng(0), 100_000
    drawn = np.log(0.3) + scale * rng.standard_normal((draws, 2))
    trend, _ = dense_prior({"deviation_covariance": 0.0})
    start, moves = (
        dense_covariance(DECIDER, np.ones(5), *parts)
        for parts in ((np.eye(2), 0 * np.eye(2)), (0 * np.eye(2), np.eye(2)))
    )
    rho, first, moved = (
        rng.multivariate_normal(np.zeros(12), covariance, draws, method="eigh")
        for covariance in (trend + 0.2 * np.eye(12), start, moves)
    )
    rho += np.exp(drawn[:, :1] / 2) * first + np.exp(drawn[:, 1:] / 2) * moved
    weight = choice_weights(decisions, rho.reshape(draws, 6, 2))
    expected = weight @ drawn
    error = np.sqrt(weight**2 @ (drawn - expected) ** 2)
    assert np.abs((logs.mean(axis=(0, 1)) - expected) / np.hypot(standard_error(logs), error)).max() < 4
    assert np.hypot(standard_error(logs), error).max() < 0.1


def test_decisions_of_several_agents_may_share_their_times(decisions):
    shared = decisions.assign_coords(time=[1, 1, 1, 2, 2, 2])
    trace = fit(
        "hierarchical_nb_icb",
        shared,
        SHARED | KINDS["moving deviations"] | {"unit_of_time": 1},
        draws=20,
        **QUICK,
    )
    assert np.isfinite(group(trace, "posterior")["belief"]).all()


def test_missing_deciders_and_moves_from_zero_covariance_are_refused(decisions):
    with pytest.raises(InputError, match="needs to know who decided"):
        hierarchical_nb_icb(decisions_by(decisions, "1"))
    with pytest.raises(InputError, match="so that weights never change: give a small one"):
        hierarchical_nb_icb(decisions, total_movement=0.0)
    with pytest.raises(InputError, match="deviation_covariance is zero"):
        hierarchical_nb_icb(decisions, clock="calendar", deviation_covariance=0.0, deviation_innovation_covariance=0.1)
    with pytest.raises(InputError, match="set clock='calendar'"):
        hierarchical_nb_icb(decisions, deviation_innovation_covariance=0.1)
    with pytest.raises(InputError, match="clock='wall': it must be 'own' or 'calendar'"):
        hierarchical_nb_icb(decisions, clock="wall")
    with pytest.raises(InputError, match="cannot forecast one step ahead where each subject has a clock of its own"):
        one_step_ahead("hierarchical_nb_icb", decisions, OWN)


def test_agents_with_few_decisions_are_estimated_better_together_than_separately():
    agents = 8
    rng = np.random.default_rng(0)
    trend, deviation = np.array([0.6, -0.3, 0.1]), 0.3 * rng.normal(size=(agents, 3))
    decider = rng.permutation(np.repeat(np.arange(agents), 25))
    context = rng.normal(size=(len(decider), 2, 3))
    utility = 3 * np.einsum("tak,tk->ta", context, trend + deviation[decider])
    arrivals = make_arrivals(len(decider), 2, 3)
    arrivals["context"] = (("time", "action", "feature"), context)
    chosen = np.argmax(utility + rng.gumbel(size=utility.shape), axis=1)
    decisions = with_agents(arrivals.assign(chosen=("time", chosen)), decider)
    options = {"method": "laplace", "draws": 100, "seed": 0, "progressbar": False}
    known = {"alpha": 3.0, "innovation_covariance": 1e-6, "sampling_covariance": 0.0}

    def error(trace, truth):
        mean = group(trace, "posterior")["belief"].mean(("chain", "draw"))
        return float(np.abs(mean.values - truth).sum(axis=1).mean())

    truth = trend + deviation[decider]
    together = fit(
        "hierarchical_nb_icb",
        decisions,
        known | {"clock": "calendar", "start_covariance": 0.3, "deviation_covariance": 0.09},
        **options,
    )
    pooled = fit("nb_icb", decisions, known | {"start_covariance": 0.3}, **options)
    apart = [
        error(
            fit("nb_icb", decisions_by(decisions, str(j)), known | {"start_covariance": 0.39}, **options),
            trend + deviation[j],
        )
        for j in range(agents)
    ]
    assert error(together, truth) < min(error(pooled, truth), np.mean(apart))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_and_nuts_agree(decisions, kind):
    options = {"chains": 2, "seed": 1, "progressbar": False, "hyperparameters": SHARED | KINDS[kind]}
    ours = group(fit("hierarchical_nb_icb", decisions, draws=3000, tune=300, **options), "posterior")
    nuts = group(fit("hierarchical_nb_icb", decisions, draws=1000, tune=300, kernel="nuts", **options), "posterior")
    for name in ("belief", "trend", "deviation"):
        scores = z_scores(ours[name].values, nuts[name].values)
        assert np.abs(scores).max() < 5
        assert np.sqrt(np.mean(scores**2)) < 1.8


@pytest.mark.parametrize(("kind", "dims"), [("constant deviations", ("agent", "feature")), ("moving deviations", None)])
def test_simulated_decisions_contain_the_trend_and_the_deviations(decisions, kind, dims):
    drawn = simulate("hierarchical_nb_icb", arrivals=decisions, seed=1, hyperparameters=SHARED | KINDS[kind])
    assert drawn["true_deviation"].dims == (dims or ("time", "feature"))
    shown = drawn["true_deviation"].values[DECIDER] if dims else drawn["true_deviation"].values
    np.testing.assert_allclose(drawn["true_belief"], drawn["true_trend"].values + shown)
    np.testing.assert_array_equal(drawn["decider"], decisions["decider"])
