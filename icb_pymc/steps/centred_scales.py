"""Scales of Gaussian variables drawn given the variables themselves: the centred move, of constant cost per value."""

import numpy as np
import pymc as pm
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import GraphReader, Point
from icb_pymc.declare.numpy_functions import numpy_function
from icb_pymc.steps.belief_sources import Scatter, Values
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, LinearGaussianParts
from icb_pymc.steps.univariate_slice import univariate_slice


class CentredScales:
    """Slice sampling of hyperparameters that are only in covariances, given the Gaussian variables.

    log p(hyperparameter | variables) = log prior - 1/2 Σ_C (n_C log det C + tr C^-1 S_C), over the covariances C and
    the sums of squares S_C of what varies with them. It is a good move where the choices tell the variables well, as
    they do with the first weights of many subjects; moves that take the variables along are good where they do not.

    Parameters
    ----------
    model : pm.Model
    parts : LinearGaussianParts
    linear : LinearGaussianModel
    hyperparameters : list
        Those to choose from.
    """

    def __init__(
        self,
        model: pm.Model,
        parts: LinearGaussianParts,
        linear: LinearGaussianModel,
        hyperparameters: list[TensorVariable],
    ) -> None:
        self._linear, self._covariances = linear, parts.source.covariances
        others = [graph for name, graph in linear.graphs.items() if name not in self._covariances]
        # Rewritten, because a mean may depend on a covariance by nothing but its shape.
        elsewhere = set(ancestors([rewrite_graph(graph) for graph in model.replace_rvs_by_values(others)]))
        values = [model.rvs_to_values[rv] for rv in hyperparameters]
        self.names = [] if not self._covariances else [value.name for value in values if value not in elsewhere]
        if self.names:
            self._read = GraphReader(model, {name: linear.graphs[name] for name in self._covariances})
            prior = model.logp(vars=hyperparameters)
            inside = set(ancestors([prior]))
            inputs = [value for value in model.value_vars if value in inside]
            self._inputs = [value.name for value in inputs]
            self._prior = numpy_function(inputs, [prior])

    def move(self, point: Point, values: Values, widths: dict[str, np.ndarray], rng: np.random.Generator) -> Point:
        """New values of the scales, one number after another; the rest of the point is the same.

        Parameters
        ----------
        point : dict
        values : dict
            What the state space depends on, at the point.
        widths : dict
            About the standard deviation of each scale, on its unconstrained scale.
        rng : Generator
        """
        scatters = self._linear.scatters(values, point)
        point = dict(point)
        for name in self.names:
            for index in np.ndindex(np.shape(point[name])):
                start = np.array(point[name])

                def log_density(
                    number: float, name: str = name, index: tuple = index, start: np.ndarray = start
                ) -> float:
                    start[index] = number
                    return self._log_density(point | {name: start}, scatters)

                drawn = univariate_slice(log_density, float(start[index]), float(widths[name][index]), rng)
                start[index] = drawn
                point[name] = start
        return point

    def _log_density(self, point: Point, scatters: dict[str, Scatter]) -> float:
        with np.errstate(all="ignore"):
            total = float(self._prior(*(point[name] for name in self._inputs))[0])
            if not np.isfinite(total):
                return -np.inf
            for name, covariance in self._read(point).items():
                total += _log_normal(covariance, scatters[name])
        return total if np.isfinite(total) else -np.inf


def _log_normal(covariance: np.ndarray, scatter: Scatter) -> float:
    """-1/2 (n log det C + tr C^-1 S), or its sum over several covariances."""
    sign, log_determinant = np.linalg.slogdet(covariance)
    if not ((sign > 0).all() and np.isfinite(log_determinant).all()):
        return -np.inf
    squares = np.trace(np.linalg.solve(covariance, scatter.total), axis1=-2, axis2=-1)
    return float(-0.5 * (scatter.number * np.sum(log_determinant) + np.sum(squares)))
