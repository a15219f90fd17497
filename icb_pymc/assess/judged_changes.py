"""The changes that the verdicts of `impact` rest on, in the units of the user's features."""

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit

from icb_pymc.assess.impact import Impact
from icb_pymc.assess.weights import feature_sd, log_odds_weights
from icb_pymc.assess.wording import probability_of_direction
from icb_pymc.data.standardisation import user_context
from icb_pymc.results.inference_data import InferenceData, group

# A weight whose direction is less probable than this is said to hardly count.
DIRECTED = 0.95


def judged_changes(trace: InferenceData, result: Impact, position: int) -> pd.DataFrame:
    """What each feature's verdict around an event is about.

    Where a step at the event is the best supported account, that is the change of the mean weight under this account;
    elsewhere that of the trace.

    Parameters
    ----------
    trace : InferenceData
    result : Impact
        Of this trace.
    position : int
        Of the event.

    Returns
    -------
    DataFrame
        A row for each feature: mean weights `before` and `after` and their `change` in log-odds per standard deviation,
        with interval `lower` to `upper` and `probability` of direction; `counted_before` and `counted_after`, the sign
        of the weight, or 0 where its direction is less probable than 95%; `difference`, a typical difference between
        candidates in the user's unit (one standard deviation, or the distance of the only two values, `two_valued`);
        `chosen_before` and `chosen_after`, how often a candidate higher by it is chosen over an otherwise equal one;
        `verdict`.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.assess.judged_changes import judged_changes
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> table = judged_changes(trace, icb_pymc.impact(trace, 250, features=["age"]), 0)
    >>> bool(table.loc["age", "lower"] < table.loc["age", "change"] < table.loc["age", "upper"])
    True
    """
    decisions = group(trace, "constant_data")
    known = [str(name) for name in decisions["feature"].values]
    weights_before, weights_after = weights_around(trace, result, position)
    typical, rows = typical_differences(decisions), {}
    impact_rows, account = result.rows_of(position), result.accounts[position]
    sudden = account is not None and account.best == "step"
    tail = (1 - result.ci_prob) / 2
    for name, verdict in impact_rows["verdict"].items():
        column = known.index(str(name))
        old, new = weights_before[:, column], weights_after[:, column]
        lower, upper = np.quantile(new - old, [tail, 1 - tail])
        difference = dict(typical.loc[str(name)])
        rows[name] = {
            "before": float(old.mean()),
            "after": float(new.mean()),
            "change": float((new - old).mean()),
            "lower": float(lower),
            "upper": float(upper),
            "probability": probability_of_direction(new - old),
            "counted_before": _direction(old),
            "counted_after": _direction(new),
            "difference": float(difference["difference"]),
            "two_valued": bool(difference["two_valued"]),
            "chosen_before": _chosen(old * difference["sds"], result.lapse),
            "chosen_after": _chosen(new * difference["sds"], result.lapse),
            "verdict": str(verdict),
        }
        if not sudden and not difference["two_valued"]:
            # That of the model of the trace, which may choose with noise of its own.
            rows[name] |= {which: float(impact_rows[which][str(name)]) for which in ("chosen_before", "chosen_after")}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("feature")


def weights_around(trace: InferenceData, result: Impact, position: int) -> tuple[np.ndarray, np.ndarray]:
    """Draws (draw, feature) of the mean weights before and after an event that its verdicts rest on, of all features.

    Parameters
    ----------
    trace : InferenceData
    result : Impact
        Of this trace.
    position : int
        Of the event.
    """
    account, event = result.accounts[position], result.events[position]
    if account is not None and account.best == "step":
        return account.draws["before"], account.draws["after"]
    weights = log_odds_weights(trace)
    time = weights["time"].values
    windows = ((time >= event.start) & (time < event.time), (time >= event.time) & (time < event.end))
    old, new = (mean_weights(weights, np.flatnonzero(window)) for window in windows)
    return old, new


def mean_weights(weights: xr.DataArray, positions: np.ndarray) -> np.ndarray:
    """Draws (draw, feature) of the mean weights over these of the kept times."""
    mean = weights.isel(time=positions).mean("time").transpose("chain", "draw", "feature").values
    return mean.reshape(-1, mean.shape[-1])


def typical_differences(decisions: xr.Dataset) -> pd.DataFrame:
    """A difference between candidates that a reader can picture, by feature.

    Parameters
    ----------
    decisions : Dataset

    Returns
    -------
    DataFrame
        `difference` in the user's unit, how many standard deviations it is (`sds`), and whether the feature has only
        two values (`two_valued`), whose distance it then is; otherwise it is one standard deviation.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.assess.judged_changes import typical_differences
    >>> context = [[[50.0, 1.0], [60.0, 0.0]], [[40.0, 1.0], [70.0, 0.0]]]
    >>> typical_differences(icb_pymc.from_arrays(context, [0, 1], features=["age", "male"])).round(2).values.tolist()
    [[15.81, 1.0, False], [1.0, 1.0, True]]
    """
    values = user_context(decisions).values[decisions["available"].values.astype(bool)]
    # In the units of the model, as the weights per standard deviation are.
    sd = feature_sd(decisions).values
    scale = decisions["feature_scale"].values if "feature_scale" in decisions else np.ones(len(sd))
    rows = {}
    for column, name in enumerate(decisions["feature"].values):
        # Standardising and back leaves rounding errors.
        different = np.unique(np.round(values[:, column] / max(scale[column], 1e-300), 9)) * scale[column]
        two, user_sd = len(different) == 2, float(sd[column] * scale[column])
        difference = float(different[1] - different[0]) if two else user_sd
        sds = difference / user_sd if user_sd > 0 else 0.0
        rows[str(name)] = {"difference": difference, "sds": sds, "two_valued": two}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("feature")


def _chosen(log_odds: np.ndarray, lapse: float) -> float:
    """How often one of two candidates is chosen, half of the lapses included."""
    return float((1 - lapse) * expit(log_odds).mean() + lapse / 2)


def _direction(weight: np.ndarray) -> int:
    """The sign of a weight, or 0 where its draws do not agree on it."""
    return 0 if probability_of_direction(weight) < DIRECTED else int(np.sign(weight.mean()))
