"""Rows four at a time against rows one by one, as triangular systems in full."""

import numpy as np
import pytest

from icb_pymc.kernels.blocked_recursions import NEIGHBOURS, backward, couple, forward


@pytest.fixture(params=[0, 1, 3, 4, 5, 7, 8, 11, 40], name="rows")
def number_of_rows(request):
    return request.param


@pytest.fixture(name="readings_and_gains")
def random_readings_and_gains(rows):
    return 0.3 * np.random.default_rng(rows).standard_normal((2, rows, 5))


def system(reading, gain):
    """Row by row value_r + Σ_{l<r} c_r'g_l value_l = y_r."""
    return np.eye(len(reading)) + np.tril(reading @ gain.T, -1)


def coupled(reading, gain):
    coupling = np.full((len(reading), NEIGHBOURS), np.nan)
    couple(reading, gain, coupling)
    return coupling


def test_couplings_are_products_with_the_gains_of_the_rows_before(rows, readings_and_gains):
    products = readings_and_gains[0] @ readings_and_gains[1].T
    coupling = coupled(*readings_and_gains)
    for row in range(rows):
        expected = [products[row, row - back] if back <= row else 0.0 for back in range(1, NEIGHBOURS + 1)]
        np.testing.assert_allclose(coupling[row], expected, atol=1e-15)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_rows_in_blocks_give_what_rows_one_by_one_give(direction, rows, readings_and_gains):
    matrix = system(*readings_and_gains)
    values = np.random.default_rng(1).standard_normal(rows)
    expected = np.linalg.solve(matrix if direction == "forward" else matrix.T, values)
    {"forward": forward, "backward": backward}[direction](*readings_and_gains, coupled(*readings_and_gains), values)
    np.testing.assert_allclose(values, expected, atol=1e-12)
