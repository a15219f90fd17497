import numpy as np
import pytest
import xarray as xr

from icb_pymc import plots
from icb_pymc.assess.metrics import belief_error
from icb_pymc.cli import main
from icb_pymc.errors import InputError
from icb_pymc.results import sharing
from icb_pymc.results.inference_data import from_groups, group, group_names
from icb_pymc.results.sharing import share
from icb_pymc.results.traces import read_trace, write_trace


def test_a_shared_trace_holds_every_nth_draw_and_time_in_single_precision_and_says_so(trace):
    shared = share(trace, draws=50, every=4)
    assert shared.attrs["shared"] == "40 of 120 draws of each of 2 chains (every 3rd), 10 of 40 times, float32"
    assert shared.attrs["draws"] == 40
    whole = group(trace, "posterior").isel(draw=slice(None, None, 3), time=slice(None, None, 4))
    xr.testing.assert_equal(group(shared, "posterior")["belief"], whole["belief"].astype("float32"))
    assert group(shared, "posterior")["rho"].dtype == np.float32


def test_the_decisions_are_unchanged_and_metrics_and_plots_work(trace, tmp_path):
    write_trace(share(trace, draws=60, every=2), tmp_path / "shared.nc")
    shared = read_trace(tmp_path / "shared.nc")
    for name in ("constant_data", "observed_data"):
        xr.testing.assert_equal(group(shared, name), group(trace, name))
    assert belief_error(shared) == pytest.approx(belief_error(trace), abs=0.1)
    assert plots.importance_over_time(shared).axes


def test_statistics_and_log_likelihood_belong_to_the_draws_kept_and_to_all_decisions(trace):
    shared = share(trace, draws=60, every=2)
    assert group(shared, "sample_stats").sizes["draw"] == 60
    likelihood = group(shared, "log_likelihood")["chosen"]
    assert dict(likelihood.sizes) == {"chain": 2, "draw": 60, "time": 40}


def test_large_variables_are_left_out_and_named(trace, monkeypatch):
    monkeypatch.setattr(sharing, "LARGEST", 10_000)
    shared = share(trace)
    assert "log_likelihood" not in group_names(shared)
    assert "sample_stats" in group_names(shared)
    assert shared.attrs["shared"].endswith("40 of 40 times, float32, without log_likelihood/chosen (38 KiB)")


def test_times_may_be_chosen_and_sharing_twice_says_both(trace):
    times = group(trace, "constant_data")["time"].values[[3, 30]]
    shared = share(share(trace, draws=60), times=times)
    np.testing.assert_array_equal(group(shared, "posterior")["time"], times)
    assert shared.attrs["shared"] == (
        "60 of 120 draws of each of 2 chains (every 2nd), 40 of 40 times, float32; "
        "then 60 of 60 draws of each of 2 chains, 2 of 40 times, float32"
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"draws": 0}, "draws=0: give at least one"),
        ({"every": 0}, "every=0: give at least one"),
        ({"every": 2, "times": []}, "not both"),
        ({"times": []}, "the list is empty"),
        ({"dtype": "float16"}, "dtype='float16'"),
    ],
)
def test_invalid_options_are_refused(options, sentence, trace):
    with pytest.raises(InputError, match=sentence):
        share(trace, **options)


def test_a_posterior_without_times_has_none_to_choose_from(trace):
    groups = {name: group(trace, name) for name in ("constant_data", "observed_data")}
    weights = group(trace, "posterior").isel(time=0, drop=True)[["belief"]].rename(belief="rho_env")
    without = from_groups(groups | {"posterior": weights}, trace.attrs)
    assert share(without, draws=60).attrs["shared"].endswith("(every 2nd), float32")
    with pytest.raises(InputError, match="has no times to choose from"):
        share(without, every=2)


def test_icb_share_writes_a_smaller_file_and_says_what_it_kept(trace, tmp_path, capsys):
    whole, shared = (tmp_path / name for name in ("whole.nc", "shared.nc"))
    write_trace(trace, whole)
    assert main(["share", str(whole), "--draws", "60", "--every", "4", "-o", str(shared)]) == 0
    assert "60 of 120 draws of each of 2 chains (every 2nd), 10 of 40 times" in capsys.readouterr().out
    assert shared.stat().st_size < whole.stat().st_size / 2
    assert main(["share", str(whole), "--times", "2001-01-31", "-o", str(shared)]) == 0
    assert group(read_trace(shared), "posterior").sizes["time"] == 1
    assert main(["share", str(whole), "--times", "1901-01-31", "-o", str(shared)]) == 2
