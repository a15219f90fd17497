import numpy as np
import pytest

from icb_pymc.kernels.gradient_ascent import Adam, maximise


def hill(point):
    return -float(((point - [1.0, -2.0]) ** 2).sum()), -2 * (point - [1.0, -2.0])


def test_adam_stops_after_as_many_steps_without_improvement_as_asked():
    maximum = maximise(hill, np.zeros(2), Adam(0.01), max_steps=20_000, patience=100)
    assert maximum.has_converged
    assert maximum.steps < 20_000
    np.testing.assert_allclose(maximum.point, [1.0, -2.0], atol=1e-4)
    assert maximum.value == hill(maximum.point)[0]


def test_the_first_steps_of_adam_are_those_of_its_definition():
    adam, point = Adam(0.1, 0.9, 0.999), np.array([0.0])
    gradients = [np.array([2.0]), np.array([-1.0])]
    first = adam.step(gradients[0])
    assert first == pytest.approx(0.1)
    mean = (0.9 * 0.1 * 2.0 + 0.1 * -1.0) / (1 - 0.9**2)
    square = (0.999 * 0.001 * 4.0 + 0.001 * 1.0) / (1 - 0.999**2)
    assert point + adam.step(gradients[1]) == pytest.approx(0.1 * mean / np.sqrt(square))


def test_without_a_maximum_it_stops_at_the_last_step_and_has_not_converged():
    maximum = maximise(lambda point: (float(point[0]), np.ones(1)), np.zeros(1), Adam(), max_steps=50, patience=10)
    assert (maximum.steps, maximum.has_converged) == (50, False)
    assert maximum.point == pytest.approx(0.05)
