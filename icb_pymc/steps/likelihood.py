"""The likelihood of each choice at the sampler's current point."""

import numpy as np
import pymc as pm
from pymc.pytensorf import compile as compile_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.choice import LinearUtility
from icb_pymc.declare.graph import GraphReader, Point, has_op, parameters
from icb_pymc.kernels.metropolis import Contrasts, choice_contrasts, choice_log_likelihood


def choice_likelihood(
    model: pm.Model, rho: TensorVariable, choice: TensorVariable
) -> "LinearLikelihood | GraphLikelihood":
    """log p(a_t | x_t, rho_t) as a function of a point and rho: by a kernel if the utility is linear in rho."""
    utility = parameters(choice)[0]
    is_linear = has_op(utility, LinearUtility) and utility.owner.inputs[0] is rho
    is_linear = is_linear and utility.owner.inputs[2].type.ndim == 0 and len(utility.owner.inputs) == 3
    return (LinearLikelihood if is_linear else GraphLikelihood)(model, rho, choice)


class LinearLikelihood:
    """log p(a_t | x_t, rho_t) for every t, if the utility is linear in rho."""

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


class GraphLikelihood:
    """log p(a_t | x_t, rho_t) for every t, evaluated from the graph, for other utilities."""

    def __init__(self, model: pm.Model, rho: TensorVariable, choice: TensorVariable) -> None:
        (graph,) = model.logp(vars=[choice], sum=False)
        self._rho = model.rvs_to_values[rho].name
        inside = set(ancestors([graph]))
        inputs = [value for value in model.value_vars if value in inside]
        self._names = [value.name for value in inputs]
        self.is_fixed = self._names == [self._rho]
        self._function = compile_graph(inputs, graph)
        self._checked = False

    def __call__(self, point: Point, rho: np.ndarray) -> np.ndarray:
        if not self._checked:
            self._check(point, rho)
        return self._evaluate(point, rho)

    def _evaluate(self, point: Point, rho: np.ndarray) -> np.ndarray:
        return self._function(*(rho if name == self._rho else point[name] for name in self._names))

    def _check(self, point: Point, rho: np.ndarray) -> None:
        """Reject choices that depend on rho at another time, because the rho_t are accepted or rejected separately."""
        at_rho = self._evaluate(point, rho)
        is_shifted = np.arange(len(rho)) % 2 == 0
        at_shifted = self._evaluate(point, np.where(is_shifted[:, None], rho + 1.0, rho))
        if len(at_rho) != len(rho) or not np.array_equal(at_rho[~is_shifted], at_shifted[~is_shifted]):
            raise ValueError(
                f"RhoMetropolis needs the choice at t to depend on '{self._rho}' only at t; "
                "sample this model with NUTS: pm.sample(step=pm.NUTS())."
            )
        self._checked = True
