"""An agent that learns: it acts on a belief, receives a reward, and updates the belief."""

from functools import partial
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable

from icb_pymc.data.schema import BELIEF_DIMS, OBSERVED_REWARD
from icb_pymc.declare.agents import Clocks, for_agents, one_clock, own_clocks, scan_of_agents, vectorised
from icb_pymc.declare.beliefs import (
    Belief,
    BeliefSample,
    GaussianBelief,
    bayesian_learning,
    isotropic_belief,
    prediction_error_learning,
)
from icb_pymc.declare.choice import linear_utility, mask_utility
from icb_pymc.declare.learner import Learner, Rule
from icb_pymc.declare.linearity import (
    ActOn,
    Bonus,
    Update,
    acts_on_mean,
    draws_from_belief,
    learns_by_prediction_errors,
)
from icb_pymc.declare.model import (
    choose,
    chosen_context,
    decision_numbers,
    is_simulated,
    true_preferences,
    uniform_preferences,
)
from icb_pymc.declare.prediction_error_ops import gains_of_kalman, path_of_means
from icb_pymc.declare.rewards import LinearReward, received_rewards, seen_rewards
from icb_pymc.declare.scan_over_time import scan_over_time
from icb_pymc.errors import InputError


def starting_belief(sigma: Any, strength: Any = None, mean: Any = None) -> GaussianBelief:
    """N(mean, sigma^2 / strength I): as certain as after `strength` observations of unit length.

    Parameters
    ----------
    sigma : number or tensor ()
        Standard deviation of a reward.
    strength : number or tensor (), optional
        By default T/50, as in the published experiments.
    mean : number or tensor (feature,), optional
        By default -1/k, as in the published experiments.

    Returns
    -------
    GaussianBelief

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.declare import decisions_model, starting_belief
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> with decisions_model(decisions):
    ...     belief = starting_belief(sigma=0.1, strength=4.0)
    >>> belief.mean.eval()
    array([-0.5, -0.5])
    >>> belief.root.eval()
    array([[0.05, 0.  ],
           [0.  , 0.05]])
    """
    uniform = uniform_preferences()
    weight = len(decision_numbers()) / 50 if strength is None else strength
    return isotropic_belief(uniform if mean is None else mean, sigma**2 / weight, len(uniform))


def belief_mean(belief: Belief, noise: TensorVariable) -> TensorVariable:
    """Act on the mean of the belief: the default `act_on` of `learn`."""
    return belief.mean


def learn(
    initial: Belief,
    *,
    update: Update,
    alpha: Any,
    sigma: Any = None,
    act_on: ActOn = belief_mean,
    bonus: Bonus | None = None,
    rule: Rule | None = None,
    rho_env: TensorVariable | None = None,
    each_agent: bool | None = None,
) -> None:
    """Act on a belief and update it with the reward, decision after decision.

    Declares `belief`, `rho`, `reward` and `chosen`. Given decisions, the choices are observed; so are the rewards that
    the log contains, and the others are latent. Given arrivals, both are drawn.

    Parameters
    ----------
    initial : named tuple of tensors with a ``mean``
        Belief beta_1 before the first decision, such as a `GaussianBelief` or a `PointBelief`.
    update : callable
        ``update(belief, chosen_context, reward) -> belief``: the belief-update function f, for one decision.
    alpha : number
        Inverse temperature of the softmax.
    sigma : number, optional
        Standard deviation of the rewards of the environment, N(<rho_env, x_t[a_t]>, sigma^2). Without it nothing is
        said about where rewards come from: there is no rho_env, and the log must contain every reward.
    act_on : callable
        ``act_on(belief, noise) -> rho``: the parameter that the agent acts on; ``noise`` is standard normal, one value
        per feature. By default the mean; `GaussianBelief.draw` is a draw from the belief (Thompson sampling).
    bonus : callable, optional
        ``bonus(belief, context)``: added to the utility alpha <rho, x_t[a]> of each candidate.
    rule : callable, optional
        ``rule(utility, available)``: logarithms of the weights that candidates are chosen with. By default these are
        the utilities, which is a softmax; see `with_lapses` for another.
    rho_env : tensor (feature,), optional
        The reward parameter of the environment; by default that of `true_preferences`.
    each_agent : bool, optional
        Whether every agent has a belief of its own, which only its own decisions change; by default if a parameter is
        that of `of_each_agent`. Otherwise all decisions change one belief.

    Raises
    ------
    InputError
        If the decisions do not say who decided but each agent has a belief of its own, or there is no `sigma` but the
        log does not contain every reward.

    Notes
    -----
    Where the log contains all rewards and the agent acts on the mean, beliefs are a function of the parameters: nothing
    else is latent, and NUTS samples the parameters. For updates by prediction errors of a `PointBelief`,
    `bayesian_update` and `kalman_update` a gradient then takes well below a millisecond. An agent that perceives
    outcomes (survival or death, coded as 1 and -1) as rewards of an unknown size c is declared by an update that learns
    from ``c * reward``.

    An update by prediction errors whose gains do not depend on rewards makes beliefs linear in the rewards, and the
    engine then samples the posterior. Equation 1, delta rules and forgetting are such updates; they are recognised from
    their graph and by evaluating them. Any other learner is declared with standard normal noise, which suits NUTS.

    Examples
    --------
    A delta rule, mu_{t+1} = mu_t + eta (r_t - <mu_t, x>) x with x = x_t[a_t]:

    >>> import icb_pymc
    >>> from icb_pymc.declare import PointBelief, decisions_model, learn, uniform_preferences
    >>> decisions = icb_pymc.from_arrays([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 2.0]]], [0, 1])
    >>> def delta_rule(belief, context, reward, eta=0.2):
    ...     prediction_error = reward - (belief.mean * context).sum()
    ...     return PointBelief(belief.mean + eta * prediction_error * context)
    >>> with decisions_model(decisions) as model:
    ...     learn(PointBelief(uniform_preferences()), update=delta_rule, alpha=20.0, sigma=0.1)
    >>> model.free_RVs, model.deterministics, model.observed_RVs
    ([rho_env, reward], [belief, rho], [chosen])
    """
    model = pm.modelcontext(None)
    if sigma is None:
        _need_all_rewards(model)
    elif rho_env is None:
        rho_env = true_preferences()
    initial = type(initial)(*(pt.as_tensor(field, dtype="float64") for field in initial))
    learner = Learner(initial, update, act_on, bonus, rule, alpha, sigma, rho_env)
    if each_agent or (each_agent is None and learner.differs_between_agents):
        learner = learner._replace(clocks=own_clocks(model))
    if is_simulated(model):
        _simulate(learner)
        return
    first = learner.of_first
    is_linear = learns_by_prediction_errors(first.initial, first.update, first.bonus)
    if seen_rewards(model).all() and is_linear and learner.has_closed_path:
        _infer_parameters(learner)
    elif learner.clocks is None and rule is None and np.ndim(alpha) == 0 and sigma is not None and is_linear:
        _infer_linear(learner)
    else:
        _infer(learner)


def _simulate(learner: Learner) -> None:
    """Declare the simulation of a learner, as one scan.

    The noise of each decision is declared outside of it (a softmax choice is the argmax of utility plus Gumbel noise):
    the scan is then deterministic and runs an order of magnitude faster than one that calls a random generator at each
    step.
    """
    model = pm.modelcontext(None)
    rho_noise = pm.Normal("rho_noise", dims=BELIEF_DIMS)
    choice_noise = pm.Gumbel("choice_noise", mu=0.0, beta=1.0, dims=("time", "action"))
    reward_noise = pm.Normal("reward_noise", dims="time")

    def one_decision(
        context: TensorVariable,
        available: TensorVariable,
        rho_noise: TensorVariable,
        choice_noise: TensorVariable,
        reward_noise: TensorVariable,
        *fields: TensorVariable,
    ) -> tuple[TensorVariable, ...]:
        belief = learner.belief(*fields)
        rho, weight = learner.decide(belief, context, available, rho_noise)
        chosen = pt.argmax(mask_utility(weight, available) + choice_noise)
        reward = (learner.rho_env * context[chosen]).sum() + learner.sigma * reward_noise
        return (*learner.update(belief, context[chosen], reward), belief.mean, rho, chosen, reward)

    sequences = [model["context"], model["available"], rho_noise, choice_noise, reward_noise]
    *_, mean, rho, chosen, reward = scan_of_agents(
        one_decision, sequences, list(learner.initial), others=4, clocks=learner.clocks
    )
    pm.Deterministic("belief", mean, dims=BELIEF_DIMS)
    pm.Deterministic("rho", rho, dims=BELIEF_DIMS)
    pm.Deterministic("chosen", chosen, dims="time")
    pm.Deterministic("reward", reward, dims="time")


def _infer_linear(learner: Learner) -> None:
    """Declare beliefs that are linear in rewards, with rewards and rho as variables that our steps recognise."""
    is_drawn = draws_from_belief(learner.initial, learner.act_on)
    if not is_drawn and not acts_on_mean(learner.initial, learner.act_on):
        _infer(learner)
        return
    model = pm.modelcontext(None)
    taken = chosen_context()
    assert learner.rho_env is not None
    reward = received_rewards(learner.rho_env, taken, learner.sigma)
    bonus = None
    if learner.bonus is None and learner.follows_equation_1:
        beliefs = bayesian_learning(learner.initial, taken, reward, learner.sigma)
    else:
        gain, rest, bonus = _without_rewards(learner, taken)
        beliefs = learner.belief(prediction_error_learning(learner.initial.mean, gain, taken, reward), *rest)
    pm.Deterministic("belief", beliefs.mean, dims=BELIEF_DIMS)
    if is_drawn:
        rho = BeliefSample("rho", beliefs.mean, beliefs.root, dims=BELIEF_DIMS)
    else:
        rho = pm.Deterministic("rho", beliefs.mean, dims=BELIEF_DIMS)
    choose(linear_utility(rho, model["context"], learner.alpha, bonus))


def _without_rewards(
    learner: Learner, taken: TensorVariable
) -> tuple[TensorVariable, list[TensorVariable], TensorVariable | None]:
    """Gains (time - 1, feature), the fields of the beliefs other than the mean, and bonuses (time, action).

    None of them depends on the rewards. Their graph does not contain the rewards either, which is how steps recognise
    it.
    """
    model, initial = pm.modelcontext(None), learner.initial
    zero = pt.zeros_like(initial.mean)

    def one_decision(
        context: TensorVariable, taken: TensorVariable, *rest: TensorVariable
    ) -> tuple[TensorVariable, ...]:
        belief = learner.belief(zero, *rest)
        gain, *later = learner.update(belief, taken, pt.as_tensor(1.0))
        bonus = pt.zeros(()) if learner.bonus is None else learner.bonus(belief, context)
        return (*later, gain, bonus)

    *rest, gain, bonus = scan_over_time(one_decision, [model["context"], taken], list(initial[1:]), others=2)
    paths = [pt.concatenate([first[None], later[:-1]]) for first, later in zip(initial[1:], rest, strict=True)]
    return gain[:-1], paths, None if learner.bonus is None else bonus


def _infer_parameters(learner: Learner) -> None:
    """Declare beliefs that are functions of the parameters alone, since all rewards are known."""
    model = pm.modelcontext(None)
    taken, reward = chosen_context(), _observe_rewards(learner)
    clocks = learner.clocks or one_clock(len(model.coords["time"]))
    contexts, rewards = taken[clocks.position], reward[clocks.position]
    if len(learner.initial) == 1:
        gain = _gains_without_memory(learner, contexts, clocks)
    else:
        assert isinstance(learner.update, partial)
        given = {"memory": 1.0, "drift": 0.0} | learner.update.keywords
        parameters = [
            for_agents(pt.as_tensor(value, dtype="float64"), clocks.agents)
            for value in (given["sigma"] ** 2, given["memory"], given["drift"])
        ]
        root = for_agents(learner.initial.root, clocks.agents)
        covariance = (root[:, :, None, :] * root[:, None, :, :]).sum(axis=-1)
        gain = gains_of_kalman(covariance, contexts, *parameters)
    path = path_of_means(for_agents(learner.initial.mean, clocks.agents), gain, contexts, rewards)
    mean = pm.Deterministic("belief", clocks.in_log(path), dims=BELIEF_DIMS)
    rho = pm.Deterministic("rho", mean, dims=BELIEF_DIMS)

    shown = model["context"], model["available"], rho
    context, available, weights = (sequence[0].type() for sequence in shown)
    blank = [pt.zeros_like(field) for field in learner.initial[1:]]
    _, weight = learner.decide(learner.belief(weights, *blank), context, available, pt.zeros_like(weights))
    batches = dict(zip((context, available, weights), shown, strict=True))
    (weight,) = vectorised([weight], batches, (len(clocks.agent),), lambda of_all: of_all[clocks.agent])
    choose(weight)


def _gains_without_memory(learner: Learner, contexts: TensorVariable, clocks: Clocks) -> TensorVariable:
    """Gains (N, J, feature) of a belief that consists of a mean: they depend on the context alone."""
    context = contexts[0, 0].type()
    (gain,) = learner.update(learner.belief(pt.zeros_like(context)), context, pt.as_tensor(1.0))
    # The parameters of agents are the same for all of their decisions.
    return vectorised([gain], {context: contexts}, clocks.position.shape, lambda of_all: of_all[None, :])[0]


def _infer(learner: Learner) -> None:
    """Declare any learner, with standard normal noise for what was not observed."""
    model = pm.modelcontext(None)
    taken = chosen_context()
    is_known = seen_rewards(model).all()
    reward = _observe_rewards(learner) if is_known else _rewards_with_noise(learner, taken)
    needs_noise = not acts_on_mean(learner.of_first.initial, learner.act_on)
    noise = pm.Normal("rho_noise", dims=BELIEF_DIMS) if needs_noise else pt.zeros_like(taken)

    def one_decision(
        context: TensorVariable,
        available: TensorVariable,
        taken: TensorVariable,
        reward: TensorVariable,
        noise: TensorVariable,
        *fields: TensorVariable,
    ) -> tuple[TensorVariable, ...]:
        belief = learner.belief(*fields)
        rho, weight = learner.decide(belief, context, available, noise)
        return (*learner.update(belief, taken, reward), belief.mean, rho, weight)

    sequences = [model["context"], model["available"], taken, reward, noise]
    *_, mean, rho, weight = scan_of_agents(
        one_decision, sequences, list(learner.initial), others=3, clocks=learner.clocks
    )
    pm.Deterministic("belief", mean, dims=BELIEF_DIMS)
    pm.Deterministic("rho", rho, dims=BELIEF_DIMS)
    if not is_known:
        pm.Deterministic("reward", reward, dims="time")
    choose(weight)


def _observe_rewards(learner: Learner) -> TensorVariable:
    """All rewards, as data; they tell about rho_env if there is one."""
    model = pm.modelcontext(None)
    if learner.rho_env is None:
        return model[OBSERVED_REWARD]
    return received_rewards(learner.rho_env, chosen_context(), learner.sigma)


def _rewards_with_noise(learner: Learner, taken: TensorVariable) -> TensorVariable:
    """Rewards as functions of standard normal noise, and where the log contains them as observed."""
    model = pm.modelcontext(None)
    mean = (taken * learner.rho_env).sum(axis=-1)
    is_seen = seen_rewards(model)
    if not is_seen.any():
        return mean + learner.sigma * pm.Normal("reward_noise", dims="time")
    seen, hidden = np.flatnonzero(is_seen), np.flatnonzero(~is_seen)
    model.add_coord("unobserved", hidden)
    values = pm.Data("reward_recorded", model[OBSERVED_REWARD].get_value()[seen])
    assert learner.rho_env is not None
    LinearReward("reward_observed", learner.rho_env, taken[seen], learner.sigma, observed=values)
    latent = mean[hidden] + learner.sigma * pm.Normal("reward_noise", dims="unobserved")
    return pt.set_subtensor(model[OBSERVED_REWARD][hidden], latent)


def _need_all_rewards(model: pm.Model) -> None:
    """Raise `InputError` unless the log contains every reward."""
    if is_simulated(model):
        raise InputError(
            "this learner says nothing about where rewards come from, so it cannot be simulated: give sigma."
        )
    missing = np.flatnonzero(~seen_rewards(model))
    if len(missing):
        raise InputError(
            f"the reward of decision number {missing[0] + 1} is missing, and this learner says nothing about where "
            "rewards come from: give `reward` for every decision, or sigma to infer those that were not observed."
        )
