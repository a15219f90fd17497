import numpy as np
import pytensor
import pytensor.tensor as pt

from icb_pymc.declare.pairwise_ranking import later_is_better


def test_the_graph_has_the_value_and_gradient_of_all_pairs():
    rng = np.random.default_rng(0)
    context, weights = rng.normal(size=(9, 3)), rng.normal(size=3)
    rho = pt.dvector("rho")
    value = later_is_better((pt.as_tensor(context) * rho).sum(axis=-1))
    compute = pytensor.function([rho], [value, pytensor.grad(2.0 * value, rho)])

    def dense(point):
        lead = (context @ point)[:, None] - (context @ point)[None, :]
        return -np.logaddexp(0.0, -lead)[np.tri(9, k=-1, dtype=bool)].sum()

    log_likelihood, gradient = compute(weights)
    np.testing.assert_allclose(log_likelihood, dense(weights))
    slopes = [(dense(weights + move) - dense(weights - move)) / 1e-5 for move in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(gradient, slopes, atol=1e-5)
