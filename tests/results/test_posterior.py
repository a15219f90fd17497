"""Which decisions a posterior kept, also where several were made at the same time."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from helpers.arrivals import make_arrivals

from icb_pymc import fit, read_trace, share, write_trace
from icb_pymc.catalogue.lookup import find
from icb_pymc.data.deciders import with_agents
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import default_ci_prob, from_groups, group, group_names
from icb_pymc.results.posterior import at_kept_times, checked_ci_prob

TIMES = np.repeat(np.arange(1, 7), 2)
QUICK = {"method": "laplace", "draws": 12, "seed": 0, "progressbar": False}


@pytest.fixture(scope="module")
def two_agents():
    """Twelve decisions, of two agents at each of six times."""
    rng = np.random.default_rng(0)
    decisions = make_arrivals(12, 2, 3).assign(chosen=("time", rng.integers(2, size=12)))
    return with_agents(decisions.assign_coords(time=TIMES), ["a", "b"] * 6)


def deciders(trace):
    return at_kept_times(group(trace, "constant_data")["decider"], group(trace, "posterior")["belief"]).values.tolist()


def test_a_fit_that_keeps_every_third_decision_knows_which_agent_made_each(two_agents, tmp_path):
    trace = fit("nb_icb", two_agents, every=3, **QUICK)
    assert group(trace, "posterior")["position"].values.tolist() == [0, 3, 6, 9]
    assert deciders(trace) == [0, 1, 0, 1]
    write_trace(trace, tmp_path / "trace.nc")
    assert deciders(read_trace(tmp_path / "trace.nc")) == [0, 1, 0, 1]
    assert deciders(share(trace, every=3)) == [0, 1]


def test_a_shared_trace_of_all_times_knows_it_too(two_agents):
    whole = fit("nb_icb", two_agents, **QUICK)
    assert deciders(whole) == [0, 1] * 6
    assert deciders(share(share(whole, every=3), every=3)) == [0, 1]
    plain = {name: group(whole, name) for name in group_names(whole)}
    plain["posterior"] = plain["posterior"].drop_vars("position")
    assert deciders(share(from_groups(plain, whole.attrs), every=3)) == [0, 1, 0, 1]
    assert deciders(share(fit("uniform", two_agents, progressbar=False), every=5)) == [0, 1, 0]


def test_a_trace_whose_positions_contradict_its_times_is_refused(two_agents, tmp_path):
    trace = fit("nb_icb", two_agents, every=3, **QUICK)
    for wrong in ([0, 1, 2, 3], [0, 3, 6, 99], [0, 3, 6, -3], [0.0, 3.0, 6.0, 9.0], [3, 0, 6, 9]):
        posterior = group(trace, "posterior").assign_coords(position=("time", wrong))
        groups = {name: group(trace, name) for name in group_names(trace)} | {"posterior": posterior}
        write_trace(from_groups(groups, trace.attrs), tmp_path / "trace.nc")
        with pytest.raises(InputError, match="'position'"):
            read_trace(tmp_path / "trace.nc")


def test_without_positions_times_that_occur_twice_are_matched_if_all_or_none_were_kept():
    values = xr.DataArray([10, 20, 21, 30], dims="time", coords={"time": [1, 2, 2, 3]})
    kept = [xr.DataArray(np.zeros(len(times)), dims="time", coords={"time": times}) for times in ([2, 2, 3], [1, 3])]
    assert at_kept_times(values, kept[0]).values.tolist() == [20, 21, 30]
    assert at_kept_times(values, kept[1]).values.tolist() == [10, 30]
    for times in ([1, 4], [2, 2, 2]):
        with pytest.raises(InputError, match="times that its decisions do not have"):
            at_kept_times(values, xr.DataArray(np.zeros(len(times)), dims="time", coords={"time": times}))
    with pytest.raises(InputError, match="several decisions were made at 2, and this trace does not record which"):
        at_kept_times(values, xr.DataArray([0.0, 0.0], dims="time", coords={"time": [1, 2]}))


def test_a_model_with_something_called_position_keeps_it(two_agents):
    def with_position(decisions):
        model = find("nb_icb")(decisions)
        with model:
            pm.Normal("position", 0.0, 1.0)
        return model

    trace = fit(with_position, two_agents, draws=5, tune=5, chains=1, cores=1, seed=0, progressbar=False)
    assert group(trace, "posterior")["position"].dims == ("chain", "draw")
    assert deciders(trace) == [0, 1] * 6
    with pytest.raises(InputError, match="several decisions were made at 1"):
        deciders(share(trace, every=3))


def test_the_probability_of_intervals_is_that_of_arviz_under_either_name(monkeypatch):
    for settings in ({"stats.ci_prob": 0.8, "stats.hdi_prob": 0.5}, {"stats.hdi_prob": 0.8}):
        monkeypatch.setattr("arviz.rcParams", settings)
        assert default_ci_prob() == checked_ci_prob(None) == 0.8
    for wrong in (0, -0.5, 90):
        with pytest.raises(InputError, match="give a number above 0 and at most 1"):
            checked_ci_prob(wrong)
