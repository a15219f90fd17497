"""M-fold IRL: a separate preference in each of M equal intervals."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import Preset, choose, constant_within, decisions_model, hyperparameter, linear_utility, specify
from icb_pymc.declare.folds import AT_MOST_FIVE, declare_folds, equal_folds, fold_weights, warn_of_improper_folds
from icb_pymc.declare.session_jumps import warn_of_unused_sessions
from icb_pymc.declare.spec import RANDOM_WALK


def m_fold_irl(
    decisions: xr.Dataset,
    *,
    folds: Any = AT_MOST_FIVE,
    alpha: Any = 1.0,
    prior: str = "gaussian",
    prior_mean: Any = None,
    prior_covariance: Any = None,
) -> pm.Model:
    """rho_t = rho^(j) for t in {1 + floor((j-1)T/M), ..., floor(jT/M)}, a_t ~ softmax(alpha <rho_t, x_t[a]>).

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals to simulate.
    folds : int
        M, from 1 (B-IRL) to T (all beliefs independent of each other). By default 5, or T in a shorter log.
    alpha : number
        Inverse temperature of the softmax; it may be a distribution.
    prior : {"gaussian", "flat"}
        Prior of each rho^(j). Under the flat prior of the paper the posterior of a fold is proper only if, in every
        direction in which weights may grow, some choice becomes less probable; with one decision of two candidates per
        fold it never is. The random walk of the paper then drifts away from -1/k, where it starts, for as long as it
        runs, and this drift is what its T-fold IRL reports.
    prior_mean : number or vector, optional
        Mean of the Gaussian prior; 0 by default.
    prior_covariance : number, vector or matrix, optional
        Covariance of the Gaussian prior. By default diagonal, with standard deviations of 2.5 in log-odds per typical
        difference between two candidates.

    Returns
    -------
    pm.Model

    Raises
    ------
    InputError
        If the number of folds is not from 1 to T, or the prior is not valid (see `b_irl`).

    Warns
    -----
    InputWarning
        If the posterior of a fold is not proper under the flat prior, or the decisions have sessions, whose boundaries
        are not used.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> model = icb_pymc.models.irl.m_fold_irl(decisions, folds=2)
    >>> model["fold_of_decision"].get_value().tolist()
    [0, 1]
    """
    warn_of_unused_sessions(decisions, "m_fold_irl", "weights change between folds of equal size")
    fold = equal_folds(decisions.sizes["time"], folds)
    with decisions_model(decisions) as model:
        alpha = hyperparameter("alpha", alpha)
        fold_of_decision = declare_folds(fold)
        weights = fold_weights(decisions, alpha, prior, prior_mean, prior_covariance)
        belief = constant_within(weights, fold_of_decision)
        pm.Deterministic("belief", belief, dims=("time", "feature"))
        choose(linear_utility(belief, model["context"], alpha))
    if prior == "flat":
        warn_of_improper_folds(decisions, fold)
    return model


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: flat prior, 10,000 iterations from -1/k, then every tenth of 10,000, in each fold."""
    return Preset({"alpha": 20.0, "prior": "flat"}, RANDOM_WALK)


specify(m_fold_irl, paper=paper)
