"""The exact engine: samples all latent variables of a linear-Gaussian belief model through its utility contrasts."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
import pymc as pm
from pymc.step_methods.compound import StepMethodState
from pymc.step_methods.state import dataclass_state
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import Point
from icb_pymc.declare.numpy_functions import numpy_function
from icb_pymc.errors import InputError
from icb_pymc.kernels.hamiltonian import (
    Position,
    Reference,
    draw_centred_noise,
    fresh_noise,
    hmc_trajectory,
    make_position,
    make_reference,
    measured_path,
    position_of_measured_path,
)
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.pseudo_data import PositionSums, PseudoData, add_position, empty_data, pseudo_data_from_sums
from icb_pymc.kernels.state_space import Noise
from icb_pymc.kernels.warm_up import compile_engine
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.belief_sources import Dynamics, Values
from icb_pymc.steps.centred_scales import CentredScales
from icb_pymc.steps.far_proposals import propose_far, random_blocks
from icb_pymc.steps.lapse_rate import LapseRate, lapse_hyperparameters
from icb_pymc.steps.linear_gaussian import LIKELIHOOD_INPUTS, LinearGaussianModel, find_linear_gaussian
from icb_pymc.steps.summed_sources import SummedSource
from icb_pymc.steps.univariate_slice import univariate_slice

TARGET_ACCEPTANCE = 0.96
# From these steps of tuning on hyperparameters are proposed from a t distribution around the mean that they had.
FAR_BEGIN = 100
# Before, and later in this share of the steps, they move along a random line by slice sampling, which takes a few times
# as long, but never stays where it is. It is every step where less than this share of the proposals is accepted.
SLICE_SHARE, FEW_ACCEPTED = 0.1, 0.25
# Width of its bracket, relative to a standard normal vector times the root of their covariance.
SLICE_WIDTH = 2.0
# Radians. Trajectories are alternately about half a turn long, to the other side of the mean, so that the errors of two
# draws cancel, and about a quarter turn, so that the next two draws are independent of these. Both are a little longer
# than that, since posteriors are somewhat wider than the reference Gaussian and rotate more slowly; they vary by 10%.
PATH_LENGTHS, PATH_JITTER = (3.3, 1.75), 0.1
# Chains start this many times as far from the mode as draws from the Gaussian around it.
START_SPREAD = 2.0
# While tuning, a chain that has not moved for so many steps is put closer to the mode.
STUCK_STEPS = 10
# In the first steps of tuning every proposal is accepted: energy errors are large while a chain leaves a distant start.
FORCED_STEPS = 5
# After these steps of tuning the reference Gaussian is updated from the positions visited since the last update ...
REFERENCE_UPDATES = (10, 20, 40, 80, 160, 320)
# ... if there are at least this many.
MIN_POSITIONS = 4
# In this many first steps the step size is adapted to the energy error, whose median is about this value at the target
# acceptance rate: it is more informative than the acceptance rate, which can hardly exceed its target.
EARLY_STEPS, EARLY_ERROR = 40, 0.05


@dataclass_state
class UtilityHMCState(StepMethodState):
    """What is adapted while tuning, and where the chain is.

    Attributes
    ----------
    tune, started : whether the chain is tuning, and whether it has made its first step
    steps : number of tuning steps
    trajectories : number of trajectories
    log_step_size : of the leapfrog steps
    hyper_acceptance : recent mean of the acceptance of proposals of the hyperparameters
    hyper_mean, hyper_covariance : those of the hyperparameters, on their unconstrained scale
    place : the last point, the pseudo-data, the position and the sums over positions; None before the first step
    """

    tune: bool
    started: bool
    steps: int
    trajectories: int
    log_step_size: float
    hyper_acceptance: float
    hyper_mean: np.ndarray
    hyper_covariance: np.ndarray
    place: dict[str, Any] | None


class Candidate(NamedTuple):
    """The state of a chain at other hyperparameters."""

    point: Point
    values: Values
    dynamics: Dynamics
    reference: Reference
    position: Position
    log_prior: float
    log_evidence: float

    @property
    def log_density(self) -> float:
        """Of the hyperparameters and the position, for the measured path that both are seen from."""
        return self.log_prior + self.log_evidence + self.reference.log_density + self.position.log_residual


class UtilityHMC(SeededStep):
    """Hamiltonian Monte Carlo on the utilities that choices depend on; beliefs, rewards and rho follow exactly.

    The choices are approximated by Gaussian measurements of the utility contrasts (pseudo-data). Under the resulting
    Gaussian the dynamics are an exact rotation, and only the residual of the log-density is integrated by leapfrog
    steps. The pseudo-data first have the curvature of the likelihood at the posterior mode, and later in tuning its
    mean gradient and curvature over the draws, which leaves a smaller residual. The step size is adapted while tuning,
    first to the energy error, then by the Robbins-Monro method to an acceptance rate of 0.96. Trajectories are
    alternately about half a turn and a quarter turn of the rotation long, with a jitter of a tenth: half turns are best
    for means but bring no new information on squares, quarter turns are as good as independent draws for both.

    Hyperparameters move by proposals from a t distribution with the mean and covariance that they had while tuning,
    which do not depend on where they are, in blocks of three or fewer; and in between by slices along random lines. The
    latent variables are transferred to the reference Gaussian of the proposal, so they do not hold the hyperparameters
    back. In sums of processes, those that are only in covariances are also drawn given the variables (`CentredScales`).
    A rate of lapses, which the Gaussian does not depend on, is drawn given the utilities instead (`LapseRate`).

    Parameters
    ----------
    vars : list of variables
        All Gaussian variables of the belief model, and optionally its hyperparameters.
    with_rho : bool
        Whether to draw rho too. Otherwise the variable rho keeps its initial value, and no other step may use it.
    target_accept : float
        Acceptance rate of trajectories that the step size is adapted to; `pm.sample(target_accept=...)` sets it.
    """

    own_name = "utility_hmc"
    nuts_options = ("target_accept",)
    _state_class = UtilityHMCState
    stats_dtypes_shapes: ClassVar[dict[str, Any]] = {
        "hmc_accept": (np.float64, []),
        "hmc_energy_error": (np.float64, []),
        "hmc_path_length": (np.float64, []),
        "hmc_steps": (np.int64, []),
        "hyper_accept": (np.float64, []),
    }

    def __init__(
        self,
        vars: Any,
        model: pm.Model | None = None,
        rng: Any = None,
        with_rho: bool = True,
        target_accept: float = TARGET_ACCEPTANCE,
        **kwargs: Any,
    ) -> None:
        if not 0 < target_accept < 1:
            raise InputError(f"target_accept={target_accept}: give a number between 0 and 1.")
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng, kwargs)
        rvs = [model.values_to_rvs[value] for value in self.vars]
        parts = find_linear_gaussian(model)
        if parts is None or not set(parts.variables) <= set(rvs) <= {*parts.variables, *parts.hyperparameters}:
            raise ValueError(
                "UtilityHMC samples all Gaussian variables of one linear-Gaussian belief model whose choices are a "
                f"SoftmaxChoice of a linear_utility; it was given {', '.join(rv.name for rv in rvs)}. "
                "Sample this model with NUTS: pm.sample(step=pm.NUTS())."
            )
        if not with_rho and set(rvs) != set(model.free_RVs):
            raise ValueError(
                "with_rho=False: UtilityHMC can only leave rho out if it samples all other variables of the model."
            )
        self._model = LinearGaussianModel(model, parts, with_rho)
        self._latents = [model.rvs_to_values[rv].name for rv in parts.variables if with_rho or rv is not parts.rho]
        hyperparameters = [rv for rv in parts.hyperparameters if rv in rvs]
        rates = [rv for rv in lapse_hyperparameters(model, parts) if rv in rvs]
        others = [rv for rv in hyperparameters if rv not in rates]
        self._hyper = [model.rvs_to_values[rv].name for rv in others]
        # In a population the choices tell the variables of most subjects well; of one walk they do not, and drawing its
        # scales given the path would take longer than it is worth.
        is_population = isinstance(parts.source, SummedSource)
        self._centred = CentredScales(model, parts, self._model, others if is_population else [])
        self._lapse = LapseRate(model, parts.lapse, [model.rvs_to_values[rv].name for rv in rates]) if rates else None
        self._prior_inputs: list[str] = []
        if hyperparameters:
            graph = model.logp(vars=hyperparameters)
            inside = set(ancestors([graph]))
            inputs = [value for value in model.value_vars if value in inside]
            self._prior_inputs = [value.name for value in inputs]
            self._prior = numpy_function(inputs, [graph])
        self.target_accept = target_accept
        self.tune = True
        self.started = False
        self.steps = self.trajectories = 0
        # The first step of a chain sets these, since they depend on the size of the problem.
        self.log_step_size = self.hyper_acceptance = 0.0
        self.hyper_mean, self.hyper_covariance = np.empty(0), np.empty((0, 0))
        self._last_point: Point = {}
        self._stays, self._spread = 0, START_SPREAD
        compile_engine()

    @classmethod
    def can_sample(cls, model: pm.Model, var: TensorVariable) -> bool:
        """All variables of a linear-Gaussian belief model."""
        parts = find_linear_gaussian(model)
        return parts is not None and var in [*parts.variables, *parts.hyperparameters]

    def stop_tuning(self) -> None:
        """Keep what was adapted."""
        self.tune = False

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """Update the hyperparameters, then the latent variables."""
        if not self.started:
            point = self._start_chain(point)
        elif not self._is_unchanged(point):
            self._adopt_point(point)
        point = dict(point)
        hyper_accept = np.nan
        if self._hyper:
            point, hyper_accept = self._move_hyperparameters(point)
        if self._lapse is not None:
            point = self._draw_lapse(point, self._lapse)
        stats = self._move_latents() | {"hyper_accept": hyper_accept}
        self._last_point = {**point, **self._point_from_noise()}
        if self.tune:
            self._adapt(point, stats)
            if self._stays == STUCK_STEPS:
                self._approach_mode()
        return dict(self._last_point), [stats]

    @property
    def place(self) -> dict[str, Any] | None:
        """Where the chain is, exactly: from the point alone the position could be computed only up to rounding."""
        if not self.started:
            return None
        return {
            "point": self._last_point,
            "data": self._data._asdict(),
            "contrasts": self._position.contrasts,
            "noise": self._position.noise._asdict(),
            "log_residual": self._position.log_residual,
            "sums": self._position_sums._asdict(),
            "summed": self._positions_summed,
            "stays": self._stays,
            "spread": self._spread,
        }

    @place.setter
    def place(self, place: dict[str, Any] | None) -> None:
        self._last_point = {} if place is None else place["point"]
        if place is None:
            return
        self._set_model(self._model.values(self._last_point))
        if self._hyper:
            self._log_prior_here = self._log_prior(self._last_point)
        self._set_reference(PseudoData(**place["data"]))
        self._position_sums, self._positions_summed = PositionSums(**place["sums"]), place["summed"]
        self._stays, self._spread = place["stays"], place["spread"]
        self._position: Position = Position(place["contrasts"], Noise(**place["noise"]), place["log_residual"])

    # The state of a chain: values and state space at the hyperparameters, the reference Gaussian, and the position.

    def _start_chain(self, point: Point) -> Point:
        """The first step of a chain: overdispersed while tuning, otherwise from the given point."""
        size = len(self._hyper_vector(point))
        self.hyper_covariance = 0.1 * np.eye(size)
        point = self._disperse_hyperparameters(point) if self.tune else point
        self.hyper_mean = self._hyper_vector(point)
        self._adopt_point(point)
        # Energy errors add up over decisions; to bound them the step size shrinks with the fourth root of their number.
        self.log_step_size = float(np.log(0.3) - 0.25 * np.log(max(len(self._space.offset), 100) / 500))
        self._stays, self._spread = 0, START_SPREAD
        if self.tune:
            self._disperse_position()
        self.started = True
        return point

    def _disperse_position(self) -> None:
        """A draw from the reference Gaussian, moved away from its mean by a factor."""
        noise = draw_centred_noise(self._reference, fresh_noise(self._reference, self.rng))
        self._position = make_position(self._reference, Noise(*(self._spread * part for part in noise)))

    def _approach_mode(self) -> None:
        """Start again half as far away: where weights may be large, a start can be too distant to be left."""
        self._set_reference(find_mode(self._space).data)
        self._stays, self._spread = 0, 0.5 * self._spread
        self._disperse_position()
        self._last_point |= self._point_from_noise()

    def _disperse_hyperparameters(self, point: Point) -> Point:
        """Move the hyperparameters by up to one on their unconstrained scale."""
        for _ in range(20 if self._hyper else 0):
            step = self.rng.uniform(-1, 1, len(self._hyper_vector(point)))
            dispersed = self._with_hyper(point, self._hyper_vector(point) + step)
            if np.isfinite(self._log_prior(dispersed)):
                return dispersed
        return point

    def _adopt_point(self, point: Point) -> None:
        """Continue from a point that another step has changed.

        If it has only changed the prior, such as the scales of a shrinkage walk, the pseudo-data that were adapted to
        the likelihood are kept, which also saves the search for the mode.
        """
        values = self._model.values(point)
        if self._hyper:
            self._log_prior_here = self._log_prior(point)
        is_likelihood_same = (
            self.started
            and bool(self._last_point)
            and all(np.array_equal(values[name], self._values[name]) for name in LIKELIHOOD_INPUTS if name in values)
        )
        self._set_model(values)
        if is_likelihood_same:
            self._reference: Reference = make_reference(self._space, self._data)
        else:
            self._set_reference(find_mode(self._space).data)
        self._set_position(self._model.to_noise(self._values, self._dynamics, self._space, point))

    def _set_model(self, values: Values) -> None:
        self._values: Values = values
        self._dynamics, self._space = self._model.state_space(values)
        self._log_evidence_here = self._model.log_evidence(values)

    def _set_reference(self, data: PseudoData) -> None:
        self._data = data
        self._reference = make_reference(self._space, data)
        rows, times = len(data.variance), len(data.common_variance)
        self._position_sums, self._positions_summed = PositionSums(np.zeros(rows), np.zeros(rows), np.zeros(times)), 0

    def _set_position(self, noise: Noise) -> None:
        """Set the position to the one that this noise determines."""
        pairs = zip(noise, self._reference.noise, strict=True)
        self._position = make_position(self._reference, Noise(*(part - mean for part, mean in pairs)))

    def _noise(self) -> Noise:
        return Noise(*(part + mean for part, mean in zip(self._position.noise, self._reference.noise, strict=True)))

    def _point_from_noise(self) -> Point:
        return self._model.to_point(self._values, self._dynamics, self._space, self._noise(), self.rng)

    def _is_unchanged(self, point: Point) -> bool:
        """Whether the point is the one that the last step returned."""
        # Compared by value, because points are copied between processes.
        return (
            bool(self._last_point)
            and all(
                point[name] is self._last_point[name] or np.array_equal(point[name], self._last_point[name])
                for name in self._latents
            )
            and (self._model.is_fixed or self._model.is_same(point, self._last_point))
            and all(np.array_equal(point[name], self._last_point[name]) for name in self._prior_inputs)
        )

    def _move_latents(self) -> dict[str, Any]:
        path_length = PATH_LENGTHS[self.trajectories % len(PATH_LENGTHS)] * (1 + PATH_JITTER * self.rng.uniform(-1, 1))
        self.trajectories += 1
        steps = max(1, int(np.ceil(path_length / np.exp(self.log_step_size))))
        fresh = fresh_noise(self._reference, self.rng)
        new_position, energy_error = hmc_trajectory(self._reference, self._position, fresh, steps, path_length)
        accept = _acceptance_probability(-energy_error)
        is_forced = self.tune and self.steps < FORCED_STEPS and energy_error < len(new_position.contrasts)
        self._has_moved = self.rng.random() < accept or is_forced
        self._stays = 0 if self._has_moved else self._stays + 1
        if self._has_moved:
            self._position = new_position
        return {
            "hmc_accept": accept,
            "hmc_energy_error": energy_error,
            "hmc_path_length": path_length,
            "hmc_steps": steps,
        }

    def _move_hyperparameters(self, point: Point) -> tuple[Point, float]:
        """New hyperparameters, and the probability of acceptance if they were proposed (otherwise NaN)."""
        # In every other step, since what follows has to be computed again.
        if self._centred.names and self.trajectories % 2 == 0:
            point = self._draw_given_variables(point)
        blocks = random_blocks(len(self.hyper_mean), self.rng)
        if self.tune and self.steps < FAR_BEGIN:
            for _ in blocks:
                point = self._slice_hyperparameters(point)
            return point, np.nan
        accepts = []
        for block in blocks:
            point, accept = self._propose_hyperparameters(point, block)
            accepts.append(accept)
        if self.hyper_acceptance < FEW_ACCEPTED or self.rng.random() < SLICE_SHARE:
            point = self._slice_hyperparameters(point)
        return point, float(np.mean(accepts))

    def _draw_given_variables(self, point: Point) -> Point:
        """The centred move: scales given the variables, and the position that has these variables."""
        deviations = np.sqrt(np.diagonal(self.hyper_covariance))
        widths = self._with_hyper(point, 2 * deviations)
        point = self._centred.move(point, self._values, widths, self.rng)
        sampling = self._noise().sampling
        self._set_model(self._model.values(point))
        self._log_prior_here = self._log_prior(point)
        self._reference = make_reference(self._space, self._data)
        noise = self._model.to_noise(self._values, self._dynamics, self._space, point)
        # Without rho the noise of sampling cannot be read off the point, but it is the same.
        self._set_position(noise._replace(sampling=sampling))
        return point

    def _propose_hyperparameters(self, point: Point, block: np.ndarray) -> tuple[Point, float]:
        """A proposal of some of them, far away; the latent variables are transferred to its reference."""
        current = self._hyper_vector(point)
        vector, log_proposals = propose_far(current, block, self.hyper_mean, self.hyper_covariance, self.rng)
        fresh = fresh_noise(self._reference, self.rng)
        uniform = self.rng.random()
        proposal = self._candidate(point, vector, *measured_path(self._reference, self._position, fresh))
        if proposal is None:
            return point, 0.0
        accept = _acceptance_probability(proposal.log_density - self._log_density_here() + log_proposals)
        if uniform < accept:
            self._accept(proposal)
            point = proposal.point
        return point, accept

    def _slice_hyperparameters(self, point: Point) -> Point:
        """A move along a random line of hyperparameters, with the path and its measurements kept that they transfer.

        Where a transfer changes the residual so much that proposals are refused, this moves as far as it can.
        """
        current = self._hyper_vector(point)
        direction = np.linalg.cholesky(self.hyper_covariance) @ self.rng.standard_normal(len(current))
        fresh = fresh_noise(self._reference, self.rng)
        kept = measured_path(self._reference, self._position, fresh)
        last: Candidate | None = None
        at_start = self._log_density_here()

        def log_density(distance: float) -> float:
            nonlocal last
            if distance == 0.0:
                last = None
                return at_start
            last = self._candidate(point, current + distance * direction, *kept)
            return -np.inf if last is None else last.log_density

        distance = univariate_slice(log_density, 0.0, SLICE_WIDTH, self.rng, steps_out=1)
        # The last that is evaluated is the one that is drawn, unless the bracket has shrunk to nothing.
        if distance == 0.0 or last is None:
            return point
        self._accept(last)
        return last.point

    def _candidate(self, point: Point, vector: np.ndarray, noise: Noise, error: np.ndarray) -> Candidate | None:
        """The state of the chain at other hyperparameters, for a path and its measurements; None where it has none."""
        proposal = self._with_hyper(point, vector)
        log_prior = self._log_prior(proposal)
        if not np.isfinite(log_prior):
            return None
        values = self._model.values(proposal)
        try:
            with np.errstate(all="ignore"):
                dynamics, space = self._model.state_space(values)
                reference = make_reference(space, self._data)
                log_evidence = self._model.log_evidence(values)
        except (ValueError, np.linalg.LinAlgError):
            # Not a covariance matrix, or not finite.
            return None
        if not np.isfinite(reference.log_density) or not self._model.has_moderate_utilities(space):
            return None
        position = position_of_measured_path(reference, noise, error)
        return Candidate(proposal, values, dynamics, reference, position, log_prior, log_evidence)

    def _accept(self, candidate: Candidate) -> None:
        self._values, self._dynamics, self._space = candidate.values, candidate.dynamics, candidate.reference.space
        self._log_prior_here, self._log_evidence_here = candidate.log_prior, candidate.log_evidence
        self._reference, self._position = candidate.reference, candidate.position

    def _log_density_here(self) -> float:
        total = self._log_prior_here + self._log_evidence_here
        return total + self._reference.log_density + self._position.log_residual

    def _draw_lapse(self, point: Point, rate: LapseRate) -> Point:
        contrasts = self._position.contrasts
        point, lapse = rate.draw(point, self._space.first, contrasts, self._log_prior, self.rng)
        self._log_prior_here = self._log_prior(point)
        self._values, self._space = {**self._values, "lapse": np.asarray(lapse)}, self._space._replace(lapse=lapse)
        self._reference = self._reference._replace(space=self._space)
        self._position = make_position(self._reference, self._position.noise)
        return point

    def _adapt(self, point: Point, stats: dict[str, Any]) -> None:
        self.steps += 1
        rate = self.steps**-0.6
        if self._hyper:
            self._adapt_hyperparameters(point, stats["hyper_accept"])
        if self.steps <= FORCED_STEPS:
            return
        if self.steps <= EARLY_STEPS:
            error = np.nan_to_num(abs(stats["hmc_energy_error"]), nan=np.inf)
            # The energy error grows with the square of the step size.
            excess = float(np.clip(0.5 * np.log(max(error, 1e-12) / EARLY_ERROR), -1, 1))
            self.log_step_size -= (self._positions_summed + 1) ** -0.6 * excess
        else:
            self.log_step_size += rate * (stats["hmc_accept"] - self.target_accept)
        # At most the whole trajectory, and not so small that a draw takes forever.
        self.log_step_size = float(np.clip(self.log_step_size, np.log(0.01), np.log(min(PATH_LENGTHS))))
        # The repeated position of a chain that is stuck at a distant start says nothing about the posterior.
        if self._has_moved:
            add_position(self._space.first, self._position.contrasts, self._position_sums, self._space.lapse)
            self._positions_summed += 1
        if self.steps in REFERENCE_UPDATES and self._positions_summed >= MIN_POSITIONS:
            noise = self._noise()
            data = empty_data(self._space.first)
            pseudo_data_from_sums(self._space.first, self._position_sums, self._positions_summed, data)
            self._set_reference(data)
            self._set_position(noise)

    def _adapt_hyperparameters(self, point: Point, accept: float) -> None:
        if np.isfinite(accept):
            self.hyper_acceptance += (self.steps - FAR_BEGIN + 1) ** -0.6 * (accept - self.hyper_acceptance)
        deviation = self._hyper_vector(point) - self.hyper_mean
        weight = 1 / (self.steps + 1) ** 0.8
        self.hyper_mean = self.hyper_mean + weight * deviation
        self.hyper_covariance = (1 - weight) * self.hyper_covariance + weight * np.outer(deviation, deviation)
        self.hyper_covariance += 1e-6 * weight * np.eye(len(deviation))

    def _hyper_vector(self, point: Point) -> np.ndarray:
        return np.concatenate([np.ravel(point[name]) for name in self._hyper]) if self._hyper else np.empty(0)

    def _with_hyper(self, point: Point, vector: np.ndarray) -> Point:
        updated, begin = dict(point), 0
        for name in self._hyper:
            end = begin + np.size(point[name])
            updated[name] = vector[begin:end].reshape(np.shape(point[name]))
            begin = end
        return updated

    def _log_prior(self, point: Point) -> float:
        return float(self._prior(*(point[name] for name in self._prior_inputs))[0])


def _acceptance_probability(log_ratio: float) -> float:
    return float(np.exp(min(0.0, log_ratio))) if np.isfinite(log_ratio) else 0.0
