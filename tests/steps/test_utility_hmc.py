"""The engine samples the posterior of every kind of linear-Gaussian belief model and of decision."""

from functools import cache

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from helpers.agreement import uniformity, z_scores
from helpers.arrivals import make_arrivals

from icb_pymc.declare.beliefs import BeliefSample, bayesian_learning, constant_within, isotropic_belief
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility, with_lapses
from icb_pymc.declare.processes import LinearProcess, WienerProcess, mean_reverting, smooth_walk
from icb_pymc.declare.rewards import LinearReward
from icb_pymc.errors import InputError
from icb_pymc.models import nb_icb
from icb_pymc.steps import UtilityHMC
from icb_pymc.steps.assign import engine_step
from icb_pymc.steps.utility_hmc import PATH_JITTER, PATH_LENGTHS

TIMES, FEATURES, ALPHA, SIGMA = 6, 2, 3.0, 0.6
START, MOVE = np.array([[0.6, 0.2], [0.2, 0.4]]), np.array([[0.3, -0.1], [-0.1, 0.2]])
SAMPLING = np.array([[0.5, 0.1], [0.1, 0.4]])
MEAN, ELAPSED = np.array([0.3, -0.4]), np.array([1.0, 0.5, 3.0, 1.0, 2.0])


def arrivals():
    """Three candidates each, except one decision without alternatives and one between identical candidates."""
    data = make_arrivals(TIMES, 3, FEATURES, seed=4, share_available=0.8)
    data["available"][1] = [True, False, False]
    data["available"][3] = True
    data["context"][3, 1:] = data["context"][3, 0].values
    return data


ARRIVALS = arrivals()
CONTEXT, AVAILABLE = ARRIVALS["context"].values, ARRIVALS["available"].values
CHOSEN = np.array([0, 0, np.flatnonzero(AVAILABLE[2])[-1], 2, np.flatnonzero(AVAILABLE[4])[-1], 0])
DECISIONS = ARRIVALS.assign(chosen=("time", CHOSEN))
CHOSEN_CONTEXT = CONTEXT[np.arange(TIMES), CHOSEN]


def choose(rho, alpha=ALPHA, lapse=None):
    utility, available = linear_utility(rho, CONTEXT, alpha), pt.as_tensor(AVAILABLE)
    utility = utility if lapse is None else with_lapses(lapse)(utility, available)
    SoftmaxChoice("chosen", utility, available, observed=CHOSEN)


def walk_draws(rng, n, scale=1.0, start=START):
    noise = rng.standard_normal((n, TIMES, FEATURES))
    moves = np.sqrt(ELAPSED)[:, None] * (noise[:, 1:] @ np.linalg.cholesky(MOVE).T) * np.sqrt(scale)
    return MEAN + np.cumsum(np.concatenate([noise[:, :1] @ np.linalg.cholesky(start).T, moves], axis=1), axis=1)


def add_sampling_noise(belief, rng):
    return belief + rng.standard_normal(belief.shape) @ np.linalg.cholesky(SAMPLING).T


# Each case is a model, and a function that draws its variables, rho and alpha from the definition of the prior.


def walk():
    with pm.Model() as model:
        belief = WienerProcess("belief", MEAN, START, MOVE, ELAPSED)
        choose(BeliefSample("rho", belief, np.linalg.cholesky(SAMPLING)))
    return model


def walk_prior(rng, n):
    belief = walk_draws(rng, n)
    rho = add_sampling_noise(belief, rng)
    return {"belief": belief, "rho": rho}, rho, ALPHA


def walk_without_rho():
    with pm.Model() as model:
        choose(WienerProcess("belief", MEAN, START, MOVE, ELAPSED))
    return model


def walk_without_rho_prior(rng, n):
    belief = walk_draws(rng, n)
    return {"belief": belief}, belief, ALPHA


def walk_with_scales_learnt():
    with pm.Model() as model:
        scale, alpha = pm.LogNormal("scale", 0.2, 0.7), pm.LogNormal("alpha", np.log(ALPHA), 0.4)
        belief = WienerProcess("belief", MEAN, START, scale * MOVE, ELAPSED)
        choose(BeliefSample("rho", belief, np.linalg.cholesky(SAMPLING)), alpha)
    return model


def walk_with_scales_learnt_prior(rng, n):
    log_scale, log_alpha = 0.2 + 0.7 * rng.standard_normal(n), np.log(ALPHA) + 0.4 * rng.standard_normal(n)
    belief = walk_draws(rng, n, np.exp(log_scale)[:, None, None])
    rho = add_sampling_noise(belief, rng)
    values = {"scale_log__": log_scale, "alpha_log__": log_alpha, "belief": belief, "rho": rho}
    return values, rho, np.exp(log_alpha)[:, None, None]


def walk_with_lapses():
    with pm.Model() as model:
        choose(WienerProcess("belief", MEAN, START, MOVE, ELAPSED), lapse=0.3)
    return model


def walk_with_lapses_prior(rng, n):
    return *walk_without_rho_prior(rng, n), np.full((n, 1), 0.3)


def walk_with_lapses_learnt():
    with pm.Model() as model:
        lapse = pm.Beta("lapse", 2.0, 3.0)
        belief = WienerProcess("belief", MEAN, START, MOVE, ELAPSED)
        choose(BeliefSample("rho", belief, np.linalg.cholesky(SAMPLING)), lapse=lapse)
    return model


def walk_with_lapses_learnt_prior(rng, n):
    lapse, (values, rho, alpha) = rng.beta(2.0, 3.0, size=(n, 1)), walk_prior(rng, n)
    return values | {"lapse_logodds__": np.log(lapse / (1 - lapse))}, rho, alpha, lapse


def reverting():
    with pm.Model() as model:
        belief = mean_reverting("belief", MEAN, START, 2.0, ELAPSED)
        choose(BeliefSample("rho", belief, np.linalg.cholesky(SAMPLING)))
    return model


def reverting_prior(rng, n):
    times = np.concatenate([[0], np.cumsum(ELAPSED)])
    together = np.exp(-np.abs(times[:, None] - times) / 2.0)
    noise = rng.standard_normal((n, TIMES, FEATURES)) @ np.linalg.cholesky(START).T
    belief = MEAN + np.einsum("st,ntk->nsk", np.linalg.cholesky(together), noise)
    rho = add_sampling_noise(belief, rng)
    return {"belief": belief, "rho": rho}, rho, ALPHA


def smooth():
    with pm.Model() as model:
        state = smooth_walk("state", MEAN, START, 0.3 * SAMPLING, 0.2 * MOVE, ELAPSED)
        belief = pm.Deterministic("belief", state[:, :FEATURES])
        choose(BeliefSample("rho", belief, np.linalg.cholesky(SAMPLING)))
    return model


def smooth_prior(rng, n):
    """The belief as the integral of its slope, by a hundred small steps in each gap."""
    belief = MEAN + rng.standard_normal((n, FEATURES)) @ np.linalg.cholesky(START).T
    slope = rng.standard_normal((n, FEATURES)) @ np.linalg.cholesky(0.3 * SAMPLING).T
    path, root = [np.concatenate([belief, slope], axis=1)], np.linalg.cholesky(0.2 * MOVE)
    for gap in ELAPSED:
        for _ in range(100):
            move = np.sqrt(gap / 100) * rng.standard_normal((n, FEATURES)) @ root.T
            belief = belief + gap / 100 * (slope + 0.5 * move)
            slope = slope + move
        path.append(np.concatenate([belief, slope], axis=1))
    state = np.stack(path, axis=1)
    rho = add_sampling_noise(state[:, :, :FEATURES], rng)
    return {"state": state, "rho": rho}, rho, ALPHA


TRANSITION = np.array([[np.cos(t), -np.sin(t), 0.1 * t] for t in range(1, TIMES)])[:, None, :] * np.ones((1, 3, 1))
TRANSITION = 0.4 * TRANSITION + 0.3 * np.eye(3)
READ, SHIFT = np.array([[1.0, 0.5], [0.0, 1.0], [-0.5, 0.3]]), np.linspace(-0.5, 0.5, TIMES)[:, None]
SAMPLING_ROOT = np.linspace(0.5, 1.5, TIMES)[:, None, None] * np.linalg.cholesky(SAMPLING)


def user_defined():
    """A user-defined process: three hidden moods, two weights that depend on them with a trend, increasing noise."""
    with pm.Model() as model:
        moods = LinearProcess("moods", np.ones(3), np.eye(3), TRANSITION, 0.2 * np.eye(3), drift=[0.1, 0.0, -0.1])
        choose(BeliefSample("rho", moods @ READ + SHIFT, SAMPLING_ROOT))
    return model


def user_defined_prior(rng, n):
    state = 1.0 + rng.standard_normal((n, 3))
    path = [state]
    for matrix in TRANSITION:
        state = state @ matrix.T + [0.1, 0.0, -0.1] + np.sqrt(0.2) * rng.standard_normal((n, 3))
        path.append(state)
    moods = np.stack(path, axis=1)
    rho = moods @ READ + SHIFT + np.einsum("tij,ntj->nti", SAMPLING_ROOT, rng.standard_normal((n, TIMES, FEATURES)))
    return {"moods": moods, "rho": rho}, rho, ALPHA


FOLD = np.array([0, 0, 1, 1, 1, 2])


def folds():
    with pm.Model() as model:
        weights = pm.MvNormal("weights", MEAN, START, shape=(3, FEATURES))
        choose(constant_within(weights, FOLD))
    return model


def folds_prior(rng, n):
    weights = MEAN + rng.standard_normal((n, 3, FEATURES)) @ np.linalg.cholesky(START).T
    return {"weights": weights}, weights[:, FOLD], ALPHA


def constant():
    with pm.Model() as model:
        rho_env = pm.Normal("rho_env", MEAN, [0.8, 0.5])
        choose(constant_within(rho_env[None], np.zeros(TIMES, int)))
    return model


def constant_prior(rng, n):
    rho_env = MEAN + rng.standard_normal((n, FEATURES)) * [0.8, 0.5]
    return {"rho_env": rho_env}, np.repeat(rho_env[:, None], TIMES, axis=1), ALPHA


def learner(draws_rho=True):
    with pm.Model() as model:
        strength = pm.LogNormal("strength", 0.5, 0.6)
        rho_env = pm.MvNormal("rho_env", MEAN, START)
        reward = LinearReward("reward", rho_env, CHOSEN_CONTEXT, SIGMA)
        beliefs = bayesian_learning(
            isotropic_belief(-MEAN, SIGMA**2 / strength, FEATURES), CHOSEN_CONTEXT, reward, SIGMA
        )
        choose(BeliefSample("rho", beliefs.mean, beliefs.root) if draws_rho else beliefs.mean)
    return model


def learner_prior(rng, n, draws_rho=True):
    log_strength = 0.5 + 0.6 * rng.standard_normal(n)
    rho_env = MEAN + rng.standard_normal((n, FEATURES)) @ np.linalg.cholesky(START).T
    reward = rho_env @ CHOSEN_CONTEXT.T + SIGMA * rng.standard_normal((n, TIMES))
    precision = np.exp(log_strength)[:, None, None] / SIGMA**2 * np.eye(FEATURES)
    linear = -np.einsum("nij,j->ni", precision, MEAN)
    rho = np.empty((n, TIMES, FEATURES))
    for t in range(TIMES):
        covariance = np.linalg.inv(precision)
        rho[:, t] = np.einsum("nij,nj->ni", covariance, linear)
        if draws_rho:
            noise = rng.standard_normal((n, FEATURES))
            rho[:, t] += np.einsum("nij,nj->ni", np.linalg.cholesky(covariance), noise)
        precision = precision + np.outer(CHOSEN_CONTEXT[t], CHOSEN_CONTEXT[t]) / SIGMA**2
        linear = linear + reward[:, t, None] * CHOSEN_CONTEXT[t] / SIGMA**2
    values = {"strength_log__": log_strength, "rho_env": rho_env, "reward": reward}
    return (values | {"rho": rho} if draws_rho else values), rho, ALPHA


def greedy_learner():
    return learner(draws_rho=False)


def greedy_learner_prior(rng, n):
    return learner_prior(rng, n, draws_rho=False)


CASES = {
    walk: walk_prior,
    walk_without_rho: walk_without_rho_prior,
    walk_with_scales_learnt: walk_with_scales_learnt_prior,
    walk_with_lapses: walk_with_lapses_prior,
    walk_with_lapses_learnt: walk_with_lapses_learnt_prior,
    reverting: reverting_prior,
    smooth: smooth_prior,
    user_defined: user_defined_prior,
    folds: folds_prior,
    constant: constant_prior,
    learner: learner_prior,
    greedy_learner: greedy_learner_prior,
}


@cache
def posterior_by_importance_sampling(prior, draws=100_000):
    """Prior draws weighted by the likelihood of the choices, then resampled; and the log evidence."""
    rng = np.random.default_rng(8)
    values, rho, alpha, *lapses = prior(rng, draws)
    utility = np.where(AVAILABLE, alpha * np.einsum("tak,ntk->nta", CONTEXT, rho), -np.inf)
    chosen_utility = np.take_along_axis(utility, CHOSEN[None, :, None], axis=-1)[..., 0]
    probability = np.exp(chosen_utility - np.logaddexp.reduce(utility, axis=-1))
    for lapse in lapses:
        probability = (1 - lapse) * probability + lapse / AVAILABLE.sum(axis=1)
    weight = probability.prod(axis=1)
    kept = rng.choice(draws, size=draws // 10, p=weight / weight.sum())
    return to_columns({name: value[kept] for name, value in values.items()}), np.log(weight.mean())


def to_columns(values):
    return np.concatenate([value.reshape(len(value), -1) for value in values.values()], axis=1)[None]


def engine(model, **options):
    """The engine with its own seeded generator, so that tests are reproducible."""
    (step,) = engine_step(model, **options)
    step.rng = np.random.default_rng(5)
    return step


def run_chain(step, point, tune, draws):
    for _ in range(tune):
        point, _ = step.step(point)
    step.stop_tuning()
    path = []
    for _ in range(draws):
        point, stats = step.step(point)
        path.append(point)
    return path, stats[0]


@pytest.mark.parametrize("declare", CASES, ids=lambda case: case.__name__)
def test_the_engine_agrees_with_importance_sampling(declare):
    model = declare()
    step = engine(model)
    # Steps with hyperparameters take longer.
    path, _ = run_chain(step, model.initial_point(), 400, 3000 if step._moves.names else 8000)
    expected, _ = posterior_by_importance_sampling(CASES[declare])
    names = list(CASES[declare](np.random.default_rng(0), 1)[0])
    sampled = to_columns({name: np.array([point[name] for point in path]) for name in names})
    assert np.abs(z_scores(expected, sampled)).max() < 4.8


@pytest.mark.parametrize("declare", [walk, learner], ids=lambda case: case.__name__)
def test_beliefs_have_the_same_posterior_without_rho(declare):
    model = declare()
    with_rho, without = ({}, {})
    for kept, draws_rho in ((with_rho, True), (without, False)):
        step = engine(model, with_rho=draws_rho)
        path, _ = run_chain(step, model.initial_point(), 400, 4000)
        for name in set(path[0]) - {"rho"}:
            kept[name] = np.array([point[name] for point in path])
    assert np.abs(z_scores(to_columns(with_rho), to_columns(without))).max() < 4.5


def test_a_point_changed_by_another_step_is_adopted():
    """If another step moves the hyperparameters, the engine continues given their new values."""
    model = walk_with_scales_learnt()
    with model:
        step = UtilityHMC([model["belief"], model["rho"]])
    rng, point, path = np.random.default_rng(1), model.initial_point(), []
    for _ in range(300):
        point, _ = step.step(point)
    step.stop_tuning()

    def log_density(point):
        """Log-density of the hyperparameters given belief and rho."""
        log_scale, log_alpha = point["scale_log__"], point["alpha_log__"]
        moves = np.diff(point["belief"], axis=0)
        squares = (np.linalg.solve(np.linalg.cholesky(MOVE), moves.T) ** 2).sum(axis=0) / ELAPSED
        utility = np.where(AVAILABLE, np.exp(log_alpha) * np.einsum("tak,tk->ta", CONTEXT, point["rho"]), -np.inf)
        choices = utility[np.arange(TIMES), CHOSEN] - np.logaddexp.reduce(utility, axis=1)
        of_moves = -0.5 * squares.sum() / np.exp(log_scale) - 0.5 * moves.size * log_scale
        priors = -0.5 * ((log_scale - 0.2) / 0.7) ** 2 - 0.5 * ((log_alpha - np.log(ALPHA)) / 0.4) ** 2
        return of_moves + choices.sum() + priors

    for _ in range(8_000):
        proposal = point | {"scale_log__": point["scale_log__"] + rng.normal()}
        proposal |= {"alpha_log__": point["alpha_log__"] + 0.5 * rng.normal()}
        if np.log(rng.random()) < log_density(proposal) - log_density(point):
            point = proposal
        point, _ = step.step(point)
        path.append(point)
    expected, _ = posterior_by_importance_sampling(walk_with_scales_learnt_prior)
    names = ("scale_log__", "alpha_log__", "belief", "rho")
    sampled = to_columns({name: np.array([entry[name] for entry in path]) for name in names})
    assert np.abs(z_scores(expected, sampled)).max() < 4.8


def test_statistics_are_reported_and_the_acceptance_rate_reaches_its_target():
    decisions = DECISIONS.isel(time=np.tile(np.arange(TIMES), 20)).assign_coords(time=np.arange(20 * TIMES))
    model = nb_icb(decisions, innovation_covariance=0.02, sampling_covariance=0.2, alpha=5.0)
    step = engine(model)
    point = model.initial_point()
    accepted, lengths = [], []
    for i in range(900):
        if i == 600:
            step.stop_tuning()
        point, (stats,) = step.step(point)
        accepted.append(stats["hmc_accept"])
        lengths.append(stats["hmc_path_length"])
    assert 0.9 < np.mean(accepted[600:]) < 0.99
    for begin, path in enumerate(PATH_LENGTHS):
        np.testing.assert_allclose(lengths[begin :: len(PATH_LENGTHS)], path, rtol=PATH_JITTER)
    assert stats["hmc_steps"] >= 1
    assert np.isfinite(stats["hmc_energy_error"])


def test_hyperparameters_move_if_variances_are_equal_in_many_directions():
    """Roots from eigenvectors would rotate at random between proposals, so that none would be accepted."""
    decisions = make_arrivals(60, 2, 6, seed=3).assign(chosen=("time", np.arange(60) % 2))
    with pm.Model():
        scale = pm.LogNormal("scale", 2.0, 2.0)
        model = nb_icb(decisions, innovation_covariance=scale * 1e-3 * (np.eye(6) - 0.1), sampling_covariance=0.01)
    step = engine(model)
    point, accepted = model.initial_point(), []
    for _ in range(300):
        point, (stats,) = step.step(point)
        accepted.append(stats["hyper_accept"])
    assert np.nanmean(accepted) > 0.15


def test_a_chain_that_is_stuck_keeps_its_reference_until_it_moves():
    """A reference from repeated visits to one distant position would make every proposal fail."""
    model = walk()
    step = engine(model)
    _, (stats,) = step.step(model.initial_point())
    before = step._here.data
    step._has_moved = False
    for _ in range(40):
        step._adapt(stats)
    assert step._here.data is before
    step._has_moved = True
    for _ in range(40):
        step._adapt(stats)
    assert step._here.data is not before


def test_chains_start_overdispersed_or_without_tuning_from_the_given_point():
    model = walk()
    step = engine(model)
    posterior, _ = posterior_by_importance_sampling(walk_prior)
    spread = posterior[0].std(axis=0)[: TIMES * FEATURES]
    starts = []
    for _ in range(80):
        step.started, step.tune = False, True
        step._start_chain(model.initial_point())
        starts.append(step._variables()["belief"].ravel())
    assert (np.std(starts, axis=0) > 1.3 * spread).all()

    step.started = step.tune = False
    point = {"belief": np.full((TIMES, FEATURES), 0.3), "rho": np.full((TIMES, FEATURES), 0.7)}
    step._start_chain(point)
    recovered = step._variables()
    np.testing.assert_allclose(recovered["belief"], point["belief"], atol=1e-10)
    np.testing.assert_allclose(recovered["rho"], point["rho"], atol=1e-10)


def test_models_that_are_not_linear_and_gaussian_are_not_recognised():
    with pm.Model() as curved:
        belief = WienerProcess("belief", MEAN, START, MOVE, ELAPSED)
        choose(pm.math.exp(belief))
        assert UtilityHMC.competence(curved["belief"], True) == 0
    with pm.Model() as read_twice:
        belief = WienerProcess("belief", MEAN, START, MOVE, ELAPSED)
        pm.Normal("other", belief[:, 0], observed=np.zeros(TIMES))
        choose(belief)
        assert UtilityHMC.competence(read_twice["belief"], True) == 0
    with pm.Model() as elsewhere:
        belief = WienerProcess("belief", MEAN, START, MOVE, ELAPSED)
        choose(belief[::-1])
        assert UtilityHMC.competence(elsewhere["belief"], True) == 0
    with pytest.raises(InputError, match="linear and Gaussian"):
        engine_step(curved)
    with curved, pytest.raises(ValueError, match="one linear-Gaussian belief model"):
        UtilityHMC([curved["belief"]])


def test_a_hyperparameter_of_other_variables_is_sampled_by_pymc():
    with pm.Model() as model:
        scale = pm.LogNormal("scale")
        pm.Normal("measured", scale, observed=1.0)
        choose(WienerProcess("belief", MEAN, START, scale * MOVE, ELAPSED))
        assert UtilityHMC.competence(model["belief"], True) == 3
        assert UtilityHMC.competence(model["scale"], True) == 0


# Simulation-based calibration (Talts et al., 2018): ranks of the truth among posterior draws are uniform.

LATENTS = {"nb_icb": ["belief"], "b_icb": ["rho_env", "reward"], "hierarchical_nb_icb": ["trend", "deviation"]}


def free_choice(actions, kind):
    """A belief model with one hyperparameter and a free choice, so that one step can be used for all replicates."""
    data = make_arrivals(20, actions, FEATURES, seed=7, share_available=1.0 if actions == 2 else 0.8)
    context, chosen_context = data["context"].values, data["context"].values[:, 0]
    with pm.Model() as model:
        scale = pm.LogNormal("scale", 0.0, 0.7)
        root = np.linalg.cholesky(SAMPLING)
        if kind == "b_icb":
            rho_env = pm.MvNormal("rho_env", MEAN, START)
            reward = LinearReward("reward", rho_env, chosen_context, SIGMA)
            beliefs = bayesian_learning(
                isotropic_belief(-MEAN, SIGMA**2 / scale, FEATURES), chosen_context, reward, SIGMA
            )
            belief, root = beliefs.mean, beliefs.root
        else:
            (name, *_) = LATENTS[kind]
            belief = WienerProcess(name, MEAN, START, 0.1 * scale * MOVE, np.ones(19))
        if kind == "hierarchical_nb_icb":
            # Three agents take turns.
            deviation = pm.MvNormal("deviation", np.zeros(FEATURES), scale * START, shape=(3, FEATURES))
            belief = belief + deviation[np.arange(20) % 3]
        rho = BeliefSample("rho", belief, root)
        SoftmaxChoice("chosen", linear_utility(rho, context, ALPHA), data["available"].values)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("kind", LATENTS)
@pytest.mark.parametrize("actions", [2, 4])
def test_simulation_based_calibration(actions, kind):
    replicates, kept, thinning = 120, 19, 5
    model, names = free_choice(actions, kind), LATENTS[kind]
    with model:
        variables = [model[name] for name in ("scale", *names, "rho")]
        step = UtilityHMC(variables, rng=3)
    truths = pm.draw([*variables, model["chosen"]], draws=replicates, random_seed=11)
    truth = dict(zip(("scale", *names, "rho", "chosen"), truths, strict=True))
    initial, ranks = model.initial_point(), []
    for i in range(replicates):
        step.started, step.tune, step.steps = False, True, 0
        path, _ = run_chain(step, initial | {"chosen": truth["chosen"][i]}, 80, kept * thinning)
        thinned = path[thinning - 1 :: thinning]
        rank = [sum(np.exp(point["scale_log__"]) < truth["scale"][i] for point in thinned)]
        for name in (*names, "rho"):
            times = slice(None) if name in ("rho_env", "deviation") else [0, 9, 19]
            below = [point[name][times] < truth[name][i][times] for point in thinned]
            rank.extend(np.sum(below, axis=0).ravel())
        ranks.append(rank)
    assert uniformity(np.array(ranks), kept).min() > 1e-5
