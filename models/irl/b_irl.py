"""B-IRL: one preference throughout, by Bayesian inverse reinforcement learning."""

from typing import Any

import pymc as pm
import xarray as xr

from icb_pymc.declare import Preset, choose, constant_within, decisions_model, hyperparameter, linear_utility, specify
from icb_pymc.declare.folds import declare_folds, fold_weights, one_fold, warn_of_improper_folds
from icb_pymc.declare.spec import RANDOM_WALK


def b_irl(
    decisions: xr.Dataset,
    *,
    alpha: Any = 20.0,
    prior: str = "gaussian",
    prior_mean: Any = None,
    prior_covariance: Any = None,
) -> pm.Model:
    """rho_t = rho_env for all t, a_t ~ softmax(alpha <rho_env, x_t[a]>) (Ramachandran and Amir, 2007).

    Parameters
    ----------
    decisions : Dataset
    alpha : number
        Inverse temperature of the softmax; it may be a distribution, such as ``pm.HalfNormal.dist(20)``.
    prior : {"gaussian", "flat"}
        Of rho_env. The flat one, as in the paper, leaves a proper posterior only if some choice speaks against every
        way for weights to grow, which a warning says.
    prior_mean, prior_covariance : number, vector or matrix
        Of the Gaussian prior; by default N(-1/k, (2/k)^2 I), wide for weights that sum to one.
    """
    fold = one_fold(decisions.sizes["time"])
    with decisions_model(decisions) as model:
        alpha = hyperparameter("alpha", alpha)
        fold_of_decision = declare_folds(fold)
        weights = fold_weights(prior, prior_mean, prior_covariance)
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
