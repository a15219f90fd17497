"""Which model predicts the same decisions better: by leaving out one choice at a time, or by forecasting the next."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.assess.convergence import LEAST_DRAWS, mean_ess
from icb_pymc.assess.forecasts import forecasts_of
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group, group_names, leave_one_out
from icb_pymc.results.posterior import decisions_in

# Beyond this k of the Pareto distribution an importance-sampling estimate is not to be relied on.
HIGH_K = 0.7
# Log probabilities that differ by less are the same in all draws: of smaller differences PSIS makes no number at all.
SAME = 1e-6
# A hundredth of all decisions may have one.
MANY = 0.01
CAUTION = (
    "Leaving out one choice of a series is not forecasting: what is left out is predicted from choices before and "
    "after it. The score of a forecaster is that of --ahead, icb_pymc.one_step_ahead."
)


def compare(traces: Mapping[str, InferenceData]) -> pd.DataFrame:
    """Compare fits of the same decisions by PSIS-LOO (Vehtari et al., 2017) of p(a_t | beta_t), rho_t integrated out.

    Leaving out a choice leaves out its likelihood alone: what a learner saw, and change points found beforehand, stay
    as they are.

    Parameters
    ----------
    traces : mapping of str to InferenceData
        Fits by name, with their log-likelihoods.

    Returns
    -------
    DataFrame
        Best first: `elpd`, the expected log probability of choices left out, and its standard error `se`; `p_loo`, the
        effective number of parameters; `difference` to the best and its standard error `se_difference`; `high_k`, at
        how many decisions the estimate is unsure; `caution`, what else to know.
    """
    _check_same(traces)
    scores: dict[str, np.ndarray] = {}
    rows: dict[str, dict[str, Any]] = {}
    for name, trace in traces.items():
        log_likelihood = _log_likelihood(name, trace)
        elpd, k = _left_out(log_likelihood)
        scores[name] = elpd
        draws = log_likelihood.sizes["chain"] * log_likelihood.sizes["draw"]
        together = np.logaddexp.reduce(log_likelihood.values, axis=(0, 1)) - np.log(draws)
        high = int((k > HIGH_K).sum())
        cautions = "; ".join(_cautions(trace, high, len(k)))
        rows[name] = {"p_loo": float((together - elpd).sum()), "high_k": high, "caution": cautions}
    return _table(scores, rows)


def compare_ahead(
    traces: Mapping[str, InferenceData], *, start: int | None = None, progressbar: bool = False
) -> pd.DataFrame:
    """Compare the models of traces by their forecasts, one step ahead, of the decisions in the traces.

    Parameters
    ----------
    traces : mapping of str to InferenceData
    start : int, optional
        As in `icb_pymc.one_step_ahead`.

    Returns
    -------
    DataFrame
        Best first: `elpd`, the sum of log p(a_t | a_1, ..., a_{t-1}), and its standard error `se`; `difference` to the
        best and its standard error `se_difference`; `probability`, the geometric mean of what was given to the choices.
    """
    _check_same(traces)
    forecasts = {name: forecasts_of(trace, start=start, progressbar=progressbar) for name, trace in traces.items()}
    rows: dict[str, dict[str, Any]] = {
        name: {"probability": float(np.exp(scores.values.mean()))} for name, scores in forecasts.items()
    }
    return _table({name: scores.values for name, scores in forecasts.items()}, rows)


def _check_same(traces: Mapping[str, InferenceData]) -> None:
    """Refuse traces of other decisions; features may differ, for they are the models' own business."""
    if len(traces) < 2:
        raise InputError("give two traces or more to compare.")
    first, *others = traces
    expected = decisions_in(traces[first])
    for name in others:
        decisions = decisions_in(traces[name])
        for what, words in (("time", "their times"), ("available", "the candidates"), ("chosen", "the choices")):
            if not np.array_equal(decisions[what].values, expected[what].values):
                raise InputError(
                    f"'{first}' ({expected.sizes['time']} decisions) and '{name}' ({decisions.sizes['time']}) are fits "
                    f"of different decisions: {words} differ. Only fits of the same decisions can be compared."
                )


def _log_likelihood(name: str, trace: InferenceData) -> xr.DataArray:
    if "log_likelihood" not in group_names(trace):
        method, kept = trace.attrs.get("method"), group(trace, "posterior").sizes.get("time")
        times = decisions_in(trace).sizes["time"]
        if method == "em":
            reason = "EM gives point estimates; fit it with method 'mcmc'"
        elif kept is not None and kept < times:
            reason = f"it keeps {kept} of {times} times; fit it anew with all, or compare forecasts (--ahead)"
        else:
            reason = (
                "either it was not asked for, would have been too large, or the model has no likelihood of choices; "
                "fit it anew with log_likelihood=True, or compare forecasts (--ahead)"
            )
        raise InputError(f"'{name}' has no log-likelihood of its choices: {reason}.")
    values = group(trace, "log_likelihood")["chosen"].transpose("chain", "draw", "time")
    if 1 < values.sizes["chain"] * values.sizes["draw"] < LEAST_DRAWS:
        raise InputError(f"'{name}' has too few draws to be compared; take 1000.")
    return values


def _left_out(log_likelihood: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Log probability of each choice when left out, and k; where no draw tells it from another, both are known."""
    values = log_likelihood.values
    elpd, k = values[0, 0].copy(), np.zeros(values.shape[2])
    moving = np.flatnonzero(np.ptp(values, axis=(0, 1)) > SAME)
    if len(moving):
        part = log_likelihood.isel(time=moving)
        draws = part.sizes["chain"] * part.sizes["draw"]
        efficiency = min(float((mean_ess(part.copy(data=np.exp(part.values))) / draws).mean()), 1.0)
        found, shape = leave_one_out(part.to_dataset(name="chosen"), efficiency)
        elpd[moving], k[moving] = found.values, shape.values
    return elpd, k


def _cautions(trace: InferenceData, high: int, decisions: int) -> list[str]:
    said = []
    if trace.attrs.get("approximation", "none") != "none":
        said.append(f"draws are an approximation ({trace.attrs['approximation']})")
    if high > MANY * decisions:
        said.append(f"k > {HIGH_K} at {high} decisions: its elpd is too good to be relied on")
    if trace.attrs.get("hindsight"):
        said.append(f"the choices left out were used before: {trace.attrs['hindsight']}")
    return said


def _table(scores: Mapping[str, np.ndarray], rows: dict[str, dict[str, Any]]) -> pd.DataFrame:
    best = max(scores, key=lambda name: scores[name].sum())
    count = len(scores[best])
    for name, pointwise in scores.items():
        difference = pointwise - scores[best]
        figures = {
            "elpd": pointwise.sum(),
            "se": np.sqrt(count) * pointwise.std(),
            "difference": difference.sum(),
            "se_difference": np.sqrt(count) * difference.std(),
        }
        rows[name].update(figures)
    table = pd.DataFrame.from_dict(rows, orient="index").sort_values("elpd", ascending=False, kind="stable")
    first = ["elpd", "se", "difference", "se_difference"]
    return table[first + [column for column in table.columns if column not in first]].rename_axis("model")
