"""Where a chain of the engine is: hyperparameters, the Gaussian model that they give, and a position in it."""

from typing import NamedTuple

import numpy as np
import pymc as pm
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import Point
from icb_pymc.declare.numpy_functions import numpy_function
from icb_pymc.kernels.hamiltonian import (
    Position,
    Reference,
    make_position,
    make_reference,
)
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.pseudo_data import PseudoData
from icb_pymc.kernels.state_space import Noise, StateSpace
from icb_pymc.kernels.transfer import position_of_measured_path
from icb_pymc.steps.belief_sources import Dynamics, Values
from icb_pymc.steps.linear_gaussian import LinearGaussianModel


class Place(NamedTuple):
    """The state of a chain.

    Attributes
    ----------
    point : the hyperparameters, and variables of earlier places
    values, dynamics : of the Gaussian model at these hyperparameters
    reference, position : the noise of its variables, relative to its mean under the reference Gaussian
    log_prior, log_evidence : of the hyperparameters, and of what is observed besides choices
    """

    point: Point
    values: Values
    dynamics: Dynamics
    reference: Reference
    position: Position
    log_prior: float
    log_evidence: float

    @property
    def space(self) -> StateSpace:
        """The state space of the utility contrasts."""
        return self.reference.space

    @property
    def data(self) -> PseudoData:
        """The pseudo-data of the reference."""
        return self.reference.data

    @property
    def noise(self) -> Noise:
        """The noise itself."""
        pairs = zip(self.position.noise, self.reference.noise, strict=True)
        return Noise(*(part + mean for part, mean in pairs))

    @property
    def log_density(self) -> float:
        """Of the hyperparameters and the position, for the measured path that all places are seen from."""
        return self.log_prior + self.log_evidence + self.reference.log_density + self.position.log_residual

    def with_data(self, data: PseudoData) -> "Place":
        """The same noise, relative to the reference of other pseudo-data."""
        reference = make_reference(self.space, data)
        return self._replace(reference=reference, position=position_of_noise(reference, self.noise))


def position_of_noise(reference: Reference, noise: Noise) -> Position:
    """The position that noise, not relative to its mean, determines."""
    pairs = zip(noise, reference.noise, strict=True)
    return make_position(reference, Noise(*(part - mean for part, mean in pairs)))


class Places:
    """Finds the place of a chain from its point.

    Parameters
    ----------
    model : pm.Model
    linear : LinearGaussianModel
    hyperparameters : list
        Those that the engine samples.
    """

    def __init__(self, model: pm.Model, linear: LinearGaussianModel, hyperparameters: list[TensorVariable]) -> None:
        self._linear = linear
        self.prior_inputs: list[str] = []
        if hyperparameters:
            graph = model.logp(vars=hyperparameters)
            inside = set(ancestors([graph]))
            inputs = [value for value in model.value_vars if value in inside]
            self.prior_inputs = [value.name for value in inputs]
            self._prior = numpy_function(inputs, [graph])

    def log_prior(self, point: Point) -> float:
        """The log-density of the hyperparameters on their unconstrained scale."""
        if not self.prior_inputs:
            return 0.0
        return float(self._prior(*(point[name] for name in self.prior_inputs))[0])

    def at(self, point: Point, data: PseudoData | None = None) -> Place:
        """The place of a point, by default with the pseudo-data of its mode."""
        values = self._linear.values(point)
        dynamics, space = self._linear.state_space(values)
        reference = make_reference(space, find_mode(space).data if data is None else data)
        noise = self._linear.to_noise(values, dynamics, space, point)
        position = position_of_noise(reference, noise)
        priors = self.log_prior(point), self._linear.log_evidence(values)
        return Place(point, values, dynamics, reference, position, *priors)

    def log_density(self, point: Point, data: PseudoData) -> float:
        """Of hyperparameters, with the Gaussian variables integrated out, if the choices were the pseudo-data."""
        found = self._model_at(point, data)
        return -np.inf if found is None else found[2].log_density + found[3] + found[4]

    def along(self, path: tuple[Noise, np.ndarray], point: Point, data: PseudoData) -> Place | None:
        """The place at other hyperparameters for a path and its measurements; None where there is none."""
        found = self._model_at(point, data)
        if found is None:
            return None
        values, dynamics, reference, *log_densities = found
        position = position_of_measured_path(reference, *path)
        return Place(point, values, dynamics, reference, position, *log_densities)

    def _model_at(self, point: Point, data: PseudoData) -> tuple[Values, Dynamics, Reference, float, float] | None:
        """What places at these hyperparameters have in common."""
        log_prior = self.log_prior(point)
        if not np.isfinite(log_prior):
            return None
        values = self._linear.values(point)
        try:
            with np.errstate(all="ignore"):
                dynamics, space = self._linear.state_space(values)
                reference = make_reference(space, data)
                log_evidence = self._linear.log_evidence(values)
        except (ValueError, np.linalg.LinAlgError):
            # Not a covariance matrix, or not finite.
            return None
        if not np.isfinite(reference.log_density) or not self._linear.has_moderate_utilities(space):
            return None
        return values, dynamics, reference, log_prior, log_evidence
