"""Signed weights over time."""

import numpy as np
import pytest

from icb_pymc.assess.weights import log_odds_weights
from icb_pymc.errors import InputError
from icb_pymc.plots.weights import weights_over_time


@pytest.mark.parametrize("unit", ["sd", "user"])
def test_the_line_is_the_median_weight_and_the_dotted_one_the_truth(trace, dated_decisions, unit):
    ax = weights_over_time(trace, features=["feature_1"], unit=unit).axes[0]
    median, truth, zero = ax.get_lines()
    weights = log_odds_weights(trace, unit).sel(feature="feature_1")
    np.testing.assert_allclose(median.get_ydata(), weights.median(("chain", "draw")))
    first, second = dated_decisions["context"].sel(feature="feature_1").values.T
    sd = np.sqrt(((first - second) ** 2 / 2).mean())
    expected = 20.0 * dated_decisions["true_belief"].sel(feature="feature_1") * (sd if unit == "sd" else 1.0)
    np.testing.assert_allclose(truth.get_ydata(), expected)
    assert set(zero.get_ydata()) == {0}


def test_another_unit_is_refused(trace):
    with pytest.raises(InputError, match="unit='inch': it must be 'sd' or 'user'"):
        weights_over_time(trace, unit="inch")
