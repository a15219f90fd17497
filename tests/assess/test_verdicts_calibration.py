"""How often verdicts claim a change, a worse model or sharper choices in logs where there is none."""

import numpy as np
import pytest
from scipy.stats import binom

from icb_pymc import compare, fit, from_arrays, impact
from icb_pymc.assess.unchanging import against_unchanging
from icb_pymc.assess.wording import is_all_sharper
from icb_pymc.cli.fit import movement

LOGS, STEPS = 40, 300
WEIGHTS = np.array([1.0, 0.5, 0.0])
# The probability with which a verdict "clear" may be wrong: 2.5% in each direction, over all features together.
CLEAR = 0.05


def most(probability, trials):
    """The number of false claims that so many trials exceed in one test of a thousand."""
    return binom.ppf(0.999, trials, probability)


def fitted(path, actions, seed):
    """Choices by softmax of a path of weights (time, feature), and the Laplace fit of NB-ICB as it is by default."""
    rng = np.random.default_rng([seed, actions])
    context = rng.normal(size=(len(path), actions, path.shape[1]))
    utility = (context * path[:, None, :]).sum(axis=-1) + rng.gumbel(size=(len(path), actions))
    decisions = from_arrays(context, utility.argmax(axis=1))
    options = {"method": "laplace", "draws": 400, "random_seed": seed, "progressbar": False}
    return decisions, fit("nb_icb", decisions, **options)


@pytest.mark.slow
@pytest.mark.parametrize("actions", [2, 4])
def test_in_stationary_logs_a_change_is_claimed_as_rarely_as_its_probability_says(actions):
    claims = {name: [] for name in ("any feature", "feature", "probable", "decisiveness", "sharper", "moved", "worse")}
    for seed in range(LOGS):
        _, trace = fitted(np.tile(WEIGHTS, (STEPS, 1)), actions, seed)
        result = impact(trace, STEPS // 2 + 1)
        verdicts, overall = result.table["verdict"].to_numpy(), result.decisiveness.loc[0]
        claims["any feature"].append("clear" in verdicts)
        claims["feature"] += list(verdicts == "clear")
        claims["probable"].append(bool({"clear", "probable"} & set(verdicts)))
        claims["decisiveness"].append(overall["verdict"] == "clear")
        claims["sharper"].append(is_all_sharper(overall))
        claims["moved"].append(movement(trace, against_unchanging(trace)).startswith("weights moved"))
        claims["worse"].append(against_unchanging(trace).is_worse)
    number = {name: sum(found) for name, found in claims.items()}
    print(actions, number)
    assert number["any feature"] <= most(CLEAR, LOGS)
    assert number["feature"] <= most(CLEAR / 3, 3 * LOGS)
    assert number["probable"] <= most(0.2, LOGS)
    assert number["decisiveness"] <= most(CLEAR, LOGS)
    assert number["sharper"] <= most(CLEAR, LOGS)
    # What `icb fit` prints: that weights moved; and of a default model, that it is worse than no movement.
    assert number["moved"] <= most(CLEAR, LOGS)
    assert number["worse"] <= most(CLEAR, LOGS)


@pytest.mark.slow
@pytest.mark.parametrize("actions", [2, 4])
def test_a_model_that_fits_is_rarely_called_worse_than_no_change_and_one_that_does_not_is(actions):
    worse, restless = [], []
    for seed in range(LOGS // 2):
        rng = np.random.default_rng(seed)
        moves = rng.normal(size=(STEPS, 3)) / np.sqrt(STEPS)
        decisions, trace = fitted(WEIGHTS + np.cumsum(moves, axis=0), actions, seed + 1000)
        worse.append(against_unchanging(trace).is_worse)
        given = {"total_movement": 20.0}
        options = {"method": "laplace", "draws": 400, "random_seed": seed, "progressbar": False}
        restless.append(against_unchanging(fit("nb_icb", decisions, given, **options)).is_worse)
    print(actions, sum(worse), sum(restless))
    assert sum(worse) <= most(0.025, LOGS // 2)
    assert np.mean(restless) >= 0.9


@pytest.mark.slow
def test_compare_calls_the_worse_of_two_models_better_by_two_standard_errors_as_rarely_as_that_says():
    """Logs without a change: weights that never change are the truth, and a walk may not be found clearly better."""
    wrong = []
    for seed in range(LOGS):
        decisions, walk = fitted(np.tile(WEIGHTS, (STEPS, 1)), 2, seed)
        options = {"method": "laplace", "draws": 400, "random_seed": seed, "progressbar": False}
        table = compare({"walk": walk, "unchanging": fit("b_irl", decisions, **options)})
        difference = table.loc["unchanging", ["elpd_diff", "dse"]]
        wrong.append(difference["elpd_diff"] > 2 * difference["dse"] and difference["elpd_diff"] > 4)
    print(sum(wrong))
    assert sum(wrong) <= most(0.025, LOGS)
