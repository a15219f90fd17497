"""The scales of a shrinkage walk: exact moves, centred and noncentred, of lambda_t and tau."""

from typing import Any, ClassVar

import numpy as np
import pymc as pm
from pymc.step_methods.compound import StepMethodState
from pymc.step_methods.state import dataclass_state
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import Point, parameters
from icb_pymc.declare.numpy_functions import numpy_function
from icb_pymc.kernels.shrinkage import (
    ChoiceRows,
    add_innovations,
    contrasts_along,
    draw_local_scales,
    exchange_innovations,
    log_half_cauchy,
    log_likelihood_along,
    noncentred_trajectory,
)
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian
from icb_pymc.steps.univariate_slice import univariate_slice

TARGET_ACCEPTANCE = 0.8
# Leapfrog steps of a trajectory of log lambda; their size varies by this share.
LEAPFROG_STEPS, STEP_JITTER = 10, 0.2
# With larger steps a trajectory would be longer than twice pi / 2, the standard deviation of log lambda a priori.
MAX_STEP_SIZE = 0.3
# Moves of tau with the noise kept, each with a random threshold between innovations that move along and jumps. It is in
# log-odds: how much an innovation of that scale changes a typical contrast.
GLOBAL_MOVES, THRESHOLDS = 3, (0.03, 30.0)
# Chains start with log tau moved by up to this much either way.
START_SPREAD = 2.0


@dataclass_state
class ShrinkageGibbsState(StepMethodState):
    """What is adapted while tuning.

    Attributes
    ----------
    tune, started : whether the chain is tuning, and whether it has made its first step
    steps : number of tuning steps
    log_step_size : of the leapfrog steps
    """

    tune: bool
    started: bool
    steps: int
    log_step_size: float


class ShrinkageGibbs(SeededStep):
    """Local and global scales of a shrinkage walk; the beliefs of the walk move along.

    Each step makes these moves, all of which leave the posterior invariant:

    1. log lambda by Hamiltonian dynamics, with the noise of the walk kept (noncentred);
    2. log tau by slice sampling, with the noise kept of all innovations but jumps;
    3. exchanges of innovations, and their scales, with others 1, 2, 4, ... decisions apart: jumps change their time;
    4. lambda given the innovations, by its conjugate conditionals (centred);
    5. tau given all products tau lambda_t, by slice sampling: neither beliefs nor choices depend on it.

    Beliefs given the scales are left to `UtilityHMC`.

    Parameters
    ----------
    vars : list of variables
        The local scales and, unless it is known, the global scale.
    """

    own_name = "shrinkage_gibbs"
    # For `UtilityHMC`, which samples the beliefs given the scales.
    nuts_options = ("target_accept",)
    _state_class = ShrinkageGibbsState
    stats_dtypes_shapes: ClassVar[dict[str, Any]] = {
        "local_scale_accept": (np.float64, []),
        "local_scale_step_size": (np.float64, []),
        "exchange_accept": (np.float64, []),
    }

    def __init__(self, vars: Any, model: pm.Model | None = None, rng: Any = None, **kwargs: Any) -> None:
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng, kwargs)
        rvs = [model.values_to_rvs[value] for value in self.vars]
        parts = find_linear_gaussian(model)
        if parts is None or parts.shrinkage is None or set(rvs) != set(parts.shrinkage.variables):
            raise ValueError(
                "ShrinkageGibbs samples the half-Cauchy scales of a WienerProcess, elapsed = (tau * scale)**2 * gaps, "
                "and tau if it is random, where choices are a SoftmaxChoice of a linear_utility of the process; it was "
                f"given {', '.join(rv.name for rv in rvs)}. Sample them with NUTS: pm.sample(step=pm.NUTS())."
            )
        scales = parts.shrinkage
        self._model = LinearGaussianModel(model, parts)
        self._local = model.rvs_to_values[scales.local_scale].name
        self._log_unit = np.log(parameters(scales.local_scale)[0].eval().astype(np.float64))
        self._belief = model.rvs_to_values[parts.source.variables[0]].name
        self._rho = None if parts.rho is None else model.rvs_to_values[parts.rho].name
        self._global = None
        if scales.global_scale is not None:
            self._global = model.rvs_to_values[scales.global_scale].name
            graph = model.logp(vars=[scales.global_scale])
            inside = set(ancestors([graph]))
            inputs = [value for value in model.value_vars if value in inside]
            self._prior_inputs = [value.name for value in inputs]
            self._prior = numpy_function(inputs, [graph])
        self.tune, self.started, self.steps = True, False, 0
        self.log_step_size = float(np.log(0.1))

    @classmethod
    def can_sample(cls, model: pm.Model, var: TensorVariable) -> bool:
        """The scales of a shrinkage walk."""
        parts = find_linear_gaussian(model)
        return parts is not None and parts.shrinkage is not None and var in parts.shrinkage.variables

    def stop_tuning(self) -> None:
        """Keep what was adapted."""
        self.tune = False

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """Make all moves once."""
        values = self._model.values(point)
        dynamics, space = self._model.state_space(values)
        rows = ChoiceRows(space.first, space.offset, space.state_loading)
        move_root = dynamics.move_root[0]
        noise = self._model.to_noise(values, dynamics, space, point).move
        belief = np.array(point[self._belief])
        weights = np.array(belief if self._rho is None else point[self._rho])
        deviation = weights - belief
        log_local = np.array(point[self._local]) - self._log_unit
        log_base = np.log(dynamics.move_scale) - log_local
        log_global = 0.0 if self._global is None else float(point[self._global])

        directions = noise @ move_root
        anchor = belief[:1] + deviation
        if not self.started:
            self.started = True
            if self.tune and self._global is not None:
                shift = self.rng.uniform(-START_SPREAD, START_SPREAD)
                log_base, log_global = log_base + shift, log_global + shift
        log_local, stats = self._move_local(rows, anchor, directions, log_base, log_local)
        for _ in range(GLOBAL_MOVES if self._global is not None else 0):
            log_threshold = self.rng.uniform(*np.log(THRESHOLDS)) - log_unit_contrast(rows, move_root)
            shift, moves_along = self._shift_global_with_noise(
                point, rows, anchor, directions, log_base + log_local, log_local, log_global, log_threshold
            )
            log_base, log_global = log_base + shift, log_global + shift
            log_local[~moves_along] -= shift
        add_innovations(anchor, log_base + log_local, directions, weights)

        innovations = np.exp(log_base + log_local)[:, None] * directions
        squares = np.exp(2 * (log_base + log_local)) * (noise**2).sum(axis=1)
        stats |= self._exchange(rows, log_base, log_local, innovations, squares, weights)
        draw_local_scales(squares * np.exp(-2 * log_base), noise.shape[1], log_local, self.rng)
        if self._global is not None:
            shift = self._shift_global_with_scales(point, log_local, log_global)
            log_local, log_global = log_local - shift, log_global + shift

        updated = {**point, self._local: log_local + self._log_unit, self._belief: weights - deviation}
        if self._global is not None:
            updated[self._global] = np.array(log_global)
        if self._rho is not None:
            updated[self._rho] = weights
        return updated, [stats]

    def _move_local(
        self, rows: ChoiceRows, anchor: np.ndarray, directions: np.ndarray, log_base: np.ndarray, log_local: np.ndarray
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Hamiltonian dynamics of log lambda with the noise kept."""
        step_size = np.exp(self.log_step_size) * (1 + STEP_JITTER * self.rng.uniform(-1, 1))
        momentum = self.rng.standard_normal(len(log_local))
        proposal, energy_error = noncentred_trajectory(
            rows, anchor, directions, log_base, log_local, momentum, step_size, LEAPFROG_STEPS
        )
        accept = float(np.exp(min(0.0, -energy_error))) if np.isfinite(energy_error) else 0.0
        if self.rng.random() < accept:
            log_local = proposal
        if self.tune:
            self.steps += 1
            self.log_step_size += self.steps**-0.6 * (accept - TARGET_ACCEPTANCE)
            self.log_step_size = float(np.clip(self.log_step_size, np.log(1e-3), np.log(MAX_STEP_SIZE)))
        return log_local, {"local_scale_accept": accept, "local_scale_step_size": step_size}

    def _shift_global_with_noise(
        self,
        point: Point,
        rows: ChoiceRows,
        anchor: np.ndarray,
        directions: np.ndarray,
        log_scale: np.ndarray,
        log_local: np.ndarray,
        log_global: float,
        log_threshold: float,
    ) -> tuple[float, np.ndarray]:
        """By how much to move log tau, and which innovations move along, with their noise kept.

        A jump that the choices have measured would hold tau back, since all innovations would have to be multiplied by
        the same factor. So a random set is kept as it is, and its lambda_t compensate: innovation t with probability
        g^2 / (g^2 + c^2), which is close to one for jumps. Given the set, the target is the posterior times the
        probability of the set.
        """
        moves_along = self.rng.random(len(log_scale)) < _share_below(log_scale, log_threshold)
        kept_path, moved_path = np.empty_like(anchor), np.empty_like(anchor)
        add_innovations(anchor, log_scale, np.where(moves_along[:, None], 0.0, directions), kept_path)
        add_innovations(np.zeros_like(anchor), log_scale, np.where(moves_along[:, None], directions, 0.0), moved_path)
        at_kept, slope = np.empty(len(rows.offset)), np.empty(len(rows.offset))
        contrasts_along(rows, kept_path, moved_path, at_kept, slope)
        moved, compensating = log_scale[moves_along], log_local[~moves_along]

        def log_density(shift: float) -> float:
            return (
                log_likelihood_along(rows.first, at_kept, slope, np.exp(shift))
                + self._log_prior(point, log_global + shift)
                + log_half_cauchy(compensating - shift)
                + float(np.log(_share_below(moved + shift, log_threshold)).sum())
            )

        return univariate_slice(log_density, 0.0, 1.0, self.rng), moves_along

    def _shift_global_with_scales(self, point: Point, log_local: np.ndarray, log_global: float) -> float:
        """By how much to move log tau with all products tau lambda_t kept."""

        def log_density(shift: float) -> float:
            return log_half_cauchy(log_local - shift) + self._log_prior(point, log_global + shift)

        # The standard deviation of log tau given T scales is about that of log lambda over the root of T.
        return univariate_slice(log_density, 0.0, 4.0 / np.sqrt(len(log_local) + 1), self.rng)

    def _exchange(
        self,
        rows: ChoiceRows,
        log_base: np.ndarray,
        log_local: np.ndarray,
        innovations: np.ndarray,
        squares: np.ndarray,
        weights: np.ndarray,
    ) -> dict[str, Any]:
        """Exchange adjacent innovations, then fewer that are 2, 4, 8, ... apart: all distances take the same time."""
        rates, distance = [], 1
        while distance < len(log_local):
            begin = int(self.rng.integers(distance))
            rates.append(
                exchange_innovations(
                    rows, distance, begin, distance, log_base, log_local, innovations, squares, weights, self.rng
                )
            )
            distance *= 2
        return {"exchange_accept": float(np.mean(rates)) if rates else np.nan}

    def _log_prior(self, point: Point, log_global: float) -> float:
        """Of log tau."""
        given = (log_global if name == self._global else point[name] for name in self._prior_inputs)
        return float(self._prior(*given)[0])


def log_unit_contrast(rows: ChoiceRows, move_root: np.ndarray) -> float:
    """Logarithm of the typical size, over contrasts, of what an innovation of scale one adds."""
    square = ((rows.loading @ move_root.T) ** 2).sum(axis=1)
    size = float(square.mean()) if len(square) else 0.0
    return 0.5 * np.log(size) if size > 0 else 0.0


def _share_below(log_scale: np.ndarray, log_threshold: float) -> np.ndarray:
    """c^2 / (g^2 + c^2)."""
    return 1.0 / (1.0 + np.exp(np.minimum(2 * (log_scale - log_threshold), 700.0)))
