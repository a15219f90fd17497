"""Square roots of covariances, and the joint diagonalisation of two covariances."""

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Rounding in a k x k product or eigenproblem stays far below this share of the largest entry.
_ROUNDING = 1e-9


class SharedAxes(NamedTuple):
    """Coordinates in which Σ_P is the identity and Σ_B is diagonal.

    Attributes
    ----------
    to_axes : (k, k)
        ``belief @ to_axes`` are axis coordinates; a covariance S becomes ``to_axes.T @ S @ to_axes``.
    from_axes : (k, k)
        Its inverse. ``context @ from_axes.T`` transforms contexts so that inner products with beliefs are preserved.
    innovation_variance : (k,)
        The diagonal of Σ_B in these coordinates.
    """

    to_axes: Floats
    from_axes: Floats
    innovation_variance: Floats


def shared_axes(innovation_covariance: Floats, sampling_covariance: Floats) -> SharedAxes:
    """Diagonalise Σ_B and Σ_P together: V'Σ_P V = I and V'Σ_B V = diag(λ).

    Parameters
    ----------
    innovation_covariance : (k, k)
        Σ_B, positive semi-definite; zero for a belief that never moves.
    sampling_covariance : (k, k)
        Σ_P, positive definite.
    """
    innovation = _symmetric(innovation_covariance, "innovation covariance (Sigma_B)")
    sampling = _symmetric(sampling_covariance, "sampling covariance (Sigma_P)")
    if innovation.shape != sampling.shape:
        raise ValueError(f"Sigma_B has shape {innovation.shape} but Sigma_P has shape {sampling.shape}.")
    try:
        variance, axes = scipy.linalg.eigh(innovation, sampling)
    except np.linalg.LinAlgError as error:
        raise ValueError("The sampling covariance (Sigma_P) must be positive definite.") from error
    variance = _without_rounding(variance, "innovation covariance (Sigma_B)")
    # V'Σ_P V = I makes V'Σ_P the inverse of V.
    return SharedAxes(np.ascontiguousarray(axes), axes.T @ sampling, variance)


def covariance_root(covariance: Floats) -> Floats:
    """The symmetric L with L L' equal to the covariance, which may be singular or zero.

    It is continuous in the covariance. Eigenvectors alone are not: those of equal eigenvalues are arbitrary.
    """
    if _is_diagonal(covariance):
        # The check of symmetry takes ten times as long as the root.
        return np.diag(np.sqrt(_without_rounding(covariance.diagonal(), "covariance")))
    symmetric = _symmetric(covariance, "covariance")
    variance, axes = np.linalg.eigh(symmetric)
    return (axes * np.sqrt(_without_rounding(variance, "covariance"))) @ axes.T


def covariance_roots(covariances: Floats) -> Floats:
    """`covariance_root` of each of several covariances (n, k, k)."""
    diagonal = np.diagonal(covariances, axis1=1, axis2=2)
    if covariances.size and np.count_nonzero(covariances) == np.count_nonzero(diagonal) and np.isfinite(diagonal).all():
        roots = np.zeros_like(covariances)
        np.einsum("tii->ti", roots)[...] = np.sqrt(_without_rounding(diagonal, "covariance"))
        return roots
    return np.array([covariance_root(matrix) for matrix in covariances]).reshape(covariances.shape)


def _is_diagonal(matrix: Floats) -> bool:
    """Whether a finite square matrix of float64 is zero outside its diagonal."""
    if not isinstance(matrix, np.ndarray) or matrix.dtype != np.float64:
        return False
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        return False
    diagonal = matrix.diagonal()
    return np.count_nonzero(matrix) == np.count_nonzero(diagonal) and bool(np.isfinite(diagonal).all())


def _symmetric(matrix: Floats, name: str) -> Floats:
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"The {name} must be a square matrix; its shape is {matrix.shape}.")
    if not np.all(np.isfinite(matrix)):
        raise ValueError(f"The {name} has entries that are not finite.")
    if np.abs(matrix - matrix.T).max() > _ROUNDING * np.abs(matrix).max():
        raise ValueError(f"The {name} must be symmetric.")
    return (matrix + matrix.T) / 2


def _without_rounding(variance: Floats, name: str) -> Floats:
    """Eigenvalues, with those that are negative by rounding set to zero."""
    if variance.min() < -_ROUNDING * np.abs(variance).max():
        raise ValueError(f"The {name} must be positive semi-definite; its smallest eigenvalue is {variance.min():.3g}.")
    return np.maximum(variance, 0.0)
