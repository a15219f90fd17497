"""Did an event change what counted? The posterior of the change of each signed weight around a date."""

import difflib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit

from icb_pymc.assess.accounts import LEAST_DECISIONS, Accounts, compare_accounts, verdict_on
from icb_pymc.assess.convergence import HIGHEST_RHAT, rank_rhat
from icb_pymc.assess.metrics import relative_importance
from icb_pymc.assess.weights import feature_sd, log_odds_weights, within_decision_covariance
from icb_pymc.assess.wording import (
    describe_accounts,
    describe_decisiveness,
    describe_impact,
    grade_of,
    probability_of_direction,
)
from icb_pymc.data.standardisation import in_user_units
from icb_pymc.data.times import format_time, time_shifted, time_within
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.results.inference_data import InferenceData, group, group_names
from icb_pymc.results.posterior import checked_ci_prob, decisions_in, draws_of


@dataclass(frozen=True)
class Event:
    """A dated event and the windows around it.

    Attributes
    ----------
    time : datetime64 or int
        First moment of the window after.
    label : str
    start, end : datetime64 or int
        Start of the window before, and end of the window after (not included).
    decisions : tuple of int
        How many decisions of the log lie in each window.
    """

    time: Any
    label: str
    start: Any
    end: Any
    decisions: tuple[int, int]

    @property
    def name(self) -> str:
        """The label, with the date."""
        return f"{self.label} ({format_time(self.time)})" if self.label else format_time(self.time)


@dataclass(frozen=True)
class Impact:
    """Result of `impact`: the change of each weight around each event; print it for a summary.

    Attributes
    ----------
    events : tuple of Event
    table : DataFrame
        A row for each event and feature. `before`, `after` and `change` of the weight in log-odds per standard
        deviation of the feature, the central credible interval `lower` to `upper` of the change, and `probability` of
        its direction; `per_unit`, the change per unit of the user's feature; `chosen_before` and `chosen_after`, how
        often a candidate one standard deviation higher is chosen over an otherwise equal one; `importance_before`,
        `importance_after` and `importance_change`, relative; `verdict`: clear, probable, no relevant change, not clear.
        Where accounts were compared, also `step` and the other columns of `Accounts.steps`.
    decisiveness : DataFrame
        A row for each event: the standard deviation of utility among the candidates of a decision `before` and `after`,
        its `ratio` with `lower` and `upper`, `probability` of direction and `verdict`; `common`, the share of the
        change of all weights that is one common factor (all choices became sharper or less sharp).
    draws : Dataset
        Posterior draws (sample, event, feature) of the weights `before` and `after`, per standard deviation.
    ci_prob : float
        Probability of the credible intervals.
    matters : float, optional
        Changes of less than this, in log-odds per standard deviation, are not relevant.
    accounts : tuple of Accounts or None
        For each event, how well a step at the event, drift and no change are supported; None where the trace has no
        choices, or one side of the event too few decisions.
    """

    events: tuple[Event, ...]
    table: pd.DataFrame
    decisiveness: pd.DataFrame
    draws: xr.Dataset
    ci_prob: float
    matters: float | None = None
    accounts: tuple[Accounts | None, ...] = ()

    def __str__(self) -> str:
        parts = []
        for position, event in enumerate(self.events):
            rows, account = self.rows_of(position), self.accounts[position]
            best = None if account is None else account.best
            parts.append(describe_impact(event.name, event.decisions, rows, self.ci_prob, self.matters, best))
            if account is not None:
                as_good = int(np.sum(account.placebo >= account.at_event))
                placebo = (as_good, len(account.placebo)) if len(account.placebo) else None
                parts.append(describe_accounts(account.probability, placebo))
            parts.append(describe_decisiveness(self.decisiveness.loc[position], self.ci_prob))
        return "\n\n".join(parts)

    def rows_of(self, position: int) -> pd.DataFrame:
        """The rows of the table on the event at this position, by feature."""
        return pd.DataFrame(self.table.xs(position, level="event"))

    def records(self) -> list[dict[str, Any]]:
        """The table as a list of plain dictionaries, for JSON.

        Examples
        --------
        >>> import icb_pymc
        >>> result = icb_pymc.impact(icb_pymc.open_trace("nb-icb-stepping"), 250, features=["age"])
        >>> sorted(result.records()[0])[:5]
        ['after', 'before', 'change', 'chosen_after', 'chosen_before']
        """
        records = []
        for position, event in enumerate(self.events):
            moment = str(event.time) if np.asarray(event.time).dtype.kind == "M" else int(event.time)
            account = self.accounts[position]
            supported: dict[str, Any] = {}
            if account is not None:
                supported = {"account": account.best, "account_probability": dict(account.probability)}
                if len(account.placebo):
                    supported["placebo_share"] = account.placebo_share
            for row in self.rows_of(position).reset_index().to_dict("records"):
                plain = {str(name): row[name] for name in row}
                records.append({"event": moment, "label": event.label} | plain | supported)
        return records


def impact(
    trace: InferenceData,
    events: Any,
    *,
    features: Sequence[str] | None = None,
    before: Any = None,
    after: Any = None,
    matters: float | None = None,
    ci_prob: float | None = None,
    placebos: int = 0,
    progressbar: bool = False,
) -> Impact:
    """Posterior of the change of each feature's weight around dated events.

    In each draw the weight alpha beta_t(i) is averaged over the decisions of a window before the event,
    [event - before, event), and of one after it, [event, event + after); the change is their difference. Weights have a
    sign and are in log-odds per standard deviation of the feature, so that a change of sign, a rise of one weight and
    choices that all become sharper can be distinguished; relative importance, which sees only shares of |weight|, is a
    second line.

    Three accounts of the decisions in both windows are compared by their evidence (`Accounts`), whatever model the
    trace is of: a step at the event, drift without a step, and no change. The verdict on a feature is about its change
    under the account of a step if that is best supported, otherwise about its change in the trace; it is never surer
    than that anything changed.

    Choose the events and the windows before looking at the trace. Verdicts count how many questions were asked: with n
    features and events, a change is clear if the probability of the other direction is at most 0.025 / n. Beliefs that
    move slowly a priori spread a sudden change over both windows, which makes it look smaller, not larger.

    Parameters
    ----------
    trace : InferenceData
    events : date, int, sequence of them, or mapping to labels
        Like ``"2002-02-27"``, or numbers where the decisions are numbered; ``{"2002-02-27": "MELD"}`` names them.
    features : sequence of str, optional
        Those to ask about; all by default.
    before, after : str or int, optional
        Lengths of the windows, like ``"2y"``, ``"24M"``, ``"8W"`` or ``"730D"``, or a number where the decisions are
        numbered. By default a window reaches to the next event or to the end of the log.
    matters : float, optional
        Changes of less than this, in log-odds per standard deviation, do not matter: "no relevant change" is then a
        possible verdict.
    ci_prob : float, optional
        Probability of the central credible intervals; by default that of ArviZ's ``rcParams["stats.ci_prob"]``.
    placebos : int
        At how many dates where nothing happened to ask whether there was a step; see `Accounts.placebo_share`.
    progressbar : bool
        Show one.

    Returns
    -------
    Impact

    Raises
    ------
    InputError
        If the trace has no beliefs, does not contain its decisions or has no such feature, an event lies outside the
        decisions, or a window is empty.

    Warns
    -----
    InputWarning
        If the chains disagree on a change (R-hat above 1.05), or the trace shows a clear change although no change is
        better supported.

    Examples
    --------
    >>> import icb_pymc
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> result = icb_pymc.impact(trace, {250: "guideline"}, before=200, after=200, ci_prob=0.9)
    >>> result.table.loc[(0, "age"), ["before", "after", "change"]].astype(float).round(2).tolist()
    [-2.84, -3.66, -0.82]
    """
    ci_prob = checked_ci_prob(ci_prob)
    if matters is not None and not matters > 0:
        raise InputError(f"matters={matters}: give a positive change, in log-odds per standard deviation.")
    weights = log_odds_weights(trace, "sd")
    names = known_features(weights["feature"].values, features)
    decisions = group(trace, "constant_data")
    windows = windows_around(decisions["time"].values, events, before, after)
    importance = relative_importance(draws_of(trace, "belief"))
    means = {which: _window_means(weights, windows, which) for which in ("before", "after")}
    shares = {which: _window_means(importance, windows, which) for which in ("before", "after")}
    change = means["after"] - means["before"]
    _warn_if_chains_disagree(change.sel(feature=names))
    if placebos < 0:
        raise InputError(f"placebos={placebos}: give zero or more dates.")
    accounts = tuple(_account(trace, event, names, ci_prob, placebos, progressbar) for event in windows)
    to_user = _per_user_unit(decisions)
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    questions, known = len(windows) * len(names), [str(name) for name in weights["feature"].values]
    tail = (1 - ci_prob) / 2
    for position in range(len(windows)):
        for name in names:
            draws = {which: means[which].isel(event=position).sel(feature=name).values.ravel() for which in means}
            moved = draws["after"] - draws["before"]
            lower, upper = np.quantile(moved, [tail, 1 - tail])
            share = {which: float(shares[which].isel(event=position).sel(feature=name).mean()) for which in shares}
            rows[position, name] = {
                "before": draws["before"].mean(),
                "after": draws["after"].mean(),
                "change": moved.mean(),
                "lower": lower,
                "upper": upper,
                "probability": probability_of_direction(moved),
                "per_unit": moved.mean() * float(to_user.sel(feature=name)),
                "chosen_before": expit(draws["before"]).mean(),
                "chosen_after": expit(draws["after"]).mean(),
                "importance_before": share["before"],
                "importance_after": share["after"],
                "importance_change": share["after"] - share["before"],
                "verdict": grade_of(moved, questions, matters),
            }
            account = accounts[position]
            if account is not None:
                column = known.index(name)
                if account.best == "no change" and rows[position, name]["verdict"] == "clear":
                    _warn_that_nothing_changed(windows[position], name, account)
                if account.best == "step":
                    moved = account.draws["after"][:, column] - account.draws["before"][:, column]
                grade = verdict_on(moved, account, questions, matters, len(windows))
                rows[position, name] |= dict(account.steps.loc[name]) | {"verdict": grade}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["event", "feature"])
    around = [_around(means, position, account) for position, account in enumerate(accounts)]
    sharpness = _decisiveness(around, accounts, decisions, ci_prob)
    stacked = xr.Dataset({which: values.stack(sample=("chain", "draw")) for which, values in means.items()})
    return Impact(windows, table, sharpness, stacked.sel(feature=names), ci_prob, matters, accounts)


def _account(
    trace: InferenceData, event: Event, names: Sequence[str], ci_prob: float, placebos: int, progressbar: bool
) -> Accounts | None:
    """The three accounts of the decisions in the windows of an event, or None if there is too little to compare."""
    if "observed_data" not in group_names(trace) or min(event.decisions) < LEAST_DECISIONS:
        return None
    decisions = decisions_in(trace)
    first, at, end = np.searchsorted(decisions["time"].values, [event.start, event.time, event.end])
    return compare_accounts(
        decisions,
        int(at),
        window=slice(int(first), int(end)),
        features=names,
        ci_prob=ci_prob,
        placebos=placebos,
        progressbar=progressbar,
    )


def windows_around(time: np.ndarray, events: Any, before: Any, after: Any) -> tuple[Event, ...]:
    """The events in order of time, with their windows; arguments as in `impact`."""
    if isinstance(events, Mapping):
        labels = {time_within(time, moment): str(label) for moment, label in events.items()}
    else:
        given = events if isinstance(events, Sequence) and not isinstance(events, str) else [events]
        labels = {time_within(time, moment): "" for moment in given}
    if not labels:
        raise InputError("give at least one event.")
    moments = sorted(labels)
    windows = []
    for position, moment in enumerate(moments):
        previous = moments[position - 1] if position else None
        following = moments[position + 1] if position + 1 < len(moments) else None
        if before is not None:
            start = time_shifted(time, moment, before, -1, "before")
        else:
            start = time[0] if previous is None else previous
        inside = (time >= start) & (time < moment)
        if after is not None:
            end = time_shifted(time, moment, after, 1, "after")
        else:
            # The end of a window is not part of it, so the last window ends just after the last decision.
            end = (
                time[-1] + (np.timedelta64(1, "ns") if time.dtype.kind == "M" else 1)
                if following is None
                else following
            )
        later = (time >= moment) & (time < end)
        for which, chosen in (("before", inside), ("after", later)):
            if not chosen.any():
                raise InputError(
                    f"there is no decision in the window {which} {format_time(moment)}; make {which} longer."
                )
        windows.append(Event(moment, labels[moment], start, end, (int(inside.sum()), int(later.sum()))))
    return tuple(windows)


def _window_means(values: xr.DataArray, windows: Sequence[Event], which: str) -> xr.DataArray:
    """Means over the kept times in a window of each event (chain, draw, event, feature)."""
    time = values["time"].values
    parts = []
    for event in windows:
        start, end = (event.start, event.time) if which == "before" else (event.time, event.end)
        inside = (time >= start) & (time < end)
        if not inside.any():
            raise InputError(f"the trace keeps no time in the window {which} {event.name}; make {which} longer.")
        parts.append(values.isel(time=np.flatnonzero(inside)).mean("time"))
    return xr.concat(parts, dim="event").transpose("chain", "draw", "event", "feature")


def _per_user_unit(decisions: xr.Dataset) -> xr.DataArray:
    """What turns log-odds per standard deviation into log-odds per unit of the user's feature."""
    sd = feature_sd(decisions)
    return in_user_units(xr.where(sd > 0, 1 / sd, 0.0), decisions)


def _around(
    means: Mapping[str, xr.DataArray], position: int, account: Accounts | None
) -> tuple[xr.DataArray, xr.DataArray]:
    """Draws of the mean weights before and after an event: with a step if that is best supported, or of the trace."""
    before, after = (means[which].isel(event=position) for which in ("before", "after"))
    if account is None or account.best != "step":
        return before, after
    names = before["feature"]
    step = [xr.DataArray(account.draws[which], dims=("draw", "feature")) for which in ("before", "after")]
    return step[0].assign_coords(feature=names), step[1].assign_coords(feature=names)


def _decisiveness(
    around: Sequence[tuple[xr.DataArray, xr.DataArray]],
    accounts: Sequence[Accounts | None],
    decisions: xr.Dataset,
    ci_prob: float,
) -> pd.DataFrame:
    """sqrt(w' C w) before and after, C the covariance of features among the candidates of a decision.

    The same C serves for both windows, so that other candidates do not look like other choices.
    """
    sd = feature_sd(decisions)
    scale = xr.where(sd > 0, 1 / sd, 0.0)
    covariance = within_decision_covariance(decisions) * scale * scale.rename(feature="other")

    def product(one: xr.DataArray, two: xr.DataArray) -> xr.DataArray:
        return (one * covariance * two.rename(feature="other")).sum(("feature", "other"))

    rows = {}
    tail = (1 - ci_prob) / 2
    for position, ((old, new), account) in enumerate(zip(around, accounts, strict=True)):
        size = {"before": np.sqrt(product(old, old)), "after": np.sqrt(product(new, new))}
        ratio = np.asarray(size["after"] / size["before"]).ravel()
        # The part of the change that is one factor g common to all weights, new = g old + rest, by projection.
        # At the posterior means, since the spread of the draws is not a part of the change.
        first, second = (weights.mean([dim for dim in weights.dims if dim != "feature"]) for weights in (old, new))
        factor = product(first, second) / product(first, first)
        moved = product(second - first, second - first)
        rest = product(second - factor * first, second - factor * first)
        lower, upper = np.quantile(ratio, [tail, 1 - tail])
        rows[position] = {
            "before": float(size["before"].mean()),
            "after": float(size["after"].mean()),
            "ratio": float(np.mean(ratio)),
            "lower": float(lower),
            "upper": float(upper),
            "probability": probability_of_direction(np.log(ratio)),
            "common": float(1 - rest / moved),
            "verdict": grade_of(np.log(ratio), 1, None),
        }
        if account is not None:
            rows[position]["verdict"] = verdict_on(np.log(ratio), account, events=len(accounts))
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("event")


def _warn_that_nothing_changed(event: Event, feature: str, account: Accounts) -> None:
    warnings.warn(
        f"the trace shows a clear change of {feature} around {event.name}, but no change of any weight is better "
        f"supported (probability {account.probability['no change']:.0%}): its model moves more than the choices say, "
        "so do not rely on it; fit again with the innovation scale learnt.",
        InputWarning,
        stacklevel=3,
    )


def _warn_if_chains_disagree(change: xr.DataArray) -> None:
    if change.sizes["chain"] < 2 or change.sizes["draw"] < 4:
        return
    # Where no draw differs from another, R-hat is not defined, and nothing disagrees.
    rhat = rank_rhat(change).fillna(1.0)
    worst = rhat.isel(rhat.argmax(...))
    if float(worst) > HIGHEST_RHAT:
        warnings.warn(
            f"the chains disagree on the change of {worst['feature'].item()} (R-hat {float(worst):.2f}), so do not "
            "rely on its probability; fit again with more draws or sweeps.",
            InputWarning,
            stacklevel=3,
        )


def known_features(available: Iterable[Any], features: Sequence[str] | None) -> list[str]:
    """The features asked about, which must be among those available; all by default."""
    known = [str(name) for name in available]
    for feature in features or ():
        if feature not in known:
            near = difflib.get_close_matches(str(feature).lower(), known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}."
            raise InputError(f"there is no feature '{feature}' in the log: {hint}")
    return list(features or known)
