"""What many subjects have in common, and how they differ: weights and their changes, summarised over subjects."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.assess.by_subject import by_subject
from icb_pymc.assess.event_windows import known_features, window_means, windows_around
from icb_pymc.assess.impact import impact
from icb_pymc.assess.weights import UNITS, feature_sd, log_odds_weights
from icb_pymc.errors import InputError
from icb_pymc.results.fits import Fits
from icb_pymc.results.inference_data import group

# A probability of direction from which a subject counts as above or below zero.
CLEAR = 0.975
AVERAGE, MOVED = "average weight", "last minus first"
NOTE = (
    "spread: standard deviation between subjects of their posterior means; uncertainty: typical posterior standard "
    "deviation of one subject. Subjects were fitted one by one, so each leans towards its prior; for what they share "
    "fit a hierarchical model."
)


@dataclass(frozen=True)
class Population:
    """Result of `population`; print it for a summary.

    Attributes
    ----------
    table : DataFrame
        A row for each subject, quantity and feature: posterior `mean` and `sd` of the weight or change, `above`, its
        probability of being above zero, and, around events, the `verdict` of `icb_pymc.impact`.
    summary : DataFrame
        A row for each quantity and feature: how many `subjects`, the `mean` over subjects and its standard error `se`,
        the `spread` between subjects (standard deviation of posterior means), the typical `uncertainty` of one (root
        mean square of posterior standard deviations), and for how many it is `above` and `below` zero with a
        probability of at least 0.975.
    failures : dict of str to str
        Subjects without an answer, and why.
    unit : str
        Of all weights: per standard deviation of the feature, one for all subjects, or per unit of the user's.
    """

    table: pd.DataFrame
    summary: pd.DataFrame
    failures: dict[str, str]
    unit: str

    def __str__(self) -> str:
        subjects = self.table["subject"].nunique()
        number = "{:+.2f}".format
        formats = {"mean": number, "se": "{:.2f}".format, "spread": "{:.2f}".format, "uncertainty": "{:.2f}".format}
        parts = [
            f"{subjects} subjects; weights in log-odds per {'standard deviation' if self.unit == 'sd' else 'unit'}"
        ]
        for quantity in self.summary.index.unique("quantity"):
            parts.append(f"{quantity}\n{self.summary.loc[quantity].to_string(formatters=formats)}")
        if self.failures:
            parts.append(f"without an answer: {len(self.failures)}, such as '{next(iter(self.failures))}'")
        return "\n\n".join([*parts, NOTE])


def population(
    fits: Fits,
    events: Any = None,
    *,
    features: Sequence[str] | None = None,
    before: Any = None,
    after: Any = None,
    matters: float | None = None,
    ci_prob: float | None = None,
    unit: str = "sd",
    progressbar: bool = False,
) -> Population:
    """Summarise the weights of many subjects, or their changes around events.

    Of each subject it takes the posterior of the weight averaged over all times, and of the difference between the last
    and the first; with events, of the change around each event, as `icb_pymc.impact` does. A subject in whose log an
    event does not lie is left out, with the reason.

    Parameters
    ----------
    fits : Fits
        From `icb_pymc.fit_each` or `icb_pymc.read_fits`.
    events, features, before, after, matters, ci_prob
        As in `icb_pymc.impact`; all but `features` need an event.
    unit : {"sd", "user"}
        Per standard deviation of the feature among the candidates of a decision, over all subjects together, so that
        the weights of subjects can be compared; or per unit of the user's feature.
    progressbar : bool
        Show one.

    Returns
    -------
    Population

    Raises
    ------
    InputError
        If there is no subject with an answer, or an argument is not valid.

    Examples
    --------
    >>> import icb_pymc, numpy as np, tempfile
    >>> rng = np.random.default_rng(0)
    >>> contexts, chosen = rng.normal(size=(40, 2, 2)), rng.integers(2, size=40)
    >>> decisions = icb_pymc.from_arrays(contexts, chosen, agent=["Ada", "Bo"] * 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = {"method": "laplace", "draws": 20, "seed": 0, "progressbar": False}
    ...     fits = icb_pymc.fit_each("nb_icb", decisions, folder=f"{folder}/fits", **options)
    ...     found = icb_pymc.population(fits)
    >>> found.summary.columns.tolist()
    ['subjects', 'mean', 'se', 'spread', 'uncertainty', 'above', 'below']
    """
    if unit not in UNITS:
        raise InputError(f"unit={unit!r}: it must be {' or '.join(repr(word) for word in UNITS)}.")
    of_events = {"before": before, "after": after, "matters": matters, "ci_prob": ci_prob}
    for name, value in of_events.items():
        if events is None and value is not None:
            raise InputError(f"{name}={value!r} needs an event: name one, or leave {name} out.")
    question = {"before": before, "after": after}

    def answer(subject: str, trace: xr.DataTree) -> list[dict[str, Any]]:
        weights, decisions = log_odds_weights(trace, "user"), group(trace, "constant_data")
        names = known_features(weights["feature"].values, features)
        sd = feature_sd(decisions) * decisions.get("feature_scale", 1.0)
        verdicts: dict[str, pd.Series] = {}
        if events is None:
            draws = {AVERAGE: weights.mean("time"), MOVED: weights.isel(time=-1) - weights.isel(time=0)}
        else:
            windows = windows_around(decisions["time"].values, events, **question)
            means = {which: window_means(weights, windows, which) for which in ("before", "after")}
            change = means["after"] - means["before"]
            draws = {f"change at {event.name}": change.isel(event=at) for at, event in enumerate(windows)}
            judged = impact(trace, events, features=names, matters=matters, ci_prob=ci_prob, **question)
            verdicts = {name: judged.rows_of(at)["verdict"] for at, name in enumerate(draws)}
        rows = []
        for quantity, of_all in draws.items():
            for name in names:
                values = of_all.sel(feature=name).values
                row = {"quantity": quantity, "feature": name, "mean": values.mean(), "sd": values.std()}
                row |= {"above": (values > 0).mean(), "feature_sd": float(sd.sel(feature=name))}
                rows.append(row | ({"verdict": verdicts[quantity][name]} if verdicts else {}))
        return rows

    table, failures = by_subject(fits, answer, progressbar)
    if unit == "sd":
        # One standard deviation for all subjects, or their weights could not be compared.
        common = (table["feature_sd"] ** 2).groupby(table["feature"]).transform("mean") ** 0.5
        table[["mean", "sd"]] = table[["mean", "sd"]].mul(common, axis=0)
    table = table.drop(columns="feature_sd")
    return Population(table, _summary(table), failures, unit)


def _summary(table: pd.DataFrame) -> pd.DataFrame:
    rows = {}
    for key, part in table.groupby(["quantity", "feature"], sort=False):
        count = len(part)
        spread = part["mean"].std() if count > 1 else np.nan
        rows[key] = {
            "subjects": count,
            "mean": part["mean"].mean(),
            "se": spread / np.sqrt(count),
            "spread": spread,
            "uncertainty": np.sqrt((part["sd"] ** 2).mean()),
            "above": int((part["above"] >= CLEAR).sum()),
            "below": int((part["above"] <= 1 - CLEAR).sum()),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["quantity", "feature"])
