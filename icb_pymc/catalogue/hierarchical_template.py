"""my_model: subjects that follow the delta rule (Rescorla and Wagner), each with parameters from one population.

The log says who decided (column `agent`) and which rewards followed (column `reward`). Change it as you like, then:
icb check my_model.py --agents 5 --observed-rewards --steps 100; icb fit my_model.py log.csv.
"""

import numpy as np

from icb_pymc.declare import PointBelief, decisions_model, learn, of_each_agent


def my_model(decisions, *, sigma=0.5):  # type: ignore[no-untyped-def]
    """mu_{t+1} = mu_t + eta_j (r_t - <mu_t, x>) x / (1 + x'x), x = x_t[a_t], a_t ~ softmax(alpha_j <mu_t, x_t[a]>)."""
    with decisions_model(decisions) as model:
        # Each subject j has a learning rate eta_j and an inverse temperature alpha_j. Their population is described by
        # its median, learnt from a prior around the one given here, and by a spread on the scale of the link.
        eta = of_each_agent("learning_rate", 0.2, link="logit")
        alpha = of_each_agent("alpha", 3.0, link="log")

        # From here on everything is written for one subject; `learn` does it for all, each on its own clock.
        initial = PointBelief(np.zeros(decisions.sizes["feature"]))

        def update(belief, context, reward):  # type: ignore[no-untyped-def]
            prediction_error = reward - (belief.mean * context).sum()
            return PointBelief(belief.mean + eta * prediction_error * context / (1 + (context**2).sum()))

        # sigma is the noise of rewards in a simulation, and where rewards are missing. With sigma=None nothing is said
        # about where rewards come from, which fits any task, but every reward must be in the log.
        # Learners with a covariance: update=partial(kalman_update, sigma=..., memory=...) and a GaussianBelief.
        learn(initial, update=update, alpha=alpha, sigma=sigma)
    return model
