"""What was chosen, or happened, some decisions before: features of the past of the same agent and session."""

import numpy as np
import pandas as pd

from icb_pymc.data.candidates import Candidates


def earlier_decision(candidates: Candidates, back: int) -> np.ndarray:
    """The position of the decision that lies `back` before each, of the same agent and session; -1 if there is none."""
    own = own_sequence(candidates)
    return pd.Series(np.arange(len(own))).groupby(own).shift(back).fillna(-1).to_numpy().astype(np.int64)


def own_sequence(candidates: Candidates) -> np.ndarray:
    """A number for each decision that is the same for decisions of one agent in one session."""
    names = [name for name in (candidates.roles.agent, candidates.roles.session) if name]
    if not names:
        return np.zeros(len(candidates.labels), np.int64)
    return candidates.frame[names].iloc[candidates.first].groupby(names, dropna=False).ngroup().to_numpy()


def lagged_choice(candidates: Candidates, back: int) -> np.ndarray:
    """1 for the candidate of the same name as the one chosen `back` decisions before, else 0."""
    assert candidates.name is not None
    last = np.full(len(candidates.labels) + 1, "", dtype=object)
    last[candidates.codes[candidates.chosen]] = candidates.name[candidates.chosen]
    # Nothing was chosen in a decision that is missed, and in the one before the first.
    before = last[earlier_decision(candidates, back)][candidates.codes]
    return (before == candidates.name).astype(np.float64) * (before != "")


def lagged_number(candidates: Candidates, by_decision: np.ndarray, back: int) -> np.ndarray:
    """A number of the decision `back` before, for each candidate; 0 where there is none or it was not observed."""
    before = np.append(np.nan_to_num(by_decision), 0.0)[earlier_decision(candidates, back)]
    return before[candidates.codes]
