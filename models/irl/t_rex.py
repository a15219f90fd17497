"""T-REX: what was chosen later is taken to be better than what was chosen earlier."""

import warnings

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.declare import Estimate, Preset, chosen_context, decisions_model, specify
from icb_pymc.declare.pairwise_ranking import later_is_better
from icb_pymc.declare.priors import FlatWeights
from icb_pymc.errors import InputWarning
from icb_pymc.kernels.gradient_ascent import Adam, RMSprop, maximise
from icb_pymc.kernels.pairwise_ranking import ranking_log_likelihood

PATIENCE, MOST_STEPS, PAPER_STEPS = 100, 50_000, 10_000


def t_rex(decisions: xr.Dataset, *, alpha: float = 1.0, simplex: bool = False) -> pm.Model:
    """sum_{t < t'} log sigmoid(R_t' - R_t) with R_t = alpha <rho_env, x_t[a_t]> (Brown et al., 2019).

    It is a likelihood of pairs, not of data, hence a potential of the model.

    Parameters
    ----------
    decisions : Dataset
    alpha : number
        Scale of rewards in the comparison; with free weights it does but scale them.
    simplex : bool
        Constrain rho_env to be negative with unit L1 norm, as in the published experiments.
    """
    features = decisions.sizes["feature"]
    with decisions_model(decisions) as model:
        chosen = chosen_context()
        if simplex:
            importance = pm.Dirichlet("importance", np.ones(features), dims="feature")
            rho_env = pm.Deterministic("rho_env", -importance, dims="feature")
        else:
            rho_env = FlatWeights("rho_env", dims="feature")
        reward = alpha * (chosen * rho_env).sum(axis=-1)
        pm.Potential("ranking", later_is_better(reward))
    return model


def estimate(decisions: xr.Dataset, *, alpha: float = 1.0, simplex: bool = False) -> Estimate:
    """Maximise the likelihood of the ranking.

    Free weights start at -1/k and climb by Adam (0.001, 0.9, 0.999) until 100 iterations bring nothing. On the simplex
    rho_env = -softmax(theta), theta starts at 0 and makes 10,000 steps of RMSprop (0.001, 0.9), as published.
    """
    features = decisions.sizes["feature"]
    steps = np.arange(decisions.sizes["time"])
    taken = alpha * decisions["context"].values[steps, decisions["chosen"].values]
    slopes = np.empty(len(taken))

    def by_weights(rho_env: np.ndarray) -> tuple[float, np.ndarray]:
        value = ranking_log_likelihood(taken @ rho_env, slopes)
        return value, slopes @ taken

    def by_theta(theta: np.ndarray) -> tuple[float, np.ndarray]:
        importance = _softmax(theta)
        value, gradient = by_weights(-importance)
        return value, -importance * (gradient - gradient @ importance)

    if simplex:
        summit = maximise(by_theta, np.zeros(features), RMSprop(0.001, 0.9), max_steps=PAPER_STEPS)
        return Estimate({"rho_env": -_softmax(summit.point)}, f"RMSprop, {summit.steps} steps")
    summit = maximise(by_weights, np.full(features, -1 / features), Adam(), max_steps=MOST_STEPS, patience=PATIENCE)
    if not summit.converged:
        warnings.warn(
            f"T-REX still climbs after {MOST_STEPS} steps: some weights may rank all decisions in the order in which "
            "they came, and then there is no maximum; give more decisions, or simplex=True.",
            InputWarning,
            stacklevel=2,
        )
    ended = "until 100 brought nothing" if summit.converged else "without an end"
    return Estimate({"rho_env": summit.point}, f"Adam, {summit.steps} steps, {ended}")


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: rho_env = -softmax(theta), alpha = 20, 10,000 steps of RMSprop."""
    return Preset({"alpha": 20.0, "simplex": True}, {})


def _softmax(theta: np.ndarray) -> np.ndarray:
    odds = np.exp(theta - theta.max())
    return odds / odds.sum()


specify(t_rex, paper=paper, estimate=estimate)
