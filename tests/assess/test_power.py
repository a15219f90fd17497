"""How often a step of known size would be found."""

import numpy as np
import pytest

from icb_pymc import from_arrays, power
from icb_pymc.errors import InputError


@pytest.fixture(scope="module")
def decisions():
    """Choices by the weights 0.5 and -1 of features whose standard deviations are 1 and 10."""
    rng = np.random.default_rng(0)
    context = rng.normal(size=(300, 2, 2)) * [1.0, 10.0]
    utility = (context * [0.5, -0.1]).sum(axis=-1) + rng.gumbel(size=(300, 2))
    return from_arrays(context, utility.argmax(axis=1), features=["a", "b"])


def test_a_large_step_is_found_and_no_step_is_not(decisions):
    result = power(decisions, 151, features=["a"], sizes=[0.0, 2.0], replicates=6)
    shares = result.table["clear"]
    assert (shares.xs(2.0, level="size") >= 0.8).all()
    assert (shares.xs(0.0, level="size") == 0).all()
    assert "a: a step of 2 would be found in at least 80%" in str(result)


def test_sizes_are_per_standard_deviation_whatever_the_unit_of_the_feature(decisions):
    other = decisions.assign(context=decisions["context"] * np.array([100.0, 1.0]))
    options = {"features": ["a"], "sizes": [0.6], "replicates": 5}
    one, same = (power(log, 151, **options).table["clear"].item() for log in (decisions, other))
    assert one == same


def test_the_same_seed_gives_the_same_shares_and_records_are_plain(decisions):
    options = {"features": ["b"], "sizes": [0.6], "replicates": 3}
    one, same = (power(decisions, 151, random_seed=3, **options).records() for _ in range(2))
    assert one == same
    assert sorted(one[0]) == ["clear", "feature", "size", "standard_error"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"features": ["aa"]}, "there is no feature 'aa' in the log: did you mean 'a'"),
        ({"sizes": [-1.0]}, "give zero or positive steps"),
        ({"replicates": 0}, "give at least one"),
        ({"before": 3}, "a step needs 10 on each side"),
    ],
)
def test_what_cannot_be_asked_is_refused(decisions, options, sentence):
    with pytest.raises(InputError, match=sentence):
        power(decisions, 151, **options)
