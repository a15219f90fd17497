import numpy as np
import pytest
from helpers.arrivals import make_arrivals

from icb_pymc.declare import change_points
from icb_pymc.declare.change_points import default_length, score_segments
from icb_pymc.errors import InputError

PREFERENCES = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
CHANGES = (60, 130)


@pytest.fixture(scope="module")
def switching():
    """175 decisions of an agent whose preference changes completely after the 60th and the 130th."""
    arrivals = make_arrivals(175, 3, 3, seed=2, share_available=0.9)
    rho = PREFERENCES[np.searchsorted(CHANGES, np.arange(175), side="right")]
    utility = 20.0 * np.einsum("tak,tk->ta", arrivals["context"], rho)
    noise = np.random.default_rng(0).gumbel(size=utility.shape)
    chosen = np.where(arrivals["available"], utility + noise, -np.inf).argmax(axis=1)
    return arrivals.assign(chosen=("time", chosen))


@pytest.fixture(scope="module")
def table(switching):
    return score_segments(switching)


def test_evidence_recovers_the_true_change_points(table):
    np.testing.assert_array_equal(table.change_points(3), [0, *CHANGES, 175])
    np.testing.assert_array_equal(np.bincount(table.fold_of_decision(3)), [60, 70, 45])


def test_the_likelihood_of_the_paper_recovers_the_true_change_points(switching):
    table = score_segments(switching, score="likelihood", prior="flat")
    np.testing.assert_array_equal(table.change_points(3), [0, *CHANGES, 175])


def test_the_seed_of_the_scores_determines_their_draws(switching):
    first, again, other = (
        score_segments(switching, score="likelihood", length=100, score_seed=seed).scores for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_evidence_recovers_the_number_of_segments(table):
    assert table.most_probable_number() == 3
    assert len(table.log_evidence()) == table.blocks == 18


def test_a_constant_preference_is_one_segment():
    arrivals = make_arrivals(100, 2, 3, seed=4)
    utility = 20.0 * (arrivals["context"].values * PREFERENCES[0]).sum(axis=-1)
    steady = arrivals.assign(chosen=("time", utility.argmax(axis=1)))
    assert score_segments(steady).most_probable_number() == 1


def test_one_table_serves_any_number_of_segments_and_more_of_them_keep_the_true_change_points(table):
    for segments in (5, 10):
        ends = table.change_points(segments)
        assert len(ends) == segments + 1
        assert set(CHANGES) <= set(ends)


def test_the_last_sub_trajectory_may_be_shorter(switching):
    assert score_segments(switching, length=50).boundaries.tolist() == [0, 50, 100, 150, 175]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"score": "height"}, "'evidence' or 'likelihood'"),
        ({"prior": "flat"}, "evidence is not defined under a flat prior"),
        ({"prior": "wide"}, "'gaussian' or 'flat'"),
        ({"length": 0}, "length=0"),
        ({"alpha": "high"}, "give alpha and the prior as numbers"),
    ],
)
def test_invalid_options_of_scores_are_refused(switching, options, sentence):
    with pytest.raises(InputError, match=sentence):
        score_segments(switching, **options)


def test_too_many_segments_are_refused_and_likelihood_does_not_choose_their_number(switching, table):
    with pytest.raises(InputError, match="segments=19: give a whole number from 1 to 18"):
        table.change_points(19)
    short = score_segments(switching, length=100, score="likelihood")
    with pytest.raises(InputError, match="chosen by evidence"):
        short.most_probable_number()


def test_a_long_log_gets_a_coarser_grid_by_itself(switching, monkeypatch):
    assert [default_length(steps) for steps in (30, 2000, 2001, 8119)] == [10, 10, 11, 41]
    monkeypatch.setattr(change_points, "MOST_BLOCKS", 5)
    assert score_segments(switching).boundaries.tolist() == [0, 35, 70, 105, 140, 175]
    assert score_segments(switching.isel(time=slice(4))).boundaries.tolist() == [0, 4]
