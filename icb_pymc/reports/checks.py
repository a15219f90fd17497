"""Why to believe a report, or not: each check with a word, a sentence, and where it helps a chart."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from icb_pymc.reports import charts
from icb_pymc.reports import wording as say
from icb_pymc.reports.findings import Findings, is_approximate
from icb_pymc.reports.parts import Names, Table

STATES = {"passed": "Passed", "caution": "Caution", "failed": "Failed", "skipped": "Not checked"}
CLAIMED = ("clear", "probable")
# The share of dates, the event included, at which a step may be as well supported as at an event that stands apart.
MOST_PLACEBOS = 0.1


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes
    ----------
    name : str
    state : {"passed", "caution", "failed", "skipped"}
    sentence : str
    advice : tuple of str
    charts : tuple
        Pairs of a caption and a drawing.
    table : Table or None
    """

    name: str
    state: str
    sentence: str
    advice: tuple[str, ...] = ()
    charts: tuple[Any, ...] = ()
    table: Table | None = None

    @property
    def word(self) -> str:
        """The state in a word."""
        return STATES[self.state]


def checks_of(findings: Findings, names: Names) -> list[Check]:
    """All checks, whether or not they could be made."""
    checks = [_convergence(findings, names), _calibration(findings), _unchanging(findings)]
    if findings.events:
        checks += [_placebos(findings, names), _sensitivity(findings, names)]
    if findings.others:
        checks.append(_other_models(findings, names))
    return checks


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _convergence(findings: Findings, names: Names) -> Check:
    diagnosis = findings.diagnosis
    state = "passed" if diagnosis.converged else "failed"
    if str(findings.trace.attrs.get("approximation", "none")) == "laplace":
        state = "caution"
    advice = tuple(_sentence(names.text(line, 400)) for line in diagnosis.advice)
    words = names.text(diagnosis.verdict, 400)
    name = "Approximation" if is_approximate(findings.trace) else "Convergence of the chains"
    return Check(name, state, _sentence(words), advice)


def _calibration(findings: Findings) -> Check:
    name, choices = "Predicted choices", findings.diagnosis.choices
    if choices is None:
        return Check(
            name,
            "skipped",
            "This trace has no choice probabilities, because it keeps only some of the times; a fit that keeps all of "
            "them has.",
        )
    low, high = choices.expected_error
    sentence = (
        f"The model's favourite was chosen in {say.say_share(choices.accuracy)} of decisions; it expects "
        f"{say.say_share(choices.expected_accuracy)}, and chance alone would give {say.say_share(choices.chance)}. "
        f"Predicted probabilities and observed shares differ by {choices.calibration_error:.3f} on average, "
    )
    if choices.is_calibrated:
        sentence += f"which is as expected ({low:.3f} to {high:.3f})."
    else:
        sentence += f"which is more than chance explains ({low:.3f} to {high:.3f})."
    table = choices.calibration
    drawing = charts.calibration_chart(
        {column: table[column].to_numpy() for column in ("predicted", "observed", "low", "high")},
        title="Observed shares of choices over predicted probabilities",
        description="; ".join(
            f"predicted {row.predicted:.0%}, observed {row.observed:.0%} (expected {row.low:.0%} to {row.high:.0%})"
            for row in table.itertuples()
        ),
        key="calibration",
    )
    caption = (
        "Share of candidates that were chosen, over the predicted probability. Bars: where the share lies in nine of "
        "ten logs if the model is right; a hollow dot lies outside."
    )
    rows = [
        [f"{row.predicted:.0%}", f"{row.observed:.0%}", f"{row.low:.0%} to {row.high:.0%}", f"{row.count:,}"]
        for row in table.itertuples()
    ]
    numbers = Table("Calibration of choices", ["Predicted", "Observed", "Expected", "Candidates"], rows)
    return Check(name, "passed" if choices.is_calibrated else "caution", sentence, (), ((caption, drawing),), numbers)


def _unchanging(findings: Findings) -> Check:
    name, unchanging = "Better than a model that never changes", findings.diagnosis.unchanging
    if unchanging is None:
        return Check(name, "skipped", "This needs the choice probabilities that this trace does not have.")
    better = unchanging.difference > 2 * unchanging.standard_error
    state = "failed" if unchanging.is_worse else "passed" if better else "caution"
    return Check(name, state, _sentence(str(unchanging).replace("+-", "±")))


def _placebos(findings: Findings, names: Names) -> Check:
    name = "Dates where nothing happened"
    if findings.quick:
        return Check(name, "skipped", "Left out of a quick report: it needs new computations.")
    sentences, drawings, states = [], [], []
    for position, found in enumerate(findings.events):
        account, event = found.account, names.event(found)
        if account is None or not len(account.placebo):
            sentences.append(f"For {event} there are too few decisions to ask at other dates.")
            states.append("skipped")
            continue
        dates, as_good = len(account.placebo), int(np.sum(account.placebo >= account.at_event))
        apart = account.placebo_share <= MOST_PLACEBOS
        if as_good == 0:
            sentences.append(f"A step is better supported at {event} than at any of {dates} other dates.")
        else:
            plain = "" if apart else ", so nothing sets this date apart"
            sentences.append(f"At {as_good} of {dates} other dates a step is supported as well as at {event}{plain}.")
        if found.grade in CLAIMED:
            states.append("passed" if apart else "caution")
        drawing = charts.placebo_chart(
            account.placebo,
            account.at_event,
            f"Support for a step at {event} and at {dates} other dates",
            f"Log Bayes factor {account.at_event:.1f} at the event; at the other dates between "
            f"{account.placebo.min():.1f} and {account.placebo.max():.1f}.",
            f"placebo-{position}",
        )
        drawings.append((f"Support for a step (log Bayes factor): {event}, diamond; other dates, circles.", drawing))
    state = "caution" if "caution" in states else "skipped" if "skipped" in states else "passed"
    return Check(name, state, " ".join(sentences), (), tuple(drawings))


def _sensitivity(findings: Findings, names: Names) -> Check:
    name, table = "Prior expectations", findings.sensitivity
    if findings.quick:
        return Check(name, "skipped", "Left out of a quick report: it needs new computations.")
    if not len(table):
        return Check(name, "skipped", "There are too few decisions around the events.")
    sentences, moved, rows = [], False, []
    for position, found in enumerate(findings.events):
        if position not in table.index.get_level_values("event"):
            continue
        part = table.loc[position]
        accounts = part.groupby(level="factor")["account"].first()
        claimed = [str(feature) for feature, row in found.rows.iterrows() if row["verdict"] in CLAIMED]
        event = names.event(found)
        differing = sorted(set(accounts))
        if len(differing) > 1:
            moved = True
            sentences.append(f"For {event} the best supported account depends on it: {say.say_list(differing)}.")
        lost = [
            feature
            for feature in claimed
            if found.account is not None
            and found.account.best == "step"
            and not (part.xs(feature, level="feature")["verdict"].isin(CLAIMED)).all()
        ]
        if lost:
            moved = True
            which = say.say_list([names.feature(feature) for feature in lost])
            sentences.append(f"For {event} the verdict on {which} depends on it.")
        for factor, account in accounts.items():
            under = pd.DataFrame(part.xs(factor, level="factor"))
            chance = float(under["probability"].iloc[0])
            words = {"step": "a step", "step or drift": "a step or drift"}.get(str(account), str(account))
            changes = [say.say_signed(float(under["change"][feature])) for feature in claimed[:3]]
            rows.append([f"{event}, × {factor:g}", f"{words} ({chance:.0%})", ", ".join(changes) or "none claimed"])
    opening = "With priors that allow for changes half and twice as large, "
    if moved:
        sentence = f"{opening}not everything stays the same. {' '.join(sentences)}"
    else:
        sentence = f"{opening}the best supported account and the claims stay the same."
    head = ["Event and prior scale", "Best supported", "Change of the claimed features, with a step"]
    return Check(name, "caution" if moved else "passed", sentence, (), (), Table("Prior scales", head, rows))


def _other_models(findings: Findings, names: Names) -> Check:
    sentences, rows, state = [], [], "passed"
    if findings.comparison is None:
        sentences.append(f"Predictions could not be compared: {names.text(findings.not_compared, 300)}")
        state = "caution"
    else:
        best = str(findings.comparison.index[0])
        sentences.append(f"Of all models given, {names.text(best)} predicts the choices best (leave-one-out).")
        for model, row in findings.comparison.iterrows():
            behind = (
                f"{row['elpd_diff']:.1f} ± {row['dse']:.1f} log units behind the best" if row["elpd_diff"] else "best"
            )
            rows.append([names.text(model), behind])
        mine = findings.comparison.loc["this trace"]
        if mine["elpd_diff"] > 2 * mine["dse"] > 0:
            state = "caution"
    for position, found in enumerate(findings.events):
        first = found.rows.iloc[0]
        if first["verdict"] not in CLAIMED:
            continue
        feature = str(found.rows.index[0])
        for model, tables in findings.others.items():
            other = dict(tables[position].loc[feature])
            agrees = np.sign(other["change"]) == np.sign(first["change"]) and other["verdict"] in CLAIMED
            state = state if agrees else "caution"
            sentences.append(
                f"{names.text(model)} {'agrees' if agrees else 'does not agree'} on {names.feature(feature)} after "
                f"{names.event(found)} (change {say.say_signed(float(other['change']))}, "
                f"{say.GRADES[str(other['verdict'])].lower()})."
            )
    table = Table("Predictions by model", ["Model", "Expected log probability of the choices"], rows) if rows else None
    return Check("Other models of the same decisions", state, " ".join(sentences), (), (), table)
