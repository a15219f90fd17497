"""Shares of choices in parts of a log, and what a model predicts for them: performance, bias, psychometric curve.

Predictions are the probabilities of each choice given all others, as in `predictive_checks`; the interval is that of
choices drawn from them.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.assess.predictive_checks import replicated_choices, why_not_checked
from icb_pymc.data.answers import NONE
from icb_pymc.data.sessions import seen, session_boundaries
from icb_pymc.data.standardisation import user_context
from icb_pymc.data.times import format_time
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import checked_ci_prob, decisions_in

# Of a log without sessions, and of a psychometric curve.
WINDOWS, LEAST_IN_WINDOW, BINS = 20, 10, 9
# Of a curve in running windows, as many points are computed.
POINTS = 400


class TwoChoices(NamedTuple):
    """Choices between two alternatives.

    Attributes
    ----------
    decisions : Dataset
        Those with a choice.
    second : array (time,)
        The slot of the second alternative.
    name : str
        What to call it.
    probability : array (time, action)
        Of each candidate given all other choices.
    """

    decisions: xr.Dataset
    second: np.ndarray
    name: str
    probability: np.ndarray


def performance(trace: InferenceData, *, window: int | None = None, ci_prob: float | None = None) -> pd.DataFrame:
    """Share of right answers by session or in windows, and what the model predicts.

    An answer is right if it is that of the log (`answer`) or, in logs that do not say it, if it was rewarded: then only
    the choices made are compared, since what other choices would have brought is not known.

    Parameters
    ----------
    trace : InferenceData
        With choice probabilities.
    window : int, optional
        Choices in a running window; by default a row for each session, or for each twentieth of a log without sessions.
    ci_prob : float, optional
        Probability of the intervals.

    Returns
    -------
    DataFrame
        `start`, `end` and `middle` times, the `count` of choices, the `observed` share and, where the log has answers,
        the `expected` one with the interval from `low` to `high` in which it lies if the model is right.

    Raises
    ------
    InputError
        If the trace has no choice probabilities, or the log has neither answers nor rewards of two kinds.
    """
    ci_prob = checked_ci_prob(ci_prob)
    decisions = decisions_in(trace)
    if "answer" in decisions:
        used, probability = _checked(trace, decisions)
        is_known = used["answer"].values != NONE
        used, probability = used.isel(time=is_known), probability[is_known]
        answer = used["answer"].values
        right = used["chosen"].values == answer
        predicted = probability[np.arange(len(answer)), answer]
        replicated = replicated_choices(probability) == answer
        return _table(used, right, predicted, replicated, window, ci_prob)
    if "reward" in decisions:
        used = decisions.isel(time=decisions["reward"].notnull().values & (seen(decisions).sum(axis=1) > 1))
        kinds = np.unique(used["reward"].values)
        if len(kinds) == 2:
            return _table(used, used["reward"].values == kinds[1], None, None, window, ci_prob)
    raise InputError(
        "the decisions do not say which choices were right: read the table again with a column of right answers "
        "(--answer), or with rewards of two values."
    )


def bias(trace: InferenceData, *, window: int | None = None, ci_prob: float | None = None) -> pd.DataFrame:
    """How much more often the second of two alternatives was chosen than it was right, by session or in windows.

    In a log without answers (see `performance`), how much more often than half of the time.

    Parameters
    ----------
    trace : InferenceData
        Of choices between two alternatives, with choice probabilities.
    window, ci_prob
        As in `performance`.

    Returns
    -------
    DataFrame
        As that of `performance`; its attribute ``second`` names the second alternative.

    Raises
    ------
    InputError
        If the trace has no choice probabilities, or there are decisions between more than two alternatives.
    """
    used, second, name, probability = two_choices(trace)
    reference = np.full(len(second), 0.5)
    if "answer" in used:
        is_known = used["answer"].values != NONE
        used, second, probability = used.isel(time=is_known), second[is_known], probability[is_known]
        reference = (used["answer"].values == second).astype(float)
    steps = np.arange(len(second))
    observed = (used["chosen"].values == second) - reference
    replicated = (replicated_choices(probability) == second) - reference
    table = _table(used, observed, probability[steps, second] - reference, replicated, window, checked_ci_prob(ci_prob))
    table.attrs["second"] = name
    return table


def psychometric(trace: InferenceData, feature: str, *, bins: int = BINS, ci_prob: float | None = None) -> pd.DataFrame:
    """How often the second of two alternatives was chosen, by how much more of a feature it had than the first.

    Parameters
    ----------
    trace : InferenceData
        Of choices between two alternatives, with choice probabilities.
    feature : str
    bins : int
        Into how many parts of equal size the choices are sorted, if there are more different values.
    ci_prob : float, optional
        Probability of the intervals.

    Returns
    -------
    DataFrame
        A row for each part: the mean `difference` in the user's units, the `count` of choices, the `observed` share,
        and the `expected` one with its interval from `low` to `high`. Its attribute ``second`` names the second
        alternative.

    Raises
    ------
    InputError
        If there is no such feature, it never differs, the trace has no choice probabilities, or there are decisions
        between more than two alternatives.
    """
    if bins < 2:
        raise InputError(f"bins={bins}: give at least two.")
    used, second, name, probability = two_choices(trace)
    known = [str(each) for each in used["feature"].values]
    if feature not in known:
        raise InputError(f"there is no feature '{feature}' in the trace; there are {', '.join(known)}.")
    values, steps = user_context(used).sel(feature=feature).values, np.arange(len(second))
    first = np.where(seen(used) & (np.arange(values.shape[1]) != second[:, None]), 1, 0).argmax(axis=1)
    difference = values[steps, second] - values[steps, first]
    if np.ptp(difference) == 0:
        raise InputError(f"feature '{feature}' never differs between trials; a curve needs one that does.")
    order = np.argsort(difference, kind="stable")
    x = difference[order]
    distinct = np.flatnonzero(np.diff(x, prepend=-np.inf) > 0)
    if len(distinct) > bins:
        # Equal values stay together.
        distinct = np.unique(distinct[np.searchsorted(distinct, np.arange(bins) * len(x) // bins, side="right") - 1])
    stop = np.append(distinct[1:], len(x))
    chosen = (used["chosen"].values == second)[order]
    replicated = (replicated_choices(probability) == second)[:, order]
    table = _shares(chosen, probability[steps, second][order], replicated, distinct, stop, checked_ci_prob(ci_prob))
    table.insert(0, "difference", _means(x, distinct, stop))
    table.attrs["second"] = name
    return table


def two_choices(trace: InferenceData) -> TwoChoices:
    """The choices of a trace, which must be between two alternatives; by name, or else by their order."""
    used, probability = _checked(trace, decisions_in(trace))
    counts = seen(used).sum(axis=1)
    if (counts != 2).any():
        step = int(np.argmax(counts != 2))
        raise InputError(
            f"the decision at {format_time(used['time'].values[step])} is between {counts[step]} candidates: "
            "this is for choices between two."
        )
    slots = np.argsort(~seen(used), axis=1, kind="stable")[:, :2]
    if "candidate" in used:
        names = np.take_along_axis(used["candidate"].values, slots, axis=1)
        distinct = list(dict.fromkeys(names.ravel().tolist()))
        if len(distinct) == 2:
            return TwoChoices(
                used, slots[np.arange(len(slots)), (names == distinct[1]).argmax(axis=1)], distinct[1], probability
            )
    return TwoChoices(used, slots[:, 1], "the second candidate", probability)


def _checked(trace: InferenceData, decisions: xr.Dataset) -> tuple[xr.Dataset, np.ndarray]:
    """The decisions with a choice, and the probabilities of their candidates."""
    if reason := why_not_checked(trace):
        raise InputError(f"choices cannot be compared with predictions, because {reason}.")
    is_open = seen(decisions).sum(axis=1) > 1
    return decisions.isel(time=is_open), group(trace, "choice_probabilities")["probability"].values[is_open]


def _table(
    used: xr.Dataset,
    observed: np.ndarray,
    expected: np.ndarray | None,
    replicated: np.ndarray | None,
    window: int | None,
    ci_prob: float,
) -> pd.DataFrame:
    """Shares over time."""
    if not len(observed):
        raise InputError("no choice of this log has a known right answer.")
    start, stop = _parts(used, window)
    time = used["time"].values
    table = _shares(observed, expected, replicated, start, stop, ci_prob)
    for position, (name, at) in enumerate((("start", start), ("end", stop - 1), ("middle", (start + stop - 1) // 2))):
        table.insert(position, name, time[at])
    return table


def _parts(used: xr.Dataset, window: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Where the parts of a log start and stop."""
    steps = used.sizes["time"]
    if window is not None:
        if not 1 <= window <= steps:
            raise InputError(f"window={window}: give a number from 1 to {steps}, the number of choices.")
        start = np.unique(np.linspace(0, steps - window, min(POINTS, steps - window + 1)).round().astype(np.int64))
        return start, start + window
    edges = np.zeros(0, np.int64)
    if "session" in used:
        try:
            edges = session_boundaries(used)
        except InputError:
            # Sessions of several agents overlap.
            edges = np.zeros(0, np.int64)
    if not len(edges):
        parts = max(1, min(WINDOWS, steps // LEAST_IN_WINDOW))
        edges = np.arange(1, parts) * steps // parts
    return np.concatenate([[0], edges]), np.append(edges, steps)


def _shares(
    observed: np.ndarray,
    expected: np.ndarray | None,
    replicated: np.ndarray | None,
    start: np.ndarray,
    stop: np.ndarray,
    ci_prob: float,
) -> pd.DataFrame:
    table = pd.DataFrame({"count": stop - start, "observed": _means(observed, start, stop)})
    if expected is not None and replicated is not None:
        tail = (1 - ci_prob) / 2
        low, high = np.quantile(_means(replicated, start, stop), [tail, 1 - tail], axis=0)
        table = table.assign(expected=_means(expected, start, stop), low=low, high=high)
    return table


def _means(values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Means of parts (..., part) of values (..., time)."""
    total = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1, dtype=float)], axis=-1)
    return (total[..., stop] - total[..., start]) / (stop - start)
