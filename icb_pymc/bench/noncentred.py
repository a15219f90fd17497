"""NB-ICB and B-ICB written for NUTS: all that is sampled is standard normal noise.

This is the best that we could do for NUTS; in the declared graphs beliefs and rho are centred, and it is slower still.
"""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.declare.choice import linear_utility
from icb_pymc.declare.model import choose, chosen_context, decisions_model
from icb_pymc.kernels.reward_given_rho import covariance_path
from icb_pymc.models.nb_icb import paper

DIMS = ("time", "feature")


def nb_icb_by_noise(decisions: xr.Dataset) -> pm.Model:
    """NB-ICB at the published hyperparameters."""
    settings = paper(decisions).hyperparameters
    with decisions_model(decisions) as model:
        moves, strays = pm.Normal("moves", dims=DIMS), pm.Normal("strays", dims=DIMS)
        # Sums of products, not dots, which are slow without BLAS.
        root, width = (np.linalg.cholesky(settings[name]) for name in ("innovation_covariance", "sampling_covariance"))
        path = pt.cumsum((root * moves[:, None, :]).sum(axis=-1), axis=0)
        belief = pm.Deterministic("belief", settings["start_mean"] + path, dims=DIMS)
        rho = belief + (width * strays[:, None, :]).sum(axis=-1)
        choose(linear_utility(rho, model["context"], settings["alpha"]))
    return model


def b_icb_by_noise(decisions: xr.Dataset, sigma: float = 0.10, alpha: float = 20.0, strength: float = 10.0) -> pm.Model:
    """B-ICB with a known strength: covariances of beliefs are then numbers, and only their means need a scan."""
    features = decisions.sizes["feature"]
    with decisions_model(decisions) as model:
        chosen = chosen_context()
        beliefs = covariance_path(sigma**2 / strength * np.eye(features), chosen.eval(), sigma)
        environment, felt = pm.Normal("environment", dims="feature"), pm.Normal("felt", dims="time")
        strays = pm.Normal("strays", dims=DIMS)
        rho_env = pm.Deterministic("rho_env", -1 / features + 2 / features * environment, dims="feature")
        reward = (chosen * rho_env).sum(axis=-1) + sigma * felt
        start = pt.as_tensor(np.full(features, -1 / features))
        later = pytensor.scan(
            lambda gain, context, reward_t, mean: mean + gain * (reward_t - (mean * context).sum()),
            sequences=[pt.as_tensor(beliefs.gain), chosen[:-1], reward[:-1]],
            outputs_info=[start],
            return_updates=False,
        )
        belief = pm.Deterministic("belief", pt.concatenate([start[None], later]), dims=DIMS)
        rho = belief + (beliefs.root * strays[:, None, :]).sum(axis=-1)
        choose(linear_utility(rho, model["context"], alpha))
    return model
