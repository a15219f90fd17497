"""The parts of a page, in words, tables and drawings, from the numbers; the templates only put them in place."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from icb_pymc.assess.wording import format_probability, is_all_sharper
from icb_pymc.reports import charts, methods
from icb_pymc.reports import wording as say
from icb_pymc.reports.checks import checks_of
from icb_pymc.reports.findings import EventFinding, Findings, hash_of_decisions, main_event
from icb_pymc.reports.limits import limits_of
from icb_pymc.reports.names import safe_text
from icb_pymc.reports.over_time import over_time
from icb_pymc.reports.parts import Figure, Names, Table, marks_of
from icb_pymc.reports.svg import as_numbers

# Columns of the table of an example.
MOST_COLUMNS = 12


def parts_of(findings: Findings, names: Names, title: str | None, source: Any, options: list[str]) -> dict[str, Any]:
    """All parts of a page, by name.

    Parameters
    ----------
    findings : Findings
    names : Names
    title : str, optional
    source : path, optional
        File of the trace.
    options : list of str
        Options of the command that makes the report.
    """
    model = str(findings.trace.attrs.get("model", "model"))
    shape = methods.shape_of(findings.decisions)
    return {
        "title": names.text(title, 120) if title else "How priorities evolved",
        "shape": shape,
        "synthetic": bool(group_attrs(findings).get("synthetic")),
        "grades": [(say.GRADES[grade], meaning, grade) for grade, meaning in say.MEANINGS.items()],
        "answers": [_answer(findings, found, names) for found in findings.events],
        "dates_sentence": _dates_sentence(findings),
        "reasons": list(findings.reasons),
        "reason_words": say.GRADES["do not rely on it"],
        "over_time": over_time(findings, names),
        "changes": [_change(findings, found, position, names) for position, found in enumerate(findings.events)],
        "dates": _dates(findings, names),
        "examples": _examples(findings, names),
        "example_event": _example_words(findings, names),
        "checks": checks_of(findings, names),
        "limits": limits_of(findings, names),
        "remarks": [names.text(remark, 400) for remark in findings.remarks],
        "quick": findings.quick,
        "how": {
            "hash": hash_of_decisions(findings.decisions),
            "shape": shape,
            "model": names.text(methods.MODELS.get(model, f"The model '{model}', which is not part of icb_pymc."), 200),
            "equations": methods.equations(findings.trace),
            "settings": [
                (names.text(name, 150), names.text(value, 100))
                for name, value in methods.settings_of(findings.trace).items()
            ],
            "sampler": methods.sampler_of(findings.trace),
            "seed": names.text(findings.trace.attrs.get("seed", "not recorded")),
            "versions": [
                (names.text(name), names.text(version)) for name, version in methods.versions_of(findings.trace).items()
            ],
            "commands": [safe_text(line, 2000) for line in methods.commands(findings.trace, source, options)],
            "paragraph": names.text(
                methods.methods_paragraph(findings.trace, findings.decisions, findings.ci_prob), 4000
            ),
            "bibtex": methods.BIBTEX,
        },
    }


def group_attrs(findings: Findings) -> Mapping[str, Any]:
    """Attributes of the decisions."""
    return dict(findings.decisions.attrs)


def answer_sentences(findings: Findings, found: EventFinding, names: Names) -> tuple[str, list[str]]:
    """The headline on one event, and the sentences that support it."""
    rows = {names.feature(name): dict(row) for name, row in found.rows.iterrows()}
    accounts = None if found.account is None else found.account.probability
    event = names.event(found)
    headline = say.headline(event, found.grade, rows, found.decisiveness, accounts, findings.matters)
    if found.grade == "do not rely on it":
        return headline, [f"{reason[0].upper()}{reason[1:]}." for reason in findings.reasons]
    claimed = {name: row for name, row in rows.items() if row["verdict"] in ("clear", "probable")}
    sentences = []
    if is_all_sharper(found.decisiveness):
        sentences.append(say.say_decisiveness(found.decisiveness, findings.ci_prob))
        sentences.append(say.say_timing(accounts, True))
    elif claimed:
        name, row = next(iter(claimed.items()))
        sentences.append(say.say_change(name, row, findings.ci_prob))
        sentences.append(say.say_timing(accounts, True))
    else:
        if found.decisiveness["verdict"] in ("clear", "probable"):
            sentences.append(say.say_decisiveness(found.decisiveness, findings.ci_prob))
        sentences.append(say.say_timing(accounts, False))
        if found.grade == "not clear" and accounts is not None and accounts["no change"] < say.SOMETHING:
            questions = len(findings.events) * len(rows)
            sentences.insert(0, say.say_largest(rows, findings.ci_prob, questions))
        elif found.grade == "not clear":
            sentences.append(say.say_unseen(rows, findings.ci_prob))
    sentences.append(say.say_basis(found.event.decisions, findings.matters))
    return headline, [sentence for sentence in sentences if sentence]


def _answer(findings: Findings, found: EventFinding, names: Names) -> dict[str, Any]:
    headline, sentences = answer_sentences(findings, found, names)
    return {
        "event": names.event(found),
        "grade": found.grade,
        "grade_word": say.GRADES[found.grade],
        "headline": headline,
        "sentences": sentences,
    }


def _dates_sentence(findings: Findings) -> str:
    found = findings.found
    if found is None:
        return ""
    number = len(found.dates)
    chance = float(found.number.values[number]) if number < len(found.number) else 0.0
    return say.say_changes(found.any_change, number, chance)


def _change(findings: Findings, found: EventFinding, position: int, names: Names) -> dict[str, Any]:
    limits = (
        min(0.0, *found.rows["lower"]) * 1.05 - 1e-9,
        max(0.0, *found.rows["upper"]) * 1.05 + 1e-9,
    )
    rows = []
    for number, (name, row) in enumerate(found.rows.iterrows()):
        interval = f"{say.say_signed(row['lower'])} to {say.say_signed(row['upper'])}"
        shown = names.feature(name)
        rows.append(
            {
                "name": shown,
                "before": say.say_signed(row["before"]),
                "after": say.say_signed(row["after"]),
                "change": say.say_signed(row["change"]),
                "interval": interval,
                "verdict": str(row["verdict"]),
                "verdict_word": say.GRADES[str(row["verdict"])],
                "bar": charts.interval_bar(
                    row["lower"],
                    row["change"],
                    row["upper"],
                    limits,
                    strong=row["verdict"] in ("clear", "probable"),
                    title=f"Change of {shown}: {say.say_signed(row['change'])}, {interval}",
                    key=f"bar-{position}-{number}",
                ),
            }
        )
    accounts = None if found.account is None else found.account.probability
    return {
        "event": names.event(found),
        "rows": rows,
        "ci": f"{findings.ci_prob:.0%}",
        "decisiveness": say.say_decisiveness(found.decisiveness, findings.ci_prob),
        "timing": say.say_timing(accounts, found.grade in ("clear", "probable")),
        "table": _change_table(findings, found, position, names),
    }


def _change_table(findings: Findings, found: EventFinding, position: int, names: Names) -> Table:
    assert findings.impact is not None
    numbers = findings.impact.rows_of(position)
    rows = []
    for name, row in found.rows.iterrows():
        more = dict(numbers.loc[str(name)])
        rows.append(
            [
                names.feature(name),
                say.say_signed(row["before"]),
                say.say_signed(row["after"]),
                say.say_signed(row["change"]),
                f"{say.say_signed(row['lower'])} to {say.say_signed(row['upper'])}",
                format_probability(row["probability"]),
                f"{more['per_unit']:+.3g}".replace("-", "−"),
                say.say_number(row["difference"]),
                f"{say.say_share(row['chosen_before'])} to {say.say_share(row['chosen_after'])}",
                f"{say.say_share(more['importance_before'])} to {say.say_share(more['importance_after'])}",
                say.GRADES[str(row["verdict"])],
            ]
        )
    head = ["Feature", "Before", "After", "Change", f"{findings.ci_prob:.0%} interval", "Probability of direction"]
    head += ["Change in the trace, per unit", "Typical difference", "Chosen if higher by it", "Importance", "Verdict"]
    return Table(f"All numbers on {names.event(found)}", head, rows)


def _dates(findings: Findings, names: Names) -> dict[str, Any] | None:
    found = findings.found
    if found is None:
        return None
    time = found.probability["time"].values
    marks = marks_of(findings, names)
    sentences = []
    for date in found.dates:
        shift = abs(date.after - date.before) * found.weights["spread"]
        moved = str(shift["feature"].values[int(np.argmax(shift.values))])
        old, new = (float(weights.sel(feature=moved)) for weights in (date.before, date.after))
        sentences.append(say.say_date_found(date.date, date.interval, findings.ci_prob, names.feature(moved), old, new))
    intervals = [(date.date, *date.interval) for date in found.dates]
    options: dict[str, Any] = {
        "title": "Dates of change that were found without being told",
        "description": " ".join([_dates_sentence(findings), *sentences]),
    }
    wide, narrow = (
        charts.dates_chart(
            time,
            charts.shares_by_stretch(found.probability.values, time, stretches),
            intervals,
            marks,
            size=size,
            key=key,
            **options,
        )
        for size, key, stretches in (((748, 180), "dates-wide", 90), ((336, 190), "dates-narrow", 40))
    )
    rows = [
        [
            say.say_moment(date.date),
            say.say_moment(date.interval[0]),
            say.say_moment(date.interval[1]),
            format_probability(date.probability),
        ]
        for date in found.dates
    ]
    head = ["Most probable date", "Interval from", "to", "Probability of a change there"]
    span = float(np.diff(as_numbers(time[[0, -1]]))[0])
    return {
        "sentence": _dates_sentence(findings),
        "dates": sentences,
        "figure": Figure(
            wide,
            narrow,
            "Probability of a change of preferences in each stretch of the log (bars) and the credible interval of "
            "each date (shaded)." + (" Vertical lines: the events that were named beforehand." if marks else ""),
            Table("Dates found", head, rows) if rows else None,
        )
        if span > 0
        else None,
    }


def _example_words(findings: Findings, names: Names) -> str:
    if findings.impact is None:
        return "with the weights at the start of the log and with those at its end"
    found = findings.events[main_event(findings.impact)]
    return f"with the weights before {names.event(found)} and with those after it"


def _examples(findings: Findings, names: Names) -> list[dict[str, Any]]:
    shown = []
    for number, example in enumerate(findings.examples):
        why = {
            None: "named for this report",
            0.95: "a choice that the change alters much: more than 95% of all others",
            0.5: "a typical choice: half of all others are altered more",
            0.05: "a choice that hardly changes: 95% of all others are altered more",
        }[example.changed_more_than]
        candidates, rows = [], []
        moving = list(example.candidates[0].moved_by)[:MOST_COLUMNS]
        for position, candidate in enumerate(example.candidates):
            name = names.text(candidate.name) or f"Candidate {candidate.slot + 1}"
            moved = [(names.feature(feature), part) for feature, part in candidate.moved_by.items()]
            sentence = say.say_candidate(candidate.before[0], candidate.after[0], moved)
            candidates.append(
                {
                    "name": name,
                    "chosen": candidate.chosen,
                    "sentence": sentence,
                    "bars": charts.chance_bars(
                        candidate.before, candidate.after, f"{name}. {sentence}", f"example-{number}-{position}"
                    ),
                }
            )
            values = [
                f"{say.say_number(candidate.values[feature])} ({say.say_signed(candidate.moved_by[feature])})"
                for feature in moving
            ]
            rows.append([f"{name}{', chosen' if candidate.chosen else ''}", *values])
        shown.append(
            {
                "time": say.say_moment(example.time),
                "why": why,
                "candidates": candidates,
                "left_out": example.left_out,
                "table": Table(
                    "Features of the candidates, and how far each moved the log-odds of being chosen",
                    ["", *(names.feature(feature) for feature in moving)],
                    rows,
                ),
            }
        )
    return shown
