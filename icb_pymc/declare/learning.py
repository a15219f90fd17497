"""An agent that learns: it acts on a belief, receives a reward, and updates the belief."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable

from icb_pymc.data.schema import BELIEF_DIMS
from icb_pymc.declare.beliefs import (
    Belief,
    BeliefSample,
    GaussianBelief,
    bayesian_learning,
    bayesian_update,
    isotropic_belief,
    prediction_error_learning,
)
from icb_pymc.declare.choice import linear_utility, mask_utility
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
from icb_pymc.declare.rewards import received_rewards
from icb_pymc.declare.scan_over_time import scan_over_time

Rule = Callable[[TensorVariable, TensorVariable], TensorVariable]


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
    sigma: Any,
    act_on: ActOn = belief_mean,
    bonus: Bonus | None = None,
    rule: Rule | None = None,
    rho_env: TensorVariable | None = None,
) -> None:
    """Act on a belief and update it with the reward, decision after decision.

    Declares `belief`, `rho`, `reward` and `chosen`. Given decisions, the choices are observed and the rewards are
    latent, since the log does not record them. Given arrivals, both are drawn.

    Parameters
    ----------
    initial : named tuple of tensors with a ``mean``
        Belief beta_1 before the first decision, such as a `GaussianBelief` or a `PointBelief`.
    update : callable
        ``update(belief, chosen_context, reward) -> belief``: the belief-update function f, for one decision.
    alpha : number
        Inverse temperature of the softmax.
    sigma : number
        Standard deviation of the rewards of the environment, N(<rho_env, x_t[a_t]>, sigma^2).
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

    Notes
    -----
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
    rho_env = true_preferences() if rho_env is None else rho_env
    initial = type(initial)(*(pt.as_tensor(field, dtype="float64") for field in initial))
    learner = Learner(initial, update, act_on, bonus, rule, alpha, sigma, rho_env)
    if is_simulated(pm.modelcontext(None)):
        _simulate(learner)
    elif rule is None and np.ndim(alpha) == 0 and learns_by_prediction_errors(initial, update, bonus):
        _infer_linear(learner)
    else:
        _infer(learner)


class Learner(NamedTuple):
    """The arguments of `learn`."""

    initial: Belief
    update: Update
    act_on: ActOn
    bonus: Bonus | None
    rule: Rule | None
    alpha: Any
    sigma: Any
    rho_env: TensorVariable

    def belief(self, *fields: TensorVariable) -> Belief:
        """A belief of the same type as `initial`."""
        return type(self.initial)(*fields)

    def decide(
        self, belief: Belief, context: TensorVariable, available: TensorVariable, noise: TensorVariable
    ) -> tuple[TensorVariable, TensorVariable]:
        """The rho of one decision, and the logarithms of the candidates' weights."""
        rho = self.act_on(belief, noise)
        utility = self.alpha * (context * rho).sum(axis=-1)
        if self.bonus is not None:
            utility = utility + self.bonus(belief, context)
        return rho, utility if self.rule is None else self.rule(utility, available)

    @property
    def follows_equation_1(self) -> bool:
        """Whether the update is `bayesian_update` with the true sigma of the rewards, for which there are kernels."""
        update = self.update
        is_bayesian = isinstance(update, partial) and update.func is bayesian_update and not update.args
        return is_bayesian and update.keywords.get("sigma") is self.sigma  # type: ignore[attr-defined]


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
        return (*learner.update(belief, context[chosen], reward), rho, chosen, reward)

    sequences = [model["context"], model["available"], rho_noise, choice_noise, reward_noise]
    means, *_, rho, chosen, reward = scan_over_time(one_decision, sequences, list(learner.initial), others=3)
    pm.Deterministic("belief", _path(learner.initial.mean, means), dims=BELIEF_DIMS)
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
    paths = [_path(first, later) for first, later in zip(initial[1:], rest, strict=True)]
    return gain[:-1], paths, None if learner.bonus is None else bonus


def _infer(learner: Learner) -> None:
    """Declare any learner, with standard normal noise."""
    model = pm.modelcontext(None)
    taken = chosen_context()
    reward = (taken * learner.rho_env).sum(axis=-1) + learner.sigma * pm.Normal("reward_noise", dims="time")
    needs_noise = not acts_on_mean(learner.initial, learner.act_on)
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
        return (*learner.update(belief, taken, reward), rho, weight)

    sequences = [model["context"], model["available"], taken, reward, noise]
    means, *_, rho, weight = scan_over_time(one_decision, sequences, list(learner.initial), others=2)
    pm.Deterministic("belief", _path(learner.initial.mean, means), dims=BELIEF_DIMS)
    pm.Deterministic("rho", rho, dims=BELIEF_DIMS)
    pm.Deterministic("reward", reward, dims="time")
    choose(weight)


def _path(first: TensorVariable, later: TensorVariable) -> TensorVariable:
    """Values before each decision, from the value before the first and those after each."""
    return pt.concatenate([first[None], later[:-1]])
