"""What every declared model shares: the candidates, the environment, the choice.

A model is a function of decisions. Given decisions it explains the choices that were made; given arrivals (decisions
before anyone has chosen) the same function draws them, so that one declaration both simulates and infers.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from pymc.logprob.abstract import MeasurableOp
from pytensor.tensor.variable import TensorVariable

from icb_pymc.data.decisions import validate, validate_arrivals
from icb_pymc.data.observed_rewards import rewards_of
from icb_pymc.data.schema import CHOSEN_SLOT, CONTEXT_DIMS, IS_REWARD_OBSERVED, OBSERVED_REWARD
from icb_pymc.declare.choice import SoftmaxChoice, linear_utility
from icb_pymc.declare.graph import context_model, has_op
from icb_pymc.declare.processes import as_covariance
from icb_pymc.errors import InputError


def decisions_model(decisions: xr.Dataset) -> pm.Model:
    """Start a model that holds the decisions as data: contexts, availability and (unless they are arrivals) choices.

    An agent may weigh other features than those that an observer records (`reward_context`, the quadratic rewards of
    the paper's appendix): where choices are drawn, `context` is what the agent weighs.

    Parameters
    ----------
    decisions : Dataset
        Decisions, or arrivals: decisions without `chosen`.

    Returns
    -------
    pm.Model
        The model in whose context this is called, if any, so that variables declared there can be used; otherwise a
        new one.

    Raises
    ------
    InputError
        If the decisions or arrivals are not valid, see `icb_pymc.validate`.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import decisions_model
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> model = decisions_model(decisions)
    >>> sorted(model.named_vars)
    ['available', 'chosen_slot', 'context']
    """
    is_decided = "chosen" in decisions
    (validate if is_decided else validate_arrivals)(decisions)
    weighed = "reward_context" if "reward_context" in decisions and not is_decided else "context"
    model = context_model() or pm.Model()
    model.add_coords({dim: decisions[dim].values for dim in CONTEXT_DIMS})
    with model:
        # Data, not constants: large constants defeat compilation caches.
        pm.Data("context", decisions[weighed].values, dims=CONTEXT_DIMS)
        pm.Data("available", decisions["available"].values, dims=("time", "action"))
        if "decider" in decisions:
            model.add_coords({"agent": decisions["agent"].values})
            pm.Data("decider", decisions["decider"].values, dims="time")
        if is_decided:
            pm.Data(CHOSEN_SLOT, decisions["chosen"].values, dims="time")
            reward = rewards_of(decisions)
            if not np.isnan(reward).all():
                # Data of a model cannot hold NaN.
                pm.Data(OBSERVED_REWARD, np.nan_to_num(reward), dims="time")
                pm.Data(IS_REWARD_OBSERVED, ~np.isnan(reward), dims="time")
        elif "true_rho_env" in decisions:
            pm.Data("true_rho_env", decisions["true_rho_env"].values, dims="feature")
    return model


def is_simulated(model: pm.Model) -> bool:
    """Whether choices are to be drawn, because the model was given arrivals."""
    return CHOSEN_SLOT not in model.named_vars


def hyperparameter(name: str, value: Any) -> Any:
    """Turn a distribution such as ``pm.HalfNormal.dist(1)`` into a random variable; return anything else unchanged.

    Parameters
    ----------
    name : str
        Name of the random variable.
    value : number, tensor or distribution
        A known value, an expression of variables of the model, or a prior.

    Returns
    -------
    number or tensor
        The random variable `name` of the current model, or `value`.

    Examples
    --------
    >>> import pymc as pm
    >>> from icb_pymc.declare import hyperparameter
    >>> with pm.Model() as model:
    ...     alpha = hyperparameter("alpha", pm.HalfNormal.dist(20.0))
    ...     sigma = hyperparameter("sigma", 0.1)
    >>> model.free_RVs
    [alpha]
    >>> sigma
    0.1
    """
    if not isinstance(value, TensorVariable) or not has_op(value, MeasurableOp):
        return value
    model = pm.modelcontext(None)
    if value not in model.basic_RVs:
        # A vector with one value for each feature is reported by the features' names.
        by_feature = value.type.shape == (len(model.coords.get("feature") or ()),)
        return model.register_rv(value, name, dims="feature" if by_feature else None)
    return value


def true_preferences(mean: Any = None, covariance: Any = None) -> TensorVariable:
    """rho_env (feature): in a simulation that of the arrivals, if they contain it; otherwise with a Gaussian prior.

    Parameters
    ----------
    mean : number or vector, optional
        Prior mean; -1/k by default.
    covariance : number, vector or matrix, optional
        Prior covariance; (2/k)^2 I by default, wide for weights that sum to one.

    Returns
    -------
    tensor (feature,)
        The random variable `rho_env`, or the data `true_rho_env` of a simulation.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import decisions_model, true_preferences
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> with decisions_model(decisions) as model:
    ...     true_preferences()
    rho_env
    """
    model = pm.modelcontext(None)
    if is_simulated(model) and "true_rho_env" in model.named_vars:
        return model["true_rho_env"]
    features = len(model.coords["feature"])
    return pm.MvNormal(
        "rho_env",
        mu=(-1 / features if mean is None else mean) * np.ones(features),
        cov=as_covariance((2 / features) ** 2 if covariance is None else covariance, features),
        dims="feature",
    )


def uniform_preferences() -> np.ndarray:
    """-1/k: every feature counts the same, and against the candidate.

    Returns
    -------
    array (feature,)

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import decisions_model, uniform_preferences
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> with decisions_model(decisions):
    ...     uniform_preferences()
    array([-0.5, -0.5])
    """
    features = len(pm.modelcontext(None).coords["feature"])
    return np.full(features, -1.0 / features)


def decision_numbers() -> np.ndarray:
    """t = 1, ..., T.

    Returns
    -------
    array of int (time,)

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import decision_numbers, decisions_model
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> with decisions_model(decisions):
    ...     decision_numbers()
    array([1, 2])
    """
    return np.arange(1, len(pm.modelcontext(None).coords["time"]) + 1)


def chosen_context() -> TensorVariable:
    """x_t[a_t], the context of the chosen candidate.

    Returns
    -------
    tensor (time, feature)

    Raises
    ------
    InputError
        If the model was given arrivals, of which none has been chosen yet.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import chosen_context, decisions_model
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> with decisions_model(decisions):
    ...     chosen_context().eval()
    array([[1., 2.],
           [2., 2.]])
    """
    model = pm.modelcontext(None)
    if is_simulated(model):
        raise InputError("what was chosen is not known before anyone has chosen: this model cannot be simulated.")
    return _select_chosen(model["context"], model[CHOSEN_SLOT])


def choose(utility: TensorVariable) -> TensorVariable:
    """Declare the choice, a_t ~ softmax(u_t): observed, or drawn where the model was given arrivals.

    Parameters
    ----------
    utility : tensor (time, action)
        u_t[a], e.g. from `linear_utility`.

    Returns
    -------
    tensor of int (time,)
        The random variable `chosen`.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import choose, decisions_model, linear_utility, uniform_preferences
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> with decisions_model(decisions) as model:
    ...     chosen = choose(linear_utility(uniform_preferences(), model["context"]))
    >>> model.observed_RVs
    [chosen]
    """
    model = pm.modelcontext(None)
    observed = None if is_simulated(model) else model[CHOSEN_SLOT]
    return SoftmaxChoice("chosen", utility, model["available"], observed=observed, dims="time")


def follow(rho: TensorVariable, *, alpha: Any, sigma: Any) -> None:
    """Act on a trajectory rho_t that does not depend on rewards, a_t ~ softmax(alpha <rho_t, x_t[a]>).

    Declares `rho`, `belief` (the same) and `chosen`, and in a simulation with a known rho_env also `reward`.

    Parameters
    ----------
    rho : tensor (time, feature)
        rho_t.
    alpha : number or tensor ()
        Inverse temperature of the softmax.
    sigma : number or tensor ()
        Standard deviation of a reward.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import decision_numbers, decisions_model, follow, true_preferences
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> with decisions_model(decisions) as model:
    ...     follow(true_preferences() / decision_numbers()[:, None], alpha=20.0, sigma=0.1)
    >>> model.deterministics, model.observed_RVs
    ([rho, belief], [chosen])
    """
    model = pm.modelcontext(None)
    pm.Deterministic("rho", rho, dims=("time", "feature"))
    pm.Deterministic("belief", rho, dims=("time", "feature"))
    chosen = choose(linear_utility(rho, model["context"], alpha))
    known = [model[name] for name in ("rho_env", "true_rho_env") if name in model.named_vars]
    if is_simulated(model) and known:
        mean_reward = (_select_chosen(model["context"], chosen) * known[0]).sum(axis=-1)
        pm.Normal("reward", mean_reward, sigma, dims="time")


def _select_chosen(context: TensorVariable, chosen: TensorVariable) -> TensorVariable:
    """x_t[a_t] (time, feature)."""
    return context[pt.arange(chosen.shape[0]), chosen]
