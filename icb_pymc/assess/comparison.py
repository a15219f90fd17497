"""Which model predicts the same decisions better: by leaving out one choice at a time, or by forecasting the next."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from icb_pymc.assess.convergence import LEAST_DRAWS, mean_ess
from icb_pymc.errors import InputError
from icb_pymc.results.inference_data import InferenceData, group, group_names, leave_one_out
from icb_pymc.results.posterior import decisions_in

# Above this k of the Pareto distribution an importance-sampling estimate is unreliable (Vehtari et al., 2017).
HIGH_K = 0.7
# Log probabilities that differ by less are taken as the same in all draws: PSIS fails on smaller differences.
SAME = 1e-6
# The share of decisions with a high k above which a caution is given.
MANY = 0.01
CAUTION = (
    "Leaving out one choice of a series is not forecasting: what is left out is predicted from choices before and "
    "after it. The score of a forecaster is that of --ahead, icb_pymc.one_step_ahead."
)


def compare(traces: Mapping[str, InferenceData]) -> pd.DataFrame:
    """Compare fits of the same decisions by leave-one-out cross-validation.

    It is PSIS-LOO (Vehtari et al., 2017) of p(a_t | beta_t), rho_t integrated out. Leaving out a choice leaves out its
    likelihood alone: what a learner observed, and change points estimated beforehand, stay as they are.

    Parameters
    ----------
    traces : mapping of str to InferenceData
        Two fits or more by name, with their log-likelihoods.

    Returns
    -------
    DataFrame
        One row per model, best first: `elpd`, the expected log probability of choices left out, and its standard error
        `se`; `elpd_diff`, how much lower it is than that of the best model (zero or more, as in ArviZ before 1.0), and
        its standard error `dse`; `p_loo`, the effective number of parameters; `high_k`, at how many decisions the
        estimate is unreliable; `caution`, other reasons for caution.

    Raises
    ------
    InputError
        If there are fewer than two traces, they are of different decisions, or one has no log-likelihood or too few
        draws.

    See Also
    --------
    compare_ahead : Compare forecasts.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> contexts = rng.normal(size=(40, 2, 2))
    >>> decisions = icb_pymc.from_arrays(contexts, contexts[:, :, 0].argmax(axis=1))
    >>> options = {"draws": 100, "random_seed": 0, "progressbar": False}
    >>> traces = {"nb_icb": icb_pymc.fit("nb_icb", decisions, method="laplace", **options)}
    >>> traces["uniform"] = icb_pymc.fit("uniform", decisions, **options)
    >>> icb_pymc.compare(traces).index.tolist()
    ['nb_icb', 'uniform']
    """
    check_same(traces)
    return score_table(*loo_scores(traces))


def compare_ahead(
    traces: Mapping[str, InferenceData], *, start: int | None = None, progressbar: bool = False
) -> pd.DataFrame:
    """Compare the models of traces by their one-step-ahead forecasts of the decisions in the traces.

    Only the models and hyperparameters of the traces are used, not their draws: each choice is forecast from those
    before it.

    Parameters
    ----------
    traces : mapping of str to InferenceData
        Two fits or more by name, of models that `icb_pymc.one_step_ahead` can forecast with.
    start : int, optional
        As in `icb_pymc.one_step_ahead`.
    progressbar : bool
        Show one.

    Returns
    -------
    DataFrame
        One row per model, best first: `elpd`, the sum of log p(a_t | a_1, ..., a_{t-1}), and its standard error `se`;
        `elpd_diff`, how much lower it is than that of the best model, and its standard error `dse`; `probability`, the
        geometric mean of the probabilities forecast for the choices made.

    Raises
    ------
    InputError
        If there are fewer than two traces, they are of different decisions, or a model cannot forecast.

    See Also
    --------
    compare : Compare by leave-one-out cross-validation.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> contexts = rng.normal(size=(40, 2, 2))
    >>> decisions = icb_pymc.from_arrays(contexts, contexts[:, :, 0].argmax(axis=1))
    >>> options = {"draws": 10, "random_seed": 0, "progressbar": False}
    >>> traces = {"nb_icb": icb_pymc.fit("nb_icb", decisions, method="laplace", **options)}
    >>> traces["uniform"] = icb_pymc.fit("uniform", decisions, **options)
    >>> table = icb_pymc.compare_ahead(traces)
    >>> table.columns.tolist()
    ['elpd', 'se', 'elpd_diff', 'dse', 'probability']
    >>> table.index.tolist()
    ['nb_icb', 'uniform']
    """
    check_same(traces)
    return score_table(*ahead_scores(traces, start=start, progressbar=progressbar))


def loo_scores(traces: Mapping[str, InferenceData]) -> tuple[dict[str, np.ndarray], dict[str, dict[str, Any]]]:
    """Log probability (time,) of each choice left out, by model, and the further columns of `compare`."""
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
    return scores, rows


def ahead_scores(
    traces: Mapping[str, InferenceData], *, start: int | None = None, progressbar: bool = False
) -> tuple[dict[str, np.ndarray], dict[str, dict[str, Any]]]:
    """Log probability (time,) forecast for each choice, by model, and the further column of `compare_ahead`."""
    # Forecasts need the models, and these PyMC, which comparing by log-likelihoods does not.
    from icb_pymc.assess.forecasts import forecasts_of

    scores = {name: forecasts_of(trace, start=start, progressbar=progressbar).values for name, trace in traces.items()}
    return scores, {name: {"probability": float(np.exp(each.mean()))} for name, each in scores.items()}


def check_same(traces: Mapping[str, InferenceData]) -> None:
    """Refuse traces of different decisions; features may differ, because each model may use its own."""
    if len(traces) < 2:
        raise InputError("give two traces or more.")
    first, *others = traces
    expected = decisions_in(traces[first])
    for name in others:
        decisions = decisions_in(traces[name])
        for part, words in (("time", "their times"), ("available", "the candidates"), ("chosen", "the choices")):
            if not np.array_equal(decisions[part].values, expected[part].values):
                raise InputError(
                    f"'{first}' ({expected.sizes['time']} decisions) and '{name}' ({decisions.sizes['time']}) are fits "
                    f"of different decisions: {words} differ. Give fits of the same decisions."
                )


def _log_likelihood(name: str, trace: InferenceData) -> xr.DataArray:
    if "log_likelihood" not in group_names(trace):
        method, kept = trace.attrs.get("method"), group(trace, "posterior").sizes.get("time")
        times = decisions_in(trace).sizes["time"]
        if method == "em":
            reason = "EM computes point estimates; fit it with method 'mcmc'"
        elif kept is not None and kept < times:
            reason = f"it keeps {kept} of {times} times; fit it again with all, or use one-step-ahead forecasts"
        else:
            reason = (
                "it was not requested, would have been too large, or the model has no likelihood of choices; "
                "fit it again with log_likelihood=True, or use one-step-ahead forecasts"
            )
        raise InputError(f"'{name}' has no log-likelihood of its choices: {reason}.")
    # Sums over many draws and decisions are taken in float64, however the trace stores its numbers.
    values = group(trace, "log_likelihood")["chosen"].transpose("chain", "draw", "time").astype(np.float64)
    if 1 < values.sizes["chain"] * values.sizes["draw"] < LEAST_DRAWS:
        raise InputError(f"'{name}' has too few draws to be compared; draw 1000.")
    return values


def _left_out(log_likelihood: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Log probability of each choice when left out, and Pareto's k; both are exact where all draws agree."""
    values = log_likelihood.values
    elpd, k = values[0, 0].copy(), np.zeros(values.shape[2])
    moving = np.flatnonzero(np.ptp(values, axis=(0, 1)) > SAME)
    if len(moving):
        part = log_likelihood.isel(time=moving)
        draws = part.sizes["chain"] * part.sizes["draw"]
        efficiency = min(float((mean_ess(part.copy(data=np.exp(part.values))) / draws).mean()), 1.0)
        left_out, shape = leave_one_out(part.to_dataset(name="chosen"), efficiency)
        elpd[moving], k[moving] = left_out.values, shape.values
        # Smoothing fails where nearly all draws agree; there the weights 1 / p need none.
        failed = np.flatnonzero(~np.isfinite(elpd))
        plain = np.logaddexp.reduce(-values[:, :, failed], axis=(0, 1))
        elpd[failed] = np.log(values.shape[0] * values.shape[1]) - plain
    return elpd, k


def _cautions(trace: InferenceData, high: int, decisions: int) -> list[str]:
    cautions = []
    if trace.attrs.get("approximation", "none") != "none":
        cautions.append(f"draws are an approximation ({trace.attrs['approximation']})")
    if high > MANY * decisions:
        cautions.append(f"k > {HIGH_K} at {high} decisions: its elpd is too optimistic to be relied on")
    if trace.attrs.get("hindsight"):
        cautions.append(f"the choices left out were used before: {trace.attrs['hindsight']}")
    return cautions


def score_table(scores: Mapping[str, np.ndarray], rows: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Sums of scores (time,) by model, best first, with standard errors; `rows` are further columns."""
    best = max(scores, key=lambda name: scores[name].sum())
    count = len(scores[best])
    for name, pointwise in scores.items():
        difference = scores[best] - pointwise
        rows[name] |= {
            "elpd": pointwise.sum(),
            "se": np.sqrt(count) * pointwise.std(),
            "elpd_diff": difference.sum(),
            "dse": np.sqrt(count) * difference.std(),
        }
    table = pd.DataFrame.from_dict(rows, orient="index").sort_values("elpd", ascending=False, kind="stable")
    first = ["elpd", "se", "elpd_diff", "dse"]
    return table[first + [column for column in table.columns if column not in first]].rename_axis("model")
