"""T-REX: later choices are assumed to be better than earlier ones."""

import warnings

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.declare import Estimate, Preset, chosen_context, decisions_model, specify, warn_of_unused_sessions
from icb_pymc.declare.pairwise_ranking import later_is_better
from icb_pymc.declare.priors import FlatWeights
from icb_pymc.errors import InputWarning
from icb_pymc.kernels.gradient_ascent import Adam, RMSprop, maximise
from icb_pymc.kernels.pairwise_ranking import ranking_log_likelihood

PATIENCE, MAX_STEPS, PAPER_STEPS = 100, 50_000, 10_000
# What the model assumes about the boundaries between sessions.
CONSTANT = "rho_env never changes"


def t_rex(decisions: xr.Dataset, *, alpha: float = 1.0, simplex: bool = False) -> pm.Model:
    """sum_{t < t'} log sigmoid(R_t' - R_t) with R_t = alpha <rho_env, x_t[a_t]> (Brown et al., 2019).

    This is a likelihood of pairs, not of the data, hence a potential of the model.

    Parameters
    ----------
    decisions : Dataset
        Decisions with `chosen`.
    alpha : number
        Scale of rewards in the comparison; without `simplex` it only rescales the weights.
    simplex : bool
        Constrain rho_env to be negative with unit L1 norm, as in the published experiments.

    Returns
    -------
    pm.Model

    Raises
    ------
    InputError
        If the decisions have no `chosen`: the model cannot be simulated.

    Warns
    -----
    InputWarning
        If the decisions have sessions, whose boundaries are not used.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> model = icb_pymc.models.irl.t_rex(decisions)
    >>> model.free_RVs, model.potentials
    ([rho_env], [ranking])
    """
    warn_of_unused_sessions(decisions, "t_rex", CONSTANT)
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

    Without `simplex`, weights start at -1/k and follow Adam (0.001, 0.9, 0.999) until 100 steps bring no improvement.
    On the simplex rho_env = -softmax(theta), and theta starts at 0 and follows RMSprop (0.001, 0.9) for 10,000 steps,
    as published.
    """
    warn_of_unused_sessions(decisions, "t_rex", CONSTANT)
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
        maximum = maximise(by_theta, np.zeros(features), RMSprop(0.001, 0.9), max_steps=PAPER_STEPS)
        return Estimate({"rho_env": -_softmax(maximum.point)}, f"RMSprop, {maximum.steps} steps")
    maximum = maximise(by_weights, np.full(features, -1 / features), Adam(), max_steps=MAX_STEPS, patience=PATIENCE)
    if not maximum.converged:
        warnings.warn(
            f"T-REX has not converged after {MAX_STEPS} steps: some weights may rank all decisions in the order in "
            "which they were made, and then there is no maximum; give more decisions, or simplex=True.",
            InputWarning,
            stacklevel=2,
        )
    end = f"the last {PATIENCE} without improvement" if maximum.converged else "not converged"
    return Estimate({"rho_env": maximum.point}, f"Adam, {maximum.steps} steps, {end}")


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: rho_env = -softmax(theta), alpha = 20, 10,000 steps of RMSprop."""
    return Preset({"alpha": 20.0, "simplex": True}, {})


def _softmax(theta: np.ndarray) -> np.ndarray:
    odds = np.exp(theta - theta.max())
    return odds / odds.sum()


specify(t_rex, paper=paper, estimate=estimate)
