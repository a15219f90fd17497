"""Compiling the kernels of the engine, or loading them, before the first draw is waited for."""

from functools import cache

import numpy as np

from icb_pymc.kernels.hamiltonian import draw_around, fresh_noise, locate, refer, travel
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.pseudo_data import Seen, empty_data, measure_seen, see
from icb_pymc.kernels.state_space import StateSpace


@cache
def compile_engine() -> None:
    """Use each kernel once, on the smallest log that there is.

    Chains that are sampled by processes of their own then find the kernels compiled, instead of compiling them each.
    """
    one, none = np.ones((1, 1)), np.zeros((1, 0, 1))
    space = StateSpace(
        start_mean=np.zeros(1),
        start_root=one,
        decay=np.empty((0, 1)),
        left=none,
        right=none,
        drift=np.zeros((1, 1)),
        move_scale=np.ones(1),
        move_root=one[None],
        first=np.arange(3),
        offset=np.zeros(2),
        reading=np.ones((2, 1)),
        stray=np.ones((2, 1)),
    )
    reference, rng = refer(space, find_mode(space).data), np.random.default_rng(0)
    place = locate(reference, draw_around(reference, fresh_noise(reference, rng)))
    travel(reference, place, fresh_noise(reference, rng), 1, 1.0)
    seen = Seen(np.zeros(2), np.zeros(2), np.zeros(2))
    see(space.first, place.contrasts, seen)
    measure_seen(space.first, seen, 1, empty_data(space.first))
