"""How strongly choices follow utility as a whole, before and after an event: did they all become sharper?"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.assess.accounts import Accounts, verdict_on
from icb_pymc.assess.weights import feature_sd, within_decision_covariance
from icb_pymc.assess.wording import grade_of, probability_of_direction


def decisiveness_around(
    means: Mapping[str, xr.DataArray],
    accounts: Sequence[Accounts | None],
    decisions: xr.Dataset,
    ci_prob: float,
) -> pd.DataFrame:
    """The standard deviation of utility among the candidates of a decision, sqrt(w' C w), before and after each event.

    C is the covariance of features among the candidates of a decision. The same C serves for both windows, so that
    other candidates do not look like other choices.

    Parameters
    ----------
    means : mapping
        Draws (chain, draw, event, feature) of the mean weights in the windows "before" and "after".
    accounts : sequence
        Of each event, if it has any. If a step is best supported, weights are those of that account.
    decisions : Dataset
    ci_prob : float

    Returns
    -------
    DataFrame
        See `icb_pymc.assess.impact.Impact.decisiveness`.
    """
    sd = feature_sd(decisions)
    scale = xr.where(sd > 0, 1 / sd, 0.0)
    covariance = within_decision_covariance(decisions) * scale * scale.rename(feature="other")

    def product(one: xr.DataArray, two: xr.DataArray) -> xr.DataArray:
        return (one * covariance * two.rename(feature="other")).sum(("feature", "other"))

    rows = {}
    tail = (1 - ci_prob) / 2
    for position, account in enumerate(accounts):
        old, new = _around(means, position, account)
        size = {"before": np.sqrt(product(old, old)), "after": np.sqrt(product(new, new))}
        ratio = np.asarray(size["after"] / size["before"]).ravel()
        lower, upper = np.quantile(ratio, [tail, 1 - tail])
        rows[position] = {
            "before": float(size["before"].mean()),
            "after": float(size["after"].mean()),
            "ratio": float(np.mean(ratio)),
            "lower": float(lower),
            "upper": float(upper),
            "probability": probability_of_direction(np.log(ratio)),
            # At the posterior means, since the spread of the draws is not a part of the change.
            "common": _common_share(
                *(weights.mean([d for d in weights.dims if d != "feature"]) for weights in (old, new)), product
            ),
            "one_factor": np.nan if account is None or account.best != "step" else account.one_factor,
            "verdict": grade_of(np.log(ratio))
            if account is None
            else verdict_on(np.log(ratio), account, events=len(accounts)),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("event")


def _common_share(
    old: xr.DataArray, new: xr.DataArray, product: Callable[[xr.DataArray, xr.DataArray], xr.DataArray]
) -> float:
    """The part of the change that is one factor g of all weights, new = g old + rest, by projection; zero if none."""
    moved = product(new - old, new - old)
    if not (moved > 0 and product(old, old) > 0):
        return 0.0
    rest = new - product(old, new) / product(old, old) * old
    return float(1 - product(rest, rest) / moved)


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
