"""The change in a feature's importance around an event."""

import warnings

import numpy as np
import pytest
import xarray as xr

from icb_pymc.assess.impact import impact
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.results.inference_data import from_groups, group

DAYS = np.array(["2001-01-01", "2001-07-01", "2002-02-26", "2002-02-27", "2002-08-01", "2005-01-01"], "datetime64[ns]")


def trace_of(inr_share, time=DAYS, kept=slice(None)):
    """A trace of two chains in which `inr` has the given share (draw, time) of two weights, one negative."""
    share = np.asarray(inr_share, dtype=float)
    belief = 3 * np.stack([share, share - 1], axis=-1)
    posterior = xr.Dataset(
        {"belief": (("chain", "draw", "time", "feature"), np.stack([belief, belief]))},
        coords={"time": time, "feature": ["inr", "age"]},
    )
    data = xr.Dataset({"available": (("time", "action"), np.ones((len(time), 2), bool))}, coords={"time": time})
    return from_groups({"posterior": posterior.isel(time=kept), "constant_data": data}, {"model": "nb_icb"})


RISE = trace_of([[0.1, 0.1, 0.2, 0.5, 0.7, 0.9], [0.2, 0.2, 0.2, 0.3, 0.3, 0.9]])


def test_the_event_belongs_to_the_window_after_it_and_the_end_of_the_window_does_not():
    result = impact(RISE, "inr", "2002-02-27", before="300D", after="155D")
    np.testing.assert_allclose(result.before, [0.15, 0.2] * 2)
    np.testing.assert_allclose(result.after, [0.5, 0.3] * 2)
    assert result.decisions == (2, 1)
    longer = impact(RISE, "inr", "2002-02-27", before="300D", after="156D")
    np.testing.assert_allclose(longer.after, [0.6, 0.3] * 2)
    np.testing.assert_allclose(longer.change, [0.45, 0.1] * 2)


def test_windows_past_the_ends_of_the_log_are_cut_there():
    result = impact(RISE, "inr", "2002-02-27", before="9999D", after="9999D")
    assert result.decisions == (3, 3)
    np.testing.assert_allclose(result.after, [0.7, 0.5] * 2)


def test_direction_and_interval_are_those_of_the_draws():
    rng = np.random.default_rng(0)
    before, change = 0.5, rng.normal(0.02, 0.02, 4_000)
    trace = trace_of(np.stack([np.full(4_000, before), before + change], axis=-1), time=DAYS[[0, 3]])
    result = impact(trace, "inr", "2002-02-27", before="9999D", after="1D", ci_prob=0.8)
    assert result.rose
    assert result.direction == pytest.approx(np.mean(change > 0))
    assert result.interval == pytest.approx(tuple(np.quantile(change, [0.1, 0.9])))
    mirrored = impact(trace, "age", "2002-02-27", before="9999D", after="1D")
    assert not mirrored.rose
    assert mirrored.direction == pytest.approx(result.direction)


@pytest.mark.parametrize(
    ("share_rising", "words"),
    [
        (1.0, "it rose (probability over 99.5%)"),
        (0.98, "it rose (probability 98.0%)"),
        (0.93, "it probably rose (probability 93.0%)"),
        (0.6, "not clear that it rose (probability 60.0%)"),
        (0.0, "it fell (probability over 99.5%)"),
    ],
)
def test_the_summary_is_two_lines_with_a_verdict_that_fits_the_probability(share_rising, words):
    change = np.random.default_rng(0).permutation(np.where(np.arange(100) < 100 * share_rising, 0.1, -0.1))
    trace = trace_of(np.stack([np.full(100, 0.3), 0.3 + change], axis=-1), time=DAYS[[0, 3]])
    first, second = str(impact(trace, "inr", "2002-02-27", before="9999D", after="1D")).split("\n")
    assert "importance of inr went from 30.0% to" in first
    assert "around 2002-02-27" in first
    assert second == f"Verdict: {words}, judged by 1 decisions before and 1 after."


@pytest.mark.parametrize(
    ("draws", "falling", "words"),
    [
        (1, 0, "it rose (a point estimate, without a probability)"),
        (350, 0, "it rose (probability over 99.8%)"),
        (5_000, 0, "it rose (probability over 99.9%)"),
        (5_000, 1, "it rose (probability over 99.9%)"),
        (5_000, 10, "it rose (probability 99.8%)"),
    ],
)
def test_a_probability_is_never_rounded_up_to_certainty(draws, falling, words):
    change = np.where(np.arange(draws) < falling, -0.1, 0.1)
    trace = trace_of(np.stack([np.full(draws, 0.3), 0.3 + change], axis=-1), time=DAYS[[0, 3]])
    posterior = group(trace, "posterior") if draws > 1 else group(trace, "posterior").isel(chain=[0])
    assert (
        impact(from_groups({"posterior": posterior}, {}), "inr", "2002-02-27", before="9999D", after="1D").verdict
        == words
    )


def test_chains_that_disagree_on_the_change_are_reported():
    rng = np.random.default_rng(1)
    trace = trace_of(np.stack([np.full(200, 0.3), 0.5 + 0.01 * rng.normal(size=200)], axis=-1), time=DAYS[[0, 3]])
    posterior = group(trace, "posterior")
    apart = posterior["belief"].copy()
    apart[1, :, 1] = apart[1, :, 1].values[:, ::-1] * [0.3, 1]
    parted = from_groups({"posterior": posterior.assign(belief=apart)}, {})
    options = {"before": "9999D", "after": "1D"}
    with pytest.warns(InputWarning, match="chains disagree on the change of inr"):
        impact(parted, "inr", "2002-02-27", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        impact(trace, "inr", "2002-02-27", **options)


def test_no_change_at_all_is_neither_rise_nor_fall():
    trace = trace_of([[0.3] * 6] * 50)
    result = impact(trace, "inr", "2002-02-27", before="300D", after="300D")
    assert result.direction == 0
    assert "not clear" in str(result)


def test_numbered_decisions_take_numbers():
    trace = trace_of([[0.1, 0.1, 0.2, 0.5, 0.7, 0.9]] * 2, time=np.arange(1, 7))
    result = impact(trace, "inr", "4", before=2, after="2")
    np.testing.assert_allclose(result.change, [0.45] * 4)
    assert "around t = 4" in str(result)


def test_a_posterior_that_keeps_fewer_times_is_judged_by_those_and_counts_all_decisions():
    shares = [[0.1, 0.1, 0.2, 0.5, 0.7, 0.9]]
    thinned = trace_of(shares, time=np.arange(1, 7), kept=slice(None, None, 2))
    result = impact(thinned, "inr", 4, before=3, after=3)
    np.testing.assert_allclose(result.before, [0.15] * 2)
    np.testing.assert_allclose(result.after, [0.7] * 2)
    assert result.decisions == (3, 3)
    # The last decision was not kept, but it is in the log.
    with pytest.raises(InputError, match="window after the event holds no decision"):
        impact(thinned, "inr", 6, before=3, after=3)


@pytest.mark.filterwarnings("ignore::icb_pymc.errors.InputWarning")
def test_a_trace_alone_is_enough(trace):
    posterior = from_groups({"posterior": group(trace, "posterior")}, {})
    options = {"before": "365D", "after": "365D"}
    result, alone = (impact(t, "feature_1", "2002-08-24", **options) for t in (trace, posterior))
    np.testing.assert_array_equal(result.change, alone.change)
    assert len(result.change) == 240


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (("INR", "2002-02-27"), {}, "no feature 'INR' in the trace: did you mean 'inr'"),
        (("height", "2002-02-27"), {}, "there are inr, age"),
        (("inr", "2021-01-01"), {}, "2021-01-01 lies outside the decisions, 2001-01-01 to 2005-01-01"),
        (("inr", "soon"), {}, "give a date like"),
        (("inr", "2002-02-27"), {"before": "12h"}, "the window before the event holds no decision"),
        (("inr", "2001-01-01"), {}, "the window before the event holds no decision"),
        (("inr", "2002-02-27"), {"after": "730"}, "after '730': the decisions are dated"),
        (("inr", "2002-02-27"), {"ci_prob": 90}, "ci_prob=90: give a number above 0 and at most 1"),
    ],
)
def test_invalid_arguments_are_refused(arguments, options, sentence):
    with pytest.raises(InputError, match=sentence):
        impact(RISE, *arguments, **({"before": "365D", "after": "365D"} | options))
