"""The rate of lapses is drawn from its distribution given the utilities, which is known in one dimension."""

import numpy as np
import pymc as pm
import pytest
from helpers.arrivals import make_arrivals
from scipy.stats import beta, chisquare

from icb_pymc import check
from icb_pymc.models import nb_icb
from icb_pymc.steps.lapse_rate import LapseRate, lapse_hyperparameters
from icb_pymc.steps.linear_gaussian import find_linear_gaussian
from icb_pymc.steps.utility_hmc import UtilityHMC

TIMES = 40


@pytest.fixture(scope="module")
def decisions():
    arrivals = make_arrivals(TIMES, 3, 1, seed=3)
    last = np.array([np.flatnonzero(row)[-1] for row in arrivals["available"].values])
    return arrivals.assign(chosen=("time", last))


def test_draws_given_the_utilities_have_the_density_of_a_sum_over_decisions(decisions):
    model = nb_icb(decisions, lapse=pm.Beta.dist(2, 8), innovation_covariance=0.05, start_covariance=1.0)
    parts = find_linear_gaussian(model)
    counts = decisions["available"].values.sum(axis=1)
    first = np.concatenate([[0], np.cumsum(counts - 1)])
    contrasts = np.random.default_rng(1).standard_normal(first[-1])
    (value,) = (model.rvs_to_values[rv] for rv in lapse_hyperparameters(model, parts))
    log_prior = model.compile_logp(vars=[model["lapse"]])
    rest = model.initial_point()
    rate, rng = LapseRate(model, parts.lapse, [value.name]), np.random.default_rng(0)
    point, drawn = {value.name: np.asarray(0.0)}, []
    for _ in range(2000):
        point, lapse = rate.draw(point, first, contrasts, lambda at: log_prior(rest | at), rng)
        drawn.append(lapse)

    # The density in the middle of many intervals, and how many draws of each of twelve groups are expected.
    grid = (np.arange(6000) + 0.5) / 6000
    odds = [np.exp(contrasts[first[t] : first[t + 1]]).sum() for t in range(TIMES)]
    chosen = np.prod([(1 - grid) / (1 + own) + grid / n for own, n in zip(odds, counts, strict=True)], axis=0)
    density = beta(2, 8).pdf(grid) * chosen
    edges = np.interp(np.arange(1, 12) / 12, np.cumsum(density) / density.sum(), grid)
    # Successive draws are not independent.
    counted = np.bincount(np.searchsorted(edges, drawn[::3]), minlength=12)
    assert chisquare(counted).pvalue > 1e-3


def test_only_what_the_rate_alone_depends_on_is_drawn_like_that(decisions):
    def names(model):
        return [rv.name for rv in lapse_hyperparameters(model, find_linear_gaussian(model))]

    assert names(nb_icb(decisions)) == names(nb_icb(decisions, lapse=0.1)) == []
    model = nb_icb(decisions, lapse=pm.Beta.dist(1, 20))
    assert names(model) == ["lapse"]
    with model:
        step = UtilityHMC(model.free_RVs)
    assert (step._moves.names, step._moves._lapse.names) == (
        ["total_movement_log__", "start_scale_log__"],
        ["lapse_logodds__"],
    )

    def shared(given):
        share = pm.Beta("share", 1, 20)
        return nb_icb(decisions, lapse=given(share), start_scale=pm.LogNormal.dist(0, 1))

    with pm.Model():
        assert names(shared(lambda share: share)) == ["share"]
    with pm.Model():
        share = pm.Beta("share", 1, 20)
        both = nb_icb(decisions, lapse=share, alpha=1 + share)
    assert names(both) == []


@pytest.mark.slow
@pytest.mark.parametrize("lapse", [pm.Beta.dist(2, 8), 0.2], ids=["learnt", "fixed"])
def test_simulation_based_calibration_with_lapses_and_learnt_scales(lapse):
    sizes = {"replicates": 60, "steps": 30, "actions": 3, "draws": 300}
    result = check("nb_icb", {"lapse": lapse}, **sizes, random_seed=1, jobs=1)
    assert result.passed, str(result)
    assert ("lapse" in result.table.index) == (lapse != 0.2)
