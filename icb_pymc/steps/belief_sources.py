"""Where beliefs come from, as linear-Gaussian state spaces: a process, or weights by fold.

Learners are in `learner_sources`, sums in `summed_sources`.

Each source says which variables of the model it consists of, which quantities must be read from the graph, which state
space results, and how states and noise are converted to values of the variables and back.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pymc as pm
from pymc.pytensorf import compile as compile_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.random.basic import MvNormalRV, NormalRV
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.beliefs import ConstantWithin
from icb_pymc.declare.graph import has_op, parameters
from icb_pymc.declare.processes import LinearProcessRV, WienerProcessRV
from icb_pymc.kernels.contrast_loadings import times_matrices
from icb_pymc.kernels.joint_diagonalisation import covariance_root, covariance_roots
from icb_pymc.kernels.state_space import Noise

Values = dict[str, np.ndarray]


class BeliefMap(Protocol):
    """The beliefs that states give: belief_t = loading_t state_t + offset_t."""

    @property
    def loading(self) -> np.ndarray:
        """loading_t, (T, k, d), or (k, d) for all times."""

    @property
    def offset(self) -> np.ndarray:
        """offset_t, (T, k), or (k,) for all times."""

    @property
    def root(self) -> np.ndarray | None:
        """Roots (T, k, k) of the covariances of a learner's beliefs."""

    def of_rows(
        self, rows: np.ndarray, first: np.ndarray, time: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Inner products of vectors with the belief of their time: loadings (N, d), offsets (N,), and roots (N, k).

        Vectors ``first[t]`` to ``first[t + 1] - 1`` belong to decision t; ``time`` (N,) says the same.
        """


class Beliefs(NamedTuple):
    """A `BeliefMap` by its arrays."""

    loading: np.ndarray
    offset: np.ndarray
    root: np.ndarray | None = None

    def of_rows(
        self, rows: np.ndarray, first: np.ndarray, time: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """See `BeliefMap`."""
        offset = np.zeros(len(rows))
        if self.offset.any():
            offset = rows @ self.offset if self.offset.ndim == 1 else (rows * self.offset[time]).sum(axis=1)
        sampling = None if self.root is None else multiply_rows(rows, self.root, first)
        return multiply_rows(rows, self.loading, first), offset, sampling


class Dynamics(NamedTuple):
    """How the state of a `StateSpace` moves, in the fields of that, and the beliefs that it gives."""

    start_mean: np.ndarray
    start_root: np.ndarray
    decay: np.ndarray
    left: np.ndarray
    right: np.ndarray
    drift: np.ndarray
    move_scale: np.ndarray
    move_root: np.ndarray
    beliefs: BeliefMap


class Scatter(NamedTuple):
    """All that values x_i ~ N(0, C) tell of C: their number, and the sum of x_i x_i'; or of each of several C."""

    number: int
    total: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> "Scatter":
        """Of the rows of a matrix."""
        return cls(len(rows), rows.T @ rows)


class BeliefSource(Protocol):
    """A linear-Gaussian source of beliefs."""

    variables: list[TensorVariable]
    """The Gaussian variables it consists of."""
    graphs: dict[str, TensorVariable]
    """The quantities that must be read from the graph, by name."""
    needs_path: bool
    """Whether `to_values` needs the states at all times, not only the first."""
    is_path: bool
    """Whether it has one variable, which is the states at all times."""
    observed: Sequence[TensorVariable]
    """Observed variables, other than choices, that the source conditions on."""
    moves_beliefs: bool
    """Whether beliefs depend on its variables."""
    order: np.ndarray | None
    """The decisions (T,) in the order of the states, if that is not their order in the log."""
    covariances: Sequence[str]
    """Those of the `graphs` that are covariances of the variables, or of what they move by."""

    def prepare(self, somewhere: Callable[[], Values]) -> None:
        """Compute what serves at all points, from the values of the graphs at any point."""

    def log_evidence(self, values: Values) -> float:
        """The log-density of what is `observed`, with the Gaussian variables integrated out."""

    def dynamics(self, values: Values) -> Dynamics:
        """The state space."""

    def to_values(self, values: Values, states: np.ndarray, noise: Noise, rng: np.random.Generator) -> list[np.ndarray]:
        """Values of the variables, in their order."""

    def to_noise(
        self, values: Values, dynamics: Dynamics, variable_values: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The noise of the start and of the moves that gives these values of the variables."""

    def scatters(self, values: Values, variable_values: list[np.ndarray]) -> dict[str, Scatter]:
        """What these values of the variables tell of each of the `covariances`."""


class GaussianSource:
    """What most sources have in common: nothing but choices is observed."""

    observed: Sequence[TensorVariable] = ()
    moves_beliefs = True
    is_path = False
    order: np.ndarray | None = None
    covariances: Sequence[str] = ()

    def prepare(self, somewhere: Callable[[], Values]) -> None:
        return

    def log_evidence(self, values: Values) -> float:
        return 0.0

    def scatters(self, values: Values, variable_values: list[np.ndarray]) -> dict[str, Scatter]:
        return {}


class ProcessSource(GaussianSource):
    """Beliefs that are, or are a linear function of, a `WienerProcess` or a `LinearProcess`."""

    needs_path = True
    is_path = True

    def __init__(self, process: TensorVariable, linear_map: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        self.variables = [process]
        self._linear_map = linear_map
        self._beliefs: Beliefs | None = None
        self._is_walk = has_op(process, WienerProcessRV)
        names: tuple[str, ...] = ("start_mean", "start_covariance", "innovation_covariance", "elapsed")
        if not self._is_walk:
            names = ("start_mean", "start_covariance", "transition", "innovation_covariance", "drift")
        self.graphs = dict(zip(names, parameters(process), strict=True))
        self.covariances = ("start_covariance", "innovation_covariance") if self._is_walk else ()

    def dynamics(self, values: Values) -> Dynamics:
        d = len(values["start_mean"])
        if self._beliefs is None:
            self._beliefs = Beliefs(*(self._linear_map or (np.eye(d), np.zeros(d))))
        rank_zero = np.zeros((1, 0, d))
        innovation = values["innovation_covariance"]
        if self._is_walk:
            scale, roots = np.sqrt(values["elapsed"]), covariance_root(innovation)[None]
            decay, left, right, drift = np.empty((0, d)), rank_zero, rank_zero, np.zeros((1, d))
        else:
            transition, innovation = collapse_if_constant(values["transition"]), collapse_if_constant(innovation)
            drift = collapse_if_constant(values["drift"])
            scale, roots = np.ones(1), covariance_roots(innovation)
            diagonal = np.einsum("tii->ti", transition)
            if np.array_equal(transition, diagonal[:, :, None] * np.eye(d)):
                # No decay at all stands for ones: a state that keeps still between its moves has faster recursions.
                decay = np.empty((0, d)) if (diagonal == 1.0).all() else np.ascontiguousarray(diagonal)
                left = right = rank_zero
            else:
                decay, right = np.zeros((1, d)), transition
                left = np.broadcast_to(np.eye(d), transition.shape).copy()
        return Dynamics(
            values["start_mean"],
            covariance_root(values["start_covariance"]),
            decay,
            left,
            right,
            drift,
            scale,
            transpose_roots(roots),
            self._beliefs,
        )

    def to_values(self, values: Values, states: np.ndarray, noise: Noise, rng: np.random.Generator) -> list[np.ndarray]:
        return [states]

    def to_noise(
        self, values: Values, dynamics: Dynamics, variable_values: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        (path,) = variable_values
        if self._is_walk:
            moved = np.diff(path, axis=0)
        else:
            expected = np.einsum("tij,tj->ti", values["transition"], path[:-1]) + values["drift"]
            moved = path[1:] - expected
        start = np.linalg.pinv(dynamics.start_root) @ (path[0] - dynamics.start_mean)
        inverse = np.linalg.pinv(dynamics.move_root).transpose(0, 2, 1)
        return start, (inverse @ (moved / dynamics.move_scale[:, None])[:, :, None])[:, :, 0]

    def scatters(self, values: Values, variable_values: list[np.ndarray]) -> dict[str, Scatter]:
        if not self._is_walk:
            return {}
        (path,) = variable_values
        first, moves = path[:1] - values["start_mean"], np.diff(path, axis=0)
        elapsed = np.broadcast_to(values["elapsed"], len(moves))
        passes = elapsed > 0
        innovations = moves[passes] / np.sqrt(elapsed[passes])[:, None]
        return {"start_covariance": Scatter.of(first), "innovation_covariance": Scatter.of(innovations)}


class FoldSource(GaussianSource):
    """Gaussian weights, one vector for each fold of decisions; with a single fold the beliefs are constant."""

    needs_path = True

    def __init__(self, weights: TensorVariable, fold: TensorVariable, shape: tuple[int, int]) -> None:
        self.variables = [weights]
        self.graphs = dict(zip(("mean", "scale"), parameters(weights), strict=True)) | {"fold": fold}
        self._is_multivariate = has_op(weights, MvNormalRV)
        self._is_single = weights.type.ndim == 1
        self._shape = shape

    def _prior(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """Means (fold, feature), and a root of the covariance in each fold."""
        folds, features = self._shape
        if self._is_multivariate:
            matrices = values["scale"].reshape(-1, features, features)
            roots = np.array([covariance_root(matrix) for matrix in matrices])
        else:
            roots = np.broadcast_to(values["scale"], self._shape)[:, :, None] * np.eye(features)
        return np.broadcast_to(values["mean"], self._shape), np.broadcast_to(roots, (folds, features, features))

    def dynamics(self, values: Values) -> Dynamics:
        fold = values["fold"]
        mean, roots = self._prior(values)
        d = mean.shape[1]
        begins = np.diff(fold) != 0
        drift = np.where(begins[:, None], mean[fold[1:]], 0.0)
        same = collapse_if_constant(roots)
        rank_zero = np.zeros((1, 0, d))
        return Dynamics(
            mean[fold[0]].copy(),
            roots[fold[0]].copy(),
            np.where(begins[:, None], 0.0, np.ones((1, d))),
            rank_zero,
            rank_zero,
            drift,
            begins.astype(np.float64),
            transpose_roots(same if len(same) == 1 else roots[fold[1:]]),
            Beliefs(np.eye(d), np.zeros(d)),
        )

    def to_values(self, values: Values, states: np.ndarray, noise: Noise, rng: np.random.Generator) -> list[np.ndarray]:
        fold = values["fold"]
        weights = states[np.concatenate([[0], np.flatnonzero(np.diff(fold)) + 1])]
        return [weights[0] if self._is_single else weights]

    def to_noise(
        self, values: Values, dynamics: Dynamics, variable_values: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        fold = values["fold"]
        weights = np.atleast_2d(variable_values[0])
        mean, roots = self._prior(values)
        noise = (np.linalg.pinv(roots) @ (weights - mean)[:, :, None])[:, :, 0]
        begins = np.diff(fold) != 0
        return noise[fold[0]], np.where(begins[:, None], noise[fold[1:]], 0.0)


def find_source(model: pm.Model, belief: TensorVariable) -> BeliefSource | None:
    """The linear-Gaussian source of `belief` (time, feature), or None if it is not of a known kind."""
    if has_op(belief, ConstantWithin):
        return _find_folds(model, belief)
    processes = [rv for rv in model.free_RVs if has_op(rv, WienerProcessRV) or has_op(rv, LinearProcessRV)]
    behind = set(ancestors([belief], blockers=set(model.basic_RVs)))
    inside = [rv for rv in processes if rv in behind]
    if len(inside) != 1:
        return None
    if belief is inside[0]:
        return ProcessSource(belief)
    linear_map = _linear_map(model, inside[0], belief)
    return None if linear_map is None else ProcessSource(inside[0], linear_map)


def _find_folds(model: pm.Model, belief: TensorVariable) -> FoldSource | None:
    weights, fold = belief.owner.inputs
    if has_op(weights, DimShuffle) and weights.owner.op.new_order == ("x", 0):
        weights = weights.owner.inputs[0]
    if weights not in model.free_RVs or not (has_op(weights, MvNormalRV) or has_op(weights, NormalRV)):
        return None
    if set(ancestors([fold])) & set(model.free_RVs):
        return None
    order = compile_graph([], model.replace_rvs_by_values([fold]), mode="FAST_COMPILE")()[0]
    *folds, features = model.eval_rv_shapes()[weights.name]
    count = folds[0] if folds else 1
    # Folds must be in order, and none of them empty.
    if not np.array_equal(np.unique(order), np.arange(count)) or (np.diff(order) < 0).any():
        return None
    return FoldSource(weights, fold, (count, features))


def _linear_map(
    model: pm.Model, process: TensorVariable, belief: TensorVariable
) -> tuple[np.ndarray, np.ndarray] | None:
    """loading and offset with belief_t = loading state_t + offset_t, from unit vectors; None if it is not linear."""
    times, d = model.eval_rv_shapes()[process.name]
    value = model.rvs_to_values[process]
    (graph,) = model.replace_rvs_by_values([belief])
    if (set(ancestors([graph])) & set(model.value_vars)) - {value}:
        return None
    evaluate = compile_graph([value], graph, mode="FAST_COMPILE")
    offset = evaluate(np.zeros((times, d)))
    if offset.ndim != 2 or len(offset) != times:
        return None
    units = [evaluate(np.tile(unit, (times, 1))) - offset for unit in np.eye(d)]
    loading = np.stack(units, axis=-1)
    trial = np.random.default_rng(0).standard_normal((times, d))
    if not np.allclose(np.einsum("tij,tj->ti", loading, trial) + offset, evaluate(trial)):
        return None
    return (loading[0] if np.array_equal(loading, np.broadcast_to(loading[0], loading.shape)) else loading), offset


def multiply_rows(rows: np.ndarray, matrix: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Each row times the matrix of its time, or times the one matrix for all times."""
    if matrix.ndim == 2:
        # States most often are the beliefs themselves, and a long log takes long to multiply.
        is_identity = matrix.shape[0] == matrix.shape[1] and np.array_equal(matrix, np.eye(len(matrix)))
        return rows if is_identity else np.ascontiguousarray(rows @ matrix)
    product = np.empty((len(rows), matrix.shape[2]))
    times_matrices(rows, first, np.ascontiguousarray(matrix), product)
    return product


def transpose_roots(roots: np.ndarray) -> np.ndarray:
    """Roots (..., d, q) transposed, as `StateSpace` needs them."""
    return np.ascontiguousarray(roots.transpose(0, 2, 1))


def collapse_if_constant(over_time: np.ndarray) -> np.ndarray:
    """The array, with a leading dimension of one if all its entries over time are equal."""
    return (
        over_time[:1].copy()
        if np.array_equal(over_time, np.broadcast_to(over_time[:1], over_time.shape))
        else over_time
    )
