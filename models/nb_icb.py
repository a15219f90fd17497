"""NB-ICB: beliefs are a random walk; how the agent learns is left open (Algorithm 2)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare import (
    BeliefSample,
    Preset,
    as_covariance,
    choose,
    decisions_model,
    first_covariance,
    hyperparameter,
    innovations,
    linear_utility,
    log_odds_unit,
    session_jumps,
    specify,
    walk_over_sessions,
    with_lapses,
)
from icb_pymc.declare.priors import is_zero


def nb_icb(
    decisions: xr.Dataset,
    *,
    total_movement: Any = None,
    start_scale: Any = None,
    innovation_covariance: Any = None,
    sampling_covariance: Any = 0.0,
    alpha: Any = 1.0,
    start_mean: Any = 0.0,
    start_covariance: Any = None,
    unit_of_time: str | None = None,
    session_movement: Any = None,
    session_covariance: Any = None,
    mean_reward: Callable[[TensorVariable, TensorVariable], TensorVariable] | None = None,
    lapse: Any = 0.0,
) -> pm.Model:
    """beta_t ~ N(beta_{t-1}, Sigma_B), rho_t ~ N(beta_t, Sigma_P), a_t ~ softmax(alpha <rho_t, x_t[a]>).

    The defaults fit features of any scale and logs of any length: weights are log-odds per unit of a feature
    (alpha = 1, Sigma_P = 0), and the scales of the first weights and of their movement over the whole log are learnt.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals to simulate.
    total_movement : number, vector or distribution, optional
        w, how far weights typically move from the first decision to the last, in log-odds per typical difference d_i
        between two candidates: Sigma_B = diag((w / (alpha d_i))^2) times the share of the log between two decisions.
        Log-normal by default, with median 0.5. Real time counts where decisions have dates.
    start_scale : number or distribution, optional
        s_0, the scale of the first weights in the same unit: beta_1(i) ~ N(0, (s_0 / (alpha d_i))^2).
        Log-normal by default, with median 1.5.
    innovation_covariance : number, vector or matrix, optional
        Sigma_B itself, per decision or per `unit_of_time`, instead of a total movement. Like Sigma_P and alpha it may
        be a distribution, such as ``pm.HalfNormal.dist(1e-4)``, or an expression of variables of the model in whose
        context this is called.
    sampling_covariance : number, vector or matrix
        Sigma_P: how far rho_t deviates from the belief. Zero: rho_t is the belief itself (a dynamic logit).
    alpha : number
        Inverse temperature of the softmax.
    start_mean : number or vector
        Mean of the first belief.
    start_covariance : number, vector or matrix, optional
        Covariance of the first belief, instead of a scale.
    unit_of_time : str, optional
        With it, e.g. ``"30D"`` for dated decisions or ``"1"`` for numbered ones, innovations are per unit of time, so
        that beliefs may move further in a longer gap; ``"decision"`` counts decisions although they have dates.
    session_movement : number, vector or distribution, optional
        v, how far weights typically move at all boundaries between sessions together, beyond their movement over time
        and in the same unit as the total movement. Log-normal with median 0.3 where the decisions have sessions; 0 for
        none.
    session_covariance : number, vector or matrix, optional
        Covariance of the jump at one boundary itself, instead of a session movement.
    mean_reward : callable, optional
        ``mean_reward(rho, context)`` (time, action) instead of <rho, x>, for rewards that are not linear. If they are
        linear in other features, `icb_pymc.map_features` of the decisions is faster.
    lapse : number or distribution
        Probability that a choice is made at random, whatever the candidates are: p(a) = (1 - lapse) softmax(...)[a] +
        lapse / number of available candidates. A number from 0 to less than 1, or a prior like ``pm.Beta.dist(1, 20)``.

    Returns
    -------
    pm.Model

    Raises
    ------
    InputError
        If the decisions are not valid, the unit of time does not fit their times, a scale and the covariance that it
        determines are both given, or jumps are asked for where there are no sessions.

    Examples
    --------
    >>> import icb_pymc
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> icb_pymc.models.nb_icb(decisions).free_RVs
    [total_movement, start_scale, belief]
    >>> import pymc as pm
    >>> given = {"innovation_covariance": 5e-5, "start_covariance": 0.1}
    >>> icb_pymc.models.nb_icb(decisions, alpha=pm.HalfNormal.dist(20.0), sampling_covariance=5e-4, **given).free_RVs
    [alpha, belief, rho]
    """
    with decisions_model(decisions) as model:
        features = decisions.sizes["feature"]
        alpha = hyperparameter("alpha", alpha)
        unit = log_odds_unit(decisions, alpha)
        innovation, elapsed = innovations(decisions, unit, total_movement, innovation_covariance, unit_of_time)
        belief = walk_over_sessions(
            "belief",
            start_mean=pt.as_tensor(start_mean, dtype="float64") * np.ones(features),
            start_covariance=first_covariance(unit, start_scale, start_covariance),
            innovation_covariance=innovation,
            elapsed=elapsed,
            jumps=session_jumps(decisions, unit, session_movement, session_covariance),
            dims=("time", "feature"),
        )
        if is_zero(sampling_covariance):
            rho = pm.Deterministic("rho", belief, dims=("time", "feature"))
        else:
            sampling = as_covariance(hyperparameter("sampling_covariance", sampling_covariance), features)
            rho = BeliefSample("rho", belief, pt.linalg.cholesky(sampling), dims=("time", "feature"))
        if mean_reward is None:
            utility = linear_utility(rho, model["context"], alpha)
        else:
            utility = alpha * mean_reward(rho, model["context"])
        if not is_zero(lapse):
            utility = with_lapses(hyperparameter("lapse", lapse))(utility, model["available"])
        choose(utility)
    return model


def paper(decisions: xr.Dataset) -> Preset:
    """The published experiments: start at -1/k; the variance of a common shift of all weights is 100 times smaller."""
    features = decisions.sizes["feature"]
    damped = np.eye(features) - 0.99 / features
    hyperparameters = {
        "innovation_covariance": 5e-5 * damped,
        "sampling_covariance": 5e-4 * damped,
        "alpha": 20.0,
        "start_mean": -1.0 / features,
        "start_covariance": 5e-5 * damped,
    }
    # 10,000 sweeps of burn-in, then every tenth of 10,000.
    sampling = {"draws": 1000, "tune": 1000, "sweeps": 10, "chains": 1, "kernel": "paper"}
    return Preset(hyperparameters, sampling)


specify(nb_icb, paper=paper)
