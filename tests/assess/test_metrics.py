import numpy as np
import pytest
import xarray as xr

from icb_pymc.assess.metrics import action_divergence, belief_error, coverage, relative_importance, reward_error
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import from_groups, group


def test_relative_importance_is_the_share_of_absolute_weights():
    weights = xr.DataArray([[1.0, -3.0], [-2.0, 2.0]], dims=("time", "feature"))
    np.testing.assert_allclose(relative_importance(weights), [[0.25, 0.75], [0.5, 0.5]])


@pytest.fixture
def small_trace():
    """Two draws around (2, -2) at both of two times; the truth is (0.5, -0.5), then (1, 0)."""
    belief = np.array([[[[1.0, -1.0], [1.0, -1.0]], [[3.0, -3.0], [3.0, -3.0]]]])
    posterior = xr.Dataset(
        {
            "belief": (("chain", "draw", "time", "feature"), belief),
            "rho_env": (("chain", "draw", "feature"), np.array([[[0.0, 1.0], [0.0, 3.0]]])),
        }
    )
    truth = xr.Dataset(
        {"true_belief": (("time", "feature"), [[0.5, -0.5], [1.0, 0.0]]), "true_rho_env": ("feature", [0.25, 0.75])}
    )
    return from_groups({"posterior": posterior, "constant_data": truth}, {})


def test_errors_are_l1_distances_at_unit_norm(small_trace):
    assert belief_error(small_trace) == pytest.approx((0.0 + 1.0) / 2)
    assert reward_error(small_trace) == pytest.approx(0.5)


def test_coverage_is_the_share_of_true_values_inside_their_interval(small_trace):
    assert coverage(small_trace, "belief", 1.0) == 0.25
    assert coverage(small_trace, "rho_env", 1.0) == 0.0


def test_errors_need_simulated_decisions(small_trace):
    real = from_groups({"posterior": group(small_trace, "posterior")}, {})
    with pytest.raises(InputError, match="only simulated ones carry the truth"):
        belief_error(real)


def test_decisions_may_be_given_beside_the_trace(small_trace):
    with_alpha = divergence_trace(BELIEF_DRAWS)
    for trace, metric in (
        (small_trace, belief_error),
        (small_trace, reward_error),
        (small_trace, coverage),
        (with_alpha, action_divergence),
    ):
        bare = from_groups({"posterior": group(trace, "posterior")}, {})
        assert metric(bare, decisions=group(trace, "constant_data")) == metric(trace)
    with pytest.raises(InputError, match="these decisions have no 'true_belief'"):
        belief_error(small_trace, group(with_alpha, "constant_data").drop_vars("true_belief"))


def test_relative_importance_of_a_trace_is_that_of_its_beliefs_in_every_draw(small_trace):
    importance = relative_importance(small_trace)
    assert importance.dims == ("chain", "draw", "time", "feature")
    np.testing.assert_allclose(importance, 0.5)


def divergence_trace(belief, *, times=None, true_alpha=2.0, attrs=None, **changes):
    """Three decisions of three candidates and two features, the last slot of the first one empty."""
    context = np.array([[[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]], [[1, 2], [0, 1], [2, 0]], [[-1, 0], [1, 1], [0, 3]]])
    available = np.ones((3, 3), bool)
    available[0, 2] = False
    data = xr.Dataset(
        {
            "context": (("time", "action", "feature"), context.astype(float)),
            "available": (("time", "action"), available),
            "true_belief": (("time", "feature"), [[0.5, -0.5], [0.2, 0.8], [-1.0, 0.3]]),
        },
        coords={"time": [1, 2, 3], "feature": ["age", "inr"]},
        attrs={"hyperparameters": f'{{"alpha": {true_alpha}}}'},
    ).assign(**changes)
    kept = data["time"].values if times is None else times
    posterior = xr.Dataset(
        {"belief": (("chain", "draw", "time", "feature"), np.asarray(belief, dtype=float)[None])},
        coords={"time": kept, "feature": data["feature"]},
    )
    return from_groups({"posterior": posterior, "constant_data": data}, attrs or {})


def dense_divergence(trace, steps, alpha, estimate):
    """The formula with loops, in nats."""
    data = group(trace, "constant_data")
    terms = []
    for step, weights in zip(steps, estimate, strict=True):
        candidates = data["context"].values[step][data["available"].values[step]]
        true, estimated = (np.exp(candidates @ w) for w in (2.0 * data["true_belief"].values[step], alpha * weights))
        true, estimated = true / true.sum(), estimated / estimated.sum()
        terms.append(sum(p * np.log(p / q) for p, q in zip(true, estimated, strict=True)))
    return np.mean(terms)


BELIEF_DRAWS = np.array([[[0.1, 0.4], [0.6, 0.2], [-0.3, 0.1]], [[0.3, 0.0], [0.0, 0.6], [-0.5, -0.7]]])


def test_action_divergence_is_kl_of_true_choices_from_those_at_the_mean_belief():
    trace = divergence_trace(BELIEF_DRAWS, attrs={"hyperparameters": '{"alpha": 5.0}'})
    expected = dense_divergence(trace, [0, 1, 2], 5.0, BELIEF_DRAWS.mean(axis=0))
    assert action_divergence(trace) == pytest.approx(expected)


def test_action_divergence_is_zero_at_the_truth_and_only_there():
    truth = group(divergence_trace(BELIEF_DRAWS), "constant_data")["true_belief"].values
    assert action_divergence(divergence_trace(truth[None])) == pytest.approx(0.0, abs=1e-12)
    assert action_divergence(divergence_trace(2 * truth[None])) > 0.01
    # The same policy with half the weights and twice the alpha.
    halved = divergence_trace(truth[None] / 2, attrs={"hyperparameters": '{"alpha": 4.0}'})
    assert action_divergence(halved) == pytest.approx(0.0, abs=1e-12)


def test_action_divergence_of_scaled_weights_does_not_depend_on_their_size():
    trace, doubled = (divergence_trace(size * BELIEF_DRAWS.mean(axis=0)[None]) for size in (1, 2))
    assert action_divergence(doubled, scaled=True) == pytest.approx(action_divergence(trace, scaled=True))
    assert action_divergence(doubled) != pytest.approx(action_divergence(trace))
    truth = group(trace, "constant_data")["true_belief"].values
    assert action_divergence(divergence_trace(3 * truth[None]), scaled=True) == pytest.approx(0.0, abs=1e-12)


def test_action_divergence_takes_an_alpha_that_was_inferred():
    trace = divergence_trace(BELIEF_DRAWS, attrs={"hyperparameters": '{"alpha": "alpha"}'})
    posterior = group(trace, "posterior").assign(alpha=(("chain", "draw"), [[3.0, 5.0]]))
    inferred = from_groups({"posterior": posterior, "constant_data": group(trace, "constant_data")}, trace.attrs)
    expected = dense_divergence(trace, [0, 1, 2], 4.0, BELIEF_DRAWS.mean(axis=0))
    assert action_divergence(inferred) == pytest.approx(expected)


def test_action_divergence_judges_an_agent_by_the_features_it_weighs():
    trace = divergence_trace(BELIEF_DRAWS)
    data = group(trace, "constant_data")
    squared = divergence_trace(BELIEF_DRAWS, reward_context=data["context"] ** 2)
    assert action_divergence(squared) != pytest.approx(action_divergence(trace))
    same = divergence_trace(BELIEF_DRAWS, reward_context=data["context"])
    assert action_divergence(same) == pytest.approx(action_divergence(trace))


def test_a_posterior_may_keep_fewer_times_than_there_are_decisions():
    thinned = divergence_trace(BELIEF_DRAWS[:, [0, 2]], times=[1, 3])
    expected = dense_divergence(thinned, [0, 2], 2.0, BELIEF_DRAWS[:, [0, 2]].mean(axis=0))
    assert action_divergence(thinned) == pytest.approx(expected)
    whole = divergence_trace(BELIEF_DRAWS)
    errors = [belief_error(divergence_trace(BELIEF_DRAWS[:, [i]], times=[i + 1])) for i in range(3)]
    assert belief_error(whole) == pytest.approx(np.mean(errors))
    assert belief_error(thinned) == pytest.approx((errors[0] + errors[2]) / 2)
    assert 0 <= coverage(thinned) <= 1


def test_metrics_of_a_fit_use_the_alpha_it_was_made_with(trace, dated_decisions):
    belief = group(trace, "posterior")["belief"].mean(("chain", "draw"))
    logits = 20 * (dated_decisions["context"] * belief).sum("feature")
    true_logits = 20 * (dated_decisions["context"] * dated_decisions["true_belief"]).sum("feature")
    log, true_log = (u - np.log(np.exp(u).sum("action")) for u in (logits, true_logits))
    expected = float((np.exp(true_log) * (true_log - log)).sum("action").mean())
    assert action_divergence(trace) == pytest.approx(expected)


def test_errors_name_what_a_trace_does_not_contain(small_trace):
    posterior, data = group(small_trace, "posterior"), group(small_trace, "constant_data")
    static = from_groups({"posterior": posterior.drop_vars("belief"), "constant_data": data}, {})
    for metric in (belief_error, action_divergence, coverage):
        with pytest.raises(InputError, match="does not estimate 'belief', only rho_env"):
            metric(static)
    moving = from_groups({"posterior": posterior.drop_vars("rho_env"), "constant_data": data}, {})
    with pytest.raises(InputError, match="does not estimate 'rho_env', only belief"):
        reward_error(moving)
    silent = divergence_trace(BELIEF_DRAWS)
    without_alpha = from_groups(
        {"posterior": group(silent, "posterior"), "constant_data": group(silent, "constant_data").drop_attrs()}, {}
    )
    with pytest.raises(InputError, match="do not store the alpha"):
        action_divergence(without_alpha)
