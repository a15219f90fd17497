import numpy as np
import pytest
import xarray as xr

from icb_pymc.errors import InputError
from icb_pymc.inference_data import from_groups, group
from icb_pymc.metrics import belief_error, coverage, relative_importance, reward_error


def test_relative_importance_is_the_share_of_absolute_weights():
    weights = xr.DataArray([[1.0, -3.0], [-2.0, 2.0]], dims=("time", "feature"))
    np.testing.assert_allclose(relative_importance(weights), [[0.25, 0.75], [0.5, 0.5]])


@pytest.fixture
def small_trace():
    """Two draws around (2, -2) at both of two times; the truth is (0.5, -0.5), then (1, 0)."""
    belief = np.array([[[[1.0, -1.0], [1.0, -1.0]], [[3.0, -3.0], [3.0, -3.0]]]])
    posterior = xr.Dataset(
        {
            "belief": (("chain", "draw", "time", "feature"), belief),
            "rho_env": (("chain", "draw", "feature"), np.array([[[0.0, 1.0], [0.0, 3.0]]])),
        }
    )
    truth = xr.Dataset(
        {"true_belief": (("time", "feature"), [[0.5, -0.5], [1.0, 0.0]]), "true_rho_env": ("feature", [0.25, 0.75])}
    )
    return from_groups({"posterior": posterior, "constant_data": truth}, {})


def test_errors_are_l1_distances_at_unit_norm(small_trace):
    assert belief_error(small_trace) == pytest.approx((0.0 + 1.0) / 2)
    assert reward_error(small_trace) == pytest.approx(0.5)


def test_coverage_is_the_share_of_true_values_inside_their_interval(small_trace):
    assert coverage(small_trace, "belief", 1.0) == 0.25
    assert coverage(small_trace, "rho_env", 1.0) == 0.0


def test_a_trace_of_real_decisions_has_no_error(small_trace):
    real = from_groups({"posterior": group(small_trace, "posterior")}, {})
    with pytest.raises(InputError, match="only simulated ones carry the truth"):
        belief_error(real)
