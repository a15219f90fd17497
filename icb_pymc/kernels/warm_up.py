"""Compile the kernels of the engine, or load them from the cache, before the first draw."""

from functools import cache

import numpy as np

from icb_pymc.kernels.density_surface import fit_surface, height, walk_on_surface
from icb_pymc.kernels.hamiltonian import draw_centred_noise, fresh_noise, hmc_trajectory, make_position, make_reference
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.pseudo_data import PositionSums, add_position, empty_data, pseudo_data_from_sums
from icb_pymc.kernels.state_space import StateSpace
from icb_pymc.kernels.transfer import measured_path, position_of_measured_path


@cache
def compile_engine() -> None:
    """Call each kernel once, on the smallest possible log.

    Chains that are sampled in separate processes then load the compiled kernels instead of each compiling them.
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
        state_loading=np.ones((2, 1)),
        sampling_loading=np.ones((2, 1)),
    )
    reference, rng = make_reference(space, find_mode(space).data), np.random.default_rng(0)
    position = make_position(reference, draw_centred_noise(reference, fresh_noise(reference, rng)))
    hmc_trajectory(reference, position, fresh_noise(reference, rng), 1, 1.0)
    position_of_measured_path(reference, *measured_path(reference, position, np.zeros(2)))
    sums = PositionSums(np.zeros(2), np.zeros(2), np.zeros(2))
    add_position(space.first, position.contrasts, sums, space.lapse)
    pseudo_data_from_sums(space.first, sums, 1, empty_data(space.first))
    surface = fit_surface(np.zeros((1, 1)), np.zeros(1), np.zeros(1), np.ones(1), one)
    height(surface, np.zeros(1))
    walk_on_surface(surface, np.zeros(1), one, np.ones(1), 1.0, np.empty((1, 1)))
