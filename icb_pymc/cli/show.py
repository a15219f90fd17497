"""`icb show`: what is in a file of decisions."""

import argparse
from typing import Any

from icb_pymc.cli.options import add_table_columns, add_verb, read_given_decisions, say


def add_to(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "show", "Check a file of decisions and show what is in it.", "icb show log.csv --time date"
    )
    parser.add_argument("decisions", help="netCDF file, or a table as CSV or Parquet")
    add_table_columns(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Validate and summarise."""
    say(summary(read_given_decisions(options.decisions, options)))
    return 0


def summary(decisions: Any) -> str:
    """Decisions in words: how many, of what, and what the chosen have that the others have not."""
    import numpy as np
    import pandas as pd

    available, chosen = decisions["available"].values, decisions["chosen"].values
    steps = np.arange(len(chosen))
    counts = available.sum(axis=1)
    span = str(counts.min()) if counts.min() == counts.max() else f"{counts.min()} to {counts.max()}"
    first, last = (np.datetime_as_string(t, unit="D") if t.dtype.kind == "M" else t for t in _ends(decisions))
    lines = [
        f"{len(chosen)} decisions from {first} to {last}, {span} candidates each, {decisions.sizes['feature']} features"
    ]
    if "decider" in decisions:
        lines.append(_deciders(decisions))
    if "agent" in decisions.attrs:
        lines.append(f"simulated: agent '{decisions.attrs['agent']}', seed {decisions.attrs['seed']}")
    if decisions.attrs.get("synthetic"):
        lines.append("the patients are synthetic: no real patient is in this file")
    context = decisions["context"].values
    candidates = context[available]
    taken = context[steps, chosen]
    others = available.copy()
    others[steps, chosen] = False
    table = pd.DataFrame(index=pd.Index(decisions["feature"].values, name="feature"))
    table["mean"], table["sd"] = candidates.mean(axis=0), candidates.std(axis=0)
    if others.any():
        table["chosen - others"] = taken.mean(axis=0) - context[others].mean(axis=0)
    if "true_belief" in decisions:
        belief = decisions["true_belief"].values
        table["first belief"], table["last belief"] = belief[0], belief[-1]
    if "true_rho_env" in decisions:
        table["rho_env"] = decisions["true_rho_env"].values
    lines.append("\n" + table.to_string(float_format=lambda value: f"{value:+.3f}"))
    return "\n".join(lines)


def _deciders(decisions: Any) -> str:
    """Who decided, and how often."""
    import numpy as np

    names = decisions["agent"].values
    counts = np.bincount(decisions["decider"].values, minlength=len(names))
    if len(names) > 10:
        return f"{len(names)} agents with {counts.min()} to {counts.max()} decisions each"
    told = ", ".join(f"{name} ({count})" for name, count in zip(names, counts, strict=True))
    return f"{len(names)} agent(s) and their decisions: {told}"


def _ends(decisions: Any) -> Any:
    return decisions["time"].values[[0, -1]]
