"""The exact engine: all latent variables of a linear-Gaussian belief model at once, through its utility contrasts."""

from typing import Any, ClassVar

import numpy as np
import pymc as pm
from pymc.pytensorf import compile as compile_graph
from pymc.step_methods.compound import StepMethodState
from pymc.step_methods.state import dataclass_state
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.graph import Point
from icb_pymc.kernels.hamiltonian import Place, Reference, carry_over, draw_around, fresh_noise, locate, refer, travel
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.pseudo_data import PseudoData, Seen, empty_data, measure_seen, see
from icb_pymc.kernels.state_space import Noise
from icb_pymc.kernels.warm_up import compile_engine
from icb_pymc.steps.base import SeededStep
from icb_pymc.steps.belief_sources import Values
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

TARGET_ACCEPTANCE = 0.96
HYPER_TARGET_ACCEPTANCE = 0.3
# Radians, by turns: about half a turn, to the other side of the mean, so that the errors of two draws cancel; then
# about a quarter, to where neither of them tells anything of the next two. A little more than that, since posteriors
# are somewhat wider than the Gaussian of reference and turn more slowly; and a tenth either way.
PATHS, PATH_JITTER = (3.3, 1.75), 0.1
# Chains start this many times as far from the mode as draws of the Gaussian around it.
START_SPREAD = 2.0
# For the first steps of tuning every path is followed: to come down from a start far out, errors of energy are large.
SETTLING = 5
# After so many steps of tuning the Gaussian is made anew, from the places seen since the last time.
REFRESH = (10, 20, 40, 80, 160, 320)
# ... if there are so many.
LEAST_SEEN = 4
# For so many steps the size of the energy's error, whose median would be this at the acceptance aimed at, sets the
# step size: it tells more than acceptance, which is hardly ever far above its target.
EARLY, EARLY_ERROR = 40, 0.05


@dataclass_state
class UtilityHMCState(StepMethodState):
    """What a chain has learnt while tuning."""

    tune: bool
    began: bool
    steps: int
    turns: int
    log_step_size: float
    hyper_log_scale: float
    hyper_mean: np.ndarray
    hyper_covariance: np.ndarray


class UtilityHMC(SeededStep):
    """Hamiltonian Monte Carlo on the utilities that choices depend on; beliefs, rewards and rho follow exactly.

    The choices are taken as Gaussian measurements of the utility contrasts. In that Gaussian the dynamics are an exact
    rotation, and only what the measurements leave over is integrated by leapfrog steps. They are first those with the
    curvature of the likelihood at the posterior mode, and while tuning those with its mean gradient and curvature over
    the draws, which leave less over. The size of the steps is adapted while tuning, first to the errors of energy, then
    by Robbins and Monro's method towards an acceptance of 0.96. Paths are by turns about half a turn and a quarter turn
    of the rotation long, more or less a tenth: half turns alone would tell most of means but nothing new of squares,
    quarter turns as much of both as independent draws. A path has as many steps as fit in.

    Hyperparameters move together by a random walk whose covariance adapts while tuning, with the latent variables
    carried over to the Gaussian of the proposal, so that they do not hold the hyperparameters back.

    Parameters
    ----------
    vars : list of variables
        All Gaussian variables of the belief model, and perhaps its hyperparameters.
    with_rho : bool
        Whether to draw rho too; without, the variable rho of the model stays as it is, which nothing else may read.
    """

    name = "utility_hmc"
    _state_class = UtilityHMCState
    stats_dtypes_shapes: ClassVar[dict[str, Any]] = {
        "hmc_accept": (np.float64, []),
        "hmc_energy_error": (np.float64, []),
        "hmc_path_length": (np.float64, []),
        "hmc_steps": (np.int64, []),
        "hyper_accept": (np.float64, []),
    }

    def __init__(
        self, vars: Any, model: pm.Model | None = None, rng: Any = None, with_rho: bool = True, **kwargs: Any
    ) -> None:
        model = pm.modelcontext(model)
        super().__init__(vars, model, rng)
        rvs = [model.values_to_rvs[value] for value in self.vars]
        found = find_linear_gaussian(model)
        if found is None or not set(found.variables) <= set(rvs) <= {*found.variables, *found.hyperparameters}:
            raise ValueError(
                "UtilityHMC samples all Gaussian variables of one linear-Gaussian belief model whose choices are a "
                f"SoftmaxChoice of a linear_utility; it was given {', '.join(rv.name for rv in rvs)}. "
                "Sample this model with NUTS: pm.sample(step=pm.NUTS())."
            )
        if not with_rho and set(rvs) != set(model.free_RVs):
            raise ValueError("UtilityHMC leaves rho out only where it samples all other variables of the model.")
        self._model = LinearGaussianModel(model, found, with_rho)
        self._latents = [model.rvs_to_values[rv].name for rv in found.variables if with_rho or rv is not found.rho]
        hyperparameters = [rv for rv in found.hyperparameters if rv in rvs]
        self._hyper = [model.rvs_to_values[rv].name for rv in hyperparameters]
        if self._hyper:
            graph = model.logp(vars=hyperparameters)
            inside = set(ancestors([graph]))
            inputs = [value for value in model.value_vars if value in inside]
            self._prior_inputs = [value.name for value in inputs]
            self._prior = compile_graph(inputs, graph)
        self.tune = True
        self.began = False
        self.steps = self.turns = 0
        # Of these, a chain sets what depends on sizes when it begins.
        self.log_step_size = self.hyper_log_scale = 0.0
        self.hyper_mean, self.hyper_covariance = np.empty(0), np.empty((0, 0))
        self._told: Point = {}
        compile_engine()

    @classmethod
    def knows(cls, model: pm.Model, var: TensorVariable) -> bool:
        """All variables of a linear-Gaussian belief model."""
        found = find_linear_gaussian(model)
        return found is not None and var in [*found.variables, *found.hyperparameters]

    def stop_tuning(self) -> None:
        """Keep what was learnt."""
        self.tune = False

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """A move of the hyperparameters, then one of the latent variables."""
        if not self.began:
            point = self._begin(point)
        elif not self._is_mine(point):
            self._enter(point)
        point = dict(point)
        hyper_accept = np.nan
        if self._hyper:
            point, hyper_accept = self._move_hyperparameters(point)
        stats = self._move_latents() | {"hyper_accept": hyper_accept}
        self._told = self._tell()
        if self.tune:
            self._adapt(point, stats)
        return {**point, **self._told}, [stats]

    # Where the chain is: values and state space at the hyperparameters, the Gaussian of reference, and the place in it.

    def _begin(self, point: Point) -> Point:
        """The first step of a chain: while tuning it starts far out, else it goes on from the given point."""
        size = len(self._hyper_vector(point))
        self.hyper_covariance = 0.1 * np.eye(size)
        self.hyper_log_scale = _usual_log_scale(size)
        point = self._scatter(point) if self.tune else point
        self.hyper_mean = self._hyper_vector(point)
        self._enter(point)
        # Errors of energy add up over decisions: to keep them in bounds steps shrink with the fourth root.
        self.log_step_size = float(np.log(0.3) - 0.25 * np.log(max(len(self._space.offset), 100) / 500))
        if self.tune:
            noise = draw_around(self._reference, fresh_noise(self._reference, self.rng))
            self._place: Place = locate(self._reference, Noise(*(START_SPREAD * part for part in noise)))
        self.began = True
        return point

    def _scatter(self, point: Point) -> Point:
        """Hyperparameters moved by up to one on their unconstrained scale."""
        for _ in range(20 if self._hyper else 0):
            jump = self.rng.uniform(-1, 1, len(self._hyper_vector(point)))
            scattered = self._with_hyper(point, self._hyper_vector(point) + jump)
            if np.isfinite(self._log_prior(scattered)):
                return scattered
        return point

    def _enter(self, point: Point) -> None:
        """Take up a point that others have made: reference and place anew, from nothing but what is there."""
        self._set_model(self._model.values(point))
        self._refer(find_mode(self._space).data)
        self._settle(self._model.to_noise(self._values, self._dynamics, self._space, point))

    def _set_model(self, values: Values) -> None:
        self._values: Values = values
        self._dynamics, self._space = self._model.state_space(values)

    def _refer(self, data: PseudoData) -> None:
        self._data = data
        self._reference: Reference = refer(self._space, data)
        rows, times = len(data.width), len(data.common)
        self._seen, self._seen_count = Seen(np.zeros(rows), np.zeros(rows), np.zeros(times)), 0

    def _settle(self, noise: Noise) -> None:
        """Be where this noise, measured from zero, leads to."""
        pairs = zip(noise, self._reference.noise, strict=True)
        self._place = locate(self._reference, Noise(*(part - mean for part, mean in pairs)))

    def _noise(self) -> Noise:
        return Noise(*(part + mean for part, mean in zip(self._place.noise, self._reference.noise, strict=True)))

    def _tell(self) -> Point:
        return self._model.to_point(self._values, self._dynamics, self._space, self._noise(), self.rng)

    def _is_mine(self, point: Point) -> bool:
        """Whether nobody has changed what the last step returned."""
        # Compared by value: between processes points are copied.
        if not self._told or not all(np.array_equal(point[name], self._told[name]) for name in self._latents):
            return False
        if self._model.is_fixed:
            return True
        values = self._model.values(point)
        return all(np.array_equal(values[name], self._values[name]) for name in values)

    def _move_latents(self) -> dict[str, Any]:
        path = PATHS[self.turns % len(PATHS)] * (1 + PATH_JITTER * self.rng.uniform(-1, 1))
        self.turns += 1
        steps = max(1, int(np.ceil(path / np.exp(self.log_step_size))))
        fresh = fresh_noise(self._reference, self.rng)
        place, energy_error = travel(self._reference, self._place, fresh, steps, path)
        accept = _probability(-energy_error)
        is_settling = self.tune and self.steps < SETTLING and energy_error < len(place.contrasts)
        self._has_moved = self.rng.random() < accept or is_settling
        if self._has_moved:
            self._place = place
        return {
            "hmc_accept": accept,
            "hmc_energy_error": energy_error,
            "hmc_path_length": path,
            "hmc_steps": steps,
        }

    def _move_hyperparameters(self, point: Point) -> tuple[Point, float]:
        root = np.linalg.cholesky(self.hyper_covariance)
        jump = np.exp(self.hyper_log_scale) * root @ self.rng.standard_normal(len(root))
        proposal = self._with_hyper(point, self._hyper_vector(point) + jump)
        fresh = fresh_noise(self._reference, self.rng)
        uniform = self.rng.random()
        log_prior = self._log_prior(proposal)
        if not np.isfinite(log_prior):
            return point, 0.0
        values = self._model.values(proposal)
        try:
            with np.errstate(all="ignore"):
                dynamics, space = self._model.state_space(values)
                reference = refer(space, self._data)
        except (ValueError, np.linalg.LinAlgError):
            # No covariance at all, or one beyond all numbers.
            return point, 0.0
        if not np.isfinite(reference.log_density) or not self._model.can_tell(space):
            return point, 0.0
        noise = carry_over(self._reference, reference, self._place.noise, fresh)
        place = locate(reference, noise)
        log_ratio = log_prior + reference.log_density + place.residual
        log_ratio -= self._log_prior(point) + self._reference.log_density + self._place.residual
        accept = _probability(log_ratio)
        if uniform < accept:
            point, self._values, self._dynamics, self._space = proposal, values, dynamics, space
            self._reference, self._place = reference, place
        return point, accept

    def _adapt(self, point: Point, stats: dict[str, Any]) -> None:
        self.steps += 1
        rate = self.steps**-0.6
        if self._hyper:
            self._adapt_hyperparameters(point, stats, rate)
        if self.steps <= SETTLING:
            return
        if self.steps <= EARLY:
            error = np.nan_to_num(abs(stats["hmc_energy_error"]), nan=np.inf)
            # An error grows with the square of the step.
            surplus = float(np.clip(0.5 * np.log(max(error, 1e-12) / EARLY_ERROR), -1, 1))
            self.log_step_size -= (self._seen_count + 1) ** -0.6 * surplus
        else:
            self.log_step_size += rate * (stats["hmc_accept"] - TARGET_ACCEPTANCE)
        # Beyond the whole path, or so small that a draw would never come, a step makes no sense.
        self.log_step_size = float(np.clip(self.log_step_size, np.log(0.01), np.log(min(PATHS))))
        # Of a chain that is still stuck far out, one and the same place tells nothing of the posterior.
        if self._has_moved:
            see(self._space.first, self._place.contrasts, self._seen)
            self._seen_count += 1
        if self.steps in REFRESH and self._seen_count >= LEAST_SEEN:
            noise = self._noise()
            data = empty_data(self._space.first)
            measure_seen(self._space.first, self._seen, self._seen_count, data)
            self._refer(data)
            self._settle(noise)

    def _adapt_hyperparameters(self, point: Point, stats: dict[str, Any], rate: float) -> None:
        self.hyper_log_scale += 2 * rate * (stats["hyper_accept"] - HYPER_TARGET_ACCEPTANCE)
        # A few lucky moves at the start would otherwise send the chain where float64 cannot tell utilities apart.
        self.hyper_log_scale = min(self.hyper_log_scale, _usual_log_scale(len(self.hyper_mean)) + 1)
        away = self._hyper_vector(point) - self.hyper_mean
        share = 1 / (self.steps + 1) ** 0.8
        self.hyper_mean = self.hyper_mean + share * away
        self.hyper_covariance = (1 - share) * self.hyper_covariance + share * np.outer(away, away)
        self.hyper_covariance += 1e-6 * share * np.eye(len(away))

    def _hyper_vector(self, point: Point) -> np.ndarray:
        return np.concatenate([np.ravel(point[name]) for name in self._hyper]) if self._hyper else np.empty(0)

    def _with_hyper(self, point: Point, vector: np.ndarray) -> Point:
        moved, begin = dict(point), 0
        for name in self._hyper:
            end = begin + np.size(point[name])
            moved[name] = vector[begin:end].reshape(np.shape(point[name]))
            begin = end
        return moved

    def _log_prior(self, point: Point) -> float:
        with np.errstate(all="ignore"):
            return float(self._prior(*(point[name] for name in self._prior_inputs)))


def _usual_log_scale(size: int) -> float:
    """Of a random walk in so many dimensions, times the root of the covariance of what is sampled."""
    return float(np.log(2.4 / np.sqrt(max(size, 1))))


def _probability(log_ratio: float) -> float:
    return float(np.exp(min(0.0, log_ratio))) if np.isfinite(log_ratio) else 0.0
