"""Every sentence of a report that depends on its numbers. For another language: this module and the templates.

The functions take numbers and names that are safe already, and return plain text; the templates escape it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icb_pymc.assess.wording import format_probability, is_all_sharper, supported_account

GRADES = {
    "clear": "Clear",
    "probable": "Probable",
    "no relevant change": "No relevant change",
    "not clear": "Not clear",
    "do not rely on it": "Do not rely on it",
}
MEANINGS = {
    "clear": "a change in this direction is at least 97.5% probable, although several questions were asked at once",
    "probable": "a change in this direction is at least 90% probable, although several questions were asked at once",
    "no relevant change": "every weight changed by less than what was said to matter, with a probability of 95%",
    "not clear": "the log does not say whether anything changed, or which weight did",
    "do not rely on it": "the computation did not finish properly, or the model does not describe these choices",
}
YEAR = "January February March April May June July August September October November December"
# Features that a headline names; more would not be read.
MOST_NAMED = 3
# A weight less than this share of the other one is little beside it.
LITTLE = 1 / 3
# Probability of no change below which it is said that something changed.
SOMETHING = 0.05
# Probability of a step or of drift from which it is said without "probably".
DECIDED = 0.95


def say_moment(moment: Any) -> str:
    """A date or the number of a decision.

    Examples
    --------
    >>> say_moment(np.datetime64("2002-02-27")), say_moment(250)
    ('27 February 2002', 'decision 250')
    """
    if np.asarray(moment).dtype.kind != "M":
        return f"decision {moment}"
    year, month, day = str(np.datetime64(moment, "D")).split("-")
    return f"{int(day)} {YEAR.split()[int(month) - 1]} {int(year)}"


def say_event(label: str, moment: Any) -> str:
    """An event by its date and label, which may be any words.

    Examples
    --------
    >>> say_event("MELD", np.datetime64("2002-02-27")), say_event("", 250)
    ('27 February 2002 (MELD)', 'decision 250')
    """
    return f"{say_moment(moment)} ({label})" if label else say_moment(moment)


def say_number(value: float) -> str:
    """A number with about three digits.

    Examples
    --------
    >>> say_number(243.21), say_number(0.7149), say_number(1.0), say_number(12345.6)
    ('243', '0.715', '1', '12,346')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def say_signed(value: float) -> str:
    """A weight or a change with its sign and two decimals, with a true minus sign.

    Examples
    --------
    >>> say_signed(-1.925), say_signed(0.001)
    ('−1.93', '0.00')
    """
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def say_interval(lower: float, upper: float, ci_prob: float) -> str:
    """A credible interval.

    Examples
    --------
    >>> say_interval(-0.2, 0.4, 0.9)
    '90% interval −0.20 to +0.40'
    """
    return f"{ci_prob:.0%} interval {say_signed(lower)} to {say_signed(upper)}"


def say_list(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    Examples
    --------
    >>> say_list(["a"]), say_list(["a", "b"]), say_list(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def say_count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> say_count(1, "decision"), say_count(1200, "decision")
    ('1 decision', '1,200 decisions')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def say_what_happened(name: str, row: Mapping[str, Any]) -> str:
    """What became of one feature, without a number.

    Parameters
    ----------
    name : str
    row : mapping
        Of `judged_changes`.

    Examples
    --------
    >>> row = {"before": 2.0, "after": 0.5, "change": -1.5, "counted_before": 1, "counted_after": 1, "verdict": "clear"}
    >>> say_what_happened("price", row)
    'price counted less'
    >>> say_what_happened("price", row | {"after": -0.5, "counted_after": -1, "verdict": "probable"})
    'price probably changed sides: a higher value spoke for a candidate before, and against one afterwards'
    """
    probably = "probably " if row["verdict"] == "probable" else ""
    old, new = row["counted_before"], row["counted_after"]
    if old * new < 0:
        before, after = ("for", "against") if old > 0 else ("against", "for")
        return (
            f"{name} {probably}changed sides: a higher value spoke {before} a candidate before, and {after} one "
            "afterwards"
        )
    size_before, size_after = abs(row["before"]), abs(row["after"])
    # Where a direction is not known, little is left, or was there, compared with the other side.
    if old == 0 and new != 0 and size_before < LITTLE * size_after:
        return f"{name} {probably}began to count {'for' if new > 0 else 'against'} a candidate"
    if old != 0 and new == 0 and size_after < LITTLE * size_before:
        return f"{name} {probably}counted far less"
    if old == 0 and new == 0:
        return f"the weight of {name} {probably}{'rose' if row['change'] > 0 else 'fell'}"
    return f"{name} {probably}counted {'more' if size_after > size_before else 'less'}"


def say_change(name: str, row: Mapping[str, Any], ci_prob: float) -> str:
    """One change in a sentence: what it means for a choice, then the weight with interval and probability.

    Examples
    --------
    >>> row = {"before": 2.0, "after": 0.5, "change": -1.5, "lower": -1.8, "upper": -1.2, "probability": 0.999,
    ...        "difference": 10.0, "chosen_before": 0.88, "chosen_after": 0.62}
    >>> print(say_change("price", row, 0.9))
    Of two otherwise equal candidates, the one whose price is higher by 10 was chosen in 88% of cases before and in
    62% afterwards (weight +2.00 before, +0.50 after; change −1.50, 90% interval −1.80 to −1.20; probability of a
    fall 99.9%).
    """
    direction = "rise" if row["change"] > 0 else "fall"
    return (
        f"Of two otherwise equal candidates, the one whose {name} is higher by {say_number(row['difference'])} was "
        f"chosen in {say_share(row['chosen_before'])} of cases before and in {say_share(row['chosen_after'])} "
        f"afterwards (weight {say_signed(row['before'])} before, {say_signed(row['after'])} after; change "
        f"{say_signed(row['change'])}, {say_interval(row['lower'], row['upper'], ci_prob)}; probability of a "
        f"{direction} {format_probability(row['probability'])})."
    )


def say_share(share: float) -> str:
    """A share in percent that is never rounded to none or all.

    Examples
    --------
    >>> say_share(0.537), say_share(0.9999), say_share(0.0001)
    ('54%', 'over 99%', 'under 1%')
    """
    if share > 0.995:
        return "over 99%"
    return "under 1%" if share < 0.005 else f"{share:.0%}"


def headline(
    event: str,
    grade: str,
    rows: Mapping[str, Mapping[str, Any]],
    decisiveness: Mapping[str, Any],
    accounts: Mapping[str, float] | None,
    matters: float | None = None,
) -> str:
    """The answer on one event in a sentence.

    Parameters
    ----------
    event : str
    grade : str
    rows : mapping
        Rows of `judged_changes` by the names to show, the most important first.
    decisiveness : mapping
        The row of `Impact.decisiveness`.
    accounts : mapping, optional
        Probability of a step, drift and no change.
    matters : float, optional

    Examples
    --------
    >>> row = {"before": 2.0, "after": 0.5, "change": -1.5, "counted_before": 1, "counted_after": 1, "verdict": "clear"}
    >>> dull = {"verdict": "not clear", "ratio": 1.0, "one_factor": 0.1}
    >>> headline("the guideline", "clear", {"price": row}, dull, None)
    'After the guideline, price counted less.'
    >>> headline("the guideline", "clear", {"price": row}, dull, {"step": 0.1, "drift": 0.9, "no change": 0.0})
    'Around the guideline, but gradually, price counted less.'
    >>> headline("the guideline", "clear", {"price": row}, {"verdict": "clear", "ratio": 2.0, "one_factor": 0.9}, None)
    'After the guideline, all choices became sharper: the same differences between candidates decided more.'
    """
    if grade == "do not rely on it":
        return f"This report cannot say what changed around {event}."
    if is_all_sharper(decisiveness):
        probably = "probably " if decisiveness["verdict"] == "probable" else ""
        sharper, more = ("sharper", "more") if decisiveness["ratio"] > 1 else ("less sharp", "less")
        return (
            f"{_opening(event, accounts)}, all choices {probably}became {sharper}: the same differences between "
            f"candidates decided {more}."
        )
    claimed = {name: row for name, row in rows.items() if row["verdict"] in ("clear", "probable")}
    if claimed:
        clauses = [say_what_happened(name, row) for name, row in list(claimed.items())[:MOST_NAMED]]
        more_features = len(claimed) - len(clauses)
        if more_features:
            clauses.append(f"{say_count(more_features, 'more weight')} changed")
        # A clause with a comma of its own needs a stronger mark than a comma.
        joined = "; ".join(clauses) if any("," in clause for clause in clauses) else say_list(clauses)
        return f"{_opening(event, accounts)}, {joined}."
    if grade == "no relevant change":
        return f"No weight changed by as much as matters ({say_number(matters or 0.0)}) around {event}."
    if accounts is not None and accounts["no change"] < SOMETHING:
        return f"Something changed around {event}, but it is not clear which weight."
    if accounts is not None and max(accounts, key=lambda name: accounts[name]) == "no change":
        return f"No change of any weight is needed to explain the choices around {event}."
    return f"It is not clear whether anything changed around {event}."


def _opening(event: str, accounts: Mapping[str, float] | None) -> str:
    """What a change is said to have to do with the event: it came after it, unless it came gradually."""
    if accounts is not None and supported_account(accounts) == "drift":
        return f"Around {event}, but gradually"
    return f"After {event}"


def say_decisiveness(row: Mapping[str, Any], ci_prob: float) -> str:
    """Whether choices became sharper as a whole, and whether that is all that changed.

    Examples
    --------
    >>> row = {"ratio": 2.0, "lower": 1.6, "upper": 2.5, "probability": 0.999, "one_factor": 0.95, "verdict": "clear"}
    >>> print(say_decisiveness(row, 0.9))
    Overall decisiveness rose by a factor of 2.00 (90% interval 1.60 to 2.50; probability of a rise 99.9%). That one
    factor multiplied all weights, and none changed by itself, has a probability of 95.0%.
    """
    interval = f"{ci_prob:.0%} interval {row['lower']:.2f} to {row['upper']:.2f}"
    if row["verdict"] not in ("clear", "probable"):
        return f"Overall decisiveness shows no clear change (a factor of {row['ratio']:.2f}, {interval})."
    rose, rise = ("rose", "rise") if row["ratio"] > 1 else ("fell", "fall")
    sentence = (
        f"Overall decisiveness {rose} by a factor of {row['ratio']:.2f} ({interval}; probability of a {rise} "
        f"{format_probability(row['probability'])})."
    )
    # Too few decisions on one side to compare.
    if np.isnan(row["one_factor"]):
        return sentence
    chance = format_probability(row["one_factor"])
    return (
        f"{sentence} That one factor multiplied all weights, and none changed by itself, has a probability of {chance}."
    )


def say_timing(accounts: Mapping[str, float] | None, claimed: bool) -> str:
    """Whether the choices speak for a sudden change at the event, for drift, or for no change.

    Examples
    --------
    >>> print(say_timing({"step": 0.97, "drift": 0.02, "no change": 0.01}, True))
    It came suddenly, at the event: a step there has a probability of 97.0% (gradual drift 2.0%, no change 1.0%).
    """
    if accounts is None:
        return ""
    chance = {name: format_probability(value) for name, value in accounts.items()}
    best = max(accounts, key=lambda name: accounts[name])
    others = {
        "step": f"gradual drift {chance['drift']}, no change {chance['no change']}",
        "drift": f"a step at the event {chance['step']}, no change {chance['no change']}",
        "no change": f"a step at the event {chance['step']}, gradual drift {chance['drift']}",
    }[best]
    if best == "no change":
        return f"That nothing changed has a probability of {chance[best]} ({others})."
    if not claimed:
        start = "A step at the event" if best == "step" else "Gradual drift"
        return f"{start} has a probability of {chance[best]} ({others})."
    if supported_account(accounts) == "step or drift":
        drift = "a step at the event" if best == "step" else "drift"
        return (
            f"Whether it came suddenly or gradually is not clear: {drift} has a probability of {chance[best]} "
            f"({others})."
        )
    probably = "" if accounts[best] >= DECIDED else "probably "
    if best == "step":
        return f"It {probably}came suddenly, at the event: a step there has a probability of {chance[best]} ({others})."
    return (
        f"It {probably}came gradually, not at once at the event: drift has a probability of {chance[best]} ({others})."
    )


def say_unseen(rows: Mapping[str, Mapping[str, Any]], ci_prob: float) -> str:
    """Which changes a log that shows none cannot rule out.

    Examples
    --------
    >>> print(say_unseen({"price": {"lower": -0.3, "upper": 0.1}, "age": {"lower": -0.1, "upper": 0.1}}, 0.9))
    That is not proof of no change: with 90% probability the weight of price changed by −0.30 to +0.10, and all
    other weights by less.
    """
    name, widest = max(rows.items(), key=lambda item: max(abs(item[1]["lower"]), abs(item[1]["upper"])))
    end = f"{say_signed(widest['lower'])} to {say_signed(widest['upper'])}"
    others = ", and all other weights by less" if len(rows) > 1 else ""
    return (
        f"That is not proof of no change: with {ci_prob:.0%} probability the weight of {name} changed by {end}{others}."
    )


def say_largest(rows: Mapping[str, Mapping[str, Any]], ci_prob: float, questions: int) -> str:
    """The largest changes where something changed, but no weight surely did.

    Examples
    --------
    >>> print(say_largest({"price": {"change": 0.3, "lower": 0.1, "upper": 0.5}}, 0.9, 27))
    The largest change is that of price (+0.30, 90% interval +0.10 to +0.50), but among 27 changes asked about each
    could be chance.
    """
    largest = sorted(rows.items(), key=lambda item: -abs(item[1]["change"]))[:2]
    each = [
        f"{name} ({say_signed(row['change'])}, {say_interval(row['lower'], row['upper'], ci_prob)})"
        for name, row in largest
    ]
    are = "changes are those" if len(each) > 1 else "change is that"
    among = f"among {questions} changes asked about each could be chance"
    return f"The largest {are} of {say_list(each)}, but {among}."


def say_basis(decisions: tuple[int, int], matters: float | None) -> str:
    """What the answer on an event rests on.

    Examples
    --------
    >>> say_basis((486, 248), 0.1)
    'Judged by 486 decisions before and 248 after; changes of less than 0.1 count as not relevant.'
    """
    basis = f"Judged by {say_count(decisions[0], 'decision')} before and {decisions[1]:,} after"
    if matters is None:
        return f"{basis}."
    return f"{basis}; changes of less than {say_number(matters)} count as not relevant."


def say_changes(any_change: float, number: int, chance_of_number: float) -> str:
    """Whether preferences changed at any time, where nobody said when.

    Examples
    --------
    >>> say_changes(0.9999, 3, 0.97)
    'Told nothing about events, the search finds that preferences changed, most probably 3 times (97.0%).'
    >>> say_changes(0.02, 0, 0.98)
    'Told nothing about events, the search needs no change of preferences to explain the choices (any change: 2.0%).'
    """
    start = "Told nothing about events, the search"
    if number == 0 or any_change < 0.5:
        if any_change < SOMETHING:
            chance = format_probability(any_change)
            return f"{start} needs no change of preferences to explain the choices (any change: {chance})."
        return f"{start} cannot tell whether preferences changed (any change: {format_probability(any_change)})."
    times = "once" if number == 1 else f"{number} times"
    changed = "preferences changed" if any_change >= 0.95 else "preferences probably changed"
    return f"{start} finds that {changed}, most probably {times} ({format_probability(chance_of_number)})."


def say_date_found(date: Any, interval: tuple[Any, Any], ci_prob: float, name: str, before: float, after: float) -> str:
    """One date of change that was found, and what changed most.

    Examples
    --------
    >>> days = np.array(["2002-02-17", "2002-03-01"], "datetime64[D]")
    >>> print(say_date_found(np.datetime64("2002-02-27"), tuple(days), 0.9, "age", 2.25, 0.44))
    27 February 2002 (90% interval 17 February 2002 to 1 March 2002); what changed most is age, from +2.25 to +0.44.
    """
    low, high = interval
    window = f"{ci_prob:.0%} interval {say_moment(low)} to {say_moment(high)}" if low != high else "no other date"
    day = say_moment(date)
    return (
        f"{day[0].upper()}{day[1:]} ({window}); what changed most is {name}, from {say_signed(before)} to "
        f"{say_signed(after)}."
    )


def say_candidate(before: float, after: float, moved_by: Sequence[tuple[str, float]]) -> str:
    """What became of one candidate of an example, and why.

    Examples
    --------
    >>> say_candidate(0.71, 0.18, [("price", -1.5), ("age", 0.1)])
    'Chosen with probability 71% before, 18% after; lowered most by price.'
    """
    text = f"Chosen with probability {say_share(before)} before, {say_share(after)} after"
    # The features that moved it the way it went; parts that are small beside the largest explain nothing.
    sign = 1 if after > before else -1
    along = [(feature, part) for feature, part in moved_by if part * sign > 0]
    largest = max((abs(part) for _, part in along), default=0.0)
    named = [feature for feature, part in along if abs(part) > largest * LITTLE]
    if not named or say_share(before) == say_share(after):
        return f"{text}."
    return f"{text}; {'raised' if sign > 0 else 'lowered'} most by {say_list(named[:2])}."


def say_spread(name: str, start: Any, end: Any, decisions: int, event: str) -> str:
    """How far a smooth curve spreads a sudden change.

    Examples
    --------
    >>> print(say_spread("age", 200, 290, 90, "the guideline"))
    In the curve of age, the change around the guideline takes 90 decisions (decision 200 to decision 290) from a
    tenth to nine tenths of the way.
    """
    return (
        f"In the curve of {name}, the change around {event} takes {say_count(decisions, 'decision')} "
        f"({say_moment(start)} to {say_moment(end)}) from a tenth to nine tenths of the way."
    )
