"""Sampled reward parameters given beliefs and choices: one Metropolis-Hastings step for each."""

from typing import Any, ClassVar, Literal

import numpy as np
import pymc as pm
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.beliefs import BeliefSampleRV
from icb_pymc.declare.choice import SoftmaxChoiceRV
from icb_pymc.declare.graph import Point, children, has_op, is_only_one, only_variable
from icb_pymc.kernels.metropolis import add_correlated_noise, metropolis_accept
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.belief_readers import belief_reader
from icb_pymc.steps.likelihood import choice_likelihood

Kernel = Literal["exact", "paper"]


class RhoMetropolis(SeededStep):
    """Metropolis step for a `BeliefSample` on which only a `SoftmaxChoice` depends; all rho_t move independently.

    Parameters
    ----------
    kernel : {"exact", "paper"}
        ``"exact"`` proposes rho' from the belief and compares it with the current rho_t (independence Metropolis).
        ``"paper"`` is Algorithms 1 and 2 as printed: rho' is compared with a second fresh draw, the current rho_t
        is discarded and the posterior is not left invariant. For one decision (rho ~ N(-0.5, 1), p(a | rho) =
        1 / (1 + exp(-4 rho))) the posterior mean is 0.514, but the mean under this kernel is 0.011, half way there.
    """

    own_name = "rho_metropolis"
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
            raise ValueError(f"kernel={kernel!r}: it must be 'exact' or 'paper'.")
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng, kwargs)
        self.kernel = kernel
        rho = only_variable(self.vars, model, "RhoMetropolis")
        choice = find_choice(model, rho)
        if choice is None:
            raise ValueError(
                f"RhoMetropolis needs a BeliefSample on which only one SoftmaxChoice depends; '{rho.name}' is not. "
                "Sample it with NUTS: pm.sample(step=pm.NUTS())."
            )
        self._beliefs = belief_reader(model, rho)
        self._log_likelihood = choice_likelihood(model, rho, choice)
        self._target = model.rvs_to_values[rho].name
        self._last: tuple[np.ndarray | None, np.ndarray] = (None, np.empty(0))

    @classmethod
    def can_sample(cls, model: pm.Model, var: TensorVariable) -> bool:
        """A belief sample on which only a softmax choice depends."""
        if not has_op(var, BeliefSampleRV) or not is_only_one(model, BeliefSampleRV):
            return False
        return find_choice(model, var) is not None

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """One proposal for each rho_t."""
        mean, root = self._beliefs.beliefs(point)
        proposal = self._draw(mean, root)
        alternative = point[self._target] if self.kernel == "exact" else self._draw(mean, root)
        rho = np.empty_like(proposal)
        log_proposal = self._log_likelihood(point, proposal)
        log_alternative = self._log_likelihood_of_state(point, alternative)
        uniform = self.rng.random(len(rho))
        accepted = metropolis_accept(proposal, alternative, log_proposal, log_alternative, uniform, rho)
        self._last = (rho, log_alternative)
        return {**point, self._target: rho}, [{"rho_accept": accepted}]

    def _log_likelihood_of_state(self, point: Point, rho: np.ndarray) -> np.ndarray:
        """Stored by the last step if `rho` is the array that it returned and nothing else can have changed."""
        state, log_likelihood = self._last
        if rho is state and self._log_likelihood.is_fixed:
            return log_likelihood
        return self._log_likelihood(point, rho)

    def _draw(self, mean: np.ndarray, root: np.ndarray) -> np.ndarray:
        noise = self.rng.standard_normal(mean.shape)
        if root.ndim == 2:
            return mean + noise @ root.T
        drawn = np.empty_like(mean)
        add_correlated_noise(mean, root, noise, drawn)
        return drawn


def find_choice(model: pm.Model, rho: TensorVariable) -> TensorVariable | None:
    """The `SoftmaxChoice` that depends on `rho` (time, feature), if nothing else does."""
    dependents = children(model, rho) if rho.type.ndim == 2 else []
    return dependents[0] if len(dependents) == 1 and has_op(dependents[0], SoftmaxChoiceRV) else None
