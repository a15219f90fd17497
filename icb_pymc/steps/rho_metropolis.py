"""Sampled reward parameters given beliefs and choices: one Metropolis-Hastings step each."""

from typing import Any, ClassVar, Literal

import numpy as np
import pymc as pm
from pymc.pytensorf import compile as compile_graph
from pymc.step_methods.compound import Competence
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.beliefs import BeliefSampleRV
from icb_pymc.kernels.metropolis import Contrasts, choice_contrasts, choice_log_likelihood, choose_between, shape_noise
from icb_pymc.policy import LinearUtility, SoftmaxChoiceRV
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.graph import GraphReader, Point, children, context_model, has_op, only_variable, parameters

Kernel = Literal["exact", "paper"]


class RhoMetropolis(SeededStep):
    """Metropolis step for a `BeliefSample` that only a `SoftmaxChoice` reads; rho_1, ..., rho_T move independently.

    Parameters
    ----------
    kernel : {"exact", "paper"}
        ``"exact"`` proposes rho' from the belief and compares it with the current rho_t (independence Metropolis).
        ``"paper"`` is Algorithms 1 and 2 as printed: rho' is compared with a second fresh draw, the current rho_t
        is forgotten and the posterior is not left invariant. On one decision (rho ~ N(-0.5, 1), p(a | rho) =
        1 / (1 + exp(-4 rho))) the posterior mean is 0.514, and this kernel settles at 0.011, half of the way.
    """

    name = "rho_metropolis"
    stats_dtypes_shapes: ClassVar[dict[str, Any]] = {"rho_accept": (np.float64, [])}

    def __init__(
        self,
        vars: Any,
        model: pm.Model | None = None,
        rng: Any = None,
        kernel: Kernel = "exact",
        **kwargs: Any,
    ) -> None:
        if kernel not in ("exact", "paper"):
            raise ValueError(f"kernel is 'exact' or 'paper', not {kernel!r}.")
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng)
        self.kernel = kernel
        rho = only_variable(self.vars, model, "RhoMetropolis")
        choice = chosen_by(model, rho)
        if choice is None:
            raise ValueError(
                f"RhoMetropolis needs a BeliefSample that is read by one SoftmaxChoice alone; '{rho.name}' is not. "
                "Sample it with NUTS: pm.sample(step=pm.NUTS())."
            )
        mean, root = parameters(rho)
        self._read = GraphReader(model, {"mean": mean, "root": root})
        likelihood = _LinearLikelihood if is_linear_in(rho, parameters(choice)[0]) else _GraphLikelihood
        self._log_likelihood = likelihood(model, rho, choice)
        self._target = model.rvs_to_values[rho].name
        self._last: tuple[np.ndarray | None, np.ndarray] = (None, np.empty(0))

    @staticmethod
    def competence(var: TensorVariable, has_grad: bool) -> Competence:
        """Ideal for a belief sample that only a softmax choice reads."""
        if not has_op(var, BeliefSampleRV):
            return Competence.INCOMPATIBLE
        model = context_model()
        if model is not None and chosen_by(model, var) is None:
            return Competence.INCOMPATIBLE
        return Competence.IDEAL

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """One proposal for each rho_t."""
        values = self._read(point)
        proposal = self._draw(values)
        alternative = point[self._target] if self.kernel == "exact" else self._draw(values)
        rho = np.empty_like(proposal)
        log_proposal = self._log_likelihood(point, proposal)
        log_alternative = self._log_likelihood_of_state(point, alternative)
        uniform = self.rng.random(len(rho))
        accepted = choose_between(proposal, alternative, log_proposal, log_alternative, uniform, rho)
        self._last = (rho, log_alternative)
        return {**point, self._target: rho}, [{"rho_accept": accepted}]

    def _log_likelihood_of_state(self, point: Point, rho: np.ndarray) -> np.ndarray:
        """Known from the last step if `rho` is the very array it returned and nothing else can have changed."""
        state, log_likelihood = self._last
        if rho is state and self._log_likelihood.is_fixed:
            return log_likelihood
        return self._log_likelihood(point, rho)

    def _draw(self, values: dict[str, np.ndarray]) -> np.ndarray:
        mean, root = values["mean"], values["root"]
        noise = self.rng.standard_normal(mean.shape)
        if root.ndim == 2:
            return mean + noise @ root.T
        drawn = np.empty_like(mean)
        shape_noise(mean, root, noise, drawn)
        return drawn


class _LinearLikelihood:
    """log p(a_t | x_t, rho_t) for every t, where the utility is linear in rho."""

    def __init__(self, model: pm.Model, rho: TensorVariable, choice: TensorVariable) -> None:
        utility, available = parameters(choice)
        _, context, alpha = utility.owner.inputs
        chosen = model.rvs_to_values[choice]
        self._read = GraphReader(model, {"context": context, "available": available, "chosen": chosen, "alpha": alpha})
        self.is_fixed = self._read.is_fixed(*self._read.names)
        self._contrasts = self._prepare(self._read.fixed) if self.is_fixed else None

    def __call__(self, point: Point, rho: np.ndarray) -> np.ndarray:
        contrasts = self._contrasts or self._prepare(self._read(point))
        out = np.empty(len(rho))
        choice_log_likelihood(contrasts, rho, out)
        return out

    @staticmethod
    def _prepare(values: dict[str, np.ndarray]) -> Contrasts:
        return choice_contrasts(values["context"], values["available"], values["chosen"], float(values["alpha"]))


class _GraphLikelihood:
    """log p(a_t | x_t, rho_t) for every t, evaluated from the graph: for rewards that are not linear."""

    def __init__(self, model: pm.Model, rho: TensorVariable, choice: TensorVariable) -> None:
        (graph,) = model.logp(vars=[choice], sum=False)
        self._rho = model.rvs_to_values[rho].name
        inside = set(ancestors([graph]))
        inputs = [value for value in model.value_vars if value in inside]
        self._names = [value.name for value in inputs]
        self.is_fixed = self._names == [self._rho]
        self._function = compile_graph(inputs, graph)

    def __call__(self, point: Point, rho: np.ndarray) -> np.ndarray:
        return self._function(*(rho if name == self._rho else point[name] for name in self._names))


def chosen_by(model: pm.Model, rho: TensorVariable) -> TensorVariable | None:
    """The `SoftmaxChoice` that `rho` leads to, if nothing else reads `rho`."""
    readers = children(model, rho)
    return readers[0] if len(readers) == 1 and has_op(readers[0], SoftmaxChoiceRV) else None


def is_linear_in(rho: TensorVariable, utility: TensorVariable) -> bool:
    """Whether a utility was declared by `linear_utility` of `rho`."""
    return has_op(utility, LinearUtility) and utility.owner.inputs[0] is rho
