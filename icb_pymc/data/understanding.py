"""What was understood of a log: its form, time, sessions, and features with their coding, scale and faults."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.data.coding import coding_of
from icb_pymc.data.collinearity import collinear_features, constant_features
from icb_pymc.data.columns import LONG, TRIALS, WIDE
from icb_pymc.data.schema import CONTEXT_DIMS
from icb_pymc.data.separation import separating_features
from icb_pymc.data.sessions import seen
from icb_pymc.data.standardisation import deviation_within, scaled_features, user_context

FORMS = {LONG: "one row per candidate per decision", WIDE: "one row per decision", TRIALS: "one row per trial"}


def summarise(decisions: xr.Dataset) -> dict[str, Any]:
    """Summarise decisions.

    Parameters
    ----------
    decisions : Dataset

    Returns
    -------
    dict
        Sizes; how time is read; form, alternatives, agents, sessions, missed decisions and rewards where there are any;
        and a data frame `features` with a row for each: its coding, how far candidates differ in it, and how the chosen
        ones differ from the others. `constant`, `collinear` and `separating` are the names of features with these
        faults.
    """
    time, counts = decisions["time"].values, seen(decisions).sum(axis=1)
    first, last = (np.datetime_as_string(t, unit="D") if t.dtype.kind == "M" else t for t in time[[0, -1]])
    open_counts = counts[counts > 0]
    summary: dict[str, Any] = {
        "decisions": len(time),
        "first": first,
        "last": last,
        "candidates": {"min": open_counts.min(initial=counts.max()), "max": counts.max()},
        "time": describe_time(decisions),
    }
    coding = coding_of(decisions)
    for name in ("form", "formula", "alternatives", "unused"):
        if coding.get(name):
            summary[name] = coding[name]
    if "decider" in decisions:
        names = decisions["agent"].values
        numbers = np.bincount(decisions["decider"].values, minlength=len(names))
        summary["agents"] = dict(zip(names, numbers, strict=True))
    if "session" in decisions:
        summary["sessions"] = _session_sizes(decisions)
    if "missed" in decisions:
        summary["missed"] = int(decisions["missed"].sum())
    if "reward" in decisions:
        summary["rewards"] = int(np.isfinite(decisions["reward"].values).sum())
    if "answer" in decisions:
        summary["answers"] = int((decisions["answer"].values >= 0).sum())
    if "agent" in decisions.attrs:
        summary["simulated"] = {"agent": decisions.attrs["agent"], "seed": decisions.attrs.get("seed", "unknown")}
    faults = {
        "constant": constant_features(decisions),
        "collinear": collinear_features(decisions),
        "separating": separating_features(decisions),
    }
    synthetic = bool(decisions.attrs.get("synthetic"))
    return summary | faults | {"synthetic": synthetic, "features": feature_table(decisions, coding)}


def describe_time(decisions: xr.Dataset) -> str:
    """How time is read: whether weights move by the calendar or by decisions."""
    time = decisions["time"].values
    if time.dtype.kind == "M":
        distinct = len(np.unique(time))
        shared = f", on {distinct} dates" if distinct < len(time) else ""
        return f"dates{shared}; weights move with the calendar (--set unit_of_time=decision counts decisions)"
    gaps = np.diff(np.unique(time)) if len(time) > 1 else np.ones(1)
    numbers = "numbers with gaps" if (gaps > 1).any() else "numbers"
    measured = "; --set unit_of_time=1 measures the gaps" if (gaps > 1).any() else ""
    return f"{numbers}; weights move from decision to decision{measured}"


def sentences(summary: dict[str, Any]) -> list[str]:
    """What is wrong or noteworthy in a summary, one sentence each."""
    lines = [f"feature '{name}' never varies between the candidates of a decision" for name in summary["constant"]]
    for names, correlation in summary["collinear"]:
        if len(names) > 2:
            lines.append(f"features {_listed(names)} are collinear: each follows from the others; leave one out")
        elif abs(correlation) > 1 - 1e-6:
            lines.append(f"features {_listed(names)} are collinear: one is a multiple of the other; leave one out")
        else:
            lines.append(f"features {_listed(names)} are nearly collinear (correlation {correlation:+.3f})")
    if summary["separating"]:
        names = summary["separating"]
        if len(names) == 1:
            lines.append(
                f"feature '{names[0]}' alone explains every choice without exception: is it something that "
                "was known only "
                "after the choice? If not, its weight is bounded by the prior alone"
            )
        else:
            lines.append(
                f"features {_listed(names)} together explain every choice without exception, so that only "
                "the prior bounds "
                "their weights"
            )
    return lines


def feature_table(decisions: xr.Dataset, coding: dict[str, Any]) -> pd.DataFrame:
    """A data frame with a row for each feature, in the user's units."""
    available, chosen = seen(decisions), decisions["chosen"].values
    context, steps = user_context(decisions).transpose(*CONTEXT_DIMS).values, np.arange(len(chosen))
    is_chosen = np.zeros_like(available)
    is_chosen[steps, chosen] = True
    is_chosen &= available
    others = available & ~is_chosen
    table = pd.DataFrame(index=pd.Index(decisions["feature"].values, name="feature"))
    plain = decisions.assign(context=(CONTEXT_DIMS, context))
    table["mean"], table["sd"] = context[available].mean(axis=0), context[available].std(axis=0)
    table["sd within"] = deviation_within(plain)
    if others.any():
        table["chosen - others"] = context[is_chosen].mean(axis=0) - context[others].mean(axis=0)
    if "true_belief" in decisions:
        belief = decisions["true_belief"].values
        table["first belief"], table["last belief"] = belief[0], belief[-1]
    if "true_rho_env" in decisions:
        table["rho_env"] = decisions["true_rho_env"].values
    meanings = coding.get("features", {})
    table["coding"] = [str(meanings.get(str(name), f"per unit of {name}")) for name in table.index]
    scale = decisions["feature_scale"].values if "feature_scale" in decisions else np.ones(len(table))
    scaled = scaled_features(plain)
    table["scaled"] = [
        f"by {factor:.3g}" if factor != 1 else "no" if kept else "no (0/1)" if width > 0 else "no (constant)"
        for factor, kept, width in zip(scale, scaled, table["sd within"], strict=True)
    ]
    return table


def _session_sizes(decisions: xr.Dataset) -> dict[str, Any]:
    groups = pd.DataFrame({"session": decisions["session"].values})
    groups["agent"] = decisions["decider"].values if "decider" in decisions else 0
    sizes = groups.groupby(["agent", "session"]).size()
    named = coding_of(decisions).get("columns", {})
    return {"number": len(sizes), "min": int(sizes.min()), "max": int(sizes.max()), "column": named.get("session")}


def _listed(names: list[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " and " + quoted[-1]
