"""Does the verdict on an event depend on how large a change was thought possible beforehand?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from rich.progress import track

from icb_pymc.assess.accounts import LEAST_DECISIONS, compare_accounts, verdict_on
from icb_pymc.assess.event_windows import Event
from icb_pymc.assess.weights import mean_lapse
from icb_pymc.assess.wording import probability_of_direction
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import decisions_in

FACTORS = (0.5, 1.0, 2.0)


def prior_sensitivity(
    trace: InferenceData,
    events: Sequence[Event],
    features: Sequence[str],
    *,
    factors: Sequence[float] = FACTORS,
    matters: float | None = None,
    progressbar: bool = False,
) -> pd.DataFrame:
    """Compare the three accounts of each event again, with priors of steps and of drift that are narrower and wider.

    Parameters
    ----------
    trace : InferenceData
        With its decisions.
    events : sequence of Event
        With their windows, as in `Impact.events`.
    features : sequence of str
        Those asked about.
    factors : sequence of float
        What the scale of the priors is multiplied by.
    matters : float, optional
        As in `icb_pymc.impact`.
    progressbar : bool
        Show one.

    Returns
    -------
    DataFrame
        A row for each event, factor and feature: the best supported `account` and its `probability`; under the account
        of a step `before`, `after` and `change` of the feature's mean weight, `direction`, the probability of the
        change's direction, and the `verdict` on it. Events with fewer than ten decisions on one side have no rows.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.assess.prior_sensitivity import prior_sensitivity
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> events = icb_pymc.impact(trace, 250, features=["age"]).events
    >>> prior_sensitivity(trace, events, ["age"], factors=[0.5, 2.0]).index.tolist()
    [(0, 0.5, 'age'), (0, 2.0, 'age')]
    """
    decisions = decisions_in(trace)
    names = [str(name) for name in decisions["feature"].values]
    counted = [position for position, event in enumerate(events) if min(event.decisions) >= LEAST_DECISIONS]
    runs = [(position, factor) for position in counted for factor in factors]
    questions = len(events) * len(features)
    rows: dict[tuple[int, float, str], dict[str, Any]] = {}
    for position, factor in track(runs, "prior scales", disable=not progressbar, transient=True):
        event = events[position]
        first, at, end = np.searchsorted(decisions["time"].values, [event.start, event.time, event.end])
        window = slice(int(first), int(end))
        account = compare_accounts(
            decisions, int(at), window=window, features=features, prior_scale=factor, lapse=mean_lapse(trace)
        )
        for name in features:
            column = names.index(name)
            old, new = account.draws["before"][:, column], account.draws["after"][:, column]
            rows[position, factor, name] = {
                "account": account.best,
                "probability": account.best_probability,
                "before": float(old.mean()),
                "after": float(new.mean()),
                "change": float((new - old).mean()),
                "direction": probability_of_direction(new - old),
                "verdict": verdict_on(new - old, account, questions, matters, len(events)),
            }
    if not rows:
        return pd.DataFrame()
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["event", "factor", "feature"])
