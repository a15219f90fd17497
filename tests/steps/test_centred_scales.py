"""Scales drawn given the Gaussian variables: their density, their posterior, and the engine that uses them."""

import numpy as np
import pymc as pm
import pytest
from helpers.agreement import z_scores
from helpers.arrivals import make_arrivals
from scipy.stats import invgamma, kstest

from icb_pymc.data.deciders import with_agents
from icb_pymc.kernels.pseudo_data import PseudoData
from icb_pymc.models import b_icb, hierarchical_nb_icb, nb_icb
from icb_pymc.steps import UtilityHMC
from icb_pymc.steps.centred_scales import CentredScales
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

AGENTS = np.array([1, 0, 1, 1, 2, 0, 1, 2, 2, 0, 1, 0])
ARRIVALS = with_agents(make_arrivals(len(AGENTS), 2, 2, seed=4), AGENTS)
DECISIONS = ARRIVALS.assign(chosen=("time", np.arange(len(AGENTS)) % 2))


def on_own_clocks(data=DECISIONS, **hyperparameters):
    return hierarchical_nb_icb(data, **hyperparameters)


def on_a_calendar():
    return hierarchical_nb_icb(DECISIONS, clock="calendar")


def with_deviations_that_move():
    return hierarchical_nb_icb(
        DECISIONS, clock="calendar", deviation_innovation_covariance=pm.LogNormal.dist(-1.0, 1.0)
    )


def one_walk():
    return nb_icb(DECISIONS)


def with_a_scale_for_each_feature():
    return on_own_clocks(deviation_scale=pm.LogNormal.dist(np.log(0.5), 1.0, shape=2))


OF_MODELS = {
    on_own_clocks: {"total_movement", "start_scale", "deviation_scale"},
    on_a_calendar: {"total_movement", "start_scale", "deviation_scale"},
    with_deviations_that_move: {
        "total_movement",
        "start_scale",
        "deviation_scale",
        "deviation_innovation_covariance",
    },
    one_walk: {"total_movement", "start_scale"},
    with_a_scale_for_each_feature: {"total_movement", "start_scale", "deviation_scale"},
}


def centred(model):
    parts = find_linear_gaussian(model)
    linear = LinearGaussianModel(model, parts)
    return parts, linear, CentredScales(model, parts, linear, parts.hyperparameters)


def random_point(model, seed=0):
    rng = np.random.default_rng(seed)
    return {name: value + 0.5 * rng.standard_normal(np.shape(value)) for name, value in model.initial_point().items()}


@pytest.mark.parametrize("declare", OF_MODELS, ids=lambda declare: declare.__name__)
def test_sums_of_squares_give_the_density_of_scales_and_variables(declare):
    model = declare()
    parts, linear, scales = centred(model)
    assert set(scales.names) == {f"{name}_log__" for name in OF_MODELS[declare]}
    graph = model.logp(vars=[*parts.hyperparameters, *parts.variables])
    whole = model.compile_fn(graph, inputs=model.value_vars, mode="FAST_COMPILE", on_unused_input="ignore")
    point, differences = random_point(model), []
    scatters = linear.scatters(linear.values(point), point)
    for seed in range(1, 4):
        other = point | {name: random_point(model, seed)[name] for name in scales.names}
        differences.append(scales._log_density(other, scatters) - float(whole(other)))
    # Up to a constant.
    np.testing.assert_allclose(differences, differences[0], atol=1e-8)


def test_scales_that_are_elsewhere_too_are_left_out():
    *_, scales = centred(on_own_clocks(alpha=pm.LogNormal.dist(0.0, 1.0)))
    # With alpha learnt, all units of weights depend on it, and so do utilities.
    assert set(scales.names) == {"total_movement_log__", "start_scale_log__", "deviation_scale_log__"}
    *_, scales = centred(on_own_clocks(sampling_covariance=pm.LogNormal.dist(0.0, 1.0)))
    assert "sampling_covariance_log__" not in scales.names
    *_, scales = centred(b_icb(DECISIONS))
    assert scales.names == []


def test_a_variance_given_its_values_has_the_conjugate_posterior():
    model = on_own_clocks(deviation_covariance=pm.InverseGamma.dist(3.0, 1.0))
    _, linear, scales = centred(model)
    point, rng = random_point(model), np.random.default_rng(0)
    first = point["deviation"][[1, 0, 4]]
    values, drawn = linear.values(point), []
    widths = {name: np.array(1.0) for name in scales.names}
    for _ in range(600):
        point = scales.move(point, values, widths, rng)
        drawn.append(np.exp(point["deviation_covariance_log__"]))
    posterior = invgamma(3.0 + first.size / 2, scale=1.0 + (first**2).sum() / 2)
    assert kstest(drawn, posterior.cdf).pvalue > 1e-3


def test_a_chain_that_cannot_leave_a_distant_start_is_put_closer():
    model = on_own_clocks(total_movement=20.0, start_scale=20.0, deviation_scale=20.0)
    with model:
        step = UtilityHMC(model.free_RVs, rng=np.random.default_rng(0))
    point, _ = step.step(model.initial_point())
    step._spread = 1e6
    step._disperse_position()
    step._last_point |= step._variables()
    point = dict(step._last_point)
    for _ in range(300):
        point, (stats,) = step.step(point)
    assert stats["hmc_accept"] > 0.5
    assert np.abs(point["deviation"]).max() < 1e3


class WithKnownReference(UtilityHMC):
    """With pseudo-data that depend neither on the choices, which a joint test redraws, nor on the scales."""

    def _adopt_point(self, point):
        _, space = self._model.state_space(self._model.values(point))
        rows, times = len(space.offset), len(space.first) - 1
        data = PseudoData(np.zeros(rows), np.full(rows, 3.0), np.full(times, 3.0))
        self._here = self._places.at(point, data)


def compared(point):
    """Functions whose distributions must agree: scales, weights, and their products."""
    logs = np.concatenate([np.ravel(point[name]) for name in SCALES], axis=-1)
    population, deviation = point["population"], point["deviation"]
    return np.concatenate([logs, population, deviation[[0, 1, 4, 10]].ravel(), logs * np.tanh(np.abs(deviation).max())])


SCALES = ("total_movement_log__", "start_scale_log__", "deviation_scale_log__")


@pytest.mark.slow
def test_scales_and_choices_have_the_joint_distribution_of_the_model():
    """Successive-conditional against marginal-conditional simulation (Geweke, 2004)."""
    iterations, rng = 6_000, np.random.default_rng(0)
    # Narrow enough for products of scales and weights to have moments that can be estimated.
    priors = {name: pm.LogNormal.dist(np.log(0.6), 0.5) for name in ("total_movement", "start_scale")}
    model = on_own_clocks(ARRIVALS, **priors, deviation_scale=pm.LogNormal.dist(np.log(0.6), 0.5))
    names = ("population", "deviation", "total_movement", "start_scale", "deviation_scale")
    drawn = dict(zip(names, pm.draw([model[name] for name in names], draws=iterations, random_seed=1), strict=True))
    direct = []
    for i in range(iterations):
        point = {name: drawn[name][i] for name in names[:2]}
        direct.append(compared(point | {f"{name}_log__": np.log(drawn[name][i]) for name in names[2:]}))

    with model:
        step = WithKnownReference([model[name] for name in names], rng=np.random.default_rng(2))
    step.stop_tuning()
    context, point, chained = ARRIVALS["context"].values, model.initial_point(), []
    point, _ = step.step(point)
    step.hyper |= {"mean": np.full(3, np.log(0.6)), "covariance": 0.25 * np.eye(3)}
    for _ in range(iterations):
        utility = np.einsum("tak,tk->ta", context, point["population"] + point["deviation"])
        point["chosen"] = (utility + rng.gumbel(size=utility.shape)).argmax(axis=1)
        point, _ = step.step(point)
        chained.append(compared(point))
    assert np.abs(z_scores(np.array(direct)[None], np.array(chained)[None])).max() < 4.5
