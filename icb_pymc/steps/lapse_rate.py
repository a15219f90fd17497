"""Slice sampling of the rate of lapses given the utilities, a density in one dimension that is cheap to evaluate."""

from collections.abc import Callable

import numpy as np
import pymc as pm
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.choice import without_lapses
from icb_pymc.declare.graph import GraphReader, Point, children
from icb_pymc.kernels.lapses import attentive_probabilities, log_likelihood_of_rate
from icb_pymc.steps.linear_gaussian import LinearGaussianParts
from icb_pymc.steps.univariate_slice import univariate_slice

# Of the bracket that slice sampling begins with, on the unconstrained scale.
WIDTH = 1.0


def lapse_hyperparameters(model: pm.Model, parts: LinearGaussianParts) -> list[TensorVariable]:
    """The hyperparameters that only the rate of lapses depends on."""
    if parts.lapse is None:
        return []
    utility, _ = without_lapses(parts.choice)
    apart = set(ancestors([utility], blockers=set(model.basic_RVs)))
    scalars = [rv for rv in parts.hyperparameters if rv.type.ndim == 0 and rv not in apart]
    return [rv for rv in scalars if children(model, rv) == [parts.choice]]


class LapseRate:
    """Draws of the rate of lapses given the utilities and everything else.

    Parameters
    ----------
    model : pm.Model
    rate : TensorVariable
        The probability of a lapse.
    names : list of str
        The values that only the rate depends on, which are drawn in turn.
    """

    def __init__(self, model: pm.Model, rate: TensorVariable, names: list[str]) -> None:
        self.names = names
        self._read = GraphReader(model, {"lapse": rate})

    def draw(
        self,
        point: Point,
        first: np.ndarray,
        contrasts: np.ndarray,
        log_prior: Callable[[Point], float],
        rng: np.random.Generator,
    ) -> tuple[Point, float]:
        """A point with another rate, and that rate."""
        attentive, uniform = np.empty(len(first) - 1), np.empty(len(first) - 1)
        attentive_probabilities(first, contrasts, attentive, uniform)
        point = dict(point)

        for name in self.names:

            def log_density(value: float, name: str = name) -> float:
                there = {**point, name: np.asarray(value)}
                prior = log_prior(there)
                return prior + log_likelihood_of_rate(attentive, uniform, self._at(there)) if prior > -np.inf else prior

            point[name] = np.asarray(univariate_slice(log_density, float(point[name]), WIDTH, rng))
        return point, self._at(point)

    def _at(self, point: Point) -> float:
        return float(self._read(point)["lapse"])
