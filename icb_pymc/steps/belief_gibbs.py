"""The belief path given rho: an exact draw by Lemma 2."""

from typing import Any

import numpy as np
import pymc as pm
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.beliefs import BeliefSampleRV
from icb_pymc.declare.graph import (
    GraphReader,
    Point,
    children,
    has_op,
    is_only_one,
    only_variable,
    parameters,
)
from icb_pymc.declare.processes import WienerProcessRV
from icb_pymc.kernels.belief_given_rho import draw_belief_path, path_gains
from icb_pymc.kernels.joint_diagonalisation import shared_axes
from icb_pymc.steps.base import SeededStep

GAIN_INPUTS = ("start_covariance", "innovation_covariance", "elapsed", "root")


class BeliefGibbs(SeededStep):
    """Gibbs step for a `WienerProcess` that only a `BeliefSample` around it depends on (Lemma 2, O(Tk))."""

    own_name = "belief_gibbs"

    def __init__(self, vars: Any, model: pm.Model | None = None, rng: Any = None, **kwargs: Any) -> None:
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng, kwargs)
        belief = only_variable(self.vars, model, "BeliefGibbs")
        sample = find_belief_sample(model, belief)
        if sample is None:
            raise ValueError(
                f"BeliefGibbs needs a WienerProcess on which only one BeliefSample depends; '{belief.name}' is not. "
                "Sample it with NUTS: pm.sample(step=pm.NUTS())."
            )
        start_mean, start_covariance, innovation_covariance, elapsed = parameters(belief)
        _, root = parameters(sample)
        self._read = GraphReader(
            model,
            {
                "start_mean": start_mean,
                "start_covariance": start_covariance,
                "innovation_covariance": innovation_covariance,
                "elapsed": elapsed,
                "root": root,
                "rho": sample,
            },
        )
        self._target = model.rvs_to_values[belief].name
        self._prepared = self._prepare(self._read.fixed) if self._read.is_fixed(*GAIN_INPUTS) else None

    @classmethod
    def can_sample(cls, model: pm.Model, var: TensorVariable) -> bool:
        """A Wiener process on which only a belief sample depends."""
        if not has_op(var, WienerProcessRV) or not is_only_one(model, WienerProcessRV):
            return False
        return find_belief_sample(model, var) is not None

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """Draw the whole path."""
        values = self._read(point)
        axes, gains = self._prepared or self._prepare(values)
        rho = values["rho"] @ axes.to_axes
        path = np.empty_like(rho)
        noise = self.rng.standard_normal(rho.shape)
        draw_belief_path(gains, values["start_mean"] @ axes.to_axes, rho, noise, path)
        return {**point, self._target: path @ axes.from_axes}, [{}]

    @staticmethod
    def _prepare(values: dict[str, np.ndarray]) -> tuple[Any, Any]:
        root = values["root"]
        axes = shared_axes(values["innovation_covariance"], root @ root.T)
        start_covariance = axes.to_axes.T @ values["start_covariance"] @ axes.to_axes
        return axes, path_gains(start_covariance, axes.innovation_variance, values["elapsed"])


def find_belief_sample(model: pm.Model, belief: TensorVariable) -> TensorVariable | None:
    """The `BeliefSample` around `belief`, if nothing else depends on `belief` and the covariance is constant."""
    dependents = children(model, belief)
    if len(dependents) != 1 or not has_op(dependents[0], BeliefSampleRV):
        return None
    mean, root = parameters(dependents[0])
    return dependents[0] if mean is belief and root.type.ndim == 2 else None
