"""The most probable hyperparameters: those where prior density times Laplace evidence is greatest."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pymc as pm
from pytensor.graph.traversal import ancestors
from rich.progress import track

from icb_pymc.declare.graph import Point
from icb_pymc.declare.numpy_functions import numpy_function
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.pseudo_data import PseudoData
from icb_pymc.kernels.state_space import StateSpace
from icb_pymc.kernels.thinned_log import can_be_thinned, every_nth_decision
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

if TYPE_CHECKING:
    from scipy.optimize import Bounds

# Bounds of the search on the unconstrained scale, such as log variances, relative to the initial values: further down
# than up, since a weight that hardly moves in a very long log has an innovation variance of 1e-8 or less.
SEARCH_BELOW, SEARCH_ABOVE = 23.0, 15.0
# The search begins where the evidence is greatest if all hyperparameters are this far from their initial values.
STARTS = np.arange(0.0, -SEARCH_BELOW, -1.5)
# The step of a difference quotient: evidence has rounding errors of about 1e-8.
DIFFERENCE = 1e-3
# Where the search ends, each hyperparameter is moved by these, since the evidence is flat where a scale is too small.
# If that is better by more than the gain, the search begins again, at most so many times.
MOVES, GAIN, ROUNDS = (-5.0, -2.0, 2.0, 5.0, 8.0), 1e-3, 6
# A log at least twice as long as this is searched in as many of its decisions first. From there it is not far to where
# the search in all of them ends, unless the evidence there is flat: a move down by two costs less than this.
FIRST_DECISIONS, FLAT = 10_000, 2.0

Floats = np.ndarray
Loss = Callable[[Floats], float]


def most_probable_hyperparameters(
    model: pm.Model, reader: LinearGaussianModel, point: Point, progressbar: bool = False
) -> Point:
    """The point whose hyperparameters maximise prior density (on their own scale) times Laplace evidence."""
    evidence = Evidence(model, reader, point)
    start = evidence.vector(point)
    # Imported here, because it takes a while, and chains do without.
    from scipy.optimize import Bounds

    bounds = Bounds(start - SEARCH_BELOW, start + SEARCH_ABOVE)
    n = evidence.decisions_at(point) // FIRST_DECISIONS
    loss = partial(evidence.loss, every=max(n, 1))
    best = min((start + shift for shift in STARTS), key=loss)
    found = best
    for _ in track(range(ROUNDS), "evidence", disable=not progressbar, transient=True):
        found, least = minimum(loss, best, bounds)
        best = min(moved(found, MOVES, bounds), key=loss)
        if loss(best) > least - GAIN:
            break
    if n > 1:
        found = _minimum_from(evidence.loss, found, bounds)
    return evidence.at(found)


def _minimum_from(loss: Loss, start: Floats, bounds: "Bounds") -> Floats:
    """The minimum near the start, or another to which a way up leads from where the loss is flat."""
    found, least = minimum(loss, start, bounds)
    for i, below in enumerate(moved(found, (-2.0,), bounds)):
        if loss(below) < least + FLAT:
            unit = np.eye(len(start))[i]
            above = min((np.clip(found + move * unit, bounds.lb, bounds.ub) for move in MOVES if move > 0), key=loss)
            if loss(above) < least - GAIN:
                found, least = minimum(loss, above, bounds)
    return found


def moved(vector: Floats, moves: tuple[float, ...], bounds: "Bounds") -> list[Floats]:
    """The vector with one component changed by one of the moves."""
    return [np.clip(vector + move * unit, bounds.lb, bounds.ub) for unit in np.eye(len(vector)) for move in moves]


def minimum(loss: Loss, start: Floats, bounds: "Bounds") -> tuple[Floats, float]:
    """Where the loss has a minimum, by L-BFGS with difference quotients, and its value there."""

    def with_slope(vector: Floats) -> tuple[float, Floats]:
        here = loss(vector)
        return here, np.array([(loss(near) - here) / DIFFERENCE for near in vector + DIFFERENCE * np.eye(len(vector))])

    # The first step is as long as the slope, which in a long log would lead far away: the loss is divided by that.
    first = with_slope(start)
    unit = max(float(np.linalg.norm(first[1])), 1.0)

    def scaled(vector: Floats) -> tuple[float, Floats]:
        value, slope = first if np.array_equal(vector, start) else with_slope(vector)
        return value / unit, slope / unit

    from scipy.optimize import minimize

    found = minimize(scaled, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x, unit * float(found.fun)


class Evidence:
    """Prior density times Laplace evidence as a function of the hyperparameters, as one vector.

    Parameters
    ----------
    model : pm.Model
    reader : LinearGaussianModel
    point : dict
        Values of all other variables.
    """

    def __init__(self, model: pm.Model, reader: LinearGaussianModel, point: Point) -> None:
        parts = find_linear_gaussian(model)
        assert parts is not None
        graph = model.logp(vars=parts.hyperparameters, jacobian=False)
        inside = set(ancestors([graph]))
        self._inputs = [value.name for value in model.value_vars if value in inside]
        self._log_prior = numpy_function([value for value in model.value_vars if value in inside], [graph])
        self._names = [model.rvs_to_values[rv].name for rv in parts.hyperparameters]
        self._reader, self._point = reader, point
        # For each part of the log what the last search for a mode found.
        self._near: dict[int, PseudoData] = {}

    def vector(self, point: Point) -> Floats:
        """The hyperparameters at a point."""
        return np.concatenate([np.ravel(point[name]) for name in self._names])

    def at(self, vector: Floats) -> Point:
        """The point with these hyperparameters."""
        ends = np.cumsum([np.size(self._point[name]) for name in self._names])
        pieces = zip(self._names, np.split(vector, ends[:-1]), strict=True)
        return self._point | {name: piece.reshape(np.shape(self._point[name])) for name, piece in pieces}

    def decisions_at(self, point: Point) -> int:
        """Number of decisions, or one if none of them can be left out."""
        space = self._space(point)
        return len(space.first) - 1 if can_be_thinned(space) else 1

    def loss(self, vector: Floats, every: int = 1) -> float:
        """Minus the logarithm, for every n-th decision."""
        here = self.at(vector)
        with np.errstate(all="ignore"):
            prior = float(self._log_prior(*(here[name] for name in self._inputs))[0])
            if not np.isfinite(prior):
                return 1e12
            space = self._space(here)
            # Each search starts where the last one ended: hyperparameters move little from one to the next.
            mode = find_mode(space if every == 1 else every_nth_decision(space, every), self._near.get(every))
        self._near[every] = mode.data
        return -prior - mode.log_evidence - self._reader.log_evidence(self._reader.values(here))

    def _space(self, point: Point) -> StateSpace:
        return self._reader.state_space(self._reader.values(point))[1]
