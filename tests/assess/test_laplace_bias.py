"""How far Laplace's method is off, against an exact posterior on a grid."""

import numpy as np
import pytest

from icb_pymc import diagnose, fit, from_arrays
from icb_pymc.assess.laplace_bias import laplace_remarks, worst_shift

# Weights that never move, with a known prior: the posterior of the one weight can be computed on a grid.
STILL = {"innovation_covariance": 1e-12, "start_covariance": 16.0}


def log_of(weight, steps, seed=2):
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(steps, 2, 1))
    utility = weight * context[:, :, 0] + rng.gumbel(size=(steps, 2))
    return from_arrays(context, utility.argmax(axis=1), features=["price"])


def laplace(decisions, **options):
    given = {"draws": 4000, "random_seed": 0, "progressbar": False} | options
    return fit("nb_icb", decisions, STILL, method="laplace", **given)


def exact_shift(decisions):
    """(mean - mode) / standard deviation of the Gaussian at the mode."""
    weight = np.linspace(-25, 35, 20_001)
    context, chosen = decisions["context"].values[:, :, 0], decisions["chosen"].values
    steps = np.arange(len(chosen))
    away = context[steps, 1 - chosen] - context[steps, chosen]
    log_density = -(weight**2) / 32.0 - np.logaddexp(0, np.multiply.outer(weight, away)).sum(axis=1)
    density = np.exp(log_density - log_density.max())
    mean, mode = (weight * density).sum() / density.sum(), weight[density.argmax()]
    chance = 1 / (1 + np.exp(-mode * away))
    return (mean - mode) * np.sqrt(1 / 16.0 + (chance * (1 - chance) * away**2).sum())


def test_the_shift_is_close_to_the_exact_one_where_the_posterior_is_skewed():
    decisions = log_of(4.0, 25)
    shift = worst_shift(laplace(decisions), decisions)
    assert shift is not None
    assert shift.feature == "price"
    assert shift.size == pytest.approx(exact_shift(decisions), abs=0.05)
    (remark,) = [line for line in laplace_remarks(laplace(decisions)) if "skewed: the mean" in line]
    assert "nearer to the extremes than the mode" in remark


def test_nothing_is_said_of_a_long_log_and_separable_features_are_named():
    assert laplace_remarks(laplace(log_of(1.0, 400), draws=500)) == []
    context = np.random.default_rng(0).normal(size=(20, 2, 1))
    perfect = from_arrays(context, context[:, :, 0].argmax(axis=1), features=["price"])
    trace = laplace(perfect, draws=200)
    assert "'price' alone explain every choice" in laplace_remarks(trace)[0]
    diagnosis = diagnose(trace)
    assert diagnosis.label == "no chains to diagnose"
    assert "'price' alone" in str(diagnosis)


def test_nothing_is_claimed_where_the_draws_cannot_tell(trace):
    decisions = log_of(4.0, 25)
    assert worst_shift(laplace(decisions, draws=200, every=5), decisions) is None
    assert laplace_remarks(trace) == []
