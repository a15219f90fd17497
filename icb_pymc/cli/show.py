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
    summary = summarise(read_given_decisions(options.decisions, options))
    if options.json:
        say_json(summary)
    else:
        say(format_summary(summary))
    return 0


def summarise(decisions: Any) -> dict[str, Any]:
    """Summarise decisions: sizes, agents, and for each feature how the chosen candidates differ from the others."""
    import numpy as np

    time, counts = decisions["time"].values, decisions["available"].values.sum(axis=1)
    first, last = (np.datetime_as_string(t, unit="D") if t.dtype.kind == "M" else t for t in time[[0, -1]])
    summary: dict[str, Any] = {
        "decisions": len(time),
        "first": first,
        "last": last,
        "candidates": {"min": counts.min(), "max": counts.max()},
    }
    if "decider" in decisions:
        names = decisions["agent"].values
        numbers = np.bincount(decisions["decider"].values, minlength=len(names))
        summary["agents"] = dict(zip(names, numbers, strict=True))
    if "agent" in decisions.attrs:
        summary["simulated"] = {"agent": decisions.attrs["agent"], "seed": decisions.attrs["seed"]}
    return summary | {"synthetic": bool(decisions.attrs.get("synthetic")), "features": _feature_table(decisions)}


def format_summary(summary: dict[str, Any]) -> str:
    """A summary as text."""
    features, (least, most) = summary["features"], summary["candidates"].values()
    candidates = str(least) if least == most else f"{least} to {most}"
    lines = [
        f"{summary['decisions']} decisions from {summary['first']} to {summary['last']}, {candidates} candidates each, "
        f"{len(features)} features"
    ]
    if "agents" in summary:
        lines.append(_format_agents(summary["agents"]))
    if "simulated" in summary:
        lines.append("simulated: agent '{agent}', seed {seed}".format(**summary["simulated"]))
    if summary["synthetic"]:
        lines.append("the patients are synthetic: this file contains no real patient")
    lines.append("\n" + features.to_string(float_format=lambda value: f"{value:+.3f}"))
    return "\n".join(lines)


def _feature_table(decisions: Any) -> Any:
    """A data frame with a row for each feature."""
    import numpy as np
    import pandas as pd

    available, chosen, context = (decisions[name].values for name in ("available", "chosen", "context"))
    steps = np.arange(len(chosen))
    others = available.copy()
    others[steps, chosen] = False
    candidates = context[available]
    table = pd.DataFrame(index=pd.Index(decisions["feature"].values, name="feature"))
    table["mean"], table["sd"] = candidates.mean(axis=0), candidates.std(axis=0)
    if others.any():
        table["chosen - others"] = context[steps, chosen].mean(axis=0) - context[others].mean(axis=0)
    if "true_belief" in decisions:
        belief = decisions["true_belief"].values
        table["first belief"], table["last belief"] = belief[0], belief[-1]
    if "true_rho_env" in decisions:
        table["rho_env"] = decisions["true_rho_env"].values
    return table


def _format_agents(counts: dict[str, int]) -> str:
    if len(counts) > MANY_AGENTS:
        return f"{len(counts)} agents with {min(counts.values())} to {max(counts.values())} decisions each"
    return f"{len(counts)} agent(s) and their decisions: " + ", ".join(f"{name} ({n})" for name, n in counts.items())
