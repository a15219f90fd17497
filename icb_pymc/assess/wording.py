"""Sentences made from posterior draws: grades, probabilities and what they mean."""

from typing import Any

import numpy as np
import pandas as pd

# The greatest probability of the other direction, over all questions, at which a change is clear, and probable.
CLEAR, PROBABLE = 0.025, 0.1
# The least probability that a change is smaller than what matters, for "no relevant change".
IRRELEVANT = 0.95
# From this share on, a change of all weights by one factor is called sharper choices.
COMMON = 0.8


def probability_of_direction(change: np.ndarray) -> float:
    """Probability of the more probable of rise and fall.

    Examples
    --------
    >>> probability_of_direction(np.array([0.1, 0.2, -0.1, 0.4]))
    0.75
    """
    return float(max(np.mean(change > 0), np.mean(change < 0)))


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
    event: str, decisions: tuple[int, int], rows: pd.DataFrame, ci_prob: float, matters: float | None
) -> str:
    """The changes around one event: a sentence on each feature that changed, and a table of all."""
    lines = [f"Around {event}, judged by {decisions[0]} decisions before and {decisions[1]} after:"]
    changed = [describe_change(str(feature), row, ci_prob) for feature, row in rows.iterrows() if _is_claimed(row)]
    lines += [f"- {sentence}" for sentence in changed] or ["- no clear change of any weight."]
    if matters is not None:
        lines.append(f"Changes below {matters:g} log-odds per standard deviation count as not relevant.")
    return "\n".join([*lines, "", _table_of(rows, ci_prob)])


def describe_change(feature: str, row: Any, ci_prob: float) -> str:
    """One change in a sentence, signed, with what it means for a choice.

    Examples
    --------
    >>> row = {"before": -0.2, "after": 0.9, "change": 1.1, "lower": 0.6, "upper": 1.6, "probability": 0.998,
    ...        "chosen_before": 0.45, "chosen_after": 0.71, "verdict": "clear"}
    >>> print(describe_change("inr", row, 0.9)[:78], "...")
    inr: the weight rose and changed its sign, from -0.20 to +0.90 log-odds per sd ...
    """
    verb = "rose" if row["change"] > 0 else "fell"
    if row["verdict"] == "probable":
        verb = f"probably {verb}"
    flipped = " and changed its sign" if row["before"] * row["after"] < 0 else ""
    return (
        f"{feature}: the weight {verb}{flipped}, from {row['before']:+.2f} to {row['after']:+.2f} log-odds per sd "
        f"({row['change']:+.2f}, {ci_prob:.0%} interval {row['lower']:+.2f} to {row['upper']:+.2f}; "
        f"probability {format_probability(row['probability'])}); a candidate one sd higher is chosen over an otherwise "
        f"equal one in {row['chosen_after']:.0%} of decisions, before in {row['chosen_before']:.0%}."
    )


def describe_decisiveness(row: Any, ci_prob: float) -> str:
    """Whether choices became sharper as a whole, and whether that is all that changed.

    Examples
    --------
    >>> row = {"before": 1.0, "after": 2.0, "ratio": 2.0, "lower": 1.6, "upper": 2.5, "probability": 0.999,
    ...        "common": 0.95, "verdict": "clear"}
    >>> print(describe_decisiveness(row, 0.9)[:100])
    Overall decisiveness rose by a factor of 2.00 (90% interval 1.60 to 2.50): all choices became sharpe
    """
    interval = f"({ci_prob:.0%} interval {row['lower']:.2f} to {row['upper']:.2f})"
    if row["verdict"] not in ("clear", "probable"):
        return f"Overall decisiveness: no clear change, a factor of {row['ratio']:.2f} {interval}."
    verb, sharper = ("rose", "sharper") if row["ratio"] > 1 else ("fell", "less sharp")
    words = f"Overall decisiveness {verb} by a factor of {row['ratio']:.2f} {interval}"
    if row["common"] >= COMMON:
        return f"{words}: all choices became {sharper}, which accounts for {row['common']:.0%} of the changes above."
    return f"{words}; a common factor accounts for {max(row['common'], 0):.0%} of the changes above."


def _is_claimed(row: Any) -> bool:
    return row["verdict"] in ("clear", "probable")


def _table_of(rows: pd.DataFrame, ci_prob: float) -> str:
    shown = pd.DataFrame(index=rows.index)
    shown["before"], shown["after"] = rows["before"].map("{:+.2f}".format), rows["after"].map("{:+.2f}".format)
    shown["change"] = rows["change"].map("{:+.2f}".format)
    interval = [f"{low:+.2f} to {high:+.2f}" for low, high in zip(rows["lower"], rows["upper"], strict=True)]
    shown[f"{ci_prob:.0%} interval"] = interval
    shown["probability"] = rows["probability"].map(format_probability)
    shown["per unit"] = rows["per_unit"].map("{:+.3g}".format)
    chosen = zip(rows["chosen_before"], rows["chosen_after"], strict=True)
    shown["chosen if 1 sd higher"] = [f"{old:.0%} to {new:.0%}" for old, new in chosen]
    shares = zip(rows["importance_before"], rows["importance_after"], strict=True)
    shown["importance"] = [f"{old:.0%} to {new:.0%}" for old, new in shares]
    shown["verdict"] = rows["verdict"]
    return shown.rename_axis("weight in log-odds per sd").to_string()
