"""Arrivals of the semi-synthetic environment and its reward parameter."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from icb_pymc.environments.liver_cohort import synthesise
from icb_pymc.environments.optn import FEATURES, pair_features, prepare
from icb_pymc.environments.semi_synthetic import SQUARED_FEATURES, reward_parameter, semi_synthetic
from icb_pymc.errors import InputError

PLANTED = np.array([-0.05, -0.30, 0.10, -0.02, -0.20, -0.15, -0.08, -0.10])


@pytest.fixture(scope="module")
def transplants() -> pd.DataFrame:
    return prepare(synthesise(2_000, seed=1)).transplants


@pytest.fixture(scope="module")
def arrivals(transplants: pd.DataFrame) -> xr.Dataset:
    return semi_synthetic(400, actions=3, seed=7, transplants=transplants)


def with_planted_survival(transplants: pd.DataFrame, quadratic: bool = False) -> pd.DataFrame:
    """Make survival exactly linear in the standardised features for those who died, and arbitrary for others."""
    features = pair_features(transplants, transplants)
    if quadratic:
        features[list(SQUARED_FEATURES)] **= 2
    z = (features - features.mean()) / features.std(ddof=0)
    linear = 3_000 + 700 * z.to_numpy() @ PLANTED
    return transplants.assign(survival_days=np.where(transplants["died"], linear, 1e6 * z["age"]))


def test_the_dataset_has_the_shape_of_decisions_before_the_choice(arrivals: xr.Dataset) -> None:
    assert dict(arrivals.sizes) == {"time": 400, "action": 3, "feature": 8}
    assert arrivals["time"].dtype == np.int64
    assert (arrivals["time"].values[[0, -1]] == [1, 400]).all()
    assert tuple(arrivals["feature"].values) == FEATURES
    assert arrivals["available"].dtype == bool
    assert arrivals["available"].all()
    assert "reward_context" not in arrivals
    assert (arrivals.attrs["environment"], arrivals.attrs["synthetic"]) == ("semi-synthetic", 1)


def test_the_same_seed_gives_the_same_arrivals_and_another_seed_others(transplants: pd.DataFrame) -> None:
    first = semi_synthetic(20, seed=1, transplants=transplants)
    assert first.identical(semi_synthetic(20, seed=1, transplants=transplants))
    assert not first["context"].equals(semi_synthetic(20, seed=2, transplants=transplants)["context"])


def test_features_convert_back_to_pairs_of_the_cohort(arrivals: xr.Dataset, transplants: pd.DataFrame) -> None:
    values = arrivals["context"] * arrivals["feature_scale"] + arrivals["feature_mean"]
    for feature in ("age", "creatinine", "inr", "bilirubin"):
        assert set(values.sel(feature=feature).values.ravel().round(6)) <= set(transplants[feature].round(6))
    assert set(values.sel(feature="abo_mismatch").values.ravel().round(9)) == {0.0, 1.0}
    # Candidates are drawn at random, so blood groups differ far more often than among matched pairs.
    assert values.sel(feature="abo_mismatch").mean() > 3 * transplants["abo_mismatch"].mean()


def test_candidates_of_an_arrival_share_one_donor(arrivals: xr.Dataset, transplants: pd.DataFrame) -> None:
    values = (arrivals["context"] * arrivals["feature_scale"] + arrivals["feature_mean"]).values
    donor_weight = transplants["donor_weight"].unique()
    key = ["age", "creatinine", "inr", "bilirubin"]
    weights = transplants.set_index(transplants[key].round(6).apply(tuple, axis=1))["weight"]
    at = [FEATURES.index(feature) for feature in key]
    for candidates in values[:25]:
        possible = set(donor_weight)
        for candidate in candidates:
            own = np.atleast_1d(weights.loc[[tuple(candidate[at].round(6))]])
            gap = np.abs(np.subtract.outer(donor_weight, own))
            possible &= set(donor_weight[(np.abs(gap - candidate[-1]) < 1e-6).any(axis=1)])
        assert possible


def test_rho_env_recovers_planted_weights_from_those_who_died(transplants: pd.DataFrame) -> None:
    np.testing.assert_allclose(reward_parameter(with_planted_survival(transplants)), PLANTED, atol=1e-10)


def test_quadratic_rho_env_recovers_weights_of_the_squares(transplants: pd.DataFrame) -> None:
    planted = with_planted_survival(transplants, quadratic=True)
    np.testing.assert_allclose(reward_parameter(planted, quadratic=True), PLANTED, atol=1e-10)
    assert not np.allclose(reward_parameter(planted), PLANTED, atol=1e-3)


def test_transplants_beyond_five_standard_deviations_are_not_used_for_rho_env(transplants: pd.DataFrame) -> None:
    dead = int(np.flatnonzero(transplants["died"])[0])
    outlier = transplants.copy()
    outlier.iloc[dead, outlier.columns.get_loc("creatinine")] = 40.0
    planted = with_planted_survival(outlier)
    planted.iloc[dead, planted.columns.get_loc("survival_days")] = 1e6
    np.testing.assert_allclose(reward_parameter(planted), PLANTED, atol=1e-10)


@pytest.mark.parametrize("quadratic", [False, True])
def test_rho_env_has_unit_norm(transplants: pd.DataFrame, quadratic: bool) -> None:
    rho_env = semi_synthetic(5, transplants=transplants, quadratic=quadratic)["true_rho_env"]
    assert float(abs(rho_env).sum()) == pytest.approx(1)


def test_the_quadratic_variant_differs_only_in_three_features_of_the_reward(
    transplants: pd.DataFrame,
) -> None:
    linear = semi_synthetic(50, seed=2, transplants=transplants)
    quadratic = semi_synthetic(50, seed=2, transplants=transplants, quadratic=True)
    assert quadratic["context"].identical(linear["context"])
    differs = (quadratic["reward_context"] != quadratic["context"]).any(("time", "action"))
    assert set(differs["feature"].values[differs.values]) == set(SQUARED_FEATURES)

    squares = transplants["inr"] ** 2
    inr = linear["context"].sel(feature="inr") * linear["feature_scale"].sel(feature="inr")
    inr = inr + linear["feature_mean"].sel(feature="inr")
    expected = (inr**2 - squares.mean()) / squares.std(ddof=0)
    np.testing.assert_allclose(quadratic["reward_context"].sel(feature="inr"), expected)


@pytest.mark.parametrize("quadratic", [False, True])
def test_it_survives_a_netcdf_file(transplants: pd.DataFrame, tmp_path: Path, quadratic: bool) -> None:
    written = semi_synthetic(10, transplants=transplants, quadratic=quadratic)
    written.to_netcdf(tmp_path / "arrivals.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "arrivals.nc", engine="h5netcdf") as read:
        xr.testing.assert_equal(read, written)
        assert read["available"].dtype == bool
        assert read.attrs["environment"] == "semi-synthetic"
        assert read.attrs["synthetic"] == 1


def test_the_default_cohort_is_not_modified() -> None:
    assert semi_synthetic(5).identical(semi_synthetic(5))


def test_real_transplants_are_not_marked_as_synthetic(transplants: pd.DataFrame) -> None:
    real = transplants.copy()
    real.attrs["synthetic"] = False
    assert semi_synthetic(5, transplants=real).attrs["synthetic"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"actions": 1}, "actions must be between 2"),
        ({"actions": 10**6}, "number of usable transplants"),
    ],
)
def test_impossible_sizes_are_refused(transplants: pd.DataFrame, change: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        semi_synthetic(transplants=transplants, **change)


def test_unusable_transplants_are_refused(transplants: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="lacks the columns inr, died"):
        semi_synthetic(5, transplants=transplants.drop(columns=["inr", "died"]))
    with pytest.raises(InputError, match="column dialysis: all values are the same"):
        semi_synthetic(5, transplants=transplants.assign(dialysis=0.0))
    with pytest.raises(InputError, match="column inr: a value is missing"):
        semi_synthetic(5, transplants=transplants.assign(inr=np.nan))
    with pytest.raises(InputError, match="0 patients with a known death"):
        semi_synthetic(5, transplants=transplants.assign(died=False))
