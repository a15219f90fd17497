"""Whether a fit predicts better than weights that never change."""

import numpy as np
import pytest

from icb_pymc import diagnose, fit, from_arrays
from icb_pymc.assess.unchanging import against_unchanging, unchanging_scores
from icb_pymc.data.standardisation import contrast_spread
from icb_pymc.results.inference_data import from_groups, group


def simulated(path, seed=0):
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(len(path), 2, path.shape[1]))
    utility = (context * path[:, None, :]).sum(axis=-1) + rng.gumbel(size=(len(path), 2))
    return from_arrays(context, utility.argmax(axis=1))


def walk(decisions, innovation_covariance):
    priors = {"alpha": 1.0, "sampling_covariance": 0.0, "start_covariance": 4.0}
    priors["innovation_covariance"] = innovation_covariance
    return fit("nb_icb", decisions, priors, method="laplace", draws=400, random_seed=0, progressbar=False)


def test_scores_are_those_of_fits_without_each_choice():
    decisions = simulated(np.tile([1.0, -0.5], (25, 1)))
    scores = unchanging_scores(decisions)
    # One weight vector on a fine grid, under the same prior: 2.5 log-odds per typical difference.
    sd = 2.5 / contrast_spread(decisions)
    axes = [np.linspace(-5 * s, 5 * s, 201) for s in sd]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    utility = np.einsum("tak,gk->gta", decisions["context"].values, grid)
    likelihood = utility[:, np.arange(25), decisions["chosen"].values] - np.logaddexp.reduce(utility, axis=-1)
    log_prior = -0.5 * ((grid / sd) ** 2).sum(axis=-1)
    for t in (0, 7, 20):
        others = np.exp(log_prior + likelihood.sum(axis=1) - likelihood[:, t])
        exact = np.log((others * np.exp(likelihood[:, t])).sum() / others.sum())
        # The Gaussian around the mode and 400 draws are approximations.
        assert scores[t] == pytest.approx(exact, abs=0.12)


def test_a_walk_that_moves_too_much_for_an_unchanging_log_is_warned_of():
    decisions = simulated(np.tile([1.0, -0.5], (400, 1)))
    restless, calm = walk(decisions, 1.0), walk(decisions, 1e-6)
    assert against_unchanging(restless).is_worse
    assert not against_unchanging(calm).is_worse
    assert "WARNING: weights that never change predict the choices better" in str(diagnose(restless))
    assert "WARNING" not in str(diagnose(calm))


def test_a_walk_that_follows_a_change_predicts_better():
    trace = walk(simulated(np.repeat([[2.0, 0.0], [-2.0, 0.0]], 200, axis=0)), 0.02)
    result = against_unchanging(trace)
    assert result.difference > 2 * result.standard_error
    assert "the model predicts the choices better" in str(result)


def test_a_trace_without_probabilities_is_not_compared():
    trace = walk(simulated(np.tile([1.0, -0.5], (40, 1))), 1e-4)
    bare = from_groups({name: group(trace, name) for name in ("posterior", "constant_data")}, trace.attrs)
    assert against_unchanging(bare) is None
