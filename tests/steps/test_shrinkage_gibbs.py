"""The scales of a shrinkage walk: the step leaves the joint distribution invariant, and agrees with NUTS."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from helpers.agreement import standard_error, uniformity, z_scores
from helpers.arrivals import make_arrivals

from icb_pymc.declare.beliefs import BeliefSample
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.processes import WienerProcess
from icb_pymc.models import shrinkage_nb_icb
from icb_pymc.results.inference_data import group
from icb_pymc.steps import ShrinkageGibbs, UtilityHMC

GAPS = np.array([1.0, 0.3, 4.0, 1.0, 1.0, 2.0])
START, MOVE = np.array([[0.6, 0.2], [0.2, 0.4]]), np.array([[0.8, -0.3], [-0.3, 0.5]])
SAMPLING_ROOT = np.array([[0.5, 0.0], [0.2, 0.4]])
KINDS = {
    "belief itself": {},
    "rho deviates from the belief": {"with_rho": True},
    "tau is known": {"tau": 0.4},
    "scale of lambda is not one": {"local_unit": 0.2},
    "scale of the first belief is learnt": {"learn_start": True},
}


def joint_model(arrivals, with_rho=False, tau=None, local_unit=1.0, learn_start=False):
    """A shrinkage walk with the choice left free, so that a joint-distribution test can draw it."""
    with pm.Model() as model:
        if tau is None:
            tau = pm.HalfCauchy("tau", 0.3)
        elif not isinstance(tau, float):
            tau = model.register_rv(tau, "tau")
        scale = pm.HalfCauchy("scale", local_unit, shape=len(GAPS))
        start = pm.LogNormal("start_scale", 0.4, 1.0) ** 2 * START if learn_start else START
        belief = WienerProcess("belief", np.array([0.3, -0.2]), start, MOVE, (tau * scale) ** 2 * GAPS)
        rho = BeliefSample("rho", belief, SAMPLING_ROOT) if with_rho else belief
        SoftmaxChoice("chosen", linear_utility(rho, arrivals["context"].values, 1.5), arrivals["available"].values)
    return model


def fresh_model(kind, actions=3):
    options = dict(KINDS[kind])
    if kind == "scale of lambda is not one":
        options["tau"] = pm.HalfNormal.dist(2.0)
    arrivals = make_arrivals(len(GAPS) + 1, actions, 2, seed=2, share_available=0.8)
    return arrivals, joint_model(arrivals, **options)


def drawn_points(model, draws, seed):
    """Points of the joint prior of all variables."""
    variables = model.free_RVs
    values = pm.draw(variables, draws=draws, random_seed=seed)
    points = []
    for i in range(draws):
        point = {}
        for rv, drawn in zip(variables, values, strict=True):
            name = model.rvs_to_values[rv].name
            point[name] = np.log(drawn[i]) if name.endswith("_log__") else np.asarray(drawn[i])
        points.append(point)
    return points


def bounded_functions(arrivals, point):
    """Functions with finite moments under half-Cauchy scales, of levels and of products."""
    belief, scale = point["belief"], point["scale_log__"]
    weights = point.get("rho", belief)
    taken = arrivals["context"].values[np.arange(len(belief)), point["chosen"].astype(int)]
    fit = np.tanh((taken * weights).sum(axis=1))[1:]
    moves = np.abs(np.diff(belief, axis=0)).sum(axis=1)
    log_moves = np.log(moves + 1e-3)
    # The step never moves the first belief.
    parts = [np.tanh(belief[1:]).ravel(), scale, scale**2, fit, log_moves, log_moves * scale, scale[1:] * scale[:-1]]
    if "tau_log__" in point:
        tau = point["tau_log__"]
        parts += [[tau, tau**2], tau * scale, tau * log_moves, tau * fit]
    return np.concatenate([np.ravel(part) for part in parts])


def invariance_scores(kind, replicates):
    """Mean changes that a step makes to points of the joint distribution, in standard errors."""
    arrivals, model = fresh_model(kind)
    scales = [rv for rv in model.free_RVs if rv.name in ("tau", "scale")]
    with model:
        step = ShrinkageGibbs(scales, rng=3)
    step.tune, step.started, step.log_step_size = False, True, np.log(0.2)
    changes = []
    for point in drawn_points(model, replicates, seed=5):
        moved, _ = step.step(point)
        moved, _ = step.step(moved)
        changes.append(bounded_functions(arrivals, moved) - bounded_functions(arrivals, point))
    changes = np.array(changes)
    return changes.mean(axis=0) / (changes.std(axis=0) / np.sqrt(replicates))


@pytest.mark.parametrize("kind", KINDS)
def test_the_step_leaves_the_joint_distribution_invariant(kind):
    assert np.abs(invariance_scores(kind, 500)).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_step_leaves_the_joint_distribution_invariant_in_many_replicates(kind):
    assert np.abs(invariance_scores(kind, 12_000)).max() < 4.5


def model_with(elapsed_of, belief_of=lambda walk: walk):
    with pm.Model() as model:
        tau, scale = pm.HalfNormal("tau", 1.0), pm.HalfCauchy("scale", 1.0, shape=len(GAPS))
        walk = WienerProcess("walk", np.zeros(2), START, MOVE, elapsed_of(tau, scale))
        arrivals = make_arrivals(len(GAPS) + 1, 2, 2)
        utility = linear_utility(belief_of(walk), arrivals["context"].values, 1.5)
        SoftmaxChoice("chosen", utility, arrivals["available"].values, observed=np.zeros(len(GAPS) + 1, int))
    return model


@pytest.mark.parametrize(
    ("elapsed_of", "scales"),
    [
        (lambda tau, scale: (tau * scale) ** 2 * GAPS, {"tau", "scale"}),
        (lambda tau, scale: GAPS * tau**2 * scale**2, {"tau", "scale"}),
        (lambda tau, scale: (tau + 0.1) * scale**2, {"scale"}),
        (lambda tau, scale: tau**2 * scale, set()),
        (lambda tau, scale: tau**2 * (0.01 + scale**2), set()),
        (lambda tau, scale: (tau * scale[::-1]) ** 2, set()),
    ],
)
def test_only_scales_that_multiply_the_innovations_are_recognised(elapsed_of, scales):
    with model_with(elapsed_of) as model:
        assigned = {rv.name for rv in model.free_RVs if ShrinkageGibbs.competence(rv, True) == 3}
        by_engine = {rv.name for rv in model.free_RVs if UtilityHMC.competence(rv, True) == 3}
    assert assigned == scales
    assert by_engine == {"walk", "tau", "scale"} - scales


def test_a_linear_function_of_the_walk_is_left_to_the_engine():
    """Noncentred moves would have to know it."""
    with model_with(lambda tau, scale: (tau * scale) ** 2, lambda walk: 2.0 * walk) as model:
        assert ShrinkageGibbs.competence(model["scale"], True) == 0
        with pytest.raises(ValueError, match="Sample them with NUTS"):
            ShrinkageGibbs([model["scale"], model["tau"]])


TIMES = 12
OPTIONS = {"global_scale": pm.HalfNormal.dist(0.2), "innovation_covariance": 1.0, "start_covariance": 1.0}
NAMES = ("belief", "local_scale", "global_scale")


@pytest.fixture(scope="module")
def decisions():
    return make_decisions()


def make_decisions():
    arrivals = make_arrivals(TIMES, 2, 2, seed=7)
    weights = np.where(np.arange(TIMES)[:, None] < 6, [1.5, 0.0], [-1.0, 1.0])
    utility = np.einsum("tak,tk->ta", arrivals["context"].values, weights)
    noise = np.random.default_rng(3).gumbel(size=utility.shape)
    return arrivals.assign(chosen=("time", (utility + noise).argmax(axis=1)))


def comparable(draws):
    """Functions of draws (chain, draw, ...) with finite moments: their levels and squares."""
    belief = np.tanh(draws["belief"] / 2)
    logs = [np.log(draws["local_scale"]), np.log(draws["global_scale"])[..., None]]
    levels = np.concatenate([belief.reshape(*belief.shape[:2], -1), *logs], axis=-1)
    return np.concatenate([levels, levels**2], axis=-1)


def sampled(model, **options):
    with model:
        trace = pm.sample(
            chains=2, cores=1, random_seed=5, progressbar=False, compute_convergence_checks=False, **options
        )
    return comparable({name: group(trace, "posterior")[name].values for name in NAMES})


def importance_sampled(decisions, draws=100_000):
    """Posterior means without a chain, from prior draws weighted by the likelihood, and their standard errors."""
    rng = np.random.default_rng(8)
    tau = 0.2 * np.abs(rng.standard_normal(draws))
    scale = np.abs(rng.standard_cauchy((draws, TIMES - 1)))
    first = rng.standard_normal((draws, 1, 2))
    moves = (tau[:, None] * scale)[:, :, None] * rng.standard_normal((draws, TIMES - 1, 2))
    belief = np.cumsum(np.concatenate([first, moves], axis=1), axis=1)
    context, chosen, steps = decisions["context"].values, decisions["chosen"].values, np.arange(TIMES)
    contrast = np.einsum("tk,ntk->nt", context[steps, 1 - chosen] - context[steps, chosen], belief)
    weight = np.exp(-np.logaddexp(0.0, contrast).sum(axis=1))
    weight /= weight.sum()
    functions = comparable({"belief": belief[None], "local_scale": scale[None], "global_scale": tau[None]})[0]
    mean = weight @ functions
    return mean, np.sqrt(weight**2 @ (functions - mean) ** 2)


def test_the_steps_agree_with_importance_sampling(decisions):
    draws = sampled(shrinkage_nb_icb(decisions, **OPTIONS), draws=1000, tune=200)
    expected, error = importance_sampled(decisions)
    scores = (draws.mean(axis=(0, 1)) - expected) / np.hypot(standard_error(draws), error)
    assert np.abs(scores).max() < 4.5
    assert np.sqrt(np.mean(scores**2)) < 1.8


def noncentred_model(decisions):
    """The same posterior, with standard normal noise in place of the beliefs.

    On the graph of the model itself NUTS diverges: where a scale is small the innovation must be small too.
    """
    context, chosen, steps = decisions["context"].values, decisions["chosen"].values, np.arange(TIMES)
    with pm.Model() as model:
        tau, scale = pm.HalfNormal("global_scale", 0.2), pm.HalfCauchy("local_scale", 1.0, shape=TIMES - 1)
        first, noise = pm.Normal("first", shape=(1, 2)), pm.Normal("noise", shape=(TIMES - 1, 2))
        path = pt.cumsum(pt.concatenate([first, (tau * scale)[:, None] * noise]), axis=0)
        belief = pm.Deterministic("belief", path)
        contrast = ((context[steps, 1 - chosen] - context[steps, chosen]) * belief).sum(axis=1)
        pm.Bernoulli("is_other", logit_p=contrast, observed=np.zeros(TIMES))
    return model


@pytest.mark.slow
def test_the_steps_agree_with_nuts(decisions):
    model = noncentred_model(decisions)
    with model:
        nuts = pm.NUTS(target_accept=0.95)
    by_nuts = sampled(model, draws=1500, tune=1000, step=nuts)
    by_steps = sampled(shrinkage_nb_icb(decisions, **OPTIONS), draws=2500, tune=500)
    assert np.abs(z_scores(by_nuts, by_steps)).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("actions", [2, 4])
@pytest.mark.parametrize(
    "kind", ["belief itself", "rho deviates from the belief", "scale of the first belief is learnt"]
)
def test_simulation_based_calibration(kind, actions):
    replicates, kept, thinning = 80, 19, 15
    _, model = fresh_model(kind, actions)
    latents = [rv for rv in model.free_RVs if rv.name in ("start_scale", "belief", "rho")]
    with model:
        steps = [ShrinkageGibbs([model["scale"], model["tau"]], rng=1), UtilityHMC(latents, rng=2)]
    initial, ranks = model.initial_point(), []
    for truth in drawn_points(model, replicates, seed=9):
        for step in steps:
            step.started, step.tune, step.steps = False, True, 0
        point, draws = initial | {"chosen": truth["chosen"]}, []
        for i in range(100 + kept * thinning):
            if i == 100:
                for step in steps:
                    step.stop_tuning()
            for step in steps:
                point, _ = step.step(point)
            draws.append(point)
        thinned = draws[100 + thinning - 1 :: thinning]
        names = [name for name in ("tau_log__", "scale_log__", "start_scale_log__", "belief") if name in truth]
        ranks.append(np.concatenate([np.ravel(sum(draw[n] < truth[n] for draw in thinned)) for n in names]))
    assert uniformity(np.array(ranks), kept).min() > 1e-4
