"""`run` against the recursion it stands for, and `respond` against its transpose."""

import numpy as np
import pytest
from helpers.state_spaces import KINDS, contrasts_of, flat, noise_size, prior, random_space, shaped, transition

from icb_pymc.kernels.state_space import empty_noise, respond, run


def plain_recursion(space, noise, with_means):
    """States and contrasts from the definition of the model, one decision after the other."""
    mean = float(with_means)
    state = mean * space.start_mean + space.start_root @ noise.start
    states, contrasts = [], []
    for t in range(len(space.first) - 1):
        rows = slice(space.first[t], space.first[t + 1])
        states.append(state)
        contrasts.append(mean * space.offset[rows] + space.reading[rows] @ state + space.stray[rows] @ noise.stray[t])
        if t < len(space.first) - 2:
            drift, scale, root = (
                array[min(t, len(array) - 1)] for array in (space.drift, space.move_scale, space.move_root)
            )
            state = transition(space, t) @ state + mean * drift + scale * root.T @ noise.move[t]
    return np.array(states), np.concatenate(contrasts)


@pytest.mark.parametrize("with_means", [True, False], ids=["with means", "without means"])
@pytest.mark.parametrize("kind", KINDS)
def test_run_makes_the_path_of_the_definition(kind, with_means):
    space = random_space(kind)
    noise = shaped(space, np.random.default_rng(1).standard_normal(noise_size(space)))
    expected_states, expected = plain_recursion(space, noise, with_means)
    states, contrasts = np.empty(expected_states.shape), np.empty(expected.size)
    run(space, noise, with_means, states, contrasts)
    np.testing.assert_allclose(states, expected_states, atol=1e-12)
    np.testing.assert_allclose(contrasts, expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_respond_is_the_transpose_of_run(kind):
    space = random_space(kind)
    _, matrix = prior(space)
    rows = []
    for unit in np.eye(space.offset.size):
        noise = empty_noise(space)
        for part in noise:
            part[...] = np.nan
        respond(space, unit, noise)
        rows.append(flat(noise))
    np.testing.assert_allclose(np.reshape(rows, matrix.shape), matrix, atol=1e-12)


@pytest.mark.parametrize("kind", ["no alternatives", "without strays"])
def test_what_nothing_depends_on_gets_no_response(kind):
    """Moves after the last decision with alternatives, and all of the noise where no decision has any."""
    space = random_space(kind)
    noise = empty_noise(space)
    for part in noise:
        part[...] = np.nan
    respond(space, np.ones(space.offset.size), noise)
    last = np.flatnonzero(np.diff(space.first))
    after = noise.move[last[-1] :] if last.size else flat(noise)
    assert after.size > 0
    assert not after.any()


def test_what_is_the_same_at_all_times_may_be_given_once_or_each_time():
    once = random_space("dense")
    moves = len(once.first) - 2
    each = {name: np.repeat(getattr(once, name), moves, axis=0) for name in ("decay", "left", "right", "drift")}
    each["move_root"] = np.repeat(once.move_root, moves, axis=0)
    noise = shaped(once, np.random.default_rng(2).standard_normal(noise_size(once)))
    np.testing.assert_array_equal(contrasts_of(once, noise), contrasts_of(once._replace(**each), noise))
