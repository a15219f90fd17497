"""Sentences made from posterior draws: grades, probabilities and what they mean."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

# The greatest probability of the other direction, over all questions, at which a change is clear, and probable.
CLEAR, PROBABLE = 0.025, 0.1
# The least probability that a change is smaller than what matters, for "no relevant change".
IRRELEVANT = 0.95
# The greatest probability of no change, over all events, at which a change of a feature can be clear, and probable.
CERTAIN_CHANGE, UNCERTAIN_CHANGE = 0.05, 0.2
# The least probability of opposite signs before and after, for "changed its sign".
FLIPPED = 0.95
# From this share of the changes, or this probability, on, a change of all weights by one factor is called sharper
# choices.
COMMON = 0.8


def probability_of_direction(change: np.ndarray) -> float:
    """Probability of the more probable of rise and fall.

    Examples
    --------
    >>> probability_of_direction(np.array([0.1, 0.2, -0.1, 0.4]))
    0.75
    """
    return float(max(np.mean(change > 0), np.mean(change < 0)))


def probability_of_flip(before: np.ndarray, after: np.ndarray) -> float:
    """Probability that the sign after is the opposite of the sign before.

    Examples
    --------
    >>> probability_of_flip(np.array([-0.1, 0.1]), np.array([0.5, 0.6]))
    0.5
    """
    return float(np.mean(before * after < 0))


def grade_of(change: np.ndarray, questions: int = 1, matters: float | None = None) -> str:
    """The verdict on draws of a change: clear, probable, no relevant change or not clear.

    Parameters
    ----------
    change : array (draw,)
    questions : int
        How many changes were asked about; the more, the surer each must be.
    matters : float, optional
        Changes of less than this are not relevant.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(0.5, 0.2, 4000)
    >>> grade_of(draws), grade_of(draws, questions=8), grade_of(draws / 100, matters=0.1)
    ('clear', 'probable', 'no relevant change')
    """
    if matters is not None and np.mean(np.abs(change) < matters) >= IRRELEVANT:
        return "no relevant change"
    if len(change) == 1:
        return "not clear"
    # Draws that all agree show only that the other direction is rarer than one in their number.
    other = max(1 - probability_of_direction(change), 1 / (2 * len(change)))
    if other * questions <= CLEAR:
        return "clear"
    return "probable" if other * questions <= PROBABLE else "not clear"


def capped_grade(grade: str, no_change: float, events: int = 1) -> str:
    """The verdict on a feature, which is not surer than that anything changed at all.

    Parameters
    ----------
    grade : str
        The verdict on the feature by itself, see `grade_of`.
    no_change : float
        Probability that no weight changed around the event.
    events : int
        How many events were asked about.

    Examples
    --------
    >>> capped_grade("clear", 0.01), capped_grade("clear", 0.15), capped_grade("clear", 0.6)
    ('clear', 'probable', 'not clear')
    """
    if grade not in ("clear", "probable"):
        return grade
    if no_change * events > UNCERTAIN_CHANGE:
        return "not clear"
    return grade if no_change * events <= CERTAIN_CHANGE else "probable"


def describe_accounts(probability: dict[str, float], placebo: tuple[int, int] | None) -> str:
    """Which account is best supported, and where the event lies among placebo dates.

    Parameters
    ----------
    probability : dict
        Of "step", "drift" and "no change".
    placebo : (int, int), optional
        At how many placebo dates a step is at least as well supported as at the event, and how many there are.

    Examples
    --------
    >>> print(describe_accounts({"step": 0.97, "drift": 0.02, "no change": 0.01}, (0, 19)))
    Best supported: a step at the event (probability 97.0%; drift without a step 2.0%, no change 1.0%).
    A step is better supported at the event than at any of 19 placebo dates.
    """
    words = {"step": "a step at the event", "drift": "drift without a step", "no change": "no change"}
    best, *others = sorted(probability, key=lambda name: -probability[name])
    rest = ", ".join(f"{words[name]} {format_probability(probability[name])}" for name in others)
    line = f"Best supported: {words[best]} (probability {format_probability(probability[best])}; {rest})."
    if best == "drift":
        line += " What changed did so gradually, and not by the event."
    if placebo is None:
        return line
    as_good, dates = placebo
    if as_good == 0:
        return f"{line}\nA step is better supported at the event than at any of {dates} placebo dates."
    return f"{line}\nA step is as well supported as at the event at {as_good} of {dates} placebo dates."


def format_probability(probability: float) -> str:
    """A probability in percent that is never rounded to 0% or 100%.

    Examples
    --------
    >>> format_probability(0.98), format_probability(1.0), format_probability(1e-5)
    ('98.0%', 'over 99.9%', 'under 0.1%')
    """
    if probability > 0.9995:
        return "over 99.9%"
    return "under 0.1%" if probability < 0.0005 else f"{probability:.1%}"


def describe_impact(
    event: str,
    decisions: tuple[int, int],
    rows: pd.DataFrame,
    overall: Any,
    ci_prob: float,
    matters: float | None,
    account: str | None = None,
    lapse: float = 0.0,
) -> str:
    """The changes around one event: a sentence on each feature that changed, and a table of all.

    If the best supported account is a step, sentences are about its size; if it is drift, they say so. If all choices
    became sharper, no weight counts more than another did, and that is said instead.
    """
    lines = [f"Around {event}, judged by {decisions[0]} decisions before and {decisions[1]} after:"]
    kinds: dict[str, Callable[..., str]] = {"step": partial(describe_step, lapse=lapse), "drift": describe_drift}
    describe = kinds.get(account or "", describe_change)
    claimed = rows[[_is_claimed(row) for _, row in rows.iterrows()]]
    changed = [describe(str(feature), row, ci_prob) for feature, row in claimed.iterrows()]
    if is_all_sharper(overall):
        known = f" ({', '.join(map(str, claimed.index))})" if len(claimed) else ""
        verb = "grew" if overall["ratio"] > 1 else "shrank"
        changed = [
            f"all choices became {_sharper(overall)}: weights {verb} in proportion{known}, by a factor of "
            f"{overall['ratio']:.2f}, and none counts more or less relative to the others."
        ]
    lines += [f"- {sentence}" for sentence in changed] or ["- no clear change of any weight."]
    if matters is not None:
        lines.append(f"Changes below {matters:g} log-odds per standard deviation count as not relevant.")
    return "\n".join([*lines, "", _table_of(rows, ci_prob)])


def describe_change(feature: str, row: Any, ci_prob: float) -> str:
    """One change in a sentence, signed, with what it means for a choice.

    Examples
    --------
    >>> row = {"before": -0.2, "after": 0.9, "change": 1.1, "lower": 0.6, "upper": 1.6, "probability": 0.998,
    ...        "flipped": 0.97, "chosen_before": 0.45, "chosen_after": 0.71, "verdict": "clear"}
    >>> print(describe_change("inr", row, 0.9)[:78], "...")
    inr: the weight rose and changed its sign, from -0.20 to +0.90 log-odds per sd ...
    """
    verb = "rose" if row["change"] > 0 else "fell"
    if row["verdict"] == "probable":
        verb = f"probably {verb}"
    flipped = " and changed its sign" if row["flipped"] >= FLIPPED else ""
    return (
        f"{feature}: the weight {verb}{flipped}, from {row['before']:+.2f} to {row['after']:+.2f} log-odds per sd "
        f"({row['change']:+.2f}, {ci_prob:.0%} interval {row['lower']:+.2f} to {row['upper']:+.2f}; "
        f"probability {format_probability(row['probability'])}); a candidate one sd higher is chosen over an otherwise "
        f"equal one in {row['chosen_after']:.0%} of decisions, before in {row['chosen_before']:.0%}."
    )


def describe_step(feature: str, row: Any, ci_prob: float, lapse: float = 0.0) -> str:
    """A step in a sentence, signed, with its interval and what it means for a choice, which may be a lapse.

    Examples
    --------
    >>> row = {"step_from": -0.2, "step_to": 0.9, "step": 1.1, "step_lower": 0.6, "step_upper": 1.6,
    ...        "step_probability": 0.998, "step_flipped": 0.97, "verdict": "clear"}
    >>> print(describe_step("inr", row, 0.9)[:86], "...")
    inr: the weight stepped up and changed its sign, from -0.20 to +0.90 log-odds per sd ( ...
    """
    names = {"before": "step_from", "after": "step_to", "change": "step", "lower": "step_lower"}
    names |= {"upper": "step_upper", "probability": "step_probability"}
    names |= {"flipped": "step_flipped"}
    step = {name: row[column] for name, column in names.items()} | {"verdict": row["verdict"]}
    for which, column in (("chosen_before", "step_from"), ("chosen_after", "step_to")):
        step[which] = (1 - lapse) * expit(row[column]) + lapse / 2
    sentence = describe_change(feature, step, ci_prob)
    old, new = ("rose", "stepped up") if row["step"] > 0 else ("fell", "stepped down")
    return sentence.replace(f" {old}", f" {new}", 1)


def describe_drift(feature: str, row: Any, ci_prob: float) -> str:
    """A change through the event, but not by it, in a sentence.

    Examples
    --------
    >>> row = {"before": -0.2, "after": 0.9, "change": 1.1, "lower": 0.6, "upper": 1.6, "probability": 0.998,
    ...        "flipped": 0.5, "chosen_before": 0.45, "chosen_after": 0.71, "verdict": "clear"}
    >>> print(describe_drift("inr", row, 0.9)[:65], "...")
    inr: the weight drifted up, from -0.20 to +0.90 log-odds per sd ( ...
    """
    old, new = ("rose", "drifted up") if row["change"] > 0 else ("fell", "drifted down")
    return describe_change(feature, row, ci_prob).replace(f" {old}", f" {new}", 1)


def describe_decisiveness(row: Any, ci_prob: float) -> str:
    """Whether choices became sharper as a whole, and whether that is all that changed.

    Examples
    --------
    >>> row = {"before": 1.0, "after": 2.0, "ratio": 2.0, "lower": 1.6, "upper": 2.5, "probability": 0.999,
    ...        "common": 0.95, "one_factor": 0.97, "verdict": "clear"}
    >>> print(describe_decisiveness(row, 0.9)[:100])
    Overall decisiveness rose by a factor of 2.00 (90% interval 1.60 to 2.50): all choices became sharpe
    """
    interval = f"({ci_prob:.0%} interval {row['lower']:.2f} to {row['upper']:.2f})"
    if not _is_claimed(row):
        return f"Overall decisiveness: no clear change, a factor of {row['ratio']:.2f} {interval}."
    verb = "rose" if row["ratio"] > 1 else "fell"
    if row["verdict"] == "probable":
        verb = f"probably {verb}"
    words = f"Overall decisiveness {verb} by a factor of {row['ratio']:.2f} {interval}"
    common, one_factor = f"{max(row['common'], 0):.0%} of the changes above", row["one_factor"]
    if pd.isna(one_factor):
        if row["common"] >= COMMON:
            return f"{words}: all choices became {_sharper(row)}, which accounts for {common}."
        return f"{words}; a common factor accounts for {common}."
    supported = format_probability(one_factor)
    if one_factor >= COMMON:
        return (
            f"{words}: all choices became {_sharper(row)}. That one factor multiplied all weights, and that none "
            f"changed by itself, has probability {supported}."
        )
    if one_factor <= 1 - COMMON:
        return (
            f"{words}, but not because all choices became {_sharper(row)}: that one factor multiplied all weights has "
            f"probability {supported}."
        )
    return f"{words}; whether one factor multiplied all weights is open (probability {supported})."


def is_all_sharper(row: Any) -> bool:
    """Whether a row of decisiveness says that all choices became sharper or less sharp, and that this is all.

    Examples
    --------
    >>> [is_all_sharper({"verdict": "clear", "one_factor": probability}) for probability in (0.97, 0.6)]
    [True, False]
    """
    return _is_claimed(row) and row["one_factor"] >= COMMON


def _sharper(row: Any) -> str:
    return "sharper" if row["ratio"] > 1 else "less sharp"


def _is_claimed(row: Any) -> bool:
    return row["verdict"] in ("clear", "probable")


def _table_of(rows: pd.DataFrame, ci_prob: float) -> str:
    shown = pd.DataFrame(index=rows.index)
    shown["before"], shown["after"] = rows["before"].map("{:+.2f}".format), rows["after"].map("{:+.2f}".format)
    shown["change"] = rows["change"].map("{:+.2f}".format)
    interval = [f"{low:+.2f} to {high:+.2f}" for low, high in zip(rows["lower"], rows["upper"], strict=True)]
    shown[f"{ci_prob:.0%} interval"] = interval
    shown["probability"] = rows["probability"].map(format_probability)
    if "step" in rows:
        steps = zip(rows["step"], rows["step_lower"], rows["step_upper"], strict=True)
        shown["step if there was one"] = [f"{mean:+.2f} ({low:+.2f} to {high:+.2f})" for mean, low, high in steps]
    shown["per unit"] = rows["per_unit"].map("{:+.3g}".format)
    chosen = zip(rows["chosen_before"], rows["chosen_after"], strict=True)
    shown["chosen if 1 sd higher"] = [f"{old:.0%} to {new:.0%}" for old, new in chosen]
    shares = zip(rows["importance_before"], rows["importance_after"], strict=True)
    shown["importance"] = [f"{old:.0%} to {new:.0%}" for old, new in shares]
    shown["verdict"] = rows["verdict"]
    return shown.rename_axis("weight in log-odds per sd").to_string()
