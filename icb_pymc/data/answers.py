"""Right answers: `answer` (time), the slot of the candidate that was right to choose, -1 where there is none."""

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.data.candidates import Candidates, per_decision
from icb_pymc.data.cells import first_of, flags, is_empty, names_of
from icb_pymc.data.columns import CORRECT_NAME, LONG
from icb_pymc.errors import InputError

NONE = -1


def answers_of_table(candidates: Candidates, slot: np.ndarray) -> np.ndarray | None:
    """The slot of each decision's right answer, -1 where the cell is empty; None if the table does not say it.

    In a long table the column marks the right candidate by 1. With one row per decision it names the right alternative,
    as the column of the choice does; or it is called `correct`, and says by 1 or 0 whether the choice was right, from
    which the answer follows where there are two alternatives.

    Parameters
    ----------
    candidates : Candidates
    slot : array
        Of each row.
    """
    name = candidates.roles.answer
    if name is None:
        return None
    codes, answer = candidates.codes, np.full(len(candidates.labels), NONE)
    if candidates.form == LONG:
        is_right = flags(candidates.frame[name], name, candidates.where)
        if (np.bincount(codes[is_right], minlength=len(answer)) > 1).any():
            position = first_of(pd.Series(codes[is_right]).duplicated())
            row = int(np.flatnonzero(is_right)[position])
            raise InputError(f"{candidates.where(row)}: column '{name}' marks a second right candidate; mark one.")
        answer[codes[is_right]] = slot[is_right]
        return answer
    assert candidates.alternatives is not None
    column = per_decision(candidates, name, "")
    known, first = ~is_empty(column), candidates.first
    if name == CORRECT_NAME:
        if len(candidates.alternatives) != 2:
            raise InputError(
                f"column '{name}' tells the right answer only where there are two alternatives; give a column that "
                "names it (--answer)."
            )
        chosen = np.zeros(len(answer), np.int64)
        chosen[codes[candidates.chosen]] = slot[candidates.chosen]
        was_right = flags(column[known], name, lambda position: candidates.where(int(first[known][position])))
        was_made = np.bincount(codes[candidates.chosen], minlength=len(answer)) > 0
        answer[known] = np.where(was_right, chosen[known], 1 - chosen[known])
        return np.where(was_made, answer, NONE)
    names = names_of(column)
    positions = {alternative: position for position, alternative in enumerate(candidates.alternatives)}
    for i in np.flatnonzero(known):
        if names[i] not in positions:
            raise InputError(
                f"{candidates.where(int(first[i]))}: column '{name}' holds '{names[i]}', which is none of "
                f"the alternatives {', '.join(candidates.alternatives)}."
            )
        answer[i] = positions[names[i]]
    return answer


def check_answers(decisions: xr.Dataset, source: str) -> None:
    """Raise `InputError` if `answer` does not follow the schema."""
    if "answer" not in decisions:
        return
    answer = decisions["answer"]
    if answer.dims != ("time",) or answer.dtype.kind not in "iu":
        raise InputError(f"{source}: 'answer' must hold a slot for each time, -1 where there is no right answer.")
    outside = (answer.values < NONE) | (answer.values >= decisions.sizes["action"])
    if outside.any():
        step = int(np.argmax(outside))
        raise InputError(
            f"{source}: answer {answer.values[step]} of decision number {step + 1} is outside "
            f"0..{decisions.sizes['action'] - 1}; write -1 where there is none."
        )
