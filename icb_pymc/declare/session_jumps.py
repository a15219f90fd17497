"""Priorities that may jump between sessions: a random walk whose innovation at a boundary has a covariance of its
own."""

import warnings
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from pytensor.tensor.variable import TensorVariable

from icb_pymc.data.sessions import session_boundaries
from icb_pymc.declare.model import hyperparameter
from icb_pymc.declare.priors import is_zero
from icb_pymc.declare.processes import LinearProcess, WienerProcess, as_covariance
from icb_pymc.errors import InputError, InputWarning

# Median, and standard deviation of the logarithm, of the scale of all jumps together, in log-odds per typical
# difference: below that of the movement within sessions, with room for none.
JUMPS = (0.3, 1.0)


def session_jumps(
    decisions: xr.Dataset, unit: Any, session_movement: Any = None, covariance: Any = None
) -> tuple[TensorVariable, np.ndarray] | None:
    """Covariance of the jump at a boundary between sessions, and where the boundaries are: v^2 diag(u_i^2) / B.

    The movement of all B boundaries together is learnt, log v ~ N(log 0.3, 1).

    Parameters
    ----------
    decisions : Dataset
    unit : array or tensor (feature,)
        From `log_odds_unit`.
    session_movement : number or distribution, optional
        v (`session_movement`), or another prior for it; a vector has one for each feature, and 0 means no jumps.
    covariance : number, vector or matrix, optional
        The covariance itself (`session_covariance`), of the jump at one boundary.

    Returns
    -------
    covariance : tensor (feature, feature)
    boundaries : array
        Positions of the first decisions of all sessions but the first. None instead of both if there are no jumps.

    Raises
    ------
    InputError
        If both are given, or either where the decisions have no boundaries between sessions.

    Warns
    -----
    InputWarning
        If sessions of several agents overlap, so that there are no boundaries common to all.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import log_odds_unit, session_jumps
    >>> decisions = icb_pymc.from_arrays([[[1.0], [0.0]]] * 5, [0, 1, 0, 1, 0], session=[1, 1, 2, 3, 3])
    >>> covariance, boundaries = session_jumps(decisions, log_odds_unit(decisions), session_movement=2.0)
    >>> covariance.eval(), boundaries
    (array([[2.]]), array([2, 3]))
    """
    if session_movement is not None and covariance is not None:
        raise InputError("session_movement and session_covariance both describe the jumps: give one of them.")
    is_asked = session_movement is not None or covariance is not None
    try:
        boundaries = session_boundaries(decisions)
    except InputError as error:
        if is_asked:
            raise
        warnings.warn(f"weights have no jumps between sessions here: {error}", InputWarning, stacklevel=3)
        return None
    if is_zero(session_movement) or is_zero(covariance):
        return None
    if len(boundaries) == 0:
        if is_asked:
            raise InputError(
                "there are no boundaries between sessions in the decisions: name the column of the session (--session)."
            )
        return None
    features = decisions.sizes["feature"]
    if covariance is not None:
        return as_covariance(hyperparameter("session_covariance", covariance), features), boundaries
    prior = pm.LogNormal.dist(np.log(JUMPS[0]), JUMPS[1]) if session_movement is None else session_movement
    movement = hyperparameter("session_movement", prior)
    return as_covariance((movement * unit) ** 2 / len(boundaries), features), boundaries


def own_session_jumps(decisions: xr.Dataset, session_movement: Any = None, total_movement: Any = None) -> Any:
    """What jumps between sessions add to the clock of each agent: (v / w)^2 b_{j,t} / B, (time,).

    A walk whose innovations have covariance w^2 diag(u_i^2) per unit of the clock then jumps by v^2 diag(u_i^2) / B at
    each boundary, where w is the total movement, b_{j,t} counts the boundaries of agent j until t, and B is the largest
    number of boundaries of an agent.

    Parameters
    ----------
    decisions : Dataset
        Decisions that say who decided; sessions of different agents may overlap.
    session_movement : number or distribution, optional
        v (`session_movement`), or another prior for it; log v ~ N(log 0.3, 1) by default, and 0 means no jumps.
    total_movement : number or tensor, optional
        w; without it, or if it is one for each feature, there are no jumps.

    Returns
    -------
    array or tensor (time,)
        Zeros if there are no jumps.

    Raises
    ------
    InputError
        If jumps are asked for where there are no boundaries or no single total movement.

    Warns
    -----
    InputWarning
        If there are boundaries, but no single total movement.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import decisions_model, own_session_jumps
    >>> decisions = icb_pymc.from_arrays(
    ...     [[[1.0], [0.0]]] * 5, [0, 1, 0, 1, 0], agent=["Ada", "Bo"] * 2 + ["Bo"], session=[1, 1, 2, 1, 2]
    ... )
    >>> with decisions_model(decisions):
    ...     own_session_jumps(decisions, session_movement=2.0, total_movement=1.0)
    array([0., 0., 4., 0., 4.])
    """
    count = _own_boundaries(decisions)
    none = np.zeros(decisions.sizes["time"])
    if is_zero(session_movement):
        return none
    reason = None
    if not count.any():
        reason = "there are no boundaries between sessions in the decisions: name the column of the session (--session)"
    elif total_movement is None or _is_vector(total_movement):
        reason = "jumps of agents with clocks of their own need a total_movement that all features share"
    if reason is not None:
        if session_movement is not None:
            raise InputError(f"session_movement: {reason}.")
        if count.any():
            warnings.warn(f"weights have no jumps between sessions here: {reason}.", InputWarning, stacklevel=3)
        return none
    prior = pm.LogNormal.dist(np.log(JUMPS[0]), JUMPS[1]) if session_movement is None else session_movement
    jumps = hyperparameter("session_movement", prior)
    return (jumps / total_movement) ** 2 * count / count.max()


def _is_vector(value: Any) -> bool:
    return bool(value.ndim if hasattr(value, "ndim") else np.ndim(value))


def _own_boundaries(decisions: xr.Dataset) -> np.ndarray:
    """How many sessions each agent has ended before each decision (time,)."""
    count = np.zeros(decisions.sizes["time"])
    if "session" not in decisions:
        return count
    session, decider = decisions["session"].values, decisions["decider"].values
    for agent in np.unique(decider):
        own = np.flatnonzero(decider == agent)
        count[own[1:]] = np.cumsum(session[own[1:]] != session[own[:-1]])
    return count


def warn_of_unused_sessions(decisions: xr.Dataset, model: str, instead: str) -> None:
    """Say in one sentence that a model does not use the sessions of the decisions, if they have several.

    Parameters
    ----------
    decisions : Dataset
    model : str
        Its name.
    instead : str
        What the model assumes about boundaries.

    Warns
    -----
    InputWarning
        If there are several sessions.

    Examples
    --------
    >>> import icb_pymc, warnings
    >>> from icb_pymc.declare import warn_of_unused_sessions
    >>> decisions = icb_pymc.from_arrays([[[1.0], [0.0]]] * 2, [0, 1], session=[1, 2])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warn_of_unused_sessions(decisions, "b_irl", "weights never change")
    >>> print(caught[0].message)
    'b_irl' does not use the boundaries between sessions: weights never change.
    """
    if "session" in decisions and len(np.unique(decisions["session"].values)) > 1:
        message = f"'{model}' does not use the boundaries between sessions: {instead}."
        warnings.warn(message, InputWarning, stacklevel=3)


def walk_over_sessions(
    name: str,
    *,
    start_mean: Any,
    start_covariance: Any,
    innovation_covariance: Any,
    elapsed: np.ndarray,
    jumps: tuple[TensorVariable, np.ndarray] | None,
    **kwargs: Any,
) -> TensorVariable:
    """A random walk beta_t ~ N(beta_{t-1}, Delta_t Sigma_B + b_t Sigma_S), b_t = 1 at the boundaries of sessions.

    Parameters
    ----------
    name : str
        Name of the variable in the model.
    start_mean : tensor (feature,)
        Mean of the first belief.
    start_covariance : tensor (feature, feature)
        Covariance of the first belief.
    innovation_covariance : tensor (feature, feature)
        Sigma_B, over one unit of time.
    elapsed : array (time - 1,)
        Delta_t.
    jumps : tuple or None
        Sigma_S and the positions of the boundaries, from `session_jumps`; a `WienerProcess` without.
    **kwargs
        Passed to the distribution, such as ``dims=("time", "feature")``.

    Returns
    -------
    tensor (time, feature)

    Examples
    --------
    >>> import numpy as np
    >>> import pymc as pm
    >>> from icb_pymc.declare import walk_over_sessions
    >>> with pm.Model() as model:
    ...     belief = walk_over_sessions(
    ...         "belief",
    ...         start_mean=np.zeros(1),
    ...         start_covariance=np.eye(1),
    ...         innovation_covariance=np.eye(1),
    ...         elapsed=np.ones(3),
    ...         jumps=(9 * np.eye(1), np.array([2])),
    ...     )
    >>> belief.owner.inputs[-2].eval()[:, 0, 0]
    array([ 1., 10.,  1.])
    """
    if jumps is None:
        given = (start_mean, start_covariance, innovation_covariance)
        return WienerProcess(name, *given, elapsed=elapsed, **kwargs)
    jump, boundaries = jumps
    begins = np.zeros(len(elapsed))
    begins[boundaries - 1] = 1.0
    covariance = elapsed[:, None, None] * pt.as_tensor(innovation_covariance) + begins[:, None, None] * pt.as_tensor(
        jump
    )
    stays = np.eye(covariance.type.shape[-1] or len(pm.modelcontext(None).coords["feature"]))
    return LinearProcess(name, start_mean, start_covariance, stays, covariance, **kwargs)
