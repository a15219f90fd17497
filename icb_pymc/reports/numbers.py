"""The JSON form of a report: the answers in words, and all numbers behind them."""

from typing import Any

import numpy as np

from icb_pymc.reports.findings import Findings

SCHEMA_VERSION = 1
# Times of a path that are kept; a picture does not show more.
MOST_TIMES = 200


def numbers_of(findings: Findings, parts: dict[str, Any]) -> dict[str, Any]:
    """A report as dictionaries and lists, with the names as they are in the log.

    Parameters
    ----------
    findings : Findings
    parts : dict
        Of `parts_of`, for the words.
    """
    answers = []
    for found, answer in zip(findings.events, parts["answers"], strict=True):
        account = found.account
        answers.append(
            {
                "event": found.event.time,
                "label": found.event.label,
                "grade": found.grade,
                "headline": answer["headline"],
                "sentences": answer["sentences"],
                "window": [found.event.start, found.event.end],
                "decisions": list(found.event.decisions),
                "changes": found.rows,
                "decisiveness": found.decisiveness,
                "account_probability": None if account is None else account.probability,
                "placebos": None if account is None else list(account.placebo),
                "at_event": None if account is None else account.at_event,
            }
        )
    how = parts["how"]
    diagnosis, found_dates = findings.diagnosis, findings.found
    return {
        "schema_version": SCHEMA_VERSION,
        "title": parts["title"],
        "answers": answers,
        "do_not_rely_because": list(findings.reasons),
        "dates_of_change": None if found_dates is None else found_dates.as_dict(),
        "weights": _weights(findings),
        "examples": [
            {
                "time": example.time,
                "changed_more_than": example.changed_more_than,
                "candidates": [vars(candidate) for candidate in example.candidates],
            }
            for example in findings.examples
        ],
        "checks": [
            {"name": check.name, "state": check.state, "sentence": check.sentence, "advice": list(check.advice)}
            for check in parts["checks"]
        ],
        "converged": diagnosis.converged,
        "prior_sensitivity": findings.sensitivity if len(findings.sensitivity) else None,
        "comparison": findings.comparison,
        "limits": dict(parts["limits"]),
        "remarks": list(findings.remarks),
        "made": {
            "data_sha256": how["hash"],
            "data": how["shape"],
            "model": findings.trace.attrs.get("model"),
            "hyperparameters": dict(how["settings"]),
            "sampler": how["sampler"],
            "seed": findings.trace.attrs.get("seed"),
            "versions": dict(how["versions"]),
            "commands": how["commands"],
            "ci_prob": findings.ci_prob,
            "matters": findings.matters,
            "quick": findings.quick,
        },
    }


def _weights(findings: Findings) -> dict[str, Any]:
    weights = findings.weights
    number = weights.sizes["time"]
    kept = weights.isel(time=np.unique(np.linspace(0, number - 1, min(number, MOST_TIMES)).round().astype(int)))
    return {
        "unit": "log-odds per standard deviation",
        "time": list(kept["time"].values),
        "features": {
            str(name): {
                end: np.round(kept.isel(quantile=i).sel(feature=name).values, 4)
                for i, end in enumerate(("low", "median", "high"))
            }
            for name in findings.features
        },
    }
