"""delta_rule: Rescorla and Wagner's rule on features, with an unknown learning rate."""

from typing import Any

import pymc as pm
import xarray as xr
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare import PointBelief, decisions_model, hyperparameter, learn, uniform_preferences


def delta_rule(decisions: xr.Dataset, *, alpha: Any = 20.0, sigma: Any = 0.10, learning_rate: Any = None) -> pm.Model:
    """mu_{t+1} = mu_t + eta (r_t - <mu_t, x>) x / (1 + x'x) with x = x_t[a_t], a_t ~ softmax(alpha <mu_t, x_t[a]>).

    Without the division a step may overshoot if a context is long, and beliefs then grow without bound.

    Parameters
    ----------
    decisions : Dataset
    alpha, sigma : number
        Inverse temperature of the softmax, and standard deviation of a reward.
    learning_rate : number
        eta, about the fraction of a prediction error that is learnt; by default its prior is Beta(2, 8).
    """
    with decisions_model(decisions) as model:
        prior = pm.Beta.dist(2, 8) if learning_rate is None else learning_rate
        eta = hyperparameter("learning_rate", prior)

        def update(belief: PointBelief, context: TensorVariable, reward: TensorVariable) -> PointBelief:
            prediction_error = reward - (belief.mean * context).sum()
            return PointBelief(belief.mean + eta * prediction_error * context / (1 + (context**2).sum()))

        learn(PointBelief(uniform_preferences()), update=update, alpha=alpha, sigma=sigma)
    return model
