import numpy as np
import pytensor.tensor as pt

from icb_pymc.declare.beliefs import (
    GaussianBelief,
    bayesian_learning,
    bayesian_update,
    constant_within,
    isotropic_belief,
)
from icb_pymc.kernels.reward_given_rho import belief_means, covariance_path


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


def test_scan_closed_form_and_kernel_give_the_same_belief_path():
    rng = np.random.default_rng(2)
    context, reward, sigma = rng.normal(size=(60, 3)), rng.normal(size=60), 0.2
    start_mean, start_root = rng.normal(size=3), rng.normal(size=(3, 3))
    initial = GaussianBelief(pt.as_tensor(start_mean), pt.as_tensor(start_root))
    path = bayesian_learning(initial, pt.as_tensor(context), pt.as_tensor(reward), sigma)
    scanned_mean, scanned_root = path.mean.eval(), path.root.eval()

    start_precision = np.linalg.inv(start_root @ start_root.T)
    squares = np.einsum("ti,tj->tij", context, context) / sigma**2
    precision_gain = np.cumsum(np.concatenate([np.zeros((1, 3, 3)), squares[:-1]]), axis=0)
    information_gain = np.cumsum(
        np.concatenate([np.zeros((1, 3)), (reward[:, None] * context / sigma**2)[:-1]]), axis=0
    )
    covariance = np.linalg.inv(start_precision + precision_gain)
    mean = np.einsum("tij,tj->ti", covariance, start_precision @ start_mean + information_gain)
    np.testing.assert_allclose(scanned_mean, mean, atol=1e-10)
    np.testing.assert_allclose(scanned_root @ scanned_root.transpose(0, 2, 1), covariance, atol=1e-10)

    beliefs = covariance_path(start_root @ start_root.T, context, sigma)
    kernel_mean = np.empty_like(mean)
    belief_means(beliefs.gain, start_mean, context, reward, kernel_mean)
    np.testing.assert_allclose(kernel_mean, mean, atol=1e-10)
    np.testing.assert_allclose(beliefs.covariance, covariance, atol=1e-10)


def test_beliefs_constant_within_folds_are_the_weights_of_each_fold():
    weights = np.array([[1.0, 2.0], [3.0, 4.0]])
    belief = constant_within(weights, [0, 0, 1, 1, 1]).eval()
    np.testing.assert_array_equal(belief, weights[[0, 0, 1, 1, 1]])
