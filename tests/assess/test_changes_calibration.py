"""Simulation-based calibration of the number of changes, their dates and the weights, under the model's own prior."""

import numpy as np
import pytest
from scipy.stats import binomtest, kstest

from icb_pymc import from_arrays
from icb_pymc.assess.changes import changes, spread_of_candidates

STEPS, FEATURES, SCALE, DRAWS, LOGS = 60, 2, 1.5, 100, 400


def simulated(rng, actions, mean):
    """Decisions from the prior, whether the preference changes before each of them, and their weights."""
    context = rng.normal(size=(STEPS, actions, FEATURES))
    changed = rng.random(STEPS) < rng.beta(1, STEPS - 1)
    changed[0] = False
    segment = np.cumsum(changed)
    spread = spread_of_candidates(from_arrays(context, np.zeros(STEPS, int)))
    weights = (mean + SCALE / spread * rng.normal(size=(segment[-1] + 1, FEATURES)))[segment]
    utility = (context * weights[:, None]).sum(axis=-1) + rng.gumbel(size=(STEPS, actions))
    return from_arrays(context, utility.argmax(axis=1)), changed, weights


def first_change(changed):
    """Number of decisions before the first change (...,), or all if there is none."""
    return np.where(changed.any(axis=-1), changed.argmax(axis=-1), STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("actions", [2, 4])
@pytest.mark.parametrize(("length", "mean"), [(1, 0.0), (4, 0.5)])
def test_number_dates_and_weights_are_calibrated(length, mean, actions):
    rng = np.random.default_rng(10 * length + actions)
    ranks, dates, any_change = [], [], []

    def rank(truth, draws):
        ties = np.sum(draws == truth)
        return (np.sum(draws < truth) + rng.random() * (ties + 1)) / (DRAWS + 1)

    for log in range(LOGS):
        decisions, changed, weights = simulated(rng, actions, mean)
        result = changes(decisions, prior_mean=mean, prior_scale=SCALE, length=length, draws=DRAWS, random_seed=log)
        belief = result.beliefs().values[0]
        drawn = np.zeros((DRAWS, STEPS), bool)
        drawn[:, 1:] = (belief[:, 1:] != belief[:, :-1]).any(axis=-1)
        number = result.number.reindex(changes=np.arange(STEPS), fill_value=0.0).values
        ranks.append(
            {
                "number": number[: changed.sum()].sum() + rng.random() * number[changed.sum()],
                "first change": rank(first_change(changed), first_change(drawn)),
                "changes in the first half": rank(changed[: STEPS // 2].sum(), drawn[:, : STEPS // 2].sum(axis=1)),
                "weight in the middle": rank(weights[STEPS // 2, 0], belief[:, STEPS // 2, 0]),
                "size of the first weights": rank(np.abs(weights[0]).sum(), np.abs(belief[:, 0]).sum(axis=-1)),
            }
        )
        moments = decisions["time"].values[changed]
        inside = [((moments >= date.interval[0]) & (moments <= date.interval[1])).any() for date in result.dates]
        dates += [(date.probability, hit) for date, hit in zip(result.dates, inside, strict=True)]
        any_change.append((result.any_change, changed.any()))

    for name in ranks[0]:
        assert kstest([row[name] for row in ranks], "uniform").pvalue > 0.001, name
    for stated, happened in (np.array(dates, float).T, np.array(any_change, float).T):
        assert binomtest(int(happened.sum()), len(happened), stated.mean()).pvalue > 0.001
