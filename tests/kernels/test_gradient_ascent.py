import numpy as np
import pytest

from icb_pymc.kernels.gradient_ascent import Adam, climb


def hill(point):
    return -float(((point - [1.0, -2.0]) ** 2).sum()), -2 * (point - [1.0, -2.0])


def test_adam_climbs_until_nothing_is_gained_for_as_long_as_asked():
    summit = climb(hill, np.zeros(2), Adam(0.01), most=20_000, patience=100)
    assert summit.settled
    assert summit.steps < 20_000
    np.testing.assert_allclose(summit.point, [1.0, -2.0], atol=1e-4)
    assert summit.value == hill(summit.point)[0]


def test_the_first_steps_of_adam_are_those_of_its_definition():
    adam, point = Adam(0.1, 0.9, 0.999), np.array([0.0])
    gradients = [np.array([2.0]), np.array([-1.0])]
    first = adam.step(gradients[0])
    assert first == pytest.approx(0.1)
    mean = (0.9 * 0.1 * 2.0 + 0.1 * -1.0) / (1 - 0.9**2)
    square = (0.999 * 0.001 * 4.0 + 0.001 * 1.0) / (1 - 0.999**2)
    assert point + adam.step(gradients[1]) == pytest.approx(0.1 * mean / np.sqrt(square))


def test_without_end_it_stops_at_the_last_step_and_says_so():
    summit = climb(lambda point: (float(point[0]), np.ones(1)), np.zeros(1), Adam(), most=50, patience=10)
    assert (summit.steps, summit.settled) == (50, False)
    assert summit.point == pytest.approx(0.05)
