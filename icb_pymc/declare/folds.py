"""Weights that are constant within folds of decisions: B-IRL, M-fold IRL, CP-IRL and I-SPI."""

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from pytensor.tensor.variable import TensorVariable

from icb_pymc.data.separation import separating_direction
from icb_pymc.data.standardisation import WEIGHT_SD
from icb_pymc.declare.log_odds import check_unit, log_odds_unit
from icb_pymc.declare.priors import FlatWeights
from icb_pymc.declare.processes import as_covariance
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.kernels.metropolis import Contrasts, choice_contrasts

PRIORS = ("gaussian", "flat")
# How many folds there are by default: as few as a short log has decisions.
AT_MOST_FIVE = "at most 5"


def one_fold(steps: int) -> np.ndarray:
    """The fold of each decision if there is only one: zeros (time,)."""
    return np.zeros(steps, dtype=np.int64)


def equal_folds(steps: int, folds: Any) -> np.ndarray:
    """The fold of each decision (time,): fold j holds t = 1 + floor((j - 1) T / M), ..., floor(j T / M)."""
    number = checked_count("folds", folds, steps, "decisions")
    ends = np.arange(1, number + 1) * steps // number
    return np.searchsorted(ends, np.arange(steps), side="right")


def checked_count(name: str, value: Any, most: int, of_what: str) -> int:
    """A hyperparameter that is a whole number from 1 to `most`, or the default; raises InputError if it is not."""
    if isinstance(value, str) and value == AT_MOST_FIVE:
        return min(5, most)
    if not isinstance(value, (int, float, np.integer)) or not (float(value).is_integer() and 1 <= value <= most):
        raise InputError(f"{name}={value}: give a whole number from 1 to {most}, the number of {of_what}.")
    return int(value)


def declare_folds(fold: np.ndarray) -> TensorVariable:
    """Folds as data of the model: `fold_of_decision` (time), and `change_point` (fold).

    A change point t^(j) is the number of the last decision of fold j, counted from 1; the last one is T.
    """
    model = pm.modelcontext(None)
    folds = int(fold[-1]) + 1
    model.add_coords({"fold": np.arange(1, folds + 1)})
    pm.Data("change_point", np.searchsorted(fold, np.arange(folds), side="right"), dims="fold")
    return pm.Data("fold_of_decision", fold, dims="time")


def declared_folds(model: pm.Model) -> xr.Dataset:
    """The data that `declare_folds` added to a model, for its trace; empty if there are no folds."""
    names = [name for name in ("fold_of_decision", "change_point") if name in model.named_vars]
    variables = {name: (model.named_vars_to_dims[name], model[name].get_value()) for name in names}
    return xr.Dataset(variables, {"fold": np.asarray(model.coords["fold"])} if variables else {})


def prior_moments(
    decisions: xr.Dataset, alpha: Any, mean: Any, covariance: Any
) -> tuple[TensorVariable, TensorVariable]:
    """Mean (feature) and covariance of the Gaussian prior of weights.

    By default a weight has mean 0 and a standard deviation of 2.5 in log-odds per typical difference between two
    candidates (`log_odds_unit`).
    """
    features = decisions.sizes["feature"]
    spread = covariance
    if covariance is None:
        unit = log_odds_unit(decisions, alpha)
        check_unit(unit)
        spread = (WEIGHT_SD * unit) ** 2
    return (
        pt.as_tensor(0.0 if mean is None else mean, dtype="float64") * np.ones(features),
        as_covariance(spread, features),
    )


def fold_weights(decisions: xr.Dataset, alpha: Any, prior: str, mean: Any, covariance: Any) -> TensorVariable:
    """`weights` (fold, feature) of a model, independent a priori; a flat prior starts at -1/k."""
    check_prior(prior, mean, covariance)
    if prior == "flat":
        return FlatWeights("weights", dims=("fold", "feature"))
    centre, spread = prior_moments(decisions, alpha, mean, covariance)
    return pm.MvNormal("weights", mu=centre, cov=spread, dims=("fold", "feature"))


def check_prior(prior: str, mean: Any, covariance: Any) -> None:
    """Raise InputError if this is not a prior of weights."""
    if prior not in PRIORS:
        raise InputError(f"prior={prior!r}: it must be {' or '.join(repr(word) for word in PRIORS)}.")
    if prior == "flat" and not (mean is None and covariance is None):
        raise InputError("a flat prior has no prior_mean or prior_covariance: leave them out, or leave out 'flat'.")


def contrasts_of(decisions: xr.Dataset, alpha: float = 1.0) -> Contrasts:
    """alpha (x_t[a] - x_t[a_t]) of all available candidates that were not chosen."""
    context, available, chosen = (decisions[name].values for name in ("context", "available", "chosen"))
    return choice_contrasts(context, available, chosen, alpha)


def warn_of_improper_folds(decisions: xr.Dataset, fold: np.ndarray, first: int = 0) -> None:
    """Warn of folds without a proper posterior under a flat prior; choices before decision `first` are uniform."""
    if "chosen" not in decisions:
        return
    contrasts = contrasts_of(decisions)
    ends = np.searchsorted(fold, np.arange(int(fold[-1]) + 2))
    ends[0] = first
    rows = contrasts.first[ends]
    proper = [has_proper_posterior(contrasts.values[begin:end]) for begin, end in pairwise(rows)]
    if not all(proper):
        warnings.warn(
            f"under a flat prior {len(proper) - sum(proper)} of {len(proper)} folds have no proper posterior: their "
            "choices fit better and better as weights grow, so that draws depend on where the sampler started and how "
            "long it ran; the default prior is proper.",
            InputWarning,
            stacklevel=3,
        )


def has_proper_posterior(contrasts: np.ndarray) -> bool:
    """Whether a flat prior gives a proper posterior: the likelihood of the choices falls in every direction.

    It does not if some w != 0 has c'w <= 0 for every contrast c: then the likelihood does not fall as weights move
    along w. This is always so if there are no more contrasts than features.

    Parameters
    ----------
    contrasts : array (N, feature)
        x_t[a] - x_t[a_t] of all available candidates that were not chosen, at any scale.
    """
    rows, features = contrasts.shape
    if rows <= features or np.linalg.matrix_rank(contrasts) < features:
        return False
    return separating_direction(contrasts) is None
