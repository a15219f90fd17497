"""Hierarchical NB-ICB: agents of one population, each with beliefs that move on their own or with a shared trend."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from icb_pymc.declare import (
    BeliefSample,
    as_covariance,
    choose,
    decisions_model,
    first_covariance,
    hyperparameter,
    innovations,
    linear_utility,
    log_odds_unit,
    own_session_jumps,
    session_jumps,
    specify,
    walk_over_sessions,
)
from icb_pymc.declare.agent_walks import AgentWalks
from icb_pymc.declare.priors import is_zero
from icb_pymc.environments.scenarios import centres_scenario
from icb_pymc.errors import InputError


def hierarchical_nb_icb(
    decisions: xr.Dataset,
    *,
    clock: str = "own",
    total_movement: Any = None,
    start_scale: Any = None,
    deviation_scale: Any = None,
    innovation_covariance: Any = None,
    deviation_covariance: Any = None,
    deviation_innovation_covariance: Any = 0.0,
    sampling_covariance: Any = 0.0,
    alpha: Any = 1.0,
    start_mean: Any = 0.0,
    start_covariance: Any = None,
    unit_of_time: str | None = None,
    session_movement: Any = None,
) -> pm.Model:
    """belief_t = population + delta_{j,t}, delta_{j,1} ~ N(0, D), delta_{j,t} ~ N(delta_{j,t-1}, Sigma_B).

    Here j is the agent that decides at t, and with ``clock="own"`` only its own decisions count: beliefs of agents
    begin around the weights of their `population` (feature) and then move on their own; `deviation` (time, feature) is
    delta of the agent that decides. The time that a fit takes is linear in the number of agents.

    With ``clock="calendar"`` all agents share a trend instead: trend_t ~ N(trend_{t-1}, Sigma_B), belief_t = trend_t +
    delta_j. `trend` (time, feature) is common to all, and `deviation` is delta_j of each agent (agent, feature) or, if
    deviations move, that of the agent that decides at t (time, feature). The state has the deviations of all agents,
    so that this is for a few of them, such as the centres that a guideline reaches at the same time.

    In both cases rho_t ~ N(belief_t, Sigma_P).

    Parameters
    ----------
    decisions : Dataset
        Decisions with `decider`, or such arrivals to simulate.
    clock : {"own", "calendar"}
        Whether each agent has a clock of its own, such as a subject with its trials, or all share a calendar and a
        trend.
    total_movement, start_scale : number or distribution, optional
        How far an agent moves over its own log (the longest, if they differ) or the trend over the whole log, and the
        scale of the population's weights or of the first trend, as in `nb_icb`.
    deviation_scale : number or distribution, optional
        How far agents deviate at first from their population, or from the trend, in log-odds per typical difference
        between two candidates: D = diag((scale / (alpha d_i))^2). Log-normal by default, with median 0.5.
    innovation_covariance : number, vector or matrix, optional
        Sigma_B itself: how far an agent moves from one of its decisions to the next, or the trend from one decision
        to the next, of the same agent or of another. Like the other covariances and alpha it may be a distribution,
        such as ``pm.HalfNormal.dist(1e-4)``, or an expression of variables of the model in whose context this is
        called.
    deviation_covariance : number, vector or matrix, optional
        D itself (at an agent's first decision, if deviations move). Zero, with a shared calendar: all follow the
        trend, and there is no `deviation`.
    deviation_innovation_covariance : number, vector or matrix
        With a shared calendar, how far each agent's deviation moves over the whole log, or from one decision to the
        next where `innovation_covariance` is given. Zero: deviations are constant.
    sampling_covariance : number, vector or matrix
        Sigma_P: how far rho_t deviates from the belief. Zero: rho_t is the belief itself.
    alpha : number
        Inverse temperature of the softmax.
    start_mean : number or vector
        Mean of the population's weights, or of the first trend.
    start_covariance : number, vector or matrix, optional
        Their covariance, instead of a scale.
    unit_of_time : str, optional
        As in `nb_icb`, on the clock of each agent or on the shared one.
    session_movement : number or distribution, optional
        v, how far an agent (or the trend) typically moves at all boundaries between its sessions together, beyond its
        movement over time, as in `nb_icb`; an agent with fewer sessions than others moves less. Log-normal with median
        0.3 where the decisions have sessions; 0 for none.

    Returns
    -------
    pm.Model

    Raises
    ------
    InputError
        If the decisions are not valid or do not contain `decider`, the unit of time does not fit their times,
        deviations move but start with zero covariance, an option is for the other clock, or jumps are asked for where
        there are no sessions.

    Examples
    --------
    >>> import icb_pymc
    >>> context = [[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]]
    >>> decisions = icb_pymc.from_arrays(context, [0, 1], agent=["Turin", "Lyon"])
    >>> icb_pymc.models.hierarchical_nb_icb(decisions).free_RVs
    [total_movement, start_scale, population, deviation_scale, deviation]
    >>> icb_pymc.models.hierarchical_nb_icb(decisions, clock="calendar").free_RVs
    [total_movement, start_scale, trend, deviation_scale, deviation]
    """
    if "decider" not in decisions:
        raise InputError(
            "hierarchical_nb_icb needs to know who decided: pass `agent` to from_arrays, or add a column 'agent' to "
            "the table (or name it with --agent)."
        )
    if clock not in ("own", "calendar"):
        raise InputError(f"clock={clock!r}: it must be 'own' or 'calendar'.")
    if clock == "own" and (is_zero(deviation_covariance) or not is_zero(deviation_innovation_covariance)):
        raise InputError(
            "deviation_covariance=0 and deviation_innovation_covariance are for a shared trend: set clock='calendar'."
        )
    if is_zero(deviation_covariance) and not is_zero(deviation_innovation_covariance):
        raise InputError(
            "deviation_covariance is zero, but deviation_innovation_covariance is not: give deviations a small "
            "positive covariance to start from."
        )
    with decisions_model(decisions) as model:
        features, dims = decisions.sizes["feature"], ("time", "feature")
        decider = model["decider"]

        def covariance(name: str, value: Any) -> Any:
            return as_covariance(hyperparameter(name, value), features)

        alpha = hyperparameter("alpha", alpha)
        unit = log_odds_unit(decisions, alpha)
        innovation, elapsed = innovations(
            decisions, unit, total_movement, innovation_covariance, unit_of_time, clock=clock
        )
        mean = pt.as_tensor(start_mean, dtype="float64") * np.ones(features)
        first = first_covariance(unit, start_scale, start_covariance)
        if clock == "own":
            population = pm.MvNormal("population", mean, first, dims="feature")
            spread = deviation_spread(unit, deviation_scale, deviation_covariance)
            # The total movement, unless the covariance was given instead.
            movement = model.named_vars.get("total_movement", total_movement)
            moments = elapsed + own_session_jumps(decisions, session_movement, movement)
            path = population + AgentWalks("deviation", spread, innovation, moments, decider, dims=dims)
        else:
            path = walk_over_sessions(
                "trend",
                start_mean=mean,
                start_covariance=first,
                innovation_covariance=innovation,
                elapsed=elapsed,
                jumps=session_jumps(decisions, unit, session_movement),
                dims=dims,
            )
            if not is_zero(deviation_covariance):
                spread = deviation_spread(unit, deviation_scale, deviation_covariance)
                if is_zero(deviation_innovation_covariance):
                    path += pm.MvNormal("deviation", np.zeros(features), spread, dims=("agent", "feature"))[decider]
                else:
                    moves = covariance("deviation_innovation_covariance", deviation_innovation_covariance)
                    moments = np.concatenate([[0.0], np.cumsum(elapsed)])
                    path += AgentWalks("deviation", spread, moves, moments, decider, dims=dims)
        belief = pm.Deterministic("belief", path, dims=dims)
        if is_zero(sampling_covariance):
            rho = pm.Deterministic("rho", belief, dims=dims)
        else:
            sampling = covariance("sampling_covariance", sampling_covariance)
            rho = BeliefSample("rho", belief, pt.linalg.cholesky(sampling), dims=dims)
        choose(linear_utility(rho, model["context"], alpha))
    return model


def deviation_spread(unit: Any, scale: Any, covariance: Any) -> Any:
    """D: diag((scale u_i)^2), where u is the unit of `log_odds_unit` and log scale ~ N(log 0.5, 1), or as given."""
    features = pt.as_tensor(unit).type.shape[0]
    if covariance is not None:
        if scale is not None:
            raise InputError("deviation_scale and deviation_covariance both describe deviations: give one of them.")
        return as_covariance(hyperparameter("deviation_covariance", covariance), features)
    prior = pm.LogNormal.dist(np.log(0.5), 1.0) if scale is None else scale
    return as_covariance((hyperparameter("deviation_scale", prior) * unit) ** 2, features)


specify(hierarchical_nb_icb, scenario=centres_scenario)
