"""The scales of a shrinkage walk: the step leaves the joint distribution invariant, and agrees with NUTS."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc.declare.beliefs import BeliefSample
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.processes import WienerProcess
from icb_pymc.steps import ShrinkageGibbs

GAPS = np.array([1.0, 0.3, 4.0, 1.0, 1.0, 2.0])
START, MOVE = np.array([[0.6, 0.2], [0.2, 0.4]]), np.array([[0.8, -0.3], [-0.3, 0.5]])
SAMPLING_ROOT = np.array([[0.5, 0.0], [0.2, 0.4]])
KINDS = {
    "belief itself": {},
    "rho deviates from the belief": {"with_rho": True},
    "tau is known": {"tau": 0.4},
    "scale of lambda is not one": {"local_unit": 0.2},
}


def joint_model(arrivals, with_rho=False, tau=None, local_unit=1.0):
    """A shrinkage walk with the choice left free, so that a joint-distribution test can draw it."""
    with pm.Model() as model:
        if tau is None:
            tau = pm.HalfCauchy("tau", 0.3)
        elif not isinstance(tau, float):
            tau = model.register_rv(tau, "tau")
        scale = pm.HalfCauchy("scale", local_unit, shape=len(GAPS))
        belief = WienerProcess("belief", np.array([0.3, -0.2]), START, MOVE, (tau * scale) ** 2 * GAPS)
        rho = BeliefSample("rho", belief, SAMPLING_ROOT) if with_rho else belief
        SoftmaxChoice("chosen", linear_utility(rho, arrivals["context"].values, 1.5), arrivals["available"].values)
    return model


def fresh_model(kind):
    options = dict(KINDS[kind])
    if kind == "scale of lambda is not one":
        options["tau"] = pm.HalfNormal.dist(2.0)
    arrivals = make_arrivals(len(GAPS) + 1, 3, 2, seed=2, share_available=0.8)
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
    assert np.abs(invariance_scores(kind, 2000)).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_step_leaves_the_joint_distribution_invariant_in_many_replicates(kind):
    assert np.abs(invariance_scores(kind, 40_000)).max() < 4.5
