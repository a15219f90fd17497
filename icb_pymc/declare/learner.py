"""A learner as it was declared: its parts, and what can be told about them."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pymc as pm
import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.agents import Clocks, stand_ins, vectorised
from icb_pymc.declare.beliefs import Belief, bayesian_update, kalman_update
from icb_pymc.declare.linearity import ActOn, Bonus, Update, acts_on_mean

Rule = Callable[[TensorVariable, TensorVariable], TensorVariable]


class Learner(NamedTuple):
    """The arguments of `learn`; `clocks` where each agent has a belief of its own."""

    initial: Belief
    update: Update
    act_on: ActOn
    bonus: Bonus | None
    rule: Rule | None
    alpha: Any
    sigma: Any
    rho_env: TensorVariable | None
    clocks: Clocks | None = None

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
        return self._is_partial_of(bayesian_update) and self.update.keywords.get("sigma") is self.sigma  # type: ignore[attr-defined]

    @property
    def has_closed_path(self) -> bool:
        """Whether, given the rewards, an op gives all beliefs that the agent acts on."""
        is_point = len(self.initial) == 1 and not self._is_partial_of(bayesian_update, kalman_update)
        is_kalman = self._is_partial_of(bayesian_update, kalman_update) and self.bonus is None
        return (is_point or is_kalman) and acts_on_mean(self.of_first.initial, self.act_on)

    @property
    def of_first(self) -> "Learner":
        """The learner with the parameters of the first agent, to see of what kind all of them are."""

        def first(values: Any) -> Any:
            return vectorised(list(values), {}, (), lambda of_all: of_all[0])

        def update(belief: Belief, context: TensorVariable, reward: TensorVariable) -> Belief:
            return self.belief(*first(self.update(belief, context, reward)))

        def bonus(belief: Belief, context: TensorVariable) -> TensorVariable:
            assert self.bonus is not None
            return first([self.bonus(belief, context)])[0]

        initial = self.belief(*first(self.initial))
        return self._replace(initial=initial, update=update, bonus=None if self.bonus is None else bonus)

    @property
    def differs_between_agents(self) -> bool:
        """Whether anything that the learner is made of is a parameter of each agent."""
        model = pm.modelcontext(None)
        context, available = model["context"][0].type(), model["available"][0].type()
        fields = [field.type() for field in self.initial]
        belief = self.belief(*fields)
        decided = self.decide(belief, context, available, fields[0])
        later = self.update(belief, context[0], pt.scalar(dtype="float64"))
        graphs = [*self.initial, *decided, *later]
        return bool(stand_ins([graph for graph in graphs if isinstance(graph, TensorVariable)]))

    def _is_partial_of(self, *functions: Callable[..., Any]) -> bool:
        update = self.update
        return isinstance(update, partial) and update.func in functions and not update.args
