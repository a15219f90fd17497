"""A part of a long log with the same hyperparameters, for a first search."""

import numpy as np

from icb_pymc.kernels.state_space import StateSpace


def can_be_thinned(space: StateSpace) -> bool:
    """Whether states only move, by steps of the same shape: then steps between decisions left out add up to one."""
    has_transition = len(space.decay) > 0 or space.left.shape[1] > 0
    return not has_transition and len(space.move_root) == 1 and not space.drift.any()


def every_nth_decision(space: StateSpace, n: int) -> StateSpace:
    """The model of every n-th decision, from the first on, of one that can be thinned."""
    counts = np.diff(space.first)
    kept = np.arange(0, len(counts), n)
    rows = np.repeat(np.arange(len(counts)) % n == 0, counts)
    passed = np.concatenate([[0.0], np.cumsum(np.broadcast_to(space.move_scale**2, len(counts) - 1))])
    return space._replace(
        drift=np.zeros((1, len(space.start_mean))),
        move_scale=np.sqrt(np.diff(passed[kept])),
        first=np.concatenate([[0], np.cumsum(counts[kept])]),
        offset=space.offset[rows],
        state_loading=space.state_loading[rows],
        sampling_loading=space.sampling_loading[rows],
    )
