"""M-fold IRL: a preference of its own in each of M equal intervals."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import Preset, choose, constant_within, decisions_model, hyperparameter, linear_utility, specify
from icb_pymc.declare.folds import declare_folds, equal_folds, fold_weights, warn_of_improper_folds
from icb_pymc.declare.spec import RANDOM_WALK


def m_fold_irl(
    decisions: xr.Dataset,
    *,
    folds: Any = 5,
    alpha: Any = 20.0,
    prior: str = "gaussian",
    prior_mean: Any = None,
    prior_covariance: Any = None,
) -> pm.Model:
    """rho_t = rho^(j) for t in {1 + floor((j-1)T/M), ..., floor(jT/M)}, a_t ~ softmax(alpha <rho_t, x_t[a]>).

    Parameters
    ----------
    decisions : Dataset
    folds : int
        M, from 1 (B-IRL) to T (all beliefs independent of each other).
    alpha : number
        Inverse temperature of the softmax; it may be a distribution.
    prior : {"gaussian", "flat"}
        Of each rho^(j). Under the flat one, as in the paper, a fold has no proper posterior if weights may grow in some
        direction and no choice speaks against it; a fold of one decision never has. The random walk of the paper then
        drifts from -1/k, where it starts, for as long as it runs: that is what its T-fold IRL reports, and a warning
        says so.
    prior_mean, prior_covariance : number, vector or matrix
        Of the Gaussian prior; by default N(-1/k, (2/k)^2 I).
    """
    fold = equal_folds(decisions.sizes["time"], folds)
    with decisions_model(decisions) as model:
        alpha = hyperparameter("alpha", alpha)
        fold_of_decision = declare_folds(fold)
        weights = fold_weights(prior, prior_mean, prior_covariance)
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
