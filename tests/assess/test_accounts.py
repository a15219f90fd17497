"""A step, drift or no change: the evidence of each account, and how often its verdict is right."""

import numpy as np
import pymc as pm
import pytest
from scipy.special import logsumexp

from icb_pymc import fit, from_arrays, impact
from icb_pymc.assess.account_models import (
    FACTOR_SD,
    SCALES,
    Evidence,
    changing_space,
    unchanging_space,
)
from icb_pymc.assess.accounts import Accounts, compare_accounts
from icb_pymc.data.standardisation import WEIGHT_SD, contrast_spread
from icb_pymc.declare import WienerProcess, as_covariance, choose, decisions_model, linear_utility
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.results.inference_data import from_groups, group


def simulated(path, seed, actions=2, scale=1.0):
    """Decisions by softmax of weights (time, feature); features are multiplied by `scale`."""
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(len(path), actions, path.shape[1]))
    utility = (context * path[:, None, :]).sum(axis=-1) + rng.gumbel(size=(len(path), actions))
    return from_arrays(scale * context, utility.argmax(axis=1), features=list("abc"[: path.shape[1]]))


def stepping(before, after, steps):
    return np.repeat([before, after], steps // 2, axis=0)


def declared(decisions, elapsed):
    """The same account as a PyMC model: a walk whose innovations have these variances."""
    with decisions_model(decisions) as model:
        spread = contrast_spread(decisions)
        belief = WienerProcess(
            "belief",
            start_mean=np.zeros(len(spread)),
            start_covariance=as_covariance((WEIGHT_SD / spread) ** 2, len(spread)),
            innovation_covariance=as_covariance(1 / spread**2, len(spread)),
            elapsed=elapsed,
            dims=("time", "feature"),
        )
        pm.Deterministic("rho", belief, dims=("time", "feature"))
        choose(linear_utility(belief, model["context"], 1.0))
    return model


@pytest.mark.slow
def test_evidence_is_that_of_the_declared_models_averaged_over_the_scales():
    decisions, steps, at = simulated(stepping([1.0, 0.0], [0.2, 0.5], 60), 0), 60, 30
    result = compare_accounts(decisions, at, draws=10)
    density = SCALES * np.exp(-0.5 * SCALES**2)
    weight = np.log(density / density.sum())

    def log_evidence(movement, step):
        # A walk needs a positive variance: next to none stands for none.
        elapsed = np.full(steps - 1, max(movement**2 / (steps - 1), 1e-14))
        elapsed[at - 1] += step**2
        options = {"method": "laplace", "draws": 1, "progressbar": False, "log_likelihood": False}
        return fit(lambda given: declared(given, elapsed), decisions, **options).attrs["log_evidence"]

    drift = [log_evidence(movement, 0.0) for movement in SCALES]
    assert result.log_evidence["no change"] == pytest.approx(log_evidence(0.0, 0.0), abs=1e-5)
    assert result.log_evidence["drift"] == pytest.approx(logsumexp(drift + weight), abs=1e-6)
    step = [log_evidence(0.0, s) for s in SCALES]
    with_drift = [[log_evidence(m, s) for s in SCALES] for m in SCALES]
    own = np.logaddexp(logsumexp(step + weight), logsumexp(np.array(with_drift) + weight[:, None] + weight))
    # The probability of the other kind of step, one factor, is a part of the same evidence.
    assert result.log_evidence["step"] + np.log1p(-result.one_factor) == pytest.approx(own + np.log(0.25), abs=1e-5)


def test_one_factor_for_all_weights_is_larger_contrasts_from_the_event_on():
    decisions = simulated(stepping([0.5, 0.2], [1.0, 0.4], 60), 0)
    space = unchanging_space(decisions)
    sharper = changing_space(space, 30, 0.0, 0.0, np.log(2.0))
    # Candidates that differ twice as much, in units that stay the same.
    context = decisions["context"] * np.where(np.arange(60) < 30, 1.0, 2.0)[:, None, None]
    spread = contrast_spread(decisions)
    other = unchanging_space(decisions.assign(context=context))
    loading = other.state_loading * contrast_spread(decisions.assign(context=context)) / spread
    np.testing.assert_allclose(sharper.state_loading, loading)


@pytest.mark.parametrize("movement", [0.0, 0.5])
@pytest.mark.parametrize("steps", [40, 1000])
def test_evidence_of_one_factor_is_its_integral_however_wide(movement, steps):
    evidence = Evidence(simulated(stepping([1.0, 0.5], [1.5, 0.75], steps), 1), steps // 2)
    grid = np.linspace(-3, 3, 401)
    log_prior = -0.5 * (grid / FACTOR_SD) ** 2 - np.log(FACTOR_SD * np.sqrt(2 * np.pi))
    fine = logsumexp([evidence(movement, 0.0, factor) for factor in grid] + log_prior) + np.log(grid[1] - grid[0])
    assert evidence.one_factor(movement) == pytest.approx(fine, abs=0.03)


@pytest.mark.parametrize("actions", [2, 4])
def test_sharper_choices_are_told_from_a_rise_of_one_weight(actions):
    sharper, rise = (
        compare_accounts(simulated(stepping([0.6, 0.3, 0.0], after, 1500), 2, actions), 750, draws=200)
        for after in ([1.2, 0.6, 0.0], [0.6, 1.2, 0.0])
    )
    assert (sharper.best, rise.best) == ("step", "step")
    assert sharper.one_factor > 0.8
    assert rise.one_factor < 0.01
    # The weight that never counts keeps its size, and the others change in proportion.
    old, new = (sharper.draws[which].mean(axis=0) for which in ("before", "after"))
    assert new[:2] / old[:2] == pytest.approx([2.0, 2.0], rel=0.3)
    assert abs(new[2] - old[2]) < 0.15


def test_choices_that_became_sharper_are_not_said_to_give_one_feature_more_weight():
    trace = walk(simulated(stepping([0.6, 0.3, 0.0], [1.2, 0.6, 0.0], 1500), 2), 1e-4)
    result = impact(trace, {750: "guideline"})
    text = str(result)
    assert "- all choices became sharper: weights grew in proportion (a" in text
    assert "stepped up" not in text
    record = result.records()[0]
    assert record["decisiveness_verdict"] == "clear"
    assert record["one_factor"] > 0.8
    assert record["decisiveness_ratio"] == pytest.approx(2.0, rel=0.25)


@pytest.mark.parametrize("actions", [2, 4])
def test_a_step_is_told_from_drift_and_from_no_change(actions):
    cases = {
        "step": stepping([1.0, 0.5], [-0.5, 0.5], 1000),
        "drift": np.linspace([1.5, 0.5], [-1.5, 0.5], 1000),
        "no change": stepping([1.0, 0.5], [1.0, 0.5], 1000),
    }
    for name, path in cases.items():
        assert compare_accounts(simulated(path, 1, actions), 500, draws=10).best == name


def test_the_size_of_a_step_and_the_weights_around_it_are_recovered():
    result = compare_accounts(simulated(stepping([1.0, 0.5], [-0.5, 0.5], 2000), 2), 1000, ci_prob=0.99)
    row = result.steps.loc["a"]
    assert row["step_lower"] < -1.5 < row["step_upper"] < -0.5
    assert row["step_to"] - row["step_from"] == pytest.approx(row["step"])
    assert result.steps.loc["b", "step_lower"] < 0 < result.steps.loc["b", "step_upper"]


def test_the_step_of_one_weight_in_a_short_window_is_not_pulled_towards_those_that_stand_still():
    path = stepping([1.0, 0.5, 0.0], [1.0, 0.5, 1.0], 100)
    rows = [compare_accounts(simulated(path, seed), 50, ci_prob=0.95, draws=300).steps.loc["c"] for seed in range(10)]
    # Simulated features have a standard deviation of one.
    assert np.mean([row["step"] for row in rows]) == pytest.approx(1.0, abs=0.3)
    assert sum(row["step_lower"] < 1.0 < row["step_upper"] for row in rows) >= 8


def test_features_in_other_units_give_the_same_answer():
    path = stepping([1.0, 0.5], [0.5, 0.5], 400)
    one, other = (compare_accounts(simulated(path, 3, scale=scale), 200) for scale in (1.0, 1000.0))
    assert one.probability == pytest.approx(other.probability)
    np.testing.assert_allclose(one.steps["step"], other.steps["step"], rtol=1e-6)


def test_a_window_counts_only_its_own_decisions():
    path = np.concatenate([stepping([1.0, 0.5], [1.0, 0.5], 400), stepping([-2.0, 0.5], [-2.0, 0.5], 400)])
    decisions = simulated(path, 4)
    inside = compare_accounts(decisions, 200, window=slice(0, 400))
    alone = compare_accounts(decisions.isel(time=slice(0, 400)), 200)
    assert inside.probability == pytest.approx(alone.probability)
    assert inside.best == "no change"


def test_the_same_seed_gives_the_same_steps():
    decisions = simulated(stepping([1.0, 0.5], [0.0, 0.5], 200), 5)
    one, same, other = (compare_accounts(decisions, 100, random_seed=seed).steps["step"] for seed in (0, 0, 1))
    assert (one == same).all()
    assert (one != other).any()


def test_the_event_of_a_true_step_stands_out_among_placebo_dates():
    decisions = simulated(stepping([1.0, 0.5], [-0.5, 0.5], 600), 6)
    result = compare_accounts(decisions, 300, placebos=9)
    assert len(result.placebo) == 9
    assert result.placebo_share == pytest.approx(0.1)
    assert compare_accounts(decisions, 300).placebo_share == 1.0


def test_too_few_decisions_on_one_side_are_refused():
    with pytest.raises(InputError, match="3 decisions before the event and 57 after it; a step needs 10"):
        compare_accounts(simulated(stepping([1.0, 0.5], [1.0, 0.5], 60), 0), 3)


def walk(decisions, innovation_covariance):
    """A fit of a walk with this innovation in log-odds, whether the choices support it or not."""
    priors = {"alpha": 1.0, "sampling_covariance": 0.0, "start_covariance": 4.0}
    priors["innovation_covariance"] = innovation_covariance
    return fit("nb_icb", decisions, priors, method="laplace", draws=500, random_seed=0, progressbar=False)


def test_impact_names_the_account_and_judges_features_by_their_step():
    trace = walk(simulated(stepping([1.0, 0.5], [-0.5, 0.5], 800), 7), 1e-4)
    result = impact(trace, {400: "guideline"}, placebos=4)
    assert isinstance(result.accounts[0], Accounts)
    assert result.table.loc[0, "verdict"].tolist() == ["clear", "not clear"]
    assert "Best supported: a step at the event" in str(result)
    assert "a: the weight stepped down and changed its sign" in str(result)
    assert "than at any of 4 placebo dates" in str(result)
    record = result.records()[0]
    assert (record["account"], record["placebo_share"]) == ("step", 0.2)
    assert sum(record["account_probability"].values()) == pytest.approx(1.0)


def test_a_change_in_a_trace_that_the_choices_do_not_support_is_warned_of_and_not_believed():
    trace = walk(simulated(stepping([1.0, 0.5], [1.0, 0.5], 400), 9), 1e-4)
    assert impact(trace, 200).accounts[0].best == "no change"
    posterior = group(trace, "posterior")
    moved = posterior.assign(belief=posterior["belief"] + 3.0 * (posterior["time"] >= 200))
    groups = {name: group(trace, name) for name in ("observed_data", "constant_data")}
    with pytest.warns(InputWarning, match="no change of any weight is better supported"):
        result = impact(from_groups(groups | {"posterior": moved}, trace.attrs), 200)
    assert result.table.loc[(0, "a"), "change"] == pytest.approx(3.0, abs=0.5)
    assert set(result.table["verdict"]) == {"not clear"}


def test_an_event_with_few_decisions_has_no_accounts():
    trace = walk(simulated(stepping([1.0, 0.5], [1.0, 0.5], 60), 8), 1e-4)
    result = impact(trace, 5)
    assert result.accounts == (None,)
    assert "Best supported" not in str(result)


@pytest.mark.slow
def test_no_change_is_claimed_as_rarely_as_its_probability_says():
    steps, clear = [], []
    for seed in range(60):
        result = compare_accounts(simulated(stepping([1.0, 0.5], [1.0, 0.5], 600), seed), 300, draws=10)
        steps.append(result.best == "step")
        clear.append(result.probability["no change"] < 0.05)
    # With equal prior probabilities the best account is wrong in at most a few of a hundred unchanging logs.
    assert np.mean(steps) <= 0.1
    assert np.mean(clear) <= 0.05
