"""`icb show`: check and summarise a file of decisions."""

import argparse
from typing import Any

from icb_pymc.cli.options import add_json, add_table_columns, add_verb, read_given_decisions, say, say_json

MANY_AGENTS = 10


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(verbs, "show", "Check a file of decisions and summarise it.", "icb show log.csv --time date")
    parser.add_argument("decisions", help="netCDF file, or a table as CSV or Parquet")
    add_json(parser)
    add_table_columns(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Validate and summarise."""
    decisions = read_given_decisions(options.decisions, options)
    from icb_pymc.data.understanding import summarise

    summary = summarise(decisions)
    if options.json:
        say_json(summary)
    else:
        say(format_summary(summary))
    return 0


def format_summary(summary: dict[str, Any]) -> str:
    """A summary as text."""
    from icb_pymc.data.understanding import FORMS, sentences

    features, (least, most) = summary["features"], summary["candidates"].values()
    candidates = str(least) if least == most else f"{least} to {most}"
    lines = [
        f"{summary['decisions']} decisions from {summary['first']} to {summary['last']}, {candidates} candidates each, "
        f"{len(features)} features"
    ]
    if "form" in summary:
        lines.append(f"table: {FORMS.get(summary['form'], summary['form'])}")
    if "alternatives" in summary:
        lines.append(_format_alternatives(summary))
    if "formula" in summary:
        lines.append(f"features: {summary['formula']}")
    if "unused" in summary:
        lines.append(f"columns that are not used: {', '.join(summary['unused'])}")
    lines.append(f"time: {summary['time']}")
    if "sessions" in summary:
        sessions = summary["sessions"]
        fewest, greatest = sessions["min"], sessions["max"]
        sizes = str(fewest) if fewest == greatest else f"{fewest} to {greatest}"
        lines.append(f"sessions: {sessions['number']} of {sizes} decisions; weights may jump between them")
    if summary.get("missed"):
        lines.append(f"missed: {summary['missed']} decision(s), in which time passes and nothing is learnt")
    if "rewards" in summary:
        lines.append(f"rewards: observed after {summary['rewards']} of {summary['decisions']} decisions; not a feature")
    if "answers" in summary:
        lines.append(f"right answers: known of {summary['answers']} of {summary['decisions']} decisions; not a feature")
    if "agents" in summary:
        lines.append(_format_agents(summary["agents"]))
    if "simulated" in summary:
        lines.append("simulated: agent '{agent}', seed {seed}".format(**summary["simulated"]))
    if summary["synthetic"]:
        lines.append("the patients are synthetic: this file contains no real patient")
    lines.append("\n" + features.to_string(float_format=lambda value: f"{value:+.3f}"))
    faults = sentences(summary)
    return "\n".join([*lines, *([""] if faults else []), *(f"- {fault}" for fault in faults)])


def _format_alternatives(summary: dict[str, Any]) -> str:
    names = summary["alternatives"]
    if summary.get("form") == "trials":
        return f"alternatives: {names[0]} and {names[1]}; weights above zero speak for {names[1]}"
    return f"alternatives: {', '.join(names)}; the reference is {names[0]}"


def _format_agents(counts: dict[str, int]) -> str:
    if len(counts) > MANY_AGENTS:
        return f"{len(counts)} agents with {min(counts.values())} to {max(counts.values())} decisions each"
    return f"{len(counts)} agent(s) and their decisions: " + ", ".join(f"{name} ({n})" for name, n in counts.items())
