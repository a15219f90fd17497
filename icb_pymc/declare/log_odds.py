"""Default priors in log-odds, which fit features of any scale and logs of any length.

Choices tell only alpha times a weight times a difference between candidates. So the default priors speak of that
product for a *typical difference* d_i in feature i (`contrast_spread`): a weight of 1 / (alpha d_i) changes the
log-odds of two such candidates by one. How far weights move is stated for the whole log, not for one decision.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from pytensor.tensor.variable import TensorVariable

from icb_pymc.data.clocks import elapsed_time, own_moments, shares_of_time
from icb_pymc.data.standardisation import contrast_spread
from icb_pymc.declare.model import hyperparameter
from icb_pymc.declare.priors import is_zero
from icb_pymc.declare.processes import as_covariance
from icb_pymc.errors import InputError

# Log-odds per typical difference: median, and standard deviation of the logarithm, of the scale of the first weights
# and of the scale of their movement over the whole log. Chosen on simulated logs of 100, 500 and 2,000 decisions, where
# the belief error hardly depends on either. A movement of 0.1 cannot be told from none; the few decisions of a short
# log would allow movements without bound, which the narrower prior does not.
START = (1.5, 1.0)
MOVEMENT = (0.5, 0.7)


def log_odds_unit(decisions: xr.Dataset, alpha: Any = 1.0) -> Any:
    """The weight of each feature at which a typical difference changes log-odds by one: 1 / (alpha d_i).

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals without choices.
    alpha : number or tensor
        Inverse temperature of the softmax.

    Returns
    -------
    array or tensor (feature,)

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import log_odds_unit
    >>> decisions = icb_pymc.from_arrays([[[50.0, 1.0], [56.0, 3.0]], [[48.0, 4.0], [40.0, 4.0]]], [0, 1])
    >>> log_odds_unit(decisions).round(3)
    array([0.141, 0.707])
    """
    with np.errstate(divide="ignore"):
        return 1.0 / (alpha * contrast_spread(decisions))


def check_unit(unit: Any) -> None:
    """Raise InputError if weights have no unit, as for alpha = 0, where a default prior needs one."""
    if isinstance(unit, np.ndarray) and not np.isfinite(unit).all():
        raise InputError(
            "alpha=0: choices do not depend on weights, and default priors, which are in log-odds, are not defined; "
            "give a positive alpha, or all covariances."
        )


def first_covariance(unit: Any, scale: Any = None, covariance: Any = None) -> TensorVariable:
    """Covariance of the first belief: diag((s_0 u_i)^2), u the unit and log s_0 ~ N(log 1.5, 1).

    Parameters
    ----------
    unit : array or tensor (feature,)
        From `log_odds_unit`.
    scale : number or distribution, optional
        s_0 (`start_scale`), or another prior for it.
    covariance : number, vector or matrix, optional
        The covariance itself, instead of a scale.

    Returns
    -------
    tensor (feature, feature)

    Raises
    ------
    InputError
        If both a scale and a covariance are given.

    Examples
    --------
    >>> import numpy as np
    >>> from icb_pymc.declare import first_covariance
    >>> first_covariance(np.array([1.0, 0.5]), scale=2.0).eval()
    array([[4., 0.],
           [0., 1.]])
    """
    # Known when the model is declared, although the unit itself varies with an alpha that is learnt.
    features = pt.as_tensor(unit).type.shape[0]
    if covariance is not None:
        if scale is not None:
            raise InputError("start_scale and start_covariance both describe the first belief: give one of them.")
        return as_covariance(covariance, features)
    check_unit(unit)
    prior = _around(*START) if scale is None else scale
    return as_covariance((hyperparameter("start_scale", prior) * unit) ** 2, features)


def innovations(
    decisions: xr.Dataset,
    unit: Any,
    total_movement: Any = None,
    covariance: Any = None,
    unit_of_time: str | None = None,
    clock: str = "calendar",
) -> tuple[TensorVariable, np.ndarray]:
    """Covariance of an innovation, and the time it is multiplied by: w^2 diag(u_i^2) times the share of the log.

    The total movement is learnt, log w ~ N(log 0.5, 0.7^2): a weight moves by about w u_i from the first decision to
    the last, however many there are. Time is real time where the decisions have dates, and their number where they do
    not.

    Parameters
    ----------
    decisions : Dataset
    unit : array or tensor (feature,)
        From `log_odds_unit`.
    total_movement : number or distribution, optional
        w (`total_movement`), or another prior for it; a vector has one for each feature.
    covariance : number, vector or matrix, optional
        The covariance itself (`innovation_covariance`), per decision or per unit of time.
    unit_of_time : str, optional
        Like ``"30D"``, or ``"decision"`` to count decisions although they have dates.
    clock : {"calendar", "own"}
        Whether time passes for all agents together, or for each agent only between its own decisions.

    Returns
    -------
    covariance : tensor (feature, feature)
    elapsed : array (time - 1,), or (time,)
        The time between decisions; with clocks of agents, when each decision is made on the clock of its agent.

    Raises
    ------
    InputError
        If the arguments contradict each other, the total movement is zero, or the unit does not fit the times.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import innovations, log_odds_unit
    >>> decisions = icb_pymc.from_arrays([[[1.0], [0.0]]] * 5, [0, 1, 0, 1, 0])
    >>> covariance, elapsed = innovations(decisions, log_odds_unit(decisions), total_movement=2.0)
    >>> covariance.eval(), elapsed
    (array([[4.]]), array([0.25, 0.25, 0.25, 0.25]))
    """
    features = decisions.sizes["feature"]
    if covariance is not None:
        if total_movement is not None:
            raise InputError(
                "innovation_covariance says how far weights move per decision, total_movement how far over the whole "
                "log: give one of them."
            )
        variance = hyperparameter("innovation_covariance", covariance)
        if clock == "own":
            return as_covariance(variance, features), own_moments(decisions, unit_of_time, as_shares=False)
        return as_covariance(variance, features), elapsed_time(decisions, unit_of_time)
    if is_zero(total_movement):
        instead = "fit 'b_irl', which assumes that" if clock == "calendar" else "give a small one, such as 0.01"
        raise InputError(f"total_movement is zero, so that weights never change: {instead}.")
    check_unit(unit)
    movement = hyperparameter("total_movement", _around(*MOVEMENT) if total_movement is None else total_movement)
    shares = own_moments if clock == "own" else shares_of_time
    return as_covariance((movement * unit) ** 2, features), shares(decisions, unit_of_time)


def _around(median: float, log_sd: float) -> TensorVariable:
    return pm.LogNormal.dist(np.log(median), log_sd)
