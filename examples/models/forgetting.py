"""forgetting: a Bayesian learner whose precision decays, so that it never stops learning."""

from typing import Any

import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare import GaussianBelief, bayesian_update, decisions_model, hyperparameter, learn, starting_belief


def forgetting(
    decisions: xr.Dataset, *, alpha: Any = 20.0, sigma: Any = 0.10, strength: Any = 10.0, memory: Any = None
) -> pm.Model:
    """Sigma_t^-1 -> lambda Sigma_t^-1 before each update by equation 1; rho_t ~ N(mu_t, Sigma_t), a_t by softmax.

    Parameters
    ----------
    decisions : Dataset
    alpha, sigma, strength : number
        As in `b_icb`; the first belief is soon forgotten, so its strength is taken as known.
    memory : number
        lambda, the fraction of the precision kept from one decision to the next; 1 is B-ICB. By default its prior
        is Beta(20, 1).
    """
    with decisions_model(decisions) as model:
        kept = hyperparameter("memory", pm.Beta.dist(20, 1) if memory is None else memory)

        def update(belief: GaussianBelief, context: TensorVariable, reward: TensorVariable) -> GaussianBelief:
            faded = GaussianBelief(belief.mean, belief.root / pt.sqrt(kept))
            return bayesian_update(faded, context, reward, sigma)

        learn(
            starting_belief(sigma, strength),
            update=update,
            act_on=GaussianBelief.draw,
            alpha=alpha,
            sigma=sigma,
        )
    return model
