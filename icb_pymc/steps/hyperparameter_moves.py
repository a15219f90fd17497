"""How the engine moves hyperparameters: together with the latent variables, or given them."""

from typing import Any

import numpy as np
import pymc as pm
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import Point
from icb_pymc.kernels.hamiltonian import make_position
from icb_pymc.kernels.state_space import Noise
from icb_pymc.kernels.transfer import measured_path
from icb_pymc.steps.centred_scales import CentredScales
from icb_pymc.steps.far_proposals import TOGETHER, propose_far, random_blocks
from icb_pymc.steps.lapse_rate import LapseRate, lapse_hyperparameters
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, LinearGaussianParts
from icb_pymc.steps.places import Place, Places, position_of_noise
from icb_pymc.steps.summed_sources import SummedSource
from icb_pymc.steps.surface_proposals import SurfaceProposals
from icb_pymc.steps.univariate_slice import univariate_slice

# Surfaces for proposals are found after these steps of tuning, where the pseudo-data change. Where there is none,
# proposals are, from a step on, from a t distribution around the mean that they had.
SURFACE_UPDATES, FAR_BEGIN = (40, 160, 320), 100
# Before, and later in a share of the steps, with a surface or without, they move along a random line by slice sampling,
# which takes a few times as long, but never stays where it is. It is every step where few proposals are accepted.
SLICES_WITH_SURFACE, SLICES, FEW_ACCEPTED = 0.04, 0.1, 0.25
# Width of its bracket, relative to a standard normal vector times the root of their covariance.
SLICE_WIDTH = 2.0


class HyperparameterMoves:
    """Proposals, slices and the centred move of the hyperparameters, and what is adapted to them while tuning.

    A move builds the Gaussian model at other hyperparameters with the same pseudo-data, and takes the latent variables
    along to its reference: both are judged together, so the latent variables do not hold the hyperparameters back.

    Parameters
    ----------
    model : pm.Model
    parts : LinearGaussianParts
    linear : LinearGaussianModel
    places : Places
    hyperparameters : list
        Those that the engine samples.

    Attributes
    ----------
    names : list of str
        Values that move together with the latent variables.
    mean, covariance : those of these values, on their unconstrained scale, while tuning
    acceptance : recent mean of the acceptance of proposals
    """

    def __init__(
        self,
        model: pm.Model,
        parts: LinearGaussianParts,
        linear: LinearGaussianModel,
        places: Places,
        hyperparameters: list[TensorVariable],
    ) -> None:
        self._places = places
        rates = [rv for rv in lapse_hyperparameters(model, parts) if rv in hyperparameters]
        others = [rv for rv in hyperparameters if rv not in rates]
        self.names = [model.rvs_to_values[rv].name for rv in others]
        # In a population the choices tell the variables of most subjects well; of one walk they do not, and drawing its
        # scales given the path would take longer than it is worth.
        is_population = isinstance(parts.source, SummedSource)
        self._centred = CentredScales(model, parts, linear, others if is_population else [])
        self._lapse = LapseRate(model, parts.lapse, [model.rvs_to_values[rv].name for rv in rates]) if rates else None
        # The first step of a chain sets these, since they depend on the size of the problem.
        self.mean, self.covariance, self.acceptance = np.empty(0), np.empty((0, 0)), 0.0
        self._surface, self._proposed = SurfaceProposals(), 0

    @property
    def adapted(self) -> dict[str, Any]:
        """What has been adapted."""
        numbers = {"acceptance": self.acceptance, "proposed": self._proposed, "surface": self._surface.state}
        return {"mean": self.mean, "covariance": self.covariance, **numbers}

    @adapted.setter
    def adapted(self, adapted: dict[str, Any]) -> None:
        self.mean, self.covariance, self.acceptance = (adapted[name] for name in ("mean", "covariance", "acceptance"))
        self._proposed, self._surface.state = adapted["proposed"], adapted["surface"]

    def start(self, point: Point, rng: np.random.Generator, is_dispersed: bool) -> Point:
        """Begin a chain; dispersed ones move by up to one on the unconstrained scale."""
        size = len(self._vector(point))
        self.covariance, self.acceptance = 0.1 * np.eye(size), 0.0
        self._proposed = 0
        self._surface.clear()
        for _ in range(20 if is_dispersed and self.names else 0):
            dispersed = self._with_vector(point, self._vector(point) + rng.uniform(-1, 1, size))
            if np.isfinite(self._places.log_prior(dispersed)):
                point = dispersed
                break
        self.mean = self._vector(point)
        return point

    def move(self, place: Place, step: int, tuned: int | None, rng: np.random.Generator) -> tuple[Place, float]:
        """New hyperparameters, and the probability of acceptance if they were proposed (otherwise NaN).

        Parameters
        ----------
        place : Place
        step : int
            Number of the step of the chain.
        tuned : int or None
            Number of the step of tuning; None after it.
        rng : Generator
        """
        accept = np.nan
        if self.names:
            # In every other step, since what follows has to be computed again.
            if self._centred.names and step % 2 == 0:
                place = self._draw_given_variables(place, rng)
            if self._surface.surface is not None:
                place, accept = self._propose_on_surface(place, tuned is not None, rng)
            elif tuned is None or tuned >= FAR_BEGIN:
                accepts = []
                for block in random_blocks(len(self.mean), rng):
                    place, accepted = self._propose(place, block, rng)
                    accepts.append(accepted)
                accept = float(np.mean(accepts))
            slices = SLICES if self._surface.surface is None else SLICES_WITH_SURFACE
            if self.acceptance < FEW_ACCEPTED or rng.random() < slices:
                place = self._slice(place, rng)
        if self._lapse is not None:
            place = self._draw_lapse(place, self._lapse, rng)
        return place, accept

    def adapt(self, point: Point, accept: float, tuned: int) -> None:
        """After a step of tuning, the first of which has the number 1."""
        if np.isfinite(accept):
            self._proposed += 1
            self.acceptance += self._proposed**-0.6 * (accept - self.acceptance)
        deviation = self._vector(point) - self.mean
        weight = 1 / (tuned + 1) ** 0.8
        self.mean = self.mean + weight * deviation
        self.covariance = (1 - weight) * self.covariance + weight * np.outer(deviation, deviation)
        self.covariance += 1e-6 * weight * np.eye(len(deviation))

    def see_data(self, place: Place, tuned: int, rng: np.random.Generator) -> None:
        """Find the surface of other pseudo-data.

        A few hyperparameters that move together from a t distribution need none, and reach farther into their tails.
        """
        if len(self.mean) > TOGETHER and tuned in SURFACE_UPDATES:
            point, data = place.point, place.data
            self._surface.build(
                lambda vector: self._places.log_density(self._with_vector(point, vector), data),
                self.mean,
                self.covariance,
                rng,
            )

    def _propose_on_surface(self, place: Place, is_tuning: bool, rng: np.random.Generator) -> tuple[Place, float]:
        """A proposal of all of them, far away; the latent variables are transferred to its reference."""
        vector, log_proposals = self._surface.propose(self._vector(place.point), rng)
        if log_proposals == -np.inf:
            return place, 0.0
        path = self._path(place, rng)
        uniform = rng.random()
        proposal = self._places.along(path, self._with_vector(place.point, vector), place.data)
        if proposal is None:
            return place, 0.0
        if is_tuning:
            self._surface.add(vector, proposal.log_density - proposal.position.log_residual)
        accept = acceptance_probability(proposal.log_density - place.log_density + log_proposals)
        return (proposal if uniform < accept else place), accept

    def _propose(self, place: Place, block: np.ndarray, rng: np.random.Generator) -> tuple[Place, float]:
        """A proposal of some of them, far away; the latent variables are transferred to its reference."""
        current = self._vector(place.point)
        vector, log_proposals = propose_far(current, block, self.mean, self.covariance, rng)
        path = self._path(place, rng)
        uniform = rng.random()
        proposal = self._places.along(path, self._with_vector(place.point, vector), place.data)
        if proposal is None:
            return place, 0.0
        accept = acceptance_probability(proposal.log_density - place.log_density + log_proposals)
        return (proposal if uniform < accept else place), accept

    def _slice(self, place: Place, rng: np.random.Generator) -> Place:
        """A move along a random line of hyperparameters, with the path and its measurements kept that they transfer.

        Where a transfer changes the residual so much that proposals are refused, this moves as far as it can.
        """
        current = self._vector(place.point)
        direction = np.linalg.cholesky(self.covariance) @ rng.standard_normal(len(current))
        path = self._path(place, rng)
        last: Place | None = None

        def log_density(distance: float) -> float:
            nonlocal last
            if distance == 0.0:
                last = None
                return place.log_density
            last = self._places.along(path, self._with_vector(place.point, current + distance * direction), place.data)
            return -np.inf if last is None else last.log_density

        distance = univariate_slice(log_density, 0.0, SLICE_WIDTH, rng, steps_out=1)
        # The last that is evaluated is the one that is drawn, unless the bracket has shrunk to nothing.
        return place if distance == 0.0 or last is None else last

    def _draw_given_variables(self, place: Place, rng: np.random.Generator) -> Place:
        """The centred move: scales given the variables of the point, and the position that has these variables."""
        widths = self._with_vector(place.point, 2 * np.sqrt(np.diagonal(self.covariance)))
        point = self._centred.move(place.point, place.values, widths, rng)
        moved = self._places.at(point, place.data)
        # Without rho the noise of sampling cannot be read off the point, but it is the same.
        noise = moved.noise._replace(sampling=place.noise.sampling)
        return moved._replace(position=position_of_noise(moved.reference, noise))

    def _draw_lapse(self, place: Place, rate: LapseRate, rng: np.random.Generator) -> Place:
        point, lapse = rate.draw(place.point, place.space.first, place.position.contrasts, self._places.log_prior, rng)
        reference = place.reference._replace(space=place.space._replace(lapse=lapse))
        return place._replace(
            point=point,
            values={**place.values, "lapse": np.asarray(lapse)},
            reference=reference,
            position=make_position(reference, place.position.noise),
            log_prior=self._places.log_prior(point),
        )

    def _path(self, place: Place, rng: np.random.Generator) -> tuple[Noise, np.ndarray]:
        """A path and measurements of it that lead to the place, from which it can be seen under other models."""
        return measured_path(place.reference, place.position, rng.standard_normal(len(place.space.offset)))

    def _vector(self, point: Point) -> np.ndarray:
        return np.concatenate([np.ravel(point[name]) for name in self.names]) if self.names else np.empty(0)

    def _with_vector(self, point: Point, vector: np.ndarray) -> Point:
        updated, begin = dict(point), 0
        for name in self.names:
            end = begin + np.size(point[name])
            updated[name] = vector[begin:end].reshape(np.shape(point[name]))
            begin = end
        return updated


def acceptance_probability(log_ratio: float) -> float:
    """min(1, exp(log_ratio)), and zero where the ratio is not a number."""
    return float(np.exp(min(0.0, log_ratio))) if np.isfinite(log_ratio) else 0.0
