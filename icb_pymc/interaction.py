"""Parts to declare an agent with: what arrives, a script to follow, or learning by acting."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import xarray as xr
from pytensor.tensor.variable import TensorVariable

from icb_pymc.beliefs import GaussianBelief, isotropic_belief
from icb_pymc.decisions import validate_arrivals
from icb_pymc.errors import InputError
from icb_pymc.policy import SoftmaxChoice, linear_utility, mask_utility

ActOn = Callable[[GaussianBelief, TensorVariable], TensorVariable]
Bonus = Callable[[GaussianBelief, TensorVariable], TensorVariable]
Update = Callable[[GaussianBelief, TensorVariable, TensorVariable], GaussianBelief]


def arrivals_model(arrivals: xr.Dataset) -> pm.Model:
    """A model that holds what arrives: contexts, who is available, and rho_env where it is known.

    An agent may weigh other features than those that an observer records (`reward_context`, the quadratic
    rewards of the paper's appendix); `context` is then what the agent weighs.
    """
    validate_arrivals(arrivals)
    weighed = arrivals["reward_context"] if "reward_context" in arrivals else arrivals["context"]
    coords = {dim: arrivals[dim].values for dim in weighed.dims}
    with pm.Model(coords=coords) as model:
        pm.Data("context", weighed.values, dims=("time", "action", "feature"))
        pm.Data("available", arrivals["available"].values, dims=("time", "action"))
        if "true_rho_env" in arrivals:
            pm.Data("rho_env", arrivals["true_rho_env"].values, dims="feature")
    return model


def rho_env_of(model: pm.Model) -> TensorVariable:
    """The true reward parameter rho_env of the environment."""
    if "rho_env" not in model.named_vars:
        raise InputError("this agent needs an environment with a known rho_env ('true_rho_env').")
    return model["rho_env"]


def uniform_preferences(model: pm.Model) -> np.ndarray:
    """-1/k: every feature counts the same, and against the candidate."""
    features = model.dim_lengths["feature"].eval()
    return np.full(features, -1.0 / features)


def starting_belief(model: pm.Model, sigma: float, strength: float | None) -> GaussianBelief:
    """N(-1/k, sigma^2 / strength I): as sure as after `strength` unit-length observations.

    The published experiments use a strength of T/50, the default.
    """
    uniform = uniform_preferences(model)
    weight = len(steps(model)) / 50 if strength is None else strength
    return isotropic_belief(uniform, sigma**2 / weight, len(uniform))


def steps(model: pm.Model) -> np.ndarray:
    """t = 1, ..., T."""
    return np.arange(1, int(model.dim_lengths["time"].eval()) + 1)


def follow_script(rho: TensorVariable, *, alpha: Any, sigma: Any) -> None:
    """Act on a given trajectory rho_t: the choice is the softmax of alpha <rho_t, x_t[a]>."""
    model = pm.modelcontext(None)
    rho = pm.Deterministic("rho", rho, dims=("time", "feature"))
    pm.Deterministic("belief", rho, dims=("time", "feature"))
    utility = linear_utility(rho, model["context"], alpha)
    chosen = SoftmaxChoice("chosen", utility, model["available"], dims="time")
    if "rho_env" in model.named_vars:
        steps = pt.arange(chosen.shape[0])
        mean_reward = (model["context"][steps, chosen] * model["rho_env"]).sum(axis=-1)
        pm.Normal("reward", mean_reward, sigma, dims="time")


def learn_by_acting(
    initial: GaussianBelief,
    *,
    act_on: ActOn,
    update: Update,
    alpha: Any,
    sigma: Any,
    bonus: Bonus | None = None,
) -> None:
    """Act on a belief and update it by the reward, decision after decision, as one scan.

    Parameters
    ----------
    initial : GaussianBelief
        Belief beta_1 before the first decision.
    act_on : callable
        ``act_on(belief, noise) -> rho``: the parameter acted upon; ``noise`` is standard normal, one value
        per feature.
    update : callable
        ``update(belief, chosen_context, reward) -> belief``: the belief-update function f.
    alpha : float
        Inverse temperature of the softmax.
    sigma : float
        Standard deviation of the rewards of the environment, N(<rho_env, x_t[a_t]>, sigma^2).
    bonus : callable, optional
        ``bonus(belief, context)``: what is added to the utility alpha <rho, x_t[a]> of each candidate.

    Notes
    -----
    The randomness of each decision is declared outside the scan (a softmax choice is the argmax of utility
    plus Gumbel noise): the scan is then deterministic and runs an order of magnitude faster than one that
    calls a random generator at each step.
    """
    model = pm.modelcontext(None)
    context, available = model["context"], model["available"]
    rho_noise = pm.Normal("rho_noise", dims=("time", "feature"))
    choice_noise = pm.Gumbel("choice_noise", mu=0.0, beta=1.0, dims=("time", "action"))
    reward_noise = pm.Normal("reward_noise", dims="time")

    def one_decision(
        context_t: TensorVariable,
        available_t: TensorVariable,
        rho_noise_t: TensorVariable,
        choice_noise_t: TensorVariable,
        reward_noise_t: TensorVariable,
        mean: TensorVariable,
        root: TensorVariable,
        rho_env: TensorVariable,
    ) -> tuple[TensorVariable, ...]:
        belief = GaussianBelief(mean, root)
        rho = act_on(belief, rho_noise_t)
        utility = alpha * (context_t * rho).sum(axis=-1)
        if bonus is not None:
            utility = utility + bonus(belief, context_t)
        chosen = pt.argmax(mask_utility(utility, available_t) + choice_noise_t)
        reward = (rho_env * context_t[chosen]).sum() + sigma * reward_noise_t
        return (*update(belief, context_t[chosen], reward), rho, chosen, reward)

    means, _, rho, chosen, reward = pytensor.scan(
        one_decision,
        sequences=[context, available, rho_noise, choice_noise, reward_noise],
        outputs_info=[initial.mean, initial.root, None, None, None],
        non_sequences=[rho_env_of(model)],
        return_updates=False,
    )
    belief = pt.concatenate([initial.mean[None], means[:-1]])
    pm.Deterministic("belief", belief, dims=("time", "feature"))
    pm.Deterministic("rho", rho, dims=("time", "feature"))
    pm.Deterministic("chosen", chosen, dims="time")
    pm.Deterministic("reward", reward, dims="time")
