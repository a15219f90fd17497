import numpy as np
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc.declare.folds import equal_folds, one_fold, warn_of_improper_folds
from icb_pymc.errors import InputError, InputWarning


@pytest.mark.parametrize(("steps", "folds"), [(10, 1), (10, 3), (10, 10), (7, 5), (500, 7), (12, 4)])
def test_folds_are_those_of_the_appendix_also_if_their_number_does_not_divide_the_log(steps, folds):
    fold = equal_folds(steps, folds)
    for j in range(1, folds + 1):
        expected = np.arange(1 + (j - 1) * steps // folds, j * steps // folds + 1)
        np.testing.assert_array_equal(np.flatnonzero(fold == j - 1) + 1, expected)
    assert np.ptp(np.bincount(fold)) <= 1


@pytest.mark.parametrize("folds", [0, 11, 2.5, float("inf"), "many", None])
def test_an_invalid_number_of_folds_is_refused(folds):
    with pytest.raises(InputError, match=r"folds=.*from 1 to 10, the number of decisions"):
        equal_folds(10, folds)


def test_a_flat_prior_on_folds_of_one_decision_gives_a_warning():
    arrivals = make_arrivals(40, 2, 2)
    decisions = arrivals.assign(chosen=("time", np.arange(40) % 2))
    with pytest.warns(InputWarning, match="40 of 40 folds have no proper posterior"):
        warn_of_improper_folds(decisions, equal_folds(40, 40))


def test_choices_that_contradict_each_other_give_no_warning(recwarn):
    arrivals = make_arrivals(40, 2, 2)
    warn_of_improper_folds(arrivals.assign(chosen=("time", np.arange(40) % 2)), one_fold(40))
    assert not recwarn
