import numpy as np
import pytensor.tensor as pt

from icb_pymc.beliefs import GaussianBelief, bayesian_update, isotropic_belief


def test_one_update_is_equation_1_with_its_inverses():
    rng = np.random.default_rng(0)
    root, mean, x = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    reward, sigma = 0.7, 0.3
    updated = bayesian_update(GaussianBelief(pt.as_tensor(mean), pt.as_tensor(root)), pt.as_tensor(x), reward, sigma)
    precision = np.linalg.inv(root @ root.T)
    covariance = np.linalg.inv(precision + np.outer(x, x) / sigma**2)
    np.testing.assert_allclose(updated.root.eval() @ updated.root.eval().T, covariance, atol=1e-12)
    np.testing.assert_allclose(updated.mean.eval(), covariance @ (precision @ mean + reward * x / sigma**2), atol=1e-12)


def test_variance_is_the_quadratic_form_of_each_candidate():
    belief = isotropic_belief([1.0, 2.0], 4.0, 2)
    context = np.array([[1.0, 1.0], [0.0, 3.0]])
    np.testing.assert_allclose(belief.variance(pt.as_tensor(context)).eval(), [8.0, 36.0])
    np.testing.assert_allclose(belief.draw(pt.as_tensor([1.0, -1.0])).eval(), [3.0, 0.0])
