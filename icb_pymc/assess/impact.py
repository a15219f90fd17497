"""Did an event change what counted? The posterior of the change of each signed weight around a date."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.assess.accounts import LEAST_DECISIONS, Accounts, compare_accounts, verdict_on
from icb_pymc.assess.convergence import HIGHEST_RHAT, rank_rhat
from icb_pymc.assess.decisiveness import decisiveness_around
from icb_pymc.assess.event_windows import Event, known_features, window_means, windows_around
from icb_pymc.assess.metrics import relative_importance
from icb_pymc.assess.weights import chosen_if_higher, feature_sd, log_odds_weights, mean_lapse
from icb_pymc.assess.wording import (
    describe_accounts,
    describe_decisiveness,
    describe_impact,
    grade_of,
    probability_of_direction,
    probability_of_flip,
)
from icb_pymc.data.standardisation import in_user_units
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.results.inference_data import InferenceData, group, group_names
from icb_pymc.results.posterior import checked_ci_prob, decisions_in, draws_of


@dataclass(frozen=True)
class Impact:
    """Result of `impact`: the change of each weight around each event; print it for a summary.

    Attributes
    ----------
    events : tuple of Event
    table : DataFrame
        A row for each event and feature. `before`, `after` and `change` of the weight in log-odds per standard
        deviation of the feature, the central credible interval `lower` to `upper` of the change, and `probability` of
        its direction; `flipped`, that of a change of sign; `per_unit`, the change per unit of the user's feature;
        `chosen_before` and `chosen_after`, how often a candidate one standard deviation higher is chosen over an
        otherwise equal one, averaged over the window and over the noise of sampling (Sigma_P) if the model has it;
        `importance_before`, `importance_after` and `importance_change`, relative; `verdict`: clear, probable, no
        relevant change, not clear. Where accounts were compared, also `step` and the other columns of
        `Accounts.steps`.
    decisiveness : DataFrame
        A row for each event: the standard deviation of utility among the candidates of a decision `before` and `after`,
        its `ratio` with `lower` and `upper`, `probability` of direction and `verdict`; `common`, the share of the
        change of all weights that is one common factor (all choices became sharper or less sharp); and `one_factor`,
        the probability that such a factor is all that changed, where a step is the best supported account.
    draws : Dataset
        Posterior draws (sample, event, feature) of the weights `before` and `after`, per standard deviation.
    ci_prob : float
        Probability of the credible intervals.
    matters : float, optional
        Changes of less than this, in log-odds per standard deviation, are not relevant.
    accounts : tuple of Accounts or None
        For each event, how well a step at the event, drift and no change are supported; None where the trace has no
        choices, or one side of the event too few decisions.
    lapse : float
        Probability of a lapse, the mean of the trace; it is the same under all accounts.
    """

    events: tuple[Event, ...]
    table: pd.DataFrame
    decisiveness: pd.DataFrame
    draws: xr.Dataset
    ci_prob: float
    matters: float | None = None
    accounts: tuple[Accounts | None, ...] = ()
    lapse: float = 0.0

    def __str__(self) -> str:
        parts = []
        for position, event in enumerate(self.events):
            rows, account = self.rows_of(position), self.accounts[position]
            best, overall = None if account is None else account.best, self.decisiveness.loc[position]
            question = (overall, self.ci_prob, self.matters, best, self.lapse)
            parts.append(describe_impact(event.name, event.decisions, rows, *question))
            if account is not None:
                as_good = int(np.sum(account.placebo >= account.at_event))
                placebo = (as_good, len(account.placebo)) if len(account.placebo) else None
                parts.append(describe_accounts(account.probability, placebo))
            parts.append(describe_decisiveness(overall, self.ci_prob))
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
        ['account', 'account_probability', 'after', 'before', 'change']
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
            overall = self.decisiveness.loc[position]
            columns = {"ratio": "decisiveness_ratio", "verdict": "decisiveness_verdict", "one_factor": "one_factor"}
            supported |= {name: overall[column] for column, name in columns.items() if not pd.isna(overall[column])}
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
    choices that all become sharper can be distinguished; relative importance, which sees only shares of absolute
    weights, is a second line.

    Three accounts of the decisions in both windows are compared by their evidence (`Accounts`), whatever model the
    trace is of: a step at the event, drift without a step, and no change. A step and drift that are nearly as probable
    are not told apart ("step or drift"). The verdict on a feature is about its change under the account of a step if
    that is best supported, otherwise about its change in the trace; it is never surer than that anything changed.

    Choose the events and the windows before looking at the trace. Verdicts count how many questions were asked: with n
    features and events, a change is clear if the probability of the other direction is at most 0.025 / n. Beliefs that
    move slowly a priori spread a sudden change over both windows, which makes it look smaller, not larger; the interval
    of the change in the trace then misses its size if the windows are short. The size of the step knows the date, and
    its interval is right as often as it says (`docs/identification.md`).

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
    [-2.79, -3.59, -0.81]
    """
    ci_prob = checked_ci_prob(ci_prob)
    if matters is not None and not matters > 0:
        raise InputError(f"matters={matters}: give a positive change, in log-odds per standard deviation.")
    weights = log_odds_weights(trace, "sd")
    names = known_features(weights["feature"].values, features)
    decisions = group(trace, "constant_data")
    windows = windows_around(decisions["time"].values, events, before, after)
    importance = relative_importance(draws_of(trace, "belief"))
    means = {which: window_means(weights, windows, which) for which in ("before", "after")}
    often = chosen_if_higher(trace, weights)
    chosen = {which: window_means(often, windows, which) for which in ("before", "after")}
    shares = {which: window_means(importance, windows, which) for which in ("before", "after")}
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
                "flipped": probability_of_flip(draws["before"], draws["after"]),
                "per_unit": moved.mean() * float(to_user.sel(feature=name)),
                "chosen_before": float(chosen["before"].isel(event=position).sel(feature=name).mean()),
                "chosen_after": float(chosen["after"].isel(event=position).sel(feature=name).mean()),
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
    sharpness = decisiveness_around(means, accounts, decisions, ci_prob)
    stacked = xr.Dataset({which: values.stack(sample=("chain", "draw")) for which, values in means.items()})
    return Impact(windows, table, sharpness, stacked.sel(feature=names), ci_prob, matters, accounts, mean_lapse(trace))


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
        lapse=mean_lapse(trace),
        placebos=placebos,
        progressbar=progressbar,
    )


def _per_user_unit(decisions: xr.Dataset) -> xr.DataArray:
    """What turns log-odds per standard deviation into log-odds per unit of the user's feature."""
    sd = feature_sd(decisions)
    return in_user_units(xr.where(sd > 0, 1 / sd, 0.0), decisions)


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
