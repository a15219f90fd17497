"""Random walks that may jump between sessions, in the engine and against dense formulas."""

import warnings

import numpy as np
import pymc as pm
import pytest

from icb_pymc import InputError, InputWarning, fit, from_arrays
from icb_pymc.data.standardisation import contrast_spread
from icb_pymc.declare.graph import GraphReader
from icb_pymc.kernels.state_space import empty_noise
from icb_pymc.models import b_icb, hierarchical_nb_icb, irl, nb_icb, shrinkage_nb_icb
from icb_pymc.results.inference_data import group
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

SESSION = np.repeat(["mon", "tue", "wed"], [3, 2, 2])
TIMES, FEATURES = len(SESSION), 2


@pytest.fixture(scope="module")
def decisions():
    rng = np.random.default_rng(0)
    context = rng.normal(size=(TIMES, 2, FEATURES))
    return from_arrays(context, rng.integers(0, 2, TIMES), session=SESSION)


def engine_covariance(model):
    """The prior covariance of the beliefs (time, feature) that the engine's state space has, by unit noise."""
    reader = LinearGaussianModel(model, find_linear_gaussian(model))
    values = reader.values(model.initial_point())
    dynamics, space = reader.state_space(values)
    still = empty_noise(space)
    for part in still:
        part.fill(0.0)
    rng = np.random.default_rng(0)
    read, point = GraphReader(model, {"belief": model["belief"]}), model.initial_point()

    def belief_of(noise):
        return read(point | reader.to_point(values, dynamics, space, noise, rng))["belief"].ravel()

    mean = belief_of(still)
    columns = []
    for name in ("start", "move"):
        for position in np.ndindex(getattr(still, name).shape):
            part = np.zeros_like(getattr(still, name))
            part[position] = 1.0
            noise = still._replace(**{name: part})
            columns.append(belief_of(noise) - mean)
    return np.transpose(columns) @ columns


def dense_covariance(start, moves):
    """Cov(beta_s, beta_t) = S_1 + the sum of the innovations up to the earlier of the two."""
    reached = np.cumsum([start, *moves], axis=0)
    blocks = [[reached[min(s, t)] for t in range(TIMES)] for s in range(TIMES)]
    return np.block(blocks)


@pytest.mark.parametrize("per_feature", [False, True])
def test_the_engine_has_the_dense_covariance_of_a_walk_with_jumps(decisions, per_feature):
    total, jumps = (np.array([0.5, 0.9]), np.array([2.0, 0.3])) if per_feature else (0.5, 2.0)
    model = nb_icb(decisions, total_movement=total, session_movement=jumps, start_scale=1.5)
    unit = 1 / contrast_spread(decisions)
    begins = np.array([0, 0, 1, 0, 1, 0])
    moves = [np.diag((total * unit) ** 2) / 6 + b * np.diag((jumps * unit) ** 2) / 2 for b in begins]
    expected = dense_covariance(np.diag((1.5 * unit) ** 2), moves)
    np.testing.assert_allclose(engine_covariance(model), expected, rtol=1e-10)


def test_covariances_per_decision_and_per_boundary_can_be_given_themselves(decisions):
    given = {"innovation_covariance": [0.1, 0.2], "session_covariance": [3.0, 4.0], "start_covariance": 1.0}
    moves = [np.diag([0.1, 0.2]) + b * np.diag([3.0, 4.0]) for b in (0, 0, 1, 0, 1, 0)]
    covariance = engine_covariance(nb_icb(decisions, **given))
    np.testing.assert_allclose(covariance, dense_covariance(np.eye(2), moves), rtol=1e-10)


def test_the_density_of_the_declared_walk_is_the_dense_one(decisions):
    model = nb_icb(decisions, total_movement=0.5, session_movement=2.0, start_scale=1.5)
    path = np.random.default_rng(1).normal(size=(TIMES, FEATURES))
    value = pm.logp(model["belief"], path).eval()
    covariance = engine_covariance(model)
    _, log_determinant = np.linalg.slogdet(2 * np.pi * covariance)
    expected = -0.5 * (path.ravel() @ np.linalg.solve(covariance, path.ravel()) + log_determinant)
    np.testing.assert_allclose(value, expected)


def test_jumps_are_learnt_where_there_are_sessions_and_only_there(decisions):
    assert "session_movement" in nb_icb(decisions).named_vars
    assert "session_movement" not in nb_icb(decisions.drop_vars("session")).named_vars
    assert "session_movement" not in nb_icb(decisions, session_movement=0).named_vars
    with pytest.raises(InputError, match="no boundaries between sessions"):
        nb_icb(decisions.drop_vars("session"), session_movement=1.0)
    with pytest.raises(InputError, match="give one of them"):
        nb_icb(decisions, session_movement=1.0, session_covariance=1.0)


def test_sessions_of_agents_that_overlap_have_no_common_boundaries():
    agent, session, time = ["a", "a", "b", "b"], [1, 2, 1, 2], [1, 2, 1, 2]
    shared = from_arrays([[[1.0], [0.0]]] * 4, [0, 1, 0, 1], agent=agent, session=session, time=time)
    assert "session_movement" in nb_icb(shared).named_vars
    own = from_arrays([[[1.0], [0.0]]] * 4, [0, 1, 0, 1], agent=agent, session=["p", "q", "x", "x"], time=time)
    with pytest.warns(InputWarning, match="no jumps between sessions here: the sessions of the agents overlap"):
        assert "session_movement" not in nb_icb(own).named_vars


def test_jumps_at_boundaries_are_told_from_movement_within_sessions():
    rng = np.random.default_rng(2)
    sessions, length = 12, 60
    weights = np.repeat(np.cumsum(rng.normal(scale=1.0, size=(sessions, 1)), axis=0), length, axis=0)
    context = rng.normal(size=(sessions * length, 2, 1))
    odds = ((context[:, 1] - context[:, 0]) * weights).sum(axis=1)
    chosen = (rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(int)
    decisions = from_arrays(context, chosen, session=np.repeat(np.arange(sessions), length))
    trace = fit("nb_icb", decisions, method="laplace", draws=50, seed=0, progressbar=False)
    posterior = group(trace, "posterior")
    # Each of 11 jumps has a standard deviation of 1, times the typical difference of sqrt(2): 4.7 together.
    assert 2.5 < float(posterior["session_movement"].median()) < 8
    assert float(posterior["total_movement"].median()) < 1.5
    without = fit("nb_icb", decisions, {"session_movement": 0}, method="laplace", draws=5, seed=0, progressbar=False)
    assert trace.attrs["log_evidence"] > without.attrs["log_evidence"] + 3


AGENT = np.array(["Ada", "Bo", "Ada", "Bo", "Ada", "Bo", "Ada"])
# Ada's third and fourth decisions begin sessions, and Bo's second.
OWN_SESSION = np.array([1, 1, 1, 2, 2, 2, 3])


@pytest.fixture(scope="module")
def subjects():
    rng = np.random.default_rng(0)
    context = rng.normal(size=(TIMES, 2, FEATURES))
    return from_arrays(context, rng.integers(0, 2, TIMES), session=OWN_SESSION, agent=AGENT)


def test_agents_with_clocks_of_their_own_jump_at_their_own_boundaries(subjects):
    given = {"total_movement": 0.5, "session_movement": 2.0, "start_scale": 1.5, "deviation_scale": 0.7}
    model = hierarchical_nb_icb(subjects, **given)
    unit = 1 / contrast_spread(subjects)
    # Clocks of Ada and Bo in shares of Ada's three intervals, and boundaries passed, of which Ada has two.
    clock = np.array([0, 0, 1, 1, 2, 2, 3]) / 3
    passed = np.array([0, 0, 0, 1, 1, 1, 2]) / 2
    same = AGENT[:, None] == AGENT
    variance = 1.5**2 + same * (
        0.7**2 + 0.5**2 * np.minimum.outer(clock, clock) + 2.0**2 * np.minimum.outer(passed, passed)
    )
    np.testing.assert_allclose(engine_covariance(model), np.kron(variance, np.diag(unit**2)), rtol=1e-10)


def test_a_trend_that_agents_share_jumps_at_the_boundaries_they_share(decisions):
    shared = decisions.assign_coords(agent=["Ada", "Bo"]).assign(decider=("time", np.arange(TIMES) % 2))
    given = {"total_movement": 0.5, "session_movement": 2.0, "start_scale": 1.5, "deviation_scale": 0.7}
    model = hierarchical_nb_icb(shared, clock="calendar", **given)
    unit = 1 / contrast_spread(shared)
    time = np.arange(TIMES) / (TIMES - 1)
    passed = np.array([0, 0, 0, 1, 1, 2, 2]) / 2
    same = (np.arange(TIMES)[:, None] - np.arange(TIMES)) % 2 == 0
    variance = (
        1.5**2 + 0.5**2 * np.minimum.outer(time, time) + 2.0**2 * np.minimum.outer(passed, passed) + 0.7**2 * same
    )
    np.testing.assert_allclose(engine_covariance(model), np.kron(variance, np.diag(unit**2)), rtol=1e-10)


def test_jumps_of_subjects_are_learnt_by_default_and_left_out_with_a_reason(subjects):
    assert "session_movement" in [rv.name for rv in hierarchical_nb_icb(subjects).free_RVs]
    assert "session_movement" not in [rv.name for rv in hierarchical_nb_icb(subjects, session_movement=0).free_RVs]
    with pytest.warns(InputWarning, match="need a total_movement that all features share"):
        hierarchical_nb_icb(subjects, innovation_covariance=0.1)
    with pytest.raises(InputError, match="no boundaries between sessions"):
        hierarchical_nb_icb(subjects.drop_vars("session"), session_movement=1.0)
    trace = fit("hierarchical_nb_icb", subjects, draws=20, tune=20, chains=1, random_seed=0, progressbar=False)
    assert trace.attrs["sampler"] == "utility_hmc"
    assert "session_movement" in group(trace, "posterior")


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (shrinkage_nb_icb, {}),
        (b_icb, {}),
        (irl.b_irl, {}),
        (irl.m_fold_irl, {"folds": 2}),
        (irl.cp_irl, {"segments": 2, "length": 2}),
        (irl.i_spi, {}),
        (irl.t_rex, {}),
    ],
)
def test_a_model_that_does_not_use_sessions_says_so_where_there_are_several(decisions, model, options):
    with pytest.warns(InputWarning, match=f"'{model.__name__}' does not use the boundaries between sessions: "):
        model(decisions, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        model(decisions.assign(session=("time", np.ones(TIMES, int))), **options)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("b_icb", {"method": "em", "iterations": 1, "draws": 2, "tune": 1, "hyperparameters": {"sigma": 1.0}}),
        ("t_rex", {"hyperparameters": {"simplex": True}}),
    ],
)
def test_point_estimates_say_once_that_they_do_not_use_sessions(decisions, model, options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        fit(model, decisions, **options, seed=0, progressbar=False)
    assert [str(each.message).partition(":")[0] for each in caught if each.category is InputWarning] == [
        f"'{model}' does not use the boundaries between sessions"
    ]
