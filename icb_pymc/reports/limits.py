"""What a report cannot tell: sentences for its section on limits."""

from icb_pymc.reports import wording as say
from icb_pymc.reports.findings import Findings
from icb_pymc.reports.methods import SMOOTH
from icb_pymc.reports.parts import Names

# Pairs of collinear features that are named.
MOST_PAIRS = 5


def limits_of(findings: Findings, names: Names) -> list[tuple[str, str]]:
    """What the report cannot tell, as pairs of a few words and a sentence or two."""
    features = [names.feature(name) for name in findings.decisions["feature"].values]
    listed = say.say_list(features) if len(features) <= 12 else f"the {len(features)} features"
    limits = [
        (
            "Not a cause",
            "A change after an event need not be its effect: whatever else changed at the same time, and is not in the "
            "log, looks the same.",
        ),
        (
            "Only what is in the log",
            f"Choices are explained by {listed}. A feature that decision-makers looked at and that is not recorded can "
            "make others seem to change, if it goes along with them.",
        ),
    ]
    limits.append(("Features that go together", _collinear(findings, names)))
    if findings.events:
        limits.append(
            (
                "Fixed beforehand",
                "Probabilities hold for events and windows that were fixed before anyone looked at the results. An "
                "event picked because the curve bends there looks more certain than it is.",
            )
        )
    limits.append(("Sudden or gradual", _smoothing(findings, names)))
    return limits


def _collinear(findings: Findings, names: Names) -> str:
    pairs = findings.collinear
    if not pairs:
        return (
            "No two features go closely together among the candidates of a decision (no correlation of 0.7 or more), "
            "so their weights can be told apart."
        )
    shown = [
        f"{names.feature(pair.first)} and {names.feature(pair.second)} (correlation {say.say_signed(pair.correlation)})"
        for pair in pairs[:MOST_PAIRS]
    ]
    more = f", and {say.say_count(len(pairs) - MOST_PAIRS, 'more pair')}" if len(pairs) > MOST_PAIRS else ""
    return (
        f"Among the candidates of a decision these go together: {say.say_list(shown)}{more}. The choices hardly say "
        "which of the two counts: read their weights together."
    )


def _smoothing(findings: Findings, names: Names) -> str:
    if str(findings.trace.attrs.get("model")) not in SMOOTH:
        return "How sudden a change looks depends on what the model assumes about changes."
    sentences = [
        "The curves come from a model in which weights move slowly, so a sudden change looks gradual, and its size "
        "somewhat smaller."
    ]
    for found in findings.events:
        spread = found.spread
        if spread is not None:
            name, event = names.feature(spread.feature), names.event(found)
            sentences.append(say.say_spread(name, spread.start, spread.end, spread.decisions, event))
    sentences.append("Whether a change was sudden is judged from the choices themselves, not from the curve.")
    return " ".join(sentences)
