"""Linear-Gaussian belief models, found in the graph of a PyMC model."""

from typing import NamedTuple

import numpy as np
import pymc as pm
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.beliefs import BeliefSampleRV
from icb_pymc.declare.choice import LinearUtility, SoftmaxChoiceRV
from icb_pymc.declare.graph import GraphReader, Point, bare, children, has_op, parameters
from icb_pymc.kernels.metropolis import Contrasts, choice_contrasts
from icb_pymc.kernels.state_space import Noise, StateSpace, empty_noise, run
from icb_pymc.steps.belief_readers import is_learnt
from icb_pymc.steps.belief_sources import BeliefSource, Dynamics, Values, find_source
from icb_pymc.steps.summed_sources import find_sum

CHOICE = ("context", "available", "chosen")
# Beyond it choices are certain, and squares of utilities leave no digits for the scale on which choices are not.
GREATEST_UTILITY = 1e5


class Found(NamedTuple):
    """The parts of a linear-Gaussian belief model.

    Attributes
    ----------
    choice : the `SoftmaxChoice`
    rho : the `BeliefSample` that its utility is linear in, if the utility is not linear in the belief itself
    source : where the beliefs come from
    hyperparameters : other free variables that only these parts, or each other, depend on
    """

    choice: TensorVariable
    rho: TensorVariable | None
    source: BeliefSource
    hyperparameters: list[TensorVariable]

    @property
    def variables(self) -> list[TensorVariable]:
        """The Gaussian variables."""
        return [*self.source.variables, *([] if self.rho is None else [self.rho])]


def find_linear_gaussian(model: pm.Model) -> Found | None:
    """The linear-Gaussian belief model that `model` declares, if it does."""
    choices = [rv for rv in model.basic_RVs if has_op(rv, SoftmaxChoiceRV)]
    if len(choices) != 1:
        return None
    (choice,) = choices
    utility = parameters(choice)[0]
    if not has_op(utility, LinearUtility) or utility.owner.inputs[2].type.ndim != 0:
        return None
    given, _, _, *bonus = utility.owner.inputs
    weights = bare(given)
    rho = weights if has_op(weights, BeliefSampleRV) else None
    if weights.type.ndim != 2 or (rho is not None and rho not in model.free_RVs):
        return None
    belief = weights if rho is None else bare(parameters(rho)[0])
    source = find_source(model, belief) or find_sum(model, belief)
    if source is None:
        return None
    found = Found(choice, rho, source, [])
    block = {*found.variables, choice}
    for variable in found.variables:
        is_plain = variable in model.free_RVs and model.rvs_to_transforms.get(variable) is None
        if not is_plain or not set(children(model, variable)) <= block:
            return None
    # The spread of rho must be known without the beliefs, and so must a bonus.
    apart = bonus if rho is None or is_learnt(belief, parameters(rho)[1]) else [*bonus, parameters(rho)[1]]
    if set(ancestors(apart)) & set(found.variables):
        return None
    return found._replace(hyperparameters=_hyperparameters(model, block))


def _hyperparameters(model: pm.Model, block: set[TensorVariable]) -> list[TensorVariable]:
    candidates = [rv for rv in model.free_RVs if rv not in block and rv.dtype == "float64"]
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
    found : Found
    with_rho : bool
        Whether the noise of rho is that of all its features, so that rho can be told. Without it there is only as much
        of it as the choices depend on, which is less to sample.
    """

    def __init__(self, model: pm.Model, found: Found, with_rho: bool = True) -> None:
        self._source, self._rho = found.source, found.rho
        self.with_rho = with_rho and found.rho is not None
        _, context, alpha, *bonus = parameters(found.choice)[0].owner.inputs
        graphs = {
            "context": context,
            "available": parameters(found.choice)[1],
            "chosen": model.rvs_to_values[found.choice],
            "alpha": alpha,
        }
        if bonus:
            graphs["bonus"] = bonus[0]
        self._has_root = False
        if found.rho is not None:
            mean, root = parameters(found.rho)
            self._has_root = not is_learnt(bare(mean), root)
            if self._has_root:
                graphs["root"] = root
        self._read = GraphReader(model, graphs | found.source.graphs)
        self.is_fixed = self._read.is_fixed(*self._read.names)
        self._names = [model.rvs_to_values[variable].name for variable in found.source.variables]
        self._rho_name = None if found.rho is None else model.rvs_to_values[found.rho].name
        self._unit_contrasts: Contrasts | None = None

    def values(self, point: Point) -> Values:
        """What the state space is made of, at a point."""
        return self._read(point)

    def state_space(self, values: Values) -> tuple[Dynamics, StateSpace]:
        """The state space, with contrasts as its readings."""
        dynamics, contrasts = self._source.dynamics(values), self._contrasts(values)
        rows, first = contrasts.values, contrasts.first
        time = np.repeat(np.arange(len(first) - 1), np.diff(first))
        offset = dynamics.offset if dynamics.offset.ndim == 1 else dynamics.offset[time]
        stray = np.zeros((len(rows), 0))
        if self._rho is not None:
            stray = read_rows(rows, self._root(values, dynamics), time)
            stray = stray if self.with_rho else compressed(stray, first)
        space = StateSpace(
            *dynamics[:8],
            first,
            (rows * offset).sum(axis=1) + self._bonus_contrasts(values),
            np.ascontiguousarray(read_rows(rows, dynamics.read, time)),
            np.ascontiguousarray(stray),
        )
        return dynamics, space

    def can_tell(self, space: StateSpace) -> bool:
        """Whether utilities stay small enough, for noise of usual size, to be told apart by numbers of 16 digits.

        Those of a learner whose steps overshoot, or who forgets faster than it learns, grow without bounds.
        """
        noise = empty_noise(space)
        for part in noise:
            part.fill(1.0)
        contrasts = np.empty(len(space.offset))
        run(space, noise, True, np.empty((len(space.first) - 1, space.reading.shape[1])), contrasts)
        return bool(np.isfinite(contrasts).all()) and np.abs(contrasts).max(initial=0.0) < GREATEST_UTILITY

    def to_point(
        self, values: Values, dynamics: Dynamics, space: StateSpace, noise: Noise, rng: np.random.Generator
    ) -> Point:
        """Values of the variables that this noise makes."""
        if self._source.reads_path or self.with_rho:
            states = np.empty((len(space.first) - 1, len(space.start_mean)))
            run(space, noise, True, states, np.empty(len(space.offset)))
        else:
            states = (space.start_mean + space.start_root @ noise.start)[None]
        told = dict(zip(self._names, self._source.to_values(values, states, noise, rng), strict=True))
        if self.with_rho:
            assert self._rho_name is not None
            root = self._root(values, dynamics)
            told[self._rho_name] = _beliefs(dynamics, states) + (root @ noise.stray[:, :, None])[:, :, 0]
        return told

    def to_noise(self, values: Values, dynamics: Dynamics, space: StateSpace, point: Point) -> Noise:
        """The noise that makes the values at a point."""
        start, move = self._source.to_noise(values, dynamics, [point[name] for name in self._names])
        stray = np.zeros((len(space.first) - 1, space.stray.shape[1]))
        noise = Noise(np.ascontiguousarray(start), np.ascontiguousarray(move), stray)
        if self.with_rho:
            assert self._rho_name is not None
            states = np.empty((len(stray), len(space.start_mean)))
            run(space, noise, True, states, np.empty(len(space.offset)))
            away = point[self._rho_name] - _beliefs(dynamics, states)
            root = self._root(values, dynamics)
            stray = (np.linalg.pinv(root) @ away[:, :, None])[:, :, 0]
        return noise._replace(stray=np.ascontiguousarray(stray))

    def _root(self, values: Values, dynamics: Dynamics) -> np.ndarray:
        root = values["root"] if self._has_root else dynamics.covariance_root
        assert root is not None
        return root

    def _bonus_contrasts(self, values: Values) -> np.ndarray | float:
        """How much more bonus each alternative has than what was chosen."""
        if "bonus" not in values:
            return 0.0
        return choice_contrasts(values["bonus"][:, :, None], values["available"], values["chosen"], 1.0).values[:, 0]

    def _contrasts(self, values: Values) -> Contrasts:
        """Contrasts at this alpha; those at alpha = 1 are kept if nothing else of them can move."""
        if self._unit_contrasts is None or not self._read.is_fixed(*CHOICE):
            context, available, chosen = (values[name] for name in CHOICE)
            self._unit_contrasts = choice_contrasts(context, available, chosen, 1.0)
        return self._unit_contrasts._replace(values=float(values["alpha"]) * self._unit_contrasts.values)


def _beliefs(dynamics: Dynamics, states: np.ndarray) -> np.ndarray:
    return (dynamics.read @ states[:, :, None])[:, :, 0] + dynamics.offset


def read_rows(rows: np.ndarray, matrix: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Each row times the matrix of its time, or the one for all."""
    return rows @ matrix if matrix.ndim == 2 else (rows[:, None, :] @ matrix[time])[:, 0, :]


def compressed(stray: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Rows with the same products within each decision, on as few noises as there are rows."""
    widest = int(np.diff(first).max(initial=1))
    if widest >= stray.shape[1]:
        return stray
    if widest == 1:
        return np.sqrt((stray**2).sum(axis=1, keepdims=True))
    time = np.repeat(np.arange(len(first) - 1), np.diff(first))
    place = np.arange(len(stray)) - first[time]
    padded = np.zeros((len(first) - 1, stray.shape[1], widest))
    padded[time, :, place] = stray
    triangles = np.asarray(np.linalg.qr(padded, mode="r"))
    # With signs that do not depend on chance, the rows change little where the spread of rho does.
    signs = np.where(np.diagonal(triangles, axis1=1, axis2=2) < 0, -1.0, 1.0)
    return (signs[:, :, None] * triangles)[time, :, place]
