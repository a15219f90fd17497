"""The exact engine: samples all latent variables of a linear-Gaussian belief model through its utility contrasts."""

from typing import Any, ClassVar

import numpy as np
import pymc as pm
from pymc.step_methods.compound import StepMethodState
from pymc.step_methods.state import dataclass_state
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import Point
from icb_pymc.errors import InputError
from icb_pymc.kernels.hamiltonian import Position, draw_centred_noise, fresh_noise, hmc_trajectory, make_position
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.pseudo_data import PositionSums, PseudoData, add_position, empty_data, pseudo_data_from_sums
from icb_pymc.kernels.state_space import Noise
from icb_pymc.kernels.warm_up import compile_engine
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.hyperparameter_moves import HyperparameterMoves, acceptance_probability
from icb_pymc.steps.linear_gaussian import LIKELIHOOD_INPUTS, LinearGaussianModel, find_linear_gaussian
from icb_pymc.steps.places import Place, Places

TARGET_ACCEPTANCE = 0.96
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
    hyper : what is adapted to the hyperparameters
    place : the last point, the pseudo-data, the position and the sums over positions; None before the first step
    """

    tune: bool
    started: bool
    steps: int
    trajectories: int
    log_step_size: float
    hyper: dict[str, Any]
    place: dict[str, Any] | None


class UtilityHMC(SeededStep):
    """Hamiltonian Monte Carlo on the utilities that choices depend on; beliefs, rewards and rho follow exactly.

    The choices are approximated by Gaussian measurements of the utility contrasts (pseudo-data). Under the resulting
    Gaussian the dynamics are an exact rotation, and only the residual of the log-density is integrated by leapfrog
    steps. The pseudo-data first have the curvature of the likelihood at the posterior mode, and later in tuning its
    mean gradient and curvature over the draws, which leaves a smaller residual. The step size is adapted while tuning,
    first to the energy error, then by the Robbins-Monro method to an acceptance rate of 0.96. Trajectories are
    alternately about half a turn and a quarter turn of the rotation long, with a jitter of a tenth: half turns are best
    for means but bring no new information on squares, quarter turns are as good as independent draws for both.

    Hyperparameters are moved by `HyperparameterMoves`, before the latent variables.

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
    _here: Place
    _position_sums: PositionSums
    _positions_summed: int
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
        self._places = Places(model, self._model, hyperparameters)
        self._moves = HyperparameterMoves(model, parts, self._model, self._places, hyperparameters)
        self.target_accept = target_accept
        self.tune = True
        self.started = False
        self.steps = self.trajectories = 0
        # The first step of a chain sets it, since it depends on the size of the problem.
        self.log_step_size = 0.0
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
        tuned = self.steps if self.tune else None
        self._here, hyper_accept = self._moves.move(
            self._here._replace(point=dict(point)), self.trajectories, tuned, self.rng
        )
        stats = self._move_latents() | {"hyper_accept": hyper_accept}
        self._last_point = {**self._here.point, **self._variables()}
        if self.tune:
            self._adapt(stats)
            if self._stays == STUCK_STEPS:
                self._approach_mode()
        return dict(self._last_point), [stats]

    @property
    def hyper(self) -> dict[str, Any]:
        """What has been adapted to the hyperparameters."""
        return self._moves.adapted

    @hyper.setter
    def hyper(self, adapted: dict[str, Any]) -> None:
        self._moves.adapted = adapted

    @property
    def place(self) -> dict[str, Any] | None:
        """Where the chain is, exactly: from the point alone the position could be computed only up to rounding."""
        if not self.started:
            return None
        return {
            "point": self._last_point,
            "data": self._here.data._asdict(),
            "contrasts": self._here.position.contrasts,
            "noise": self._here.position.noise._asdict(),
            "log_residual": self._here.position.log_residual,
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
        position = Position(place["contrasts"], Noise(**place["noise"]), place["log_residual"])
        self._here = self._places.at(self._last_point, PseudoData(**place["data"]))._replace(position=position)
        self._position_sums, self._positions_summed = PositionSums(**place["sums"]), place["summed"]
        self._stays, self._spread = place["stays"], place["spread"]

    # Where the chain is, and the reference Gaussian that it is seen from.

    def _start_chain(self, point: Point) -> Point:
        """The first step of a chain: overdispersed while tuning, otherwise from the given point."""
        point = self._moves.start(point, self.rng, is_dispersed=self.tune)
        self._adopt_point(point)
        # Energy errors add up over decisions; to bound them the step size shrinks with the fourth root of their number.
        self.log_step_size = float(np.log(0.3) - 0.25 * np.log(max(len(self._here.space.offset), 100) / 500))
        self._stays, self._spread = 0, START_SPREAD
        if self.tune:
            self._disperse_position()
        self.started = True
        return point

    def _disperse_position(self) -> None:
        """A draw from the reference Gaussian, moved away from its mean by a factor."""
        reference = self._here.reference
        noise = draw_centred_noise(reference, fresh_noise(reference, self.rng))
        dispersed = make_position(reference, Noise(*(self._spread * part for part in noise)))
        self._here = self._here._replace(position=dispersed)

    def _approach_mode(self) -> None:
        """Start again half as far away: where weights may be large, a start can be too distant to be left."""
        self._set_data(find_mode(self._here.space).data)
        self._stays, self._spread = 0, 0.5 * self._spread
        self._disperse_position()
        self._last_point |= self._variables()

    def _adopt_point(self, point: Point) -> None:
        """Continue from a point that another step has changed.

        If it has only changed the prior, such as the scales of a shrinkage walk, the pseudo-data that were adapted to
        the likelihood are kept, which also saves the search for the mode.
        """
        values = self._model.values(point)
        is_likelihood_same = (
            self.started
            and bool(self._last_point)
            and all(
                np.array_equal(values[name], self._here.values[name]) for name in LIKELIHOOD_INPUTS if name in values
            )
        )
        self._here = self._places.at(point, self._here.data if is_likelihood_same else None)
        if not is_likelihood_same:
            self._forget_positions()

    def _set_data(self, data: PseudoData) -> None:
        self._here = self._here.with_data(data)
        self._forget_positions()

    def _forget_positions(self) -> None:
        rows, times = len(self._here.data.variance), len(self._here.data.common_variance)
        self._position_sums, self._positions_summed = PositionSums(np.zeros(rows), np.zeros(rows), np.zeros(times)), 0

    def _variables(self) -> Point:
        """Values of the latent variables."""
        here = self._here
        return self._model.to_point(here.values, here.dynamics, here.space, here.noise, self.rng)

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
            and all(np.array_equal(point[name], self._last_point[name]) for name in self._places.prior_inputs)
        )

    def _move_latents(self) -> dict[str, Any]:
        path_length = PATH_LENGTHS[self.trajectories % len(PATH_LENGTHS)] * (1 + PATH_JITTER * self.rng.uniform(-1, 1))
        self.trajectories += 1
        steps = max(1, int(np.ceil(path_length / np.exp(self.log_step_size))))
        reference, position = self._here.reference, self._here.position
        new_position, energy_error = hmc_trajectory(
            reference, position, fresh_noise(reference, self.rng), steps, path_length
        )
        accept = acceptance_probability(-energy_error)
        is_forced = self.tune and self.steps < FORCED_STEPS and energy_error < len(new_position.contrasts)
        self._has_moved = self.rng.random() < accept or is_forced
        self._stays = 0 if self._has_moved else self._stays + 1
        if self._has_moved:
            self._here = self._here._replace(position=new_position)
        return {
            "hmc_accept": accept,
            "hmc_energy_error": energy_error,
            "hmc_path_length": path_length,
            "hmc_steps": steps,
        }

    def _adapt(self, stats: dict[str, Any]) -> None:
        self.steps += 1
        rate = self.steps**-0.6
        self._moves.adapt(self._here.point, stats["hyper_accept"], self.steps)
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
            first, contrasts = self._here.space.first, self._here.position.contrasts
            add_position(first, contrasts, self._position_sums, self._here.space.lapse)
            self._positions_summed += 1
        if self.steps in REFERENCE_UPDATES and self._positions_summed >= MIN_POSITIONS:
            data = empty_data(self._here.space.first)
            pseudo_data_from_sums(self._here.space.first, self._position_sums, self._positions_summed, data)
            self._set_data(data)
            self._moves.see_data(self._here, self.steps, self.rng)
