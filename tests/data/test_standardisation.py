import numpy as np
import xarray as xr

from icb_pymc.data.standardisation import in_user_units, standardise, user_context


def test_available_candidates_get_mean_zero_and_scale_one_and_can_be_told_in_user_units(arrivals):
    scaled = arrivals.assign(context=arrivals["context"] * 7 + 3)
    once = standardise(scaled)
    values = once["context"].values[once["available"].values]
    np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(values.std(axis=0), 1)
    restored = user_context(standardise(once)).values
    mask = scaled["available"].values
    np.testing.assert_allclose(restored[mask], scaled["context"].values[mask])


def test_utilities_differ_by_a_constant_between_the_two_units(arrivals):
    scaled = arrivals.assign(context=arrivals["context"] * np.array([1.0, 10.0, 0.1, 5.0]) + 2)
    standardised = standardise(scaled)
    weights = xr.DataArray([1.0, -2.0, 3.0, 0.5], dims="feature", coords={"feature": scaled["feature"]})
    here = (standardised["context"] * weights).sum("feature")
    there = (scaled["context"] * in_user_units(weights, standardised)).sum("feature")
    gap = (here - there).where(scaled["available"])
    np.testing.assert_allclose(gap - gap.mean(), xr.zeros_like(gap).where(scaled["available"]), atol=1e-10)
