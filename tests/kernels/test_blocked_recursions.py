"""The blocked recursions against dense triangular systems."""

import numpy as np
import pytest

from icb_pymc.kernels.blocked_recursions import NEIGHBOURS, backward_pass, forward_pass, neighbour_couplings


@pytest.fixture(params=[0, 1, 3, 4, 5, 7, 8, 11, 40], name="rows")
def number_of_rows(request):
    return request.param


@pytest.fixture(name="loadings_and_gains")
def random_loadings_and_gains(rows):
    return 0.3 * np.random.default_rng(rows).standard_normal((2, rows, 5))


def system(loading, gain):
    """Row by row value_r + Σ_{l<r} c_r'g_l value_l = y_r."""
    return np.eye(len(loading)) + np.tril(loading @ gain.T, -1)


def couplings_of(loading, gain):
    coupling = np.full((len(loading), NEIGHBOURS), np.nan)
    neighbour_couplings(loading, gain, coupling)
    return coupling


def test_couplings_are_products_with_the_gains_of_previous_rows(rows, loadings_and_gains):
    products = loadings_and_gains[0] @ loadings_and_gains[1].T
    coupling = couplings_of(*loadings_and_gains)
    for row in range(rows):
        expected = [products[row, row - back] if back <= row else 0.0 for back in range(1, NEIGHBOURS + 1)]
        np.testing.assert_allclose(coupling[row], expected, atol=1e-15)


@pytest.mark.parametrize("direction", ["forward_pass", "backward_pass"])
def test_blocked_passes_solve_the_triangular_system(direction, rows, loadings_and_gains):
    matrix = system(*loadings_and_gains)
    values = np.random.default_rng(1).standard_normal(rows)
    expected = np.linalg.solve(matrix if direction == "forward_pass" else matrix.T, values)
    {"forward_pass": forward_pass, "backward_pass": backward_pass}[direction](
        *loadings_and_gains, couplings_of(*loadings_and_gains), values
    )
    np.testing.assert_allclose(values, expected, atol=1e-12)
