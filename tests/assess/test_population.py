"""Many subjects together: what is summarised is what their traces say, on one scale."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.subjects import stored_fits

from icb_pymc import InputError, compare, diagnose, impact, log_odds_weights, population, read_fits
from icb_pymc.assess.by_subject import compare_each, comparison_summary, diagnose_each
from icb_pymc.assess.subject_paths import over_subjects, subject_paths
from icb_pymc.assess.weights import feature_sd
from icb_pymc.results.inference_data import group


@pytest.fixture(scope="module")
def fits(tmp_path_factory):
    return stored_fits(tmp_path_factory.mktemp("fits") / "store")


def test_weights_are_summarised_over_subjects_on_one_scale(fits):
    found = population(fits)
    by_hand, deviations = {}, []
    for name in fits:
        by_hand[name] = log_odds_weights(fits.tree(name), "user").sel(feature="age").mean("time").values
        deviations.append(float(feature_sd(group(fits.tree(name), "constant_data")).sel(feature="age")))
    common = np.sqrt(np.mean(np.square(deviations)))
    means = np.array([draws.mean() for draws in by_hand.values()]) * common
    row = found.summary.loc[("average weight", "age")]
    assert row["subjects"] == 3
    assert row["mean"] == pytest.approx(means.mean())
    assert row["spread"] == pytest.approx(means.std(ddof=1))
    assert row["se"] == pytest.approx(means.std(ddof=1) / np.sqrt(3))
    assert row["uncertainty"] == pytest.approx(common * np.sqrt(np.mean([d.var() for d in by_hand.values()])))
    assert row["below"] == sum((draws < 0).mean() >= 0.975 for draws in by_hand.values())
    user = population(fits, unit="user").summary.loc[("average weight", "age")]
    assert user["mean"] == pytest.approx(row["mean"] / common)
    assert "3 subjects" in str(found)


def test_changes_are_those_of_impact_and_subjects_whose_log_ends_before_are_named(fits):
    found = population(fits, {33: "rule"}, features=["price"])
    assert list(found.failures) == ["Ada"]
    assert "lies outside" in found.failures["Ada"]
    for subject in ("Bo / ward 3", "Cy"):
        row = found.table.set_index("subject").loc[subject]
        alone = impact(fits.tree(subject), {33: "rule"}, features=["price"])
        assert row["verdict"] == alone.table.loc[(0, "price"), "verdict"]
        assert np.sign(row["mean"]) == np.sign(alone.table.loc[(0, "price"), "change"])
    with pytest.raises(InputError, match="an answer for no subject"):
        population(fits, 10_000)
    with pytest.raises(InputError, match=r"matters=0\.1 needs an event"):
        population(fits, matters=0.1)


def test_every_subject_is_diagnosed(fits):
    found = diagnose_each(fits)
    assert found.table["subject"].tolist() == list(fits)
    assert found.table["verdict"].tolist() == [diagnose(fits.tree(name)).verdict for name in fits]
    assert not found.table["converged"].any()


def test_models_are_compared_by_subject_and_their_scores_added(fits):
    found = compare_each({"one": fits, "other": fits})
    alone = compare({"one": fits.tree("Cy"), "other": fits.tree("Cy")})
    assert found.table.set_index(["subject", "model"]).loc[("Cy", "one"), "elpd"] == pytest.approx(
        alone["elpd"].iloc[0]
    )
    rows = {"subject": ["a", "a", "b", "b", "c", "c"], "model": ["x", "y"] * 3, "elpd": [-1.0, -2, -3, -7, -5, -4]}
    table = comparison_summary(pd.DataFrame(rows))
    assert table.loc["x", ["elpd", "elpd_diff", "best_for"]].tolist() == [-9.0, 0.0, 2]
    assert table.loc["y", ["elpd", "elpd_diff", "best_for"]].tolist() == [-13.0, 4.0, 1]
    assert table.loc["y", "dse"] == pytest.approx(np.sqrt(3) * np.std([1, 4, -1], ddof=1))
    with pytest.raises(InputError, match="two folders"):
        compare_each({"one": fits})


def test_the_mean_path_does_not_jump_where_a_subject_ends(fits):
    found = subject_paths(fits)
    assert [path.sizes["time"] for path in found.paths.values()] == [30, 40, 35]
    steps = np.abs(np.diff(found.mean.sel(feature="age").values))
    largest = max(float(np.abs(path.sel(feature="age").diff("time")).max()) for path in found.paths.values())
    assert steps.max() <= largest + 1e-9
    # While all are there it is their mean.
    early = np.mean([path.sel(feature="age").values[0] for path in found.paths.values()])
    assert float(found.mean.sel(feature="age")[0]) == pytest.approx(early)


def test_a_folder_without_finished_fits_says_so(fits, tmp_path):
    (tmp_path / "fits.json").write_text((fits.folder / "fits.json").read_text())
    with pytest.raises(InputError, match="holds no finished fits"):
        population(read_fits(tmp_path))


def test_dates_in_days_and_in_nanoseconds_share_one_axis():
    # xarray keeps the unit of each: the same date is then another number.
    seconds = np.array(["2020-01-01", "2020-01-03"], "datetime64[s]")
    paths = [
        xr.DataArray(np.zeros((2, 1)), {"time": time, "feature": ["age"]}, ("time", "feature"))
        for time in (seconds, seconds.astype("datetime64[ns]"))
    ]
    mean, _ = over_subjects(paths)
    assert mean["time"].values[[0, -1]].tolist() == paths[1]["time"].values.tolist()
