"""B-IRL: one constant preference, by Bayesian inverse reinforcement learning."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import (
    Preset,
    choose,
    constant_within,
    decisions_model,
    hyperparameter,
    linear_utility,
    specify,
    warn_of_unused_sessions,
)
from icb_pymc.declare.folds import declare_folds, fold_weights, one_fold, warn_of_improper_folds
from icb_pymc.declare.spec import RANDOM_WALK


def b_irl(
    decisions: xr.Dataset,
    *,
    alpha: Any = 1.0,
    prior: str = "gaussian",
    prior_mean: Any = None,
    prior_covariance: Any = None,
) -> pm.Model:
    """rho_t = rho_env for all t, a_t ~ softmax(alpha <rho_env, x_t[a]>) (Ramachandran and Amir, 2007).

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals to simulate.
    alpha : number
        Inverse temperature of the softmax; it may be a distribution, such as ``pm.HalfNormal.dist(20)``.
    prior : {"gaussian", "flat"}
        Prior of rho_env. Under the flat prior of the paper the posterior is proper only if, in every direction in which
        weights may grow, some choice becomes less probable.
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
        If the prior is neither of the two, or flat but with a mean or covariance.

    Warns
    -----
    InputWarning
        If the posterior is not proper under the flat prior, or the decisions have sessions, whose boundaries are not
        used.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> icb_pymc.models.irl.b_irl(decisions).free_RVs
    [weights]
    """
    warn_of_unused_sessions(decisions, "b_irl", "weights never change")
    fold = one_fold(decisions.sizes["time"])
    with decisions_model(decisions) as model:
        alpha = hyperparameter("alpha", alpha)
        fold_of_decision = declare_folds(fold)
        weights = fold_weights(decisions, alpha, prior, prior_mean, prior_covariance)
        belief = constant_within(weights, fold_of_decision)
        pm.Deterministic("rho_env", weights[0], dims="feature")
        pm.Deterministic("belief", belief, dims=("time", "feature"))
        choose(linear_utility(belief, model["context"], alpha))
    if prior == "flat":
        warn_of_improper_folds(decisions, fold)
    return model


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: flat prior, 10,000 iterations from -1/k, then every tenth of 10,000."""
    return Preset({"alpha": 20.0, "prior": "flat"}, RANDOM_WALK)


specify(b_irl, paper=paper)
