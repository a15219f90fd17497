"""my_model: a learner that follows the delta rule (Rescorla and Wagner) with an unknown learning rate.

Change it as you like, then: icb check my_model.py; icb simulate my_model.py; icb fit my_model.py decisions.nc.
"""

import pymc as pm

from icb_pymc.declare import PointBelief, decisions_model, hyperparameter, learn, uniform_preferences


def my_model(decisions, *, alpha=20.0, sigma=0.1, learning_rate=None):  # type: ignore[no-untyped-def]
    """mu_{t+1} = mu_t + eta (r_t - <mu_t, x>) x / (1 + x'x) with x = x_t[a_t], a_t ~ softmax(alpha <mu_t, x_t[a]>)."""
    with decisions_model(decisions) as model:
        # An unknown quantity has a prior; a number (--set learning_rate=0.2) fixes it.
        prior = pm.Beta.dist(2, 8) if learning_rate is None else learning_rate
        eta = hyperparameter("learning_rate", prior)

        # The belief before the first decision: any named tuple of tensors with a `mean`, here -1/k for each feature.
        initial = PointBelief(uniform_preferences())

        # How one decision changes the belief, given the context (feature,) of the chosen candidate and the reward.
        def update(belief, context, reward):  # type: ignore[no-untyped-def]
            prediction_error = reward - (belief.mean * context).sum()
            return PointBelief(belief.mean + eta * prediction_error * context / (1 + (context**2).sum()))

        # The agent chooses by a softmax of the mean belief; see `learn` for sampled beliefs, bonuses and other rules.
        # Given decisions, their choices are observed and rewards are latent; given arrivals, both are drawn.
        learn(initial, update=update, alpha=alpha, sigma=sigma)
    return model
