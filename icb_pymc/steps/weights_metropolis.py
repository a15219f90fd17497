"""Weights that are constant within folds: the random-walk sampler of B-IRL in the paper."""

from typing import Any, ClassVar

import numpy as np
import pymc as pm
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.beliefs import ConstantWithin
from icb_pymc.declare.choice import LinearUtility, SoftmaxChoiceRV
from icb_pymc.declare.graph import GraphReader, Point, children, has_op, only_variable, parameters
from icb_pymc.kernels.metropolis import choice_contrasts
from icb_pymc.kernels.weights_metropolis import PAPER_SCALE, ContrastColumns, contrast_columns, walk_folds
from icb_pymc.steps.base import SeededStep

GAUSSIAN, FLAT = type(pm.MvNormal.rv_op), type(pm.Flat.rv_op)
CHOICE_INPUTS = ("context", "available", "chosen", "alpha")


class WeightsMetropolis(SeededStep):
    """Random-walk Metropolis for weights (fold, feature) of a `SoftmaxChoice`, through `constant_within`.

    The weights of each fold move independently, by proposals w + N(0, scale^2 I). It mixes slowly if the data are not
    informative, and adapts nothing. It is provided because the published experiments used it, and never assigned
    automatically.

    Parameters
    ----------
    vars : list
        One `MvNormal` or `Flat` variable.
    sweeps : int
        Iterations per recorded draw, all in one call of the kernel.
    scale : float, optional
        Standard deviation of a proposal; by default 0.1 / alpha, which is what the paper used.
    """

    own_name = "weights_metropolis"
    stats_dtypes_shapes: ClassVar[dict[str, Any]] = {"weights_accept": (np.float64, [])}

    def __init__(
        self,
        vars: Any,
        model: pm.Model | None = None,
        rng: Any = None,
        sweeps: int = 1,
        scale: float | None = None,
        **kwargs: Any,
    ) -> None:
        if sweeps < 1:
            raise ValueError(f"sweeps={sweeps}: make at least one sweep per draw.")
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng, kwargs)
        weights = only_variable(self.vars, model, "WeightsMetropolis")
        choice = find_choice_by_fold(model, weights)
        if choice is None:
            raise ValueError(
                "WeightsMetropolis needs MvNormal or Flat weights on which only one SoftmaxChoice depends, through "
                f"constant_within and linear_utility; '{weights.name}' is not of that kind. Sample it with NUTS: "
                "pm.sample(step=pm.NUTS())."
            )
        self.sweeps, self.scale = sweeps, scale
        utility, available = parameters(choice)
        belief, context, alpha = utility.owner.inputs
        read = {"context": context, "available": available, "chosen": model.rvs_to_values[choice], "alpha": alpha}
        read["fold"] = belief.owner.inputs[1]
        if has_op(weights, GAUSSIAN):
            read |= dict(zip(("mean", "covariance"), parameters(weights), strict=True))
        self._read = GraphReader(model, read)
        self._data = self._prepare(self._read.fixed) if self._read.is_fixed(*CHOICE_INPUTS) else None
        self._target = model.rvs_to_values[weights].name

    @classmethod
    def can_sample(cls, model: pm.Model, var: TensorVariable) -> bool:
        """Gaussian or flat weights by fold on which only one softmax choice depends."""
        return find_choice_by_fold(model, var) is not None

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """Make the sweeps."""
        values = self._read(point)
        weights = point[self._target].copy()
        folds, features = weights.shape
        mean, precision = np.zeros((folds, features)), np.zeros((folds, features, features))
        if "covariance" in values:
            mean[:] = values["mean"]
            precision[:] = np.linalg.inv(values["covariance"])
        scale = PAPER_SCALE / float(values["alpha"]) if self.scale is None else self.scale
        data = self._data or self._prepare(values)
        first = _fold_first(values["fold"], folds)
        accepted = walk_folds(data, first, mean, precision, scale, self.sweeps, self.rng, weights)
        return {**point, self._target: weights}, [{"weights_accept": accepted}]

    @staticmethod
    def _prepare(values: dict[str, np.ndarray]) -> ContrastColumns:
        context, available, chosen, alpha = (values[name] for name in CHOICE_INPUTS)
        return contrast_columns(choice_contrasts(context, available, chosen, float(alpha)))


def find_choice_by_fold(model: pm.Model, weights: TensorVariable) -> TensorVariable | None:
    """The `SoftmaxChoice` that depends on `weights` (fold, feature) through `constant_within`, if nothing else does."""
    if not (has_op(weights, GAUSSIAN) or has_op(weights, FLAT)) or weights.type.ndim != 2:
        return None
    dependents = children(model, weights)
    if len(dependents) != 1 or not has_op(dependents[0], SoftmaxChoiceRV):
        return None
    utility = parameters(dependents[0])[0]
    if not has_op(utility, LinearUtility) or utility.owner.inputs[2].type.ndim != 0:
        return None
    belief = utility.owner.inputs[0]
    return dependents[0] if has_op(belief, ConstantWithin) and belief.owner.inputs[0] is weights else None


def _fold_first(fold: np.ndarray, folds: int) -> np.ndarray:
    if (np.diff(fold) < 0).any():
        raise ValueError("WeightsMetropolis needs the folds in order: 0, ..., 0, 1, ..., 1, and so on.")
    return np.searchsorted(fold, np.arange(folds + 1))
