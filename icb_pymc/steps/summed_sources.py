"""Beliefs that are a linear function of several Gaussian variables: processes, constants, walks of agents.

Each part has its own block of the state; the linear function may differ between decisions.
"""

from typing import Protocol

import numpy as np
import pymc as pm
import scipy.linalg
from pymc.pytensorf import compile as compile_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.random.basic import MvNormalRV, NormalRV
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.affine import is_affine
from icb_pymc.declare.agent_walks import AgentWalksRV
from icb_pymc.declare.graph import has_op, parameters
from icb_pymc.declare.processes import LinearProcessRV, WienerProcessRV
from icb_pymc.kernels.joint_diagonalisation import covariance_root
from icb_pymc.kernels.state_space import Noise
from icb_pymc.steps.belief_sources import (
    Beliefs,
    BeliefSource,
    Dynamics,
    GaussianSource,
    ProcessSource,
    Scatter,
    Values,
    collapse_if_constant,
    transpose_roots,
)

# The filter stores the covariance of the whole state: with more constants than this NUTS is faster.
MAX_CONSTANTS = 500


class Part(BeliefSource, Protocol):
    """A source with a single variable, whose value determines the state."""

    def to_states(self, value: np.ndarray) -> np.ndarray:
        """A path (T, d) of the state that gives this value of the variable."""


class ProcessPart(ProcessSource):
    """A `WienerProcess` or a `LinearProcess`."""

    def to_states(self, value: np.ndarray) -> np.ndarray:
        return value


class ConstantPart(GaussianSource):
    """A Gaussian variable that is the same at all times, of any shape."""

    needs_path = False

    def __init__(self, variable: TensorVariable, shape: tuple[int, ...], times: int) -> None:
        self.variables = [variable]
        self.graphs = dict(zip(("mean", "scale"), parameters(variable), strict=True))
        self._is_multivariate = has_op(variable, MvNormalRV)
        self._shape, self._times = shape, times
        self.covariances = ("scale",) if self._is_multivariate else ()

    def dynamics(self, values: Values) -> Dynamics:
        d = int(np.prod(self._shape))
        mean = np.broadcast_to(values["mean"], self._shape).ravel()
        if self._is_multivariate:
            k = self._shape[-1]
            matrices = values["scale"].reshape(-1, k, k)
            roots = np.array([covariance_root(matrix) for matrix in matrices])
            root = scipy.linalg.block_diag(*np.broadcast_to(roots, (d // k, k, k)))
        else:
            root = np.diag(np.broadcast_to(values["scale"], self._shape).ravel())
        return _dynamics(mean, root, np.ones(1), np.zeros((1, 0, d)))

    def to_values(self, values: Values, states: np.ndarray, noise: Noise, rng: np.random.Generator) -> list[np.ndarray]:
        return [states[0].reshape(self._shape).copy()]

    def to_noise(
        self, values: Values, dynamics: Dynamics, variable_values: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        deviation = variable_values[0].ravel() - dynamics.start_mean
        return np.linalg.pinv(dynamics.start_root) @ deviation, np.zeros((self._times - 1, 0))

    def scatters(self, values: Values, variable_values: list[np.ndarray]) -> dict[str, Scatter]:
        if not self._is_multivariate:
            return {}
        rows = (variable_values[0] - values["mean"]).reshape(-1, self._shape[-1])
        if values["scale"].size > rows.shape[1] ** 2:
            # A covariance for each.
            return {"scale": Scatter(1, rows[:, :, None] * rows[:, None, :])}
        return {"scale": Scatter.of(rows)}

    def to_states(self, value: np.ndarray) -> np.ndarray:
        return np.tile(value.ravel(), (self._times, 1))


class AgentWalksPart(GaussianSource):
    """`AgentWalks`: the state holds the deviation of each agent at its last decision; only the next decider's moves.

    Parameters
    ----------
    variable : AgentWalks
    decider : (T,)
    """

    needs_path = True

    def __init__(self, variable: TensorVariable, decider: np.ndarray) -> None:
        self.variables = [variable]
        names = ("start_covariance", "innovation_covariance", "moments")
        self.graphs = dict(zip(names, parameters(variable)[:3], strict=True))
        self.covariances = names[:2]
        # Agents without a decision are left out.
        _, self._first, self._agent = np.unique(decider, return_index=True, return_inverse=True)
        self._agents, self._times = len(self._first), len(decider)
        self._previous = np.full(self._times, -1)
        for agent in range(self._agents):
            decisions = np.flatnonzero(self._agent == agent)
            self._previous[decisions[1:]] = decisions[:-1]

    def _gaps(self, values: Values) -> np.ndarray:
        """Time from the decider's previous decision to each decision, or zero at its first."""
        moments = values["moments"]
        return np.where(self._previous >= 0, moments - moments[self._previous], 0.0)

    def dynamics(self, values: Values) -> Dynamics:
        start, k = covariance_root(values["start_covariance"]), len(values["start_covariance"])
        roots = np.zeros((self._times - 1, self._agents, k, k))
        innovation_root = covariance_root(values["innovation_covariance"])
        roots[np.arange(self._times - 1), self._agent[1:]] = (
            np.sqrt(self._gaps(values)[1:])[:, None, None] * innovation_root
        )
        d = self._agents * k
        move_root = transpose_roots(roots.reshape(self._times - 1, d, k))
        return _dynamics(np.zeros(d), np.kron(np.eye(self._agents), start), np.ones(1), move_root)

    def to_values(self, values: Values, states: np.ndarray, noise: Noise, rng: np.random.Generator) -> list[np.ndarray]:
        blocks = states.reshape(self._times, self._agents, -1)
        return [blocks[np.arange(self._times), self._agent]]

    def to_noise(
        self, values: Values, dynamics: Dynamics, variable_values: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        (deviations,) = variable_values
        start = np.linalg.pinv(dynamics.start_root) @ deviations[self._first].ravel()
        gap = self._gaps(values)
        moved = (deviations - deviations[self._previous]) / np.sqrt(np.where(gap > 0, gap, 1.0))[:, None]
        noise = moved @ np.linalg.pinv(covariance_root(values["innovation_covariance"])).T
        return start, np.where(self._previous[1:, None] >= 0, noise[1:], 0.0)

    def scatters(self, values: Values, variable_values: list[np.ndarray]) -> dict[str, Scatter]:
        (deviations,), gap = variable_values, self._gaps(values)
        moves = np.flatnonzero(gap > 0)
        innovations = (deviations[moves] - deviations[self._previous[moves]]) / np.sqrt(gap[moves])[:, None]
        first = deviations[self._first]
        return {"start_covariance": Scatter.of(first), "innovation_covariance": Scatter.of(innovations)}

    def to_states(self, value: np.ndarray) -> np.ndarray:
        blocks = np.zeros((self._times, self._agents, value.shape[1]))
        blocks[np.arange(self._times), self._agent] = value
        return blocks.reshape(self._times, -1)


class SortedWalksPart(AgentWalksPart):
    """`AgentWalks` where nothing else moves: the agents follow one another, and the state holds one deviation.

    Parameters
    ----------
    variable : AgentWalks
    decider : (T,)
    """

    def __init__(self, variable: TensorVariable, decider: np.ndarray) -> None:
        super().__init__(variable, decider)
        self.order = np.argsort(self._agent, kind="stable")
        self._is_first = self._previous[self.order][1:] < 0

    def dynamics(self, values: Values) -> Dynamics:
        start = covariance_root(values["start_covariance"])
        moved = covariance_root(values["innovation_covariance"])
        gap = self._gaps(values)[self.order][1:]
        ratio = _ratio(start, moved)
        if ratio is None:
            scale = np.ones(1)
            roots = np.where(self._is_first[:, None, None], start, np.sqrt(gap)[:, None, None] * moved)
        else:
            # The same, with one root for all times, which takes less memory and time.
            scale, roots = np.where(self._is_first, ratio, np.sqrt(gap)), moved[None]
        block = _dynamics(np.zeros(len(start)), start, scale, transpose_roots(roots))
        return block._replace(decay=np.where(self._is_first[:, None], 0.0, np.ones((1, len(start)))))

    def to_values(self, values: Values, states: np.ndarray, noise: Noise, rng: np.random.Generator) -> list[np.ndarray]:
        return [states]

    def to_noise(
        self, values: Values, dynamics: Dynamics, variable_values: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        path = variable_values[0][self.order]
        to_start = np.linalg.pinv(covariance_root(values["start_covariance"]))
        to_move = np.linalg.pinv(covariance_root(values["innovation_covariance"]))
        gap = self._gaps(values)[self.order][1:]
        moved = np.diff(path, axis=0) / np.sqrt(np.where(gap > 0, gap, 1.0))[:, None]
        return to_start @ path[0], np.where(self._is_first[:, None], path[1:] @ to_start.T, moved @ to_move.T)

    def to_states(self, value: np.ndarray) -> np.ndarray:
        return value


class SummedSource(GaussianSource):
    """Beliefs loading_t state_t + offset_t, where the state has a block for each part.

    Parameters
    ----------
    parts : list of Part
    sizes : list of int
        Sizes of their states.
    loading, offset : (T, k, d), (T, k)
    """

    needs_path = True

    def __init__(self, parts: list[Part], sizes: list[int], loading: np.ndarray, offset: np.ndarray) -> None:
        self._parts, self._sizes = parts, sizes
        sorted_parts = [part for part in parts if isinstance(part, SortedWalksPart)]
        if sorted_parts:
            self.order = order = np.asarray(sorted_parts[0].order)
            self._back = np.argsort(order)
            loading, offset = loading[order], offset[order]
        loading, offset = collapse_if_constant(loading), collapse_if_constant(offset)
        self._beliefs = Beliefs(loading[0] if len(loading) == 1 else loading, offset[0] if len(offset) == 1 else offset)
        self.covariances = [f"{i} {name}" for i, part in enumerate(parts) for name in part.covariances]
        self.variables = [part.variables[0] for part in parts]
        self.graphs = {f"{i} {name}": graph for i, part in enumerate(parts) for name, graph in part.graphs.items()}

    def _values(self, values: Values) -> list[Values]:
        return [{name: values[f"{i} {name}"] for name in part.graphs} for i, part in enumerate(self._parts)]

    def _dynamics(self, values: Values) -> list[Dynamics]:
        return [part.dynamics(own_values) for part, own_values in zip(self._parts, self._values(values), strict=True)]

    def dynamics(self, values: Values) -> Dynamics:
        blocks = self._dynamics(values)
        moving = [block for block in blocks if block.move_root.shape[1]]
        if len(moving) == 1:
            scale, roots = moving[0].move_scale, [block.move_root for block in blocks]
        else:
            scale, roots = np.ones(1), [block.move_scale[:, None, None] * block.move_root for block in blocks]
        decay = np.empty((0, sum(self._sizes)))
        if any(len(block.decay) for block in blocks):
            ones = [block.decay if len(block.decay) else np.ones((1, block.decay.shape[1])) for block in blocks]
            decay = _stack_rows(ones)
        return Dynamics(
            np.concatenate([block.start_mean for block in blocks]),
            scipy.linalg.block_diag(*(block.start_root for block in blocks)),
            decay,
            _stack_diagonally([block.left for block in blocks]),
            _stack_diagonally([block.right for block in blocks]),
            _stack_rows([block.drift for block in blocks]),
            scale,
            _stack_diagonally(roots),
            self._beliefs,
        )

    def to_values(self, values: Values, states: np.ndarray, noise: Noise, rng: np.random.Generator) -> list[np.ndarray]:
        if self.order is not None:
            states = states[self._back]
        paths = np.split(states, np.cumsum(self._sizes)[:-1], axis=1)
        parts = zip(self._parts, self._values(values), paths, strict=True)
        return [
            np.ascontiguousarray(part.to_values(own_values, path, noise, rng)[0]) for part, own_values, path in parts
        ]

    def to_noise(
        self, values: Values, dynamics: Dynamics, variable_values: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        together = zip(self._parts, self._values(values), self._dynamics(values), variable_values, strict=True)
        noises = [part.to_noise(own_values, block, [value]) for part, own_values, block, value in together]
        return np.concatenate([start for start, _ in noises]), np.concatenate([move for _, move in noises], axis=1)

    def scatters(self, values: Values, variable_values: list[np.ndarray]) -> dict[str, Scatter]:
        together = enumerate(zip(self._parts, self._values(values), variable_values, strict=True))
        return {
            f"{i} {name}": scatter
            for i, (part, own_values, value) in together
            for name, scatter in part.scatters(own_values, [value]).items()
        }


def find_sum(model: pm.Model, belief: TensorVariable) -> SummedSource | None:
    """The Gaussian variables that `belief` (time, feature) is a linear function of, if one of them is a process."""
    behind = set(ancestors([belief], blockers=set(model.basic_RVs)))
    inside = [rv for rv in model.free_RVs if rv in behind]
    shapes = model.eval_rv_shapes()
    times = next((shapes[rv.name][0] for rv in inside if _is_process(rv)), None)
    if times is None:
        return None
    parts: list[Part] = []
    # Without anything else that moves, the walks of agents are independent, and their order in time does not matter.
    walks_part = SortedWalksPart if sum(map(_is_process, inside)) == 1 else AgentWalksPart
    for rv in inside:
        if has_op(rv, AgentWalksRV):
            decider = parameters(rv)[3]
            if set(ancestors([decider])) & set(model.free_RVs):
                return None
            (agents,) = compile_graph([], model.replace_rvs_by_values([decider]), mode="FAST_COMPILE")()
            parts.append(walks_part(rv, agents))
        elif _is_process(rv):
            parts.append(ProcessPart(rv))
        elif (has_op(rv, NormalRV) or has_op(rv, MvNormalRV)) and np.prod(shapes[rv.name]) <= MAX_CONSTANTS:
            parts.append(ConstantPart(rv, shapes[rv.name], times))
        else:
            return None
    linear_map = _linear_map(model, belief, parts, [shapes[rv.name] for rv in inside])
    return None if linear_map is None else SummedSource(parts, *linear_map)


def _linear_map(
    model: pm.Model, belief: TensorVariable, parts: list[Part], shapes: list[tuple[int, ...]]
) -> tuple[list[int], np.ndarray, np.ndarray] | None:
    """Sizes of the parts' states, and loading and offset with belief_t = loading_t state_t + offset_t.

    They are read by evaluating the graph at unit vectors; None if the belief is not linear.
    """
    inputs = [model.rvs_to_values[part.variables[0]] for part in parts]
    (graph,) = model.replace_rvs_by_values([belief])
    # Trial values alone would miss what happens far out, such as a clip.
    if (set(ancestors([graph])) & set(model.value_vars)) - set(inputs) or not is_affine([graph], inputs):
        return None
    evaluate = compile_graph(inputs, graph, mode="FAST_COMPILE", on_unused_input="ignore")
    zeros = [np.zeros(shape) for shape in shapes]
    offset = evaluate(*zeros)
    rng = np.random.default_rng(0)
    trials = [np.asarray(rng.standard_normal(zero.shape)) for zero in zeros]
    paths = [part.to_states(trial) for part, trial in zip(parts, trials, strict=True)]
    if offset.ndim != 2 or any(len(path) != len(offset) for path in paths):
        return None
    columns = []
    for i, (part, path) in enumerate(zip(parts, paths, strict=True)):
        for unit in np.eye(path.shape[1]):
            (value,) = part.to_values({}, np.tile(unit, (len(offset), 1)), Noise(*[np.empty(0)] * 3), rng)
            columns.append(evaluate(*zeros[:i], value, *zeros[i + 1 :]) - offset)
    loading = np.stack(columns, axis=-1)
    states = np.concatenate(paths, axis=1)
    is_linear = np.allclose((loading @ states[:, :, None])[:, :, 0] + offset, evaluate(*trials))
    return ([path.shape[1] for path in paths], loading, offset) if is_linear else None


def _ratio(root: np.ndarray, other: np.ndarray) -> float | None:
    """The number that `root` is `other` times, or None."""
    largest = np.unravel_index(np.argmax(np.abs(other)), other.shape)
    if other[largest] == 0:
        return None
    ratio = float(root[largest] / other[largest])
    return ratio if np.allclose(root, ratio * other, rtol=1e-12, atol=0.0) else None


def _is_process(rv: TensorVariable) -> bool:
    return any(has_op(rv, op) for op in (WienerProcessRV, LinearProcessRV, AgentWalksRV))


def _dynamics(start_mean: np.ndarray, start_root: np.ndarray, scale: np.ndarray, root: np.ndarray) -> Dynamics:
    """A block without a transition (F = I)."""
    d = len(start_mean)
    rank_zero = np.zeros((1, 0, d))
    none = np.empty((0, d))
    return Dynamics(
        start_mean,
        start_root,
        none,
        rank_zero,
        rank_zero,
        np.zeros((1, d)),
        scale,
        root,
        Beliefs(np.eye(d), np.zeros(d)),
    )


def _stack_rows(rows: list[np.ndarray]) -> np.ndarray:
    """Rows (T-1 or 1, d) of the parts, side by side."""
    length = max(len(row) for row in rows)
    return np.concatenate([np.broadcast_to(row, (length, row.shape[1])) for row in rows], axis=1)


def _stack_diagonally(matrices: list[np.ndarray]) -> np.ndarray:
    """Matrices of the parts, each for every time or one for all times, as blocks along the diagonal."""
    length = max(len(matrix) for matrix in matrices)
    heights, widths = zip(*(matrix.shape[1:] for matrix in matrices), strict=True)
    out = np.zeros((length, sum(heights), sum(widths)))
    down = across = 0
    for matrix, height, width in zip(matrices, heights, widths, strict=True):
        out[:, down : down + height, across : across + width] = matrix
        down, across = down + height, across + width
    return out
