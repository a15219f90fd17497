"""NB-ICB and B-ICB in non-centred form for NUTS: all sampled variables are standard normal noise.

This is the fastest form for NUTS that we know; on the models of this package, which are centred, it is slower still.
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


def nb_icb_noncentred(decisions: xr.Dataset) -> pm.Model:
    """NB-ICB at the published hyperparameters."""
    settings = paper(decisions).hyperparameters
    with decisions_model(decisions) as model:
        moves, sampling_noise = pm.Normal("moves", dims=DIMS), pm.Normal("sampling_noise", dims=DIMS)
        # Sums of products instead of dot products, which are slow without BLAS.
        root, sampling_root = (
            np.linalg.cholesky(settings[name]) for name in ("innovation_covariance", "sampling_covariance")
        )
        path = pt.cumsum((root * moves[:, None, :]).sum(axis=-1), axis=0)
        belief = pm.Deterministic("belief", settings["start_mean"] + path, dims=DIMS)
        rho = belief + (sampling_root * sampling_noise[:, None, :]).sum(axis=-1)
        choose(linear_utility(rho, model["context"], settings["alpha"]))
    return model


def b_icb_noncentred(
    decisions: xr.Dataset, sigma: float = 0.10, alpha: float = 20.0, strength: float = 10.0
) -> pm.Model:
    """B-ICB with a known strength, so that the covariances of beliefs are constants and only the means need a scan."""
    features = decisions.sizes["feature"]
    with decisions_model(decisions) as model:
        chosen = chosen_context()
        beliefs = covariance_path(sigma**2 / strength * np.eye(features), chosen.eval(), sigma)
        rho_env_noise, reward_noise = pm.Normal("rho_env_noise", dims="feature"), pm.Normal("reward_noise", dims="time")
        sampling_noise = pm.Normal("sampling_noise", dims=DIMS)
        rho_env = pm.Deterministic("rho_env", -1 / features + 2 / features * rho_env_noise, dims="feature")
        reward = (chosen * rho_env).sum(axis=-1) + sigma * reward_noise
        start = pt.as_tensor(np.full(features, -1 / features))
        later = pytensor.scan(
            lambda gain, context, reward_t, mean: mean + gain * (reward_t - (mean * context).sum()),
            sequences=[pt.as_tensor(beliefs.gain), chosen[:-1], reward[:-1]],
            outputs_info=[start],
            return_updates=False,
        )
        belief = pm.Deterministic("belief", pt.concatenate([start[None], later]), dims=DIMS)
        rho = belief + (beliefs.root * sampling_noise[:, None, :]).sum(axis=-1)
        choose(linear_utility(rho, model["context"], alpha))
    return model
