"""Steps whose chains are kept in a checkpoint, and go on from there."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from pymc.step_methods.compound import BlockedStep, CompoundStep
from pymc.step_methods.state import DataClassState
from pymc.util import RandomGeneratorState

from icb_pymc.declare.graph import Point
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.results.checkpoint import ChainState, Checkpoint

# Between two blocks; what was made since the last is lost when the process is killed.
SECONDS = 15.0


class ResumableStep(CompoundStep):
    """Other steps, whose iterations are kept in a checkpoint; those that it holds already are not made again.

    Iterations that are held are gone through with their statistics, but without values: after sampling, their draws are
    read from the checkpoint. With the last of them the steps get the state that they had, random generators included,
    so that the draws that follow are the same, to the last bit, as if nothing had happened.

    Parameters
    ----------
    steps : sequence of steps
        For all free variables of the model.
    checkpoint : Checkpoint
        Open.
    record : callable
        ``record(point)`` gives the recorded variables by name.
    tune, iterations : int
        Number of tuning iterations, and of all.
    starts : sequence of points, optional
        Where each chain starts, if not where PyMC lets it start.
    """

    def __init__(
        self,
        steps: Sequence[BlockedStep | CompoundStep],
        checkpoint: Checkpoint,
        record: Callable[[Point], dict[str, np.ndarray]],
        tune: int,
        iterations: int,
        starts: Sequence[Point] | None = None,
    ) -> None:
        super().__init__(steps)
        # As PyMC does: one step gets the generator of the chain itself, several get one each.
        self._inner = self.methods[0] if len(self.methods) == 1 else CompoundStep(self.methods)
        self._checkpoint, self._record, self._starts = checkpoint, record, starts
        self._tuning, self._iterations = tune, iterations

    def set_rng(self, rng: Any) -> None:
        """Begin a chain, on PyMC 5."""
        self._begin_chain(rng)
        self._inner.set_rng(rng)

    def setup_chain(self, rng: Any, tune: int, draws: int) -> None:
        """Begin a chain, on PyMC 6."""
        self._begin_chain(rng)
        self._inner.setup_chain(rng, tune, draws)

    @property
    def tune(self) -> bool:
        """Whether the steps are tuning; PyMC sets it where there is one step."""
        return self._inner.tune

    @tune.setter
    def tune(self, tune: bool) -> None:
        if hasattr(self, "_inner"):
            self._inner.tune = tune

    @property
    def sampling_state(self) -> DataClassState:
        """The state of the steps."""
        return self._inner.sampling_state

    @sampling_state.setter
    def sampling_state(self, state: DataClassState) -> None:
        self._inner.sampling_state = state

    def step(self, point: Point) -> tuple[Point, list[dict[str, Any]]]:
        """Go through an iteration that is held, or make one."""
        if self._done < len(self._held):
            stats = self._held[self._done]
            self._done += 1
            # At once, not when the next iteration is made: PyMC may tell the steps in between that tuning is over.
            if self._done == len(self._held) and self._state is not None:
                if self._done < self._iterations:
                    self.sampling_state = with_plain_state(self.sampling_state, self._state.sampler)
                point = self._state.point
            return dict(point), stats
        if self._done == 0 and self._starts is not None:
            point = self._starts[self._chain]
        point, stats = self._inner.step(point)
        self._keep(point, stats)
        return point, stats

    def _begin_chain(self, rng: np.random.Generator) -> None:
        # PyMC does not number the chains for a step, but the generators that it makes from the seed are numbered.
        self._chain = int(rng.bit_generator.seed_seq.spawn_key[-1])  # type: ignore[attr-defined]
        self._state = self._checkpoint.state(self._chain)
        self._held = [] if self._state is None else self._checkpoint.stats(self._chain)
        self._done, self._has_warned = 0, False
        self._empty_block(len(self._held))

    def _empty_block(self, begin: int) -> None:
        self._begin, self._stats = begin, list[Any]()
        self._values: dict[str, list[np.ndarray]] = {}
        self._written = time.monotonic()

    def _keep(self, point: Point, stats: list[dict[str, Any]]) -> None:
        if self._done >= self._tuning:
            for name, value in self._record(point).items():
                self._values.setdefault(name, []).append(np.array(value))
        self._stats.append([{name: _plain_statistic(value) for name, value in part.items()} for part in stats])
        self._done += 1
        is_last = self._done == self._iterations
        if not is_last and time.monotonic() - self._written < SECONDS:
            return
        try:
            sampler = None if is_last else plain_state(self.sampling_state)
            state = ChainState(self._done, {name: np.array(value) for name, value in point.items()}, sampler)
            self._checkpoint.keep(self._chain, self._begin, self._stats, self._values, state)
            self._empty_block(self._done)
        except TypeError:
            # A step of others with a state that is more than numbers: its chain is kept when it is finished.
            self._written = time.monotonic()
        except InputError as error:
            self._written = time.monotonic()
            if not self._has_warned:
                self._has_warned = True
                warnings.warn(f"the checkpoint is not up to date: {error}", InputWarning, stacklevel=2)


def plain_state(state: Any) -> Any:
    """A sampling state as dictionaries, lists, numbers, text and arrays; what never changes is left out."""
    if isinstance(state, RandomGeneratorState):
        return plain_state(state._asdict())
    if is_dataclass(state):
        changing = [field for field in fields(state) if not field.metadata.get("frozen", False)]
        return {field.name: plain_state(getattr(state, field.name)) for field in changing}
    if isinstance(state, dict):
        return {name: plain_state(value) for name, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(plain_state(value) for value in state)
    return state


def with_plain_state(template: Any, plain: Any) -> Any:
    """The sampling state that `plain_state` described, of steps like those that `template` is the state of."""
    if is_dataclass(template) and isinstance(plain, dict):
        for field in fields(template):
            if field.name in plain:
                now = getattr(template, field.name)
                setattr(template, field.name, with_plain_state(now, plain[field.name]))
        return template
    if isinstance(template, RandomGeneratorState) and isinstance(plain, dict):
        # The kind of the generator, by whose name PyMC makes one, is not taken from a file.
        plain["bit_generator_state"]["bit_generator"] = template.bit_generator_state["bit_generator"]
        return RandomGeneratorState(**plain)
    if isinstance(template, list) and isinstance(plain, list) and any(map(is_dataclass, template)):
        return [with_plain_state(*pair) for pair in zip(template, plain, strict=True)]
    return plain


def _plain_statistic(value: Any) -> Any:
    """A statistic as a number, text or list; warnings of PyMC are left out."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist() if value.dtype.kind in "biufU" else None
    return value if value is None or isinstance(value, (bool, int, float, str)) else None
