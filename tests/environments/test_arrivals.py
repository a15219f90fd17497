"""How organs and candidates are drawn."""

import numpy as np
import pandas as pd
import pytest

from icb_pymc.environments.arrivals import _draw_distinct, draw_arrivals
from icb_pymc.environments.liver_cohort import synthesise
from icb_pymc.environments.optn import pair_features, prepare
from icb_pymc.errors import InputError


@pytest.fixture(scope="module")
def transplants() -> pd.DataFrame:
    return prepare(synthesise(1_000, seed=1)).transplants


def with_weights(transplants: pd.DataFrame, recipient: float, donor: float) -> pd.DataFrame:
    """Give the first three transplants these weights."""
    changed = transplants.copy()
    changed.iloc[:3, changed.columns.get_indexer(["weight", "donor_weight"])] = [recipient, donor]
    return changed


def test_pairs_beyond_five_standard_deviations_are_drawn_again(transplants: pd.DataFrame) -> None:
    # Two giants match each other, but nobody else.
    giants = with_weights(transplants, recipient=400.0, donor=400.0)
    context = draw_arrivals(giants, pair_features, steps=3_000, actions=2, seed=3)["context"]
    assert 4 < float(abs(context).max()) <= 5


def test_transplants_beyond_five_standard_deviations_are_not_drawn(transplants: pd.DataFrame) -> None:
    # As donors the three would be accepted, because their livers came from people of ordinary weight.
    heavy = with_weights(transplants, recipient=400.0, donor=80.0)
    drawn: set[int] = set()

    def recorded(recipients: pd.DataFrame, donors: pd.DataFrame) -> pd.DataFrame:
        if donors is not heavy:
            drawn.update(recipients.index, donors.index)
        return pair_features(recipients, donors)

    draw_arrivals(heavy, recorded, steps=3_000, actions=2, seed=3)
    assert len(drawn) > 0.9 * len(heavy)
    assert drawn.isdisjoint(heavy.index[:3])


def test_the_search_ends_when_no_two_candidates_match_any_donor(transplants: pd.DataFrame) -> None:
    def far_apart(recipients: pd.DataFrame, donors: pd.DataFrame) -> pd.DataFrame:
        matched = recipients is donors
        return pd.DataFrame({"distance": np.arange(len(recipients)) % 2 + (0 if matched else 100)})

    with pytest.raises(InputError, match="too few pairs are within 5 standard deviations"):
        draw_arrivals(transplants, far_apart, steps=2, actions=2, seed=0)


def test_drawn_candidates_are_distinct_and_uniform() -> None:
    drawn = _draw_distinct(np.random.default_rng(0), 5, (6_000, 3))
    assert all(len(set(row)) == 3 for row in drawn)
    orders, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(orders) == 60
    assert abs(counts - 100).max() < 45
