"""What a report is about, in numbers: everything comes from `assess`; nothing is said here."""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.assess.accounts import Accounts
from icb_pymc.assess.changes import changes
from icb_pymc.assess.comparison import compare
from icb_pymc.assess.convergence_verdict import NO_POSTERIOR
from icb_pymc.assess.dates_of_change import Changes
from icb_pymc.assess.diagnosis import Diagnosis, diagnose
from icb_pymc.assess.event_windows import Event, known_features
from icb_pymc.assess.example_choices import ExampleChoice, example_choices
from icb_pymc.assess.impact import Impact, impact
from icb_pymc.assess.judged_changes import judged_changes, mean_weights, weights_around
from icb_pymc.assess.metrics import relative_importance
from icb_pymc.assess.prior_sensitivity import prior_sensitivity
from icb_pymc.assess.smoothing import SpreadOfChange, spread_of_change
from icb_pymc.assess.weights import alpha_of, feature_sd, log_odds_weights, mean_lapse
from icb_pymc.assess.wording import is_all_sharper
from icb_pymc.data.collinearity import CollinearPair, collinear_pairs
from icb_pymc.data.deciders import agents_of
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import at_kept_times, central_band, checked_ci_prob, decisions_in, draws_of

PLACEBOS = 19
# Without an event, examples compare the first and the last fifth of the log.
ENDS = 5


@dataclass(frozen=True)
class EventFinding:
    """What was found around one event.

    Attributes
    ----------
    event : Event
    rows : DataFrame
        `judged_changes`, the largest change first.
    decisiveness : dict
    account : Accounts or None
    grade : str
        clear, probable, no relevant change, not clear, or do not rely on it.
    spread : SpreadOfChange or None
        Of the largest claimed change.
    """

    event: Event
    rows: pd.DataFrame
    decisiveness: dict[str, Any]
    account: Accounts | None
    grade: str
    spread: SpreadOfChange | None


@dataclass(frozen=True)
class Findings:
    """All numbers of a report.

    Attributes
    ----------
    trace : InferenceData
    decisions : Dataset
    features : tuple of str
        In the order of the page: what moved most comes first.
    events : tuple of EventFinding
    impact : Impact or None
    found : Changes or None
        Dates found without being told.
    diagnosis : Diagnosis
    reasons : tuple of str
        Why not to rely on the trace, if so.
    weights : DataArray (quantile, time, feature)
        Band and median of the weights in log-odds per standard deviation, of the common trend if there is one.
    shares : DataArray (time, feature)
        Mean relative importance.
    agents : dict of str to DataArray (quantile, time, feature)
        Weights of each agent at its own decisions, where the model has a trend that agents deviate from.
    examples : tuple of ExampleChoice
    sensitivity : DataFrame
        Of `prior_sensitivity`; empty in a quick report.
    others : dict
        For each further trace, its rows of `judged_changes` by event.
    comparison : DataFrame or None
        Of `compare`, with further traces.
    not_compared : str
        Why they could not be compared.
    collinear : list of CollinearPair
    remarks : tuple of str
        Warnings that came up.
    ci_prob : float
    matters : float or None
    quick : bool
    """

    trace: InferenceData
    decisions: xr.Dataset
    features: tuple[str, ...]
    events: tuple[EventFinding, ...]
    impact: Impact | None
    found: Changes | None
    diagnosis: Diagnosis
    reasons: tuple[str, ...]
    weights: xr.DataArray
    shares: xr.DataArray
    agents: dict[str, xr.DataArray]
    examples: tuple[ExampleChoice, ...]
    sensitivity: pd.DataFrame
    others: dict[str, list[pd.DataFrame]]
    comparison: pd.DataFrame | None
    not_compared: str
    collinear: list[CollinearPair]
    remarks: tuple[str, ...]
    ci_prob: float
    matters: float | None
    quick: bool


def find(
    trace: InferenceData,
    events: Any,
    others: Mapping[str, InferenceData],
    *,
    features: Sequence[str] | None,
    before: Any,
    after: Any,
    matters: float | None,
    examples: Sequence[Any] | None,
    ci_prob: float | None,
    quick: bool,
    progressbar: bool,
) -> Findings:
    """Gather the numbers; arguments as in `icb_pymc.report`."""
    ci_prob, decisions = checked_ci_prob(ci_prob), decisions_in(trace)
    if decisions.sizes["time"] < 2:
        raise InputError("one decision cannot show how priorities evolved: a report needs a log of two or more.")
    weights = log_odds_weights(trace)
    asked = known_features(weights["feature"].values, features)
    question = {"features": asked, "before": before, "after": after, "matters": matters, "ci_prob": ci_prob}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        diagnosis = diagnose(trace)
        placebos = 0 if quick else PLACEBOS
        result = impact(trace, events, placebos=placebos, progressbar=progressbar, **question) if events else None
        found = changes(decisions, ci_prob=ci_prob, random_seed=0, progressbar=progressbar)
        sensitivity = pd.DataFrame()
        if result is not None and not quick:
            sensitivity = prior_sensitivity(trace, result.events, asked, matters=matters, progressbar=progressbar)
        rivals = {name: impact(other, events, **question) for name, other in others.items()} if events else {}
        comparison, not_compared = _compared(trace, others)
    reasons = reasons_against(trace, diagnosis)
    common, agents = _paths(trace, weights, ci_prob)
    found_by_event = () if result is None else _by_event(trace, result, bool(reasons))
    order = _order(asked, found_by_event, common)
    return Findings(
        trace,
        decisions,
        tuple(order),
        found_by_event,
        result,
        found,
        diagnosis,
        reasons,
        common.sel(feature=order),
        relative_importance(draws_of(trace, "belief")).mean(("chain", "draw")),
        {name: path.sel(feature=order) for name, path in agents.items()},
        tuple(_examples(trace, decisions, weights, result, examples, ci_prob)),
        sensitivity,
        {
            name: [judged_changes(others[name], rival, i) for i in range(len(rival.events))]
            for name, rival in rivals.items()
        },
        comparison,
        not_compared,
        collinear_pairs(decisions),
        tuple(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, InputWarning))),
        ci_prob,
        matters,
        quick,
    )


def reasons_against(trace: InferenceData, diagnosis: Diagnosis) -> tuple[str, ...]:
    """Why not to rely on a trace: it has not converged, is no posterior, or predicts worse than no change would.

    Draws of Laplace's method are an approximation of the posterior, which is said among the checks, but no reason.
    """
    reasons = []
    if str(trace.attrs.get("approximation", "none")) != "laplace" and not diagnosis.converged:
        reasons.append(diagnosis.verdict)
    if diagnosis.unchanging is not None and diagnosis.unchanging.is_worse:
        reasons.append(str(diagnosis.unchanging))
    return tuple(reasons)


def is_approximate(trace: InferenceData) -> bool:
    """Whether the draws are of an approximation or an estimate, which has no chains to diagnose."""
    return trace.attrs.get("method") == "estimate" or str(trace.attrs.get("approximation", "none")) in NO_POSTERIOR


def grade_of_event(rows: pd.DataFrame, decisiveness: Mapping[str, Any], unreliable: bool) -> str:
    """The grade of the answer on one event: that of the surest claim, unless the trace cannot be relied on.

    Parameters
    ----------
    rows : DataFrame
        With the column `verdict`.
    decisiveness : mapping
        With `verdict`, and `one_factor`, the probability that one factor multiplied all weights.
    unreliable : bool

    Examples
    --------
    >>> rows = pd.DataFrame({"verdict": ["probable", "not clear"]})
    >>> sharper = {"verdict": "clear", "one_factor": 0.9}
    >>> grade_of_event(rows, {"verdict": "not clear", "one_factor": 0.2}, False), grade_of_event(rows, sharper, False)
    ('probable', 'clear')
    >>> grade_of_event(rows, sharper, True)
    'do not rely on it'
    """
    if unreliable:
        return "do not rely on it"
    verdicts = [*rows["verdict"]]
    # Decisiveness that changed while no weight surely did, and by no common factor, is a mixture of small changes.
    if is_all_sharper(decisiveness):
        verdicts.append(decisiveness["verdict"])
    for grade in ("clear", "probable"):
        if grade in verdicts:
            return grade
    return "no relevant change" if (rows["verdict"] == "no relevant change").all() else "not clear"


def hash_of_decisions(decisions: xr.Dataset) -> str:
    """SHA-256 of the times, candidates and choices, whatever the file they came in."""
    digest = hashlib.sha256()
    for name in ("time", "context", "available", "chosen"):
        values = np.ascontiguousarray(decisions[name].values)
        kind = {"M": "datetime64[ns]", "f": "<f8", "b": "u1"}.get(values.dtype.kind, "<i8")
        digest.update(f"{name}{values.shape}".encode())
        digest.update(values.astype(kind).tobytes())
    digest.update("\0".join(str(name) for name in decisions["feature"].values).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _by_event(trace: InferenceData, result: Impact, unreliable: bool) -> tuple[EventFinding, ...]:
    findings = []
    for position, event in enumerate(result.events):
        rows = judged_changes(trace, result, position)
        # Claims first, then by size.
        rank = rows["verdict"].map({"clear": 0, "probable": 1}).fillna(2)
        rows = rows.assign(rank=rank, size=-rows["change"].abs()).sort_values(["rank", "size"], kind="stable")
        rows = rows.drop(columns=["rank", "size"])
        decisiveness = {str(name): value for name, value in result.decisiveness.loc[position].items()}
        account, largest = result.accounts[position], str(rows.index[0])
        claimed = rows["verdict"].iloc[0] in ("clear", "probable")
        sudden = claimed and account is not None and account.best == "step"
        findings.append(
            EventFinding(
                event,
                rows,
                decisiveness,
                account,
                grade_of_event(rows, decisiveness, unreliable),
                spread_of_change(trace, event, largest) if sudden else None,
            )
        )
    return tuple(findings)


def _order(asked: Sequence[str], events: Sequence[EventFinding], weights: xr.DataArray) -> list[str]:
    """Features by the largest change around any event, or by how far the weight ever went."""
    if events:
        size = {name: max(abs(float(found.rows["change"][name])) for found in events) for name in asked}
    else:
        middle = weights.isel(quantile=1)
        size = {name: float(middle.sel(feature=name).max() - middle.sel(feature=name).min()) for name in asked}
    return sorted(asked, key=lambda name: -size[name])


def _paths(trace: InferenceData, weights: xr.DataArray, ci_prob: float) -> tuple[xr.DataArray, dict[str, xr.DataArray]]:
    """Bands of the weights of all, and of each agent where the model has a trend that agents deviate from."""
    posterior, data = group(trace, "posterior"), group(trace, "constant_data")
    if "trend" not in posterior or "decider" not in data:
        return central_band(weights, ci_prob), {}
    common = alpha_of(trace) * posterior["trend"] * feature_sd(data)
    decider = at_kept_times(data["decider"], weights).values
    agents = {}
    for position, name in enumerate(agents_of(data)):
        own = np.flatnonzero(decider == position)
        if len(own):
            agents[name] = central_band(weights.isel(time=own), ci_prob)
    return central_band(common, ci_prob), agents


def _examples(
    trace: InferenceData,
    decisions: xr.Dataset,
    weights: xr.DataArray,
    result: Impact | None,
    times: Sequence[Any] | None,
    ci_prob: float,
) -> list[ExampleChoice]:
    """Example choices around the event after which most changed, or between the ends of the log."""
    if result is None:
        kept = weights.sizes["time"]
        end = max(kept // ENDS, 1)
        before, after = mean_weights(weights, np.arange(end)), mean_weights(weights, np.arange(kept - end, kept))
    else:
        before, after = weights_around(trace, result, main_event(result))
    return example_choices(decisions, before, after, times=times or None, ci_prob=ci_prob, lapse=mean_lapse(trace))


def main_event(result: Impact) -> int:
    """Position of the event with the surest verdict, among equals with the largest change."""
    best = {"clear": 0, "probable": 1}

    def rank(position: int) -> tuple[int, float]:
        rows = result.rows_of(position)
        verdicts = [*rows["verdict"], result.decisiveness.loc[position, "verdict"]]
        return min(best.get(str(v), 2) for v in verdicts), -float(rows["change"].abs().max())

    return min(range(len(result.events)), key=rank)


def _compared(trace: InferenceData, others: Mapping[str, InferenceData]) -> tuple[pd.DataFrame | None, str]:
    if not others:
        return None, ""
    try:
        return compare({"this trace": trace, **others}), ""
    except InputError as error:
        return None, str(error)
