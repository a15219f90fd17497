"""Recognise linear-Gaussian belief models in the graph of a PyMC model, and read them as state spaces."""

from typing import NamedTuple

import numpy as np
import pymc as pm
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.beliefs import BeliefSampleRV
from icb_pymc.declare.choice import LinearUtility, SoftmaxChoiceRV, without_lapses
from icb_pymc.declare.graph import GraphReader, Point, bare, children, has_op, parameters
from icb_pymc.kernels.hamiltonian import Reference, path_of
from icb_pymc.kernels.metropolis import Contrasts, choice_contrasts
from icb_pymc.kernels.posterior_spread import smoothed_covariances
from icb_pymc.kernels.state_space import Noise, StateSpace, empty_noise, path_from_noise
from icb_pymc.steps.belief_readers import is_learnt
from icb_pymc.steps.belief_sources import BeliefMap, BeliefSource, Dynamics, Scatter, Values, find_source, multiply_rows
from icb_pymc.steps.learner_sources import find_learner
from icb_pymc.steps.shrinkage_scales import ShrinkageScales, find_shrinkage
from icb_pymc.steps.summed_sources import find_sum

CHOICE_INPUTS = ("context", "available", "chosen")
# All that choices depend on, given the weights.
LIKELIHOOD_INPUTS = (*CHOICE_INPUTS, "alpha", "bonus", "lapse")
# With larger utilities choices are certain, and squared utilities exceed the precision of float64.
MAX_UTILITY = 1e5


class LinearGaussianParts(NamedTuple):
    """The parts of a linear-Gaussian belief model.

    Attributes
    ----------
    choice : the `SoftmaxChoice`
    rho : the `BeliefSample` that its utility is linear in, or None if the utility is linear in the belief itself
    source : where the beliefs come from
    hyperparameters : other free variables on which only these parts, or each other, depend
    shrinkage : random scales of single innovations, which are too many to be hyperparameters, or None
    lapse : the probability that a choice is a lapse, or None
    """

    choice: TensorVariable
    rho: TensorVariable | None
    source: BeliefSource
    hyperparameters: list[TensorVariable]
    shrinkage: ShrinkageScales | None = None
    lapse: TensorVariable | None = None

    @property
    def variables(self) -> list[TensorVariable]:
        """The Gaussian variables."""
        return [*self.source.variables, *([] if self.rho is None else [self.rho])]


def find_linear_gaussian(model: pm.Model) -> LinearGaussianParts | None:
    """The linear-Gaussian belief model that `model` declares, or None."""
    choices = [rv for rv in model.basic_RVs if has_op(rv, SoftmaxChoiceRV)]
    if len(choices) != 1:
        return None
    (choice,) = choices
    utility, lapse = without_lapses(choice)
    if not has_op(utility, LinearUtility) or utility.owner.inputs[2].type.ndim != 0:
        return None
    given, _, _, *bonus = utility.owner.inputs
    weights = bare(given)
    rho = weights if has_op(weights, BeliefSampleRV) else None
    if weights.type.ndim != 2 or (rho is not None and rho not in model.free_RVs):
        return None
    belief = weights if rho is None else bare(parameters(rho)[0])
    source = find_learner(model, belief) or find_source(model, belief) or find_sum(model, belief)
    # Where all rewards were observed, an agent that acts on the mean of its belief has no Gaussian variables.
    if source is None or (rho is None and not source.moves_beliefs):
        return None
    parts = LinearGaussianParts(choice, rho, source, [], lapse=lapse)
    block = {*parts.variables, *source.observed, choice}
    for variable in parts.variables:
        is_plain = variable in model.free_RVs and model.rvs_to_transforms.get(variable) is None
        if not is_plain or not set(children(model, variable)) <= block:
            return None
    # The covariance of rho must not depend on the beliefs, and neither may a bonus or the rate of lapses.
    bonus = [*bonus, *([] if lapse is None else [lapse])]
    apart = bonus if rho is None or is_learnt(belief, parameters(rho)[1]) else [*bonus, parameters(rho)[1]]
    if set(ancestors(apart)) & set(parts.variables):
        return None
    shrinkage = find_shrinkage(model, belief)
    scales = set() if shrinkage is None else set(shrinkage.variables)
    return parts._replace(hyperparameters=_hyperparameters(model, block, scales), shrinkage=shrinkage)


def _hyperparameters(model: pm.Model, block: set[TensorVariable], scales: set[TensorVariable]) -> list[TensorVariable]:
    candidates = [rv for rv in model.free_RVs if rv not in block | scales and rv.dtype == "float64"]
    below = {rv: set(children(model, rv)) for rv in candidates}
    while True:
        known = block | set(candidates)
        kept = [rv for rv in candidates if below[rv] and below[rv] <= known]
        if kept == candidates:
            return kept
        candidates = kept


class LinearGaussianModel:
    """Reads a linear-Gaussian belief model from the graph, as a state space.

    Parameters
    ----------
    model : pm.Model
    parts : LinearGaussianParts
    with_rho : bool
        Whether the state space has the noise of all features of rho, so that rho can be computed. Otherwise it has only
        as much noise as the choices depend on, which is less to sample.
    """

    def __init__(self, model: pm.Model, parts: LinearGaussianParts, with_rho: bool = True) -> None:
        self._source, self._rho = parts.source, parts.rho
        self.order = parts.source.order
        self.with_rho = with_rho and parts.rho is not None
        utility, lapse = without_lapses(parts.choice)
        _, context, alpha, *bonus = utility.owner.inputs
        graphs = {
            "context": context,
            "available": parameters(parts.choice)[1],
            "chosen": model.rvs_to_values[parts.choice],
            "alpha": alpha,
        }
        if bonus:
            graphs["bonus"] = bonus[0]
        if lapse is not None:
            graphs["lapse"] = lapse
        self._has_root = False
        if parts.rho is not None:
            mean, root = parameters(parts.rho)
            self._has_root = not is_learnt(bare(mean), root)
            if self._has_root:
                graphs["root"] = root
        self.graphs = graphs | parts.source.graphs
        self._read = GraphReader(model, self.graphs)
        self.is_fixed = self._read.is_fixed(*self._read.names)
        self._names = [model.rvs_to_values[variable].name for variable in parts.source.variables]
        self._source.prepare(lambda: self._read(_ones(model)))
        self._rho_name = None if parts.rho is None else model.rvs_to_values[parts.rho].name
        self._unit_contrasts: Contrasts | None = None
        # The decision of each contrast.
        self._time = np.empty(0, np.int64)
        self._scaled: tuple[float, Contrasts] | None = None
        self._last_seen: tuple[BeliefMap, Contrasts, tuple[np.ndarray, np.ndarray, np.ndarray | None]] | None = None

    def values(self, point: Point) -> Values:
        """Values of everything that the state space depends on, at a point."""
        return self._read(point)

    def log_evidence(self, values: Values) -> float:
        """The log-density of what was observed besides choices, with the Gaussian variables integrated out."""
        return self._source.log_evidence(values)

    def is_same(self, one: Point, other: Point) -> bool:
        """Whether these values are the same at two points."""
        return self._read.is_same(one, other)

    def state_space(self, values: Values) -> tuple[Dynamics, StateSpace]:
        """The state space of the utility contrasts."""
        dynamics, contrasts = self._source.dynamics(values), self._contrasts(values)
        rows, first = contrasts.values, contrasts.first
        state_loading, offset, learnt = self._seen(dynamics.beliefs, contrasts)
        sampling_loading = np.zeros((len(rows), 0))
        if self._rho is not None:
            if learnt is None or self._has_root:
                learnt = multiply_rows(rows, self._root(values, dynamics), first)
            sampling_loading = learnt if self.with_rho else compress_loadings(learnt, first)
        space = StateSpace(
            *dynamics[:8],
            first,
            offset + self._bonus_contrasts(values),
            np.ascontiguousarray(state_loading),
            np.ascontiguousarray(sampling_loading),
            float(values.get("lapse", 0.0)),
        )
        return dynamics, space

    def has_moderate_utilities(self, space: StateSpace) -> bool:
        """Whether utilities stay small enough, for noise of ordinary size, to be distinguished in float64.

        Utilities of a learner whose steps overshoot, or that forgets faster than it learns, grow without bounds.
        """
        noise = empty_noise(space)
        for part in noise:
            part.fill(1.0)
        contrasts = np.empty(len(space.offset))
        path_from_noise(space, noise, 1.0, np.empty((0, 0)), contrasts)
        return bool(np.isfinite(contrasts).all()) and np.abs(contrasts).max(initial=0.0) < MAX_UTILITY

    def to_point(
        self, values: Values, dynamics: Dynamics, space: StateSpace, noise: Noise, rng: np.random.Generator
    ) -> Point:
        """Values of the variables for this noise."""
        if self._source.needs_path or self.with_rho:
            states = np.empty((len(space.first) - 1, len(space.start_mean)))
            path_from_noise(space, noise, 1.0, states, np.empty(len(space.offset)))
        else:
            states = (space.start_mean + space.start_root @ noise.start)[None]
        point = dict(zip(self._names, self._source.to_values(values, states, noise, rng), strict=True))
        if self.with_rho:
            assert self._rho_name is not None
            root = self._root(values, dynamics)
            rho = _beliefs(dynamics, states) + (root @ noise.sampling[:, :, None])[:, :, 0]
            point[self._rho_name] = rho if self.order is None else rho[np.argsort(self.order)]
        return point

    def to_noise(self, values: Values, dynamics: Dynamics, space: StateSpace, point: Point) -> Noise:
        """The noise that gives the values at a point."""
        start, move = self._source.to_noise(values, dynamics, [point[name] for name in self._names])
        sampling = np.zeros((len(space.first) - 1, space.sampling_loading.shape[1]))
        noise = Noise(np.ascontiguousarray(start), np.ascontiguousarray(move), sampling)
        if self.with_rho:
            assert self._rho_name is not None
            states = np.empty((len(sampling), len(space.start_mean)))
            path_from_noise(space, noise, 1.0, states, np.empty(len(space.offset)))
            deviation = self._in_order(point[self._rho_name]) - _beliefs(dynamics, states)
            root = self._root(values, dynamics)
            sampling = (np.linalg.pinv(root) @ deviation[:, :, None])[:, :, 0]
        return noise._replace(sampling=np.ascontiguousarray(sampling))

    def scatters(self, values: Values, point: Point) -> dict[str, Scatter]:
        """What the Gaussian variables at a point tell of the covariances of their source, by the names in `graphs`."""
        return self._source.scatters(values, [point[name] for name in self._names])

    def belief_moments(self, dynamics: Dynamics, reference: Reference) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation (time, feature) of the beliefs under the reference Gaussian."""
        states = path_of(reference)
        covariance = np.empty((*states.shape, states.shape[1]))
        smoothed_covariances(reference.space, reference.gains, covariance)
        loading = dynamics.beliefs.loading
        variance = ((loading @ covariance) * loading).sum(axis=-1)
        mean, sd = _beliefs(dynamics, states), np.sqrt(np.maximum(variance, 0.0))
        back = slice(None) if self.order is None else np.argsort(self.order)
        return mean[back], sd[back]

    def _root(self, values: Values, dynamics: Dynamics) -> np.ndarray:
        root = values["root"] if self._has_root else dynamics.beliefs.root
        assert root is not None
        return self._in_order(root) if root.ndim == 3 else root

    def _in_order(self, values: np.ndarray) -> np.ndarray:
        """Values of all decisions (T, ...) in the order of the states."""
        return values if self.order is None else values[self.order]

    def _bonus_contrasts(self, values: Values) -> np.ndarray | float:
        """The bonus of each alternative minus that of the chosen action."""
        if "bonus" not in values:
            return 0.0
        bonus, available, chosen = (self._in_order(values[name]) for name in ("bonus", "available", "chosen"))
        return choice_contrasts(bonus[:, :, None], available, chosen, 1.0).values[:, 0]

    def _contrasts(self, values: Values) -> Contrasts:
        """Contrasts at this alpha; those at alpha = 1 are cached if nothing else in them can change."""
        if self._unit_contrasts is None or not self._read.is_fixed(*CHOICE_INPUTS):
            context, available, chosen = (self._in_order(values[name]) for name in CHOICE_INPUTS)
            self._unit_contrasts = choice_contrasts(context, available, chosen, 1.0)
            first = self._unit_contrasts.first
            self._time = np.repeat(np.arange(len(first) - 1), np.diff(first))
            self._scaled = None
        alpha = float(values["alpha"])
        if self._scaled is None or self._scaled[0] != alpha:
            unit = self._unit_contrasts
            # Most often alpha is one, and a long log takes long to copy.
            self._scaled = alpha, unit if alpha == 1.0 else unit._replace(values=alpha * unit.values)
        return self._scaled[1]

    def _seen(self, beliefs: BeliefMap, contrasts: Contrasts) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """The beliefs as the contrasts see them: as the last time, if both are still the same."""
        if self._last_seen is None or self._last_seen[0] is not beliefs or self._last_seen[1] is not contrasts:
            seen = beliefs.of_rows(contrasts.values, contrasts.first, self._time)
            self._last_seen = beliefs, contrasts, seen
        return self._last_seen[2]


def _ones(model: pm.Model) -> Point:
    """A point for what is the same at all points: those where chains start may take a compiler to find."""
    shapes = model.eval_rv_shapes()
    return {value.name: np.ones(shapes[value.name], value.dtype) for value in model.value_vars}


def _beliefs(dynamics: Dynamics, states: np.ndarray) -> np.ndarray:
    return (dynamics.beliefs.loading @ states[:, :, None])[:, :, 0] + dynamics.beliefs.offset


def compress_loadings(sampling_loading: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Rows with the same inner products within each decision, and no more columns than a decision has rows."""
    most_rows = int(np.diff(first).max(initial=1))
    if most_rows >= sampling_loading.shape[1]:
        return sampling_loading
    if most_rows == 1:
        return np.sqrt((sampling_loading**2).sum(axis=1, keepdims=True))
    time = np.repeat(np.arange(len(first) - 1), np.diff(first))
    row_index = np.arange(len(sampling_loading)) - first[time]
    padded = np.zeros((len(first) - 1, sampling_loading.shape[1], most_rows))
    padded[time, :, row_index] = sampling_loading
    triangles = np.asarray(np.linalg.qr(padded, mode="r"))
    # With the signs fixed, the rows are continuous in the covariance of rho.
    signs = np.where(np.diagonal(triangles, axis1=1, axis2=2) < 0, -1.0, 1.0)
    return (signs[:, :, None] * triangles)[time, :, row_index]
