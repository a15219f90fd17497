import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr

from icb_pymc import from_arrays
from icb_pymc.assess.predictive_checks import check_choices, has_probabilities
from icb_pymc.cli import main
from icb_pymc.errors import InputError
from icb_pymc.plots.diagnosis import choices_picture
from icb_pymc.results.inference_data import from_groups, group
from icb_pymc.results.traces import write_trace

mpl.use("Agg")
STEPS = 400


def trace_with(sharpness, seed=0, alone=0):
    """Choices among three candidates by known probabilities; those in the trace are sharper or duller.

    The first `alone` decisions have one candidate only.
    """
    rng = np.random.default_rng(seed)
    utility = rng.normal(size=(STEPS, 3))
    available = rng.random((STEPS, 3)) < 0.8
    available[:, 0] = True
    available[:alone] = [True, False, False]
    weights = np.where(available, np.exp(utility), 0.0)
    true = weights / weights.sum(axis=1, keepdims=True)
    chosen = (rng.random((STEPS, 1)) > np.cumsum(true, axis=1)[:, :-1]).sum(axis=1)
    stored = true**sharpness / (true**sharpness).sum(axis=1, keepdims=True)
    decisions = from_arrays(rng.normal(size=(STEPS, 3, 2)), chosen, available=available, features=["age", "inr"])
    time, feature = ({dim: decisions[dim].values} for dim in ("time", "feature"))
    groups = {
        "posterior": xr.Dataset({"rho_env": (("chain", "draw", "feature"), rng.normal(size=(2, 20, 2)))}, feature),
        "observed_data": decisions[["chosen"]],
        "constant_data": decisions.drop_vars("chosen"),
        "choice_probabilities": xr.Dataset({"probability": (("time", "action"), stored)}, time),
    }
    return from_groups(groups, {"model": "mine", "method": "mcmc"})


def test_right_probabilities_are_calibrated_and_wrong_ones_are_not():
    result = [check_choices(trace_with(1.0, seed)).is_calibrated for seed in range(10)]
    assert sum(result) >= 8
    for sharpness in (0.3, 3.0):
        assert not check_choices(trace_with(sharpness)).is_calibrated
    assert "probabilities are off" in str(check_choices(trace_with(3.0)))


def test_accuracy_and_chance_are_those_of_decisions_with_a_choice():
    trace = trace_with(1.0, alone=100)
    result = check_choices(trace)
    probability = group(trace, "choice_probabilities")["probability"].values
    chosen = group(trace, "observed_data")["chosen"].values
    is_open = group(trace, "constant_data")["available"].values.sum(axis=1) > 1
    assert not is_open[:100].any()
    assert result.accuracy == pytest.approx((probability.argmax(axis=1) == chosen)[is_open].mean())
    assert 1 / 3 < result.chance < 1 / 2
    assert result.over_time["count"].sum() == is_open.sum()
    assert result.over_time["start"].iloc[0] == 1 + np.flatnonzero(is_open)[0]
    weighted = (result.over_time["accuracy"] * result.over_time["count"]).sum() / is_open.sum()
    assert weighted == pytest.approx(result.accuracy)


def test_the_picture_shows_the_table():
    trace = trace_with(1.0)
    table = check_choices(trace).calibration
    left, right = choices_picture(trace).axes
    np.testing.assert_allclose(left.get_lines()[1].get_xydata(), table[["predicted", "observed"]])
    assert len(right.get_lines()) == 3


def test_without_probabilities_or_choices_there_is_nothing_to_check(tmp_path, capsys):
    trace = trace_with(1.0)
    bare = from_groups({"posterior": group(trace, "posterior")}, {})
    assert not has_probabilities(bare)
    with pytest.raises(InputError, match="no choice probabilities"):
        check_choices(bare)
    with pytest.raises(InputError, match="more than one candidate"):
        check_choices(trace_with(1.0, alone=STEPS))
    path, picture = str(tmp_path / "trace.nc"), tmp_path / "choices.png"
    write_trace(trace, path)
    assert main(["plot", "choices", path, "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["plot", "choices", path, "--at", "5", "-o", str(picture)]) == 2
