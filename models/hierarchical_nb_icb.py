"""Hierarchical NB-ICB: several agents share a trend, which is a random walk, and each deviates from it."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.data.decisions import elapsed_time
from icb_pymc.declare import (
    BeliefSample,
    WienerProcess,
    as_covariance,
    choose,
    decisions_model,
    hyperparameter,
    linear_utility,
    specify,
)
from icb_pymc.declare.agent_walks import AgentWalks
from icb_pymc.declare.priors import is_zero
from icb_pymc.environments.scenarios import centres_scenario
from icb_pymc.errors import InputError


def hierarchical_nb_icb(
    decisions: xr.Dataset,
    *,
    innovation_covariance: Any = 5e-5,
    deviation_covariance: Any = 1e-3,
    deviation_innovation_covariance: Any = 0.0,
    sampling_covariance: Any = 5e-4,
    alpha: Any = 20.0,
    start_mean: Any = 0.0,
    start_covariance: Any = None,
    unit_of_time: str | None = None,
) -> pm.Model:
    """trend_t ~ N(trend_{t-1}, Sigma_B), belief_t = trend_t + delta_j(t), rho_t ~ N(belief_t, Sigma_P).

    Here j(t) is the agent that decides at t. `belief` (time, feature) is the belief of that agent, `trend`
    (time, feature) is common to all, and `deviation` is delta_j of each agent (agent, feature) or, if deviations move,
    that of the agent that decides at t (time, feature).

    Parameters
    ----------
    decisions : Dataset
        Decisions with `decider`, or such arrivals to simulate.
    innovation_covariance : number, vector or matrix
        Sigma_B: how far the trend moves from one decision to the next, of the same agent or of another. Like the other
        covariances and alpha it may be a distribution, such as ``pm.HalfNormal.dist(1e-4)``, or an expression of
        variables of the model in whose context this is called.
    deviation_covariance : number, vector or matrix
        D: how far agents deviate from the trend (at their first decision, if deviations move). Zero: all follow the
        trend, and there is no `deviation`.
    deviation_innovation_covariance : number, vector or matrix
        How far each agent's deviation moves from one decision to the next, of the same agent or of another. Zero:
        deviations are constant.
    sampling_covariance : number, vector or matrix
        Sigma_P: how far rho_t deviates from the belief. Zero: rho_t is the belief itself.
    alpha : number
        Inverse temperature of the softmax.
    start_mean : number or vector
        Mean of the first trend.
    start_covariance : number, vector or matrix, optional
        Covariance of the first trend; Sigma_B by default.
    unit_of_time : str, optional
        With it, e.g. ``"30D"``, innovations are per unit of time instead of per decision. Decisions at the same time
        then count as a thousandth of a unit apart.

    Returns
    -------
    pm.Model

    Raises
    ------
    InputError
        If the decisions are not valid or do not contain `decider`, the unit of time does not fit their times, or
        deviations move but start with zero covariance.

    Examples
    --------
    >>> import icb_pymc
    >>> context = [[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]]
    >>> decisions = icb_pymc.from_arrays(context, [0, 1], agent=["Turin", "Lyon"])
    >>> icb_pymc.models.hierarchical_nb_icb(decisions).free_RVs
    [trend, deviation, rho]
    """
    if "decider" not in decisions:
        raise InputError(
            "hierarchical_nb_icb needs to know who decided: pass `agent` to from_arrays, or add a column 'agent' to "
            "the table (or name it with --agent)."
        )
    if is_zero(deviation_covariance) and not is_zero(deviation_innovation_covariance):
        raise InputError(
            "deviation_covariance is zero, but deviation_innovation_covariance is not: give deviations a small "
            "positive covariance to start from."
        )
    with decisions_model(decisions) as model:
        features, dims = decisions.sizes["feature"], ("time", "feature")
        model.add_coords({"agent": decisions["agent"].values})
        decider = pm.Data("decider", decisions["decider"].values, dims="time")
        elapsed = elapsed_time(decisions, None if unit_of_time is None else str(unit_of_time))

        def covariance(name: str, value: Any) -> Any:
            return as_covariance(hyperparameter(name, value), features)

        alpha = hyperparameter("alpha", alpha)
        innovation = covariance("innovation_covariance", innovation_covariance)
        trend = WienerProcess(
            "trend",
            start_mean=pt.as_tensor(start_mean, dtype="float64") * np.ones(features),
            start_covariance=innovation if start_covariance is None else as_covariance(start_covariance, features),
            innovation_covariance=innovation,
            elapsed=elapsed,
            dims=dims,
        )
        if is_zero(deviation_covariance):
            belief = pm.Deterministic("belief", trend, dims=dims)
        elif is_zero(deviation_innovation_covariance):
            spread = covariance("deviation_covariance", deviation_covariance)
            deviation = pm.MvNormal("deviation", np.zeros(features), spread, dims=("agent", "feature"))
            belief = pm.Deterministic("belief", trend + deviation[decider], dims=dims)
        else:
            spread = covariance("deviation_covariance", deviation_covariance)
            moves = covariance("deviation_innovation_covariance", deviation_innovation_covariance)
            deviation = AgentWalks("deviation", spread, moves, elapsed, decider, dims=dims)
            belief = pm.Deterministic("belief", trend + deviation, dims=dims)
        if is_zero(sampling_covariance):
            rho = pm.Deterministic("rho", belief, dims=dims)
        else:
            sampling = covariance("sampling_covariance", sampling_covariance)
            rho = BeliefSample("rho", belief, pt.linalg.cholesky(sampling), dims=dims)
        choose(linear_utility(rho, model["context"], alpha))
    return model


specify(hierarchical_nb_icb, scenario=centres_scenario)
