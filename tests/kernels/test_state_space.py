"""`path_from_noise` against the recursion of its definition, and `path_adjoint` against its transpose."""

import numpy as np
import pytest
from helpers.state_spaces import (
    KINDS,
    contrasts_of,
    from_vector,
    noise_size,
    prior,
    random_space,
    to_vector,
    transition,
)

from icb_pymc.kernels.state_space import empty_noise, path_adjoint, path_from_noise


def plain_recursion(space, noise, with_means):
    """States and contrasts from the definition of the model, one decision after the other."""
    mean = float(with_means)
    state = mean * space.start_mean + space.start_root @ noise.start
    states, contrasts = [], []
    for t in range(len(space.first) - 1):
        rows = slice(space.first[t], space.first[t + 1])
        states.append(state)
        contrasts.append(
            mean * space.offset[rows]
            + space.state_loading[rows] @ state
            + space.sampling_loading[rows] @ noise.sampling[t]
        )
        if t < len(space.first) - 2:
            drift, scale, root = (
                array[min(t, len(array) - 1)] for array in (space.drift, space.move_scale, space.move_root)
            )
            state = transition(space, t) @ state + mean * drift + scale * root.T @ noise.move[t]
    return np.array(states), np.concatenate(contrasts)


@pytest.mark.parametrize("with_means", [True, False], ids=["with means", "without means"])
@pytest.mark.parametrize("kind", KINDS)
def test_path_from_noise_follows_the_definition(kind, with_means):
    space = random_space(kind)
    noise = from_vector(space, np.random.default_rng(1).standard_normal(noise_size(space)))
    expected_states, expected = plain_recursion(space, noise, with_means)
    states, contrasts = np.empty(expected_states.shape), np.empty(expected.size)
    path_from_noise(space, noise, float(with_means), states, contrasts)
    np.testing.assert_allclose(states, expected_states, atol=1e-12)
    np.testing.assert_allclose(contrasts, expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_path_adjoint_is_the_transpose_of_path_from_noise(kind):
    space = random_space(kind)
    _, matrix = prior(space)
    rows = []
    for unit in np.eye(space.offset.size):
        noise = empty_noise(space)
        for part in noise:
            part[...] = np.nan
        path_adjoint(space, unit, noise)
        rows.append(to_vector(noise))
    np.testing.assert_allclose(np.reshape(rows, matrix.shape), matrix, atol=1e-12)


@pytest.mark.parametrize("kind", ["no alternatives", "no sampling noise"])
def test_the_adjoint_is_zero_for_noise_that_no_contrast_depends_on(kind):
    """Moves after the last decision with alternatives, and all noise if no decision has alternatives."""
    space = random_space(kind)
    noise = empty_noise(space)
    for part in noise:
        part[...] = np.nan
    path_adjoint(space, np.ones(space.offset.size), noise)
    last = np.flatnonzero(np.diff(space.first))
    after = noise.move[last[-1] :] if last.size else to_vector(noise)
    assert after.size > 0
    assert not after.any()


def test_constant_arrays_may_be_given_once_or_for_each_time():
    once = random_space("dense")
    moves = len(once.first) - 2
    each = {name: np.repeat(getattr(once, name), moves, axis=0) for name in ("decay", "left", "right", "drift")}
    each["move_root"] = np.repeat(once.move_root, moves, axis=0)
    noise = from_vector(once, np.random.default_rng(2).standard_normal(noise_size(once)))
    np.testing.assert_array_equal(contrasts_of(once, noise), contrasts_of(once._replace(**each), noise))
