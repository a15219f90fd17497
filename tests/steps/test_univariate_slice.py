import numpy as np
import pytest
from scipy.stats import gamma, kstest

from icb_pymc.steps.univariate_slice import univariate_slice


@pytest.mark.parametrize("steps_out", [1, 50])
@pytest.mark.parametrize("width", [0.01, 1.0, 100.0])
def test_a_draw_leaves_the_density_invariant_whatever_the_width(width, steps_out):
    """Of the logarithm of a Gamma(2, 1) variable."""
    rng = np.random.default_rng(0)
    start = np.log(rng.gamma(2.0, size=4000))
    moved = [univariate_slice(lambda x: 2 * x - np.exp(x), x, width, rng, steps_out) for x in start]
    assert kstest(np.exp(moved), gamma(2.0).cdf).pvalue > 1e-3
    assert not np.allclose(moved, start)


def test_a_density_that_is_not_a_number_elsewhere_leaves_the_value_as_it_is():
    rng = np.random.default_rng(0)
    assert univariate_slice(lambda x: 0.0 if x == 1.0 else np.nan, 1.0, 1.0, rng) == 1.0
