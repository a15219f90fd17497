"""my_model: a learner by the delta rule (Rescorla and Wagner), whose learning rate is not known.

Change what you like, then: icb check my_model.py; icb simulate ./my_model.py; icb fit ./my_model.py decisions.nc.
"""

import pymc as pm

from icb_pymc.declare import PointBelief, decisions_model, hyperparameter, learn, uniform_preferences


def my_model(decisions, *, alpha=20.0, sigma=0.1, learning_rate=None):  # type: ignore[no-untyped-def]
    """mu_{t+1} = mu_t + eta (r_t - <mu_t, x>) x / (1 + x'x) with x = x_t[a_t], a_t ~ softmax(alpha <mu_t, x_t[a]>)."""
    with decisions_model(decisions) as model:
        # What is not known has a prior; given as a number (--set learning_rate=0.2) it is known.
        prior = pm.Beta.dist(2, 8) if learning_rate is None else learning_rate
        eta = hyperparameter("learning_rate", prior)

        # The belief before the first decision: any named tuple of tensors with a `mean`, here -1/k for each feature.
        initial = PointBelief(uniform_preferences())

        # How the belief changes by one decision: the context (feature,) of what was chosen, and the reward felt.
        def update(belief, context, reward):  # type: ignore[no-untyped-def]
            surprise = reward - (belief.mean * context).sum()
            return PointBelief(belief.mean + eta * surprise * context / (1 + (context**2).sum()))

        # Acts on the mean of the belief by a softmax; see `learn` for draws, bonuses and other rules of choice.
        # Given decisions their choices are observed and rewards latent; given arrivals both are drawn.
        learn(initial, update=update, alpha=alpha, sigma=sigma)
    return model
