"""One-step-ahead forecasts: how probable each choice was, given only those before it."""

import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from scipy.special import logsumexp

from icb_pymc.assess.hyperparameter_draws import draw_where_it_counts
from icb_pymc.assess.trace_models import model_of_trace
from icb_pymc.catalogue.lookup import find, name_of, settings
from icb_pymc.declare.graph import Point
from icb_pymc.declare.spec import Declare, spec_of
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.kernels.expectation_propagation import predict_choices
from icb_pymc.results.inference_data import InferenceData
from icb_pymc.results.posterior import decisions_in
from icb_pymc.sample.hyperpriors import check_proper, declare_with_priors
from icb_pymc.sample.point_estimate import as_posterior, given_values
from icb_pymc.sample.pointwise import normal_points, pointwise
from icb_pymc.sample.seeds import only_seed
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, LinearGaussianParts, find_linear_gaussian

# Nodes of the average over contrasts where a decision has several alternatives.
CONTRAST_NODES = 1024
# The effective number of draws of hyperparameters that should be left at the end.
LEAST_EFFECTIVE = 10


def one_step_ahead(
    model: str | Path | Declare,
    decisions: xr.Dataset,
    hyperparameters: Mapping[str, Any] | None = None,
    *,
    start: int | None = None,
    random_seed: int | None = None,
    progressbar: bool = False,
    seed: int | None = None,
) -> xr.DataArray:
    """Log probability of each choice given those before it: the score of a forecaster.

    It is log p(a_t | a_1, ..., a_{t-1}) of each decision after the first `start`, for models of linear-Gaussian beliefs
    (NB-ICB, B-ICB, and IRL in folds, under Gaussian priors), by expectation propagation: choices are approximated by
    Gaussian factors, each made given the others so far. Hyperparameters with a prior are averaged over, by draws that
    stand for the prior, weighted by how well each has forecast so far. (Where they are drawn densely follows from all
    choices, and their weights make up for it.) With ``start=0``, the sum of the forecasts is the log evidence.

    Parameters
    ----------
    model : str, path or callable
        As in `icb_pymc.fit`.
    decisions : Dataset
    hyperparameters : mapping, optional
        Keyword arguments of the model, such as ``{"alpha": 5.0}``; distributions (``pm.Gamma.dist(5, 1)``) are priors.
    start : int, optional
        Decisions to learn from before forecasts count; by default a tenth of them.
    random_seed : int, optional
        Seed of the draws of hyperparameters, 0 by default. `seed` is accepted too.
    progressbar : bool
        Show one.
    seed : int, optional
        Another name of `random_seed`.

    Returns
    -------
    DataArray (time)
        Its attributes have the name of the model and, if there are priors of hyperparameters, the effective number of
        their draws at the end (``effective_draws``).

    Raises
    ------
    InputError
        If the model or a hyperparameter is unknown, the model cannot forecast, or `start` is not less than the number
        of decisions.

    Warns
    -----
    InputWarning
        If too few draws of the hyperparameters still count at the end.

    Examples
    --------
    >>> import icb_pymc, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> contexts = rng.normal(size=(40, 2, 2))
    >>> decisions = icb_pymc.from_arrays(contexts, contexts[:, :, 0].argmax(axis=1))
    >>> scores = icb_pymc.one_step_ahead("nb_icb", decisions, {"alpha": 5.0}, start=10)
    >>> scores.sizes["time"], bool(scores.mean() > np.log(0.5))
    (30, True)
    """
    given, random_seed = dict(hyperparameters or {}), only_seed(random_seed, seed) or 0
    return _log_predictive(find(model), decisions, given, (), start, random_seed, progressbar)


def forecasts_of(trace: InferenceData, *, start: int | None = None, progressbar: bool = False) -> xr.DataArray:
    """`one_step_ahead` of the model and the decisions of a trace, with the hyperparameters that it stores.

    Hyperparameters that were learnt (``fit(learn=...)``) get the same priors again. A user-defined model must be
    registered first (`icb_pymc.register`).
    """
    declare, given, learn = model_of_trace(trace, "forecast", "icb_pymc.one_step_ahead")
    return _log_predictive(declare, decisions_in(trace), given, learn, start, 0, progressbar)


def _log_predictive(
    declare: Declare,
    decisions: xr.Dataset,
    given: dict[str, Any],
    learn: Sequence[str],
    start: int | None,
    seed: int,
    progressbar: bool,
) -> xr.DataArray:
    steps = decisions.sizes["time"]
    begin = steps // 10 if start is None else start
    if not 0 <= begin < steps:
        raise InputError(
            f"start={begin}: give a number from 0 to {steps - 1}, the decisions before the first forecast."
        )
    settings(declare, given)
    hindsight = spec_of(declare).hindsight
    if hindsight is not None:
        raise InputError(f"'{name_of(declare)}' cannot forecast: {hindsight}.")
    check_proper(given)
    graph = declare_with_priors(declare, decisions, given, learn)
    attrs: dict[str, Any] = {"model": name_of(declare)}
    linear = find_linear_gaussian(graph) if graph.free_RVs else None
    likelihood = None if graph.free_RVs else pointwise(graph, as_posterior(given_values(graph), decisions))
    if likelihood is not None:
        scores = likelihood.log_likelihood[0, 0]
    elif linear is None or set(graph.free_RVs) != {*linear.variables, *linear.hyperparameters}:
        raise InputError(
            f"'{name_of(declare)}' cannot forecast one step ahead: that is for beliefs that are linear and Gaussian, "
            "with utilities linear in rho and a proper prior."
        )
    elif linear.source.observed:
        raise InputError(
            f"'{name_of(declare)}' cannot forecast one step ahead where rewards were observed; compare by "
            "leave-one-out, or leave out 'reward'."
        )
    elif linear.source.order is not None:
        raise InputError(
            f"'{name_of(declare)}' cannot forecast one step ahead where each subject has a clock of its own; "
            "compare by leave-one-out, or set clock='calendar'."
        )
    else:
        scores, effective = _forecast(graph, linear, seed, progressbar)
        if linear.hyperparameters:
            attrs["effective_draws"] = round(effective, 1)
            if effective < LEAST_EFFECTIVE:
                warnings.warn(
                    f"draws of the hyperparameters are worth only {effective:.1f} at the end, so the forecasts are "
                    "rough; give hyperparameters as numbers, or narrower priors.",
                    InputWarning,
                    stacklevel=3,
                )
    return xr.DataArray(
        scores[begin:], {"time": decisions["time"].values[begin:]}, ["time"], "log_predictive", attrs=attrs
    )


def _forecast(model: pm.Model, linear: LinearGaussianParts, seed: int, progressbar: bool) -> tuple[np.ndarray, float]:
    """Log probabilities of all choices, and how many draws of hyperparameters counted at the end."""
    reader = LinearGaussianModel(model, linear, with_rho=False)
    point = model.initial_point()

    def scores_at(hyperparameters: Point) -> np.ndarray:
        _, space = reader.state_space(reader.values(point | hyperparameters))
        log_predictive = np.empty(len(space.first) - 1)
        predict_choices(space, _nodes(int(np.diff(space.first).max(initial=1))), log_predictive)
        return log_predictive

    if not linear.hyperparameters:
        return scores_at({}), 1.0
    draws = draw_where_it_counts(model, linear.hyperparameters, scores_at, seed, progressbar)
    before = np.cumsum(draws.scores, axis=1) - draws.scores + draws.log_weight[:, None]
    return logsumexp(before + draws.scores, axis=0) - logsumexp(before, axis=0), draws.effective


@lru_cache(maxsize=1)
def _nodes(alternatives: int) -> np.ndarray:
    return normal_points(CONTRAST_NODES, alternatives)
