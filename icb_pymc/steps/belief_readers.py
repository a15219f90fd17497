"""Beliefs of a Bayesian learner at the sampler's current point, by kernels instead of the scan in the graph."""

from typing import NamedTuple

import numpy as np
import pymc as pm
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.beliefs import BayesianLearning, BeliefSampleRV
from icb_pymc.declare.graph import GraphReader, Point, has_op, parameters
from icb_pymc.kernels.metropolis import add_correlated_noise
from icb_pymc.kernels.reward_given_rho import BeliefCovariances, belief_means, covariance_path


class Learning(NamedTuple):
    """A Bayesian learner at a point.

    Attributes
    ----------
    start_mean, start_root : (k,), (k, k)
        The mean and a root of the covariance of its first belief.
    chosen_context, reward : (T, k), (T,)
        The contexts of the actions taken, and the rewards received.
    sigma : float
        The standard deviation of a reward.
    beliefs : BeliefCovariances
    """

    start_mean: np.ndarray
    start_root: np.ndarray
    chosen_context: np.ndarray
    reward: np.ndarray
    sigma: float
    beliefs: BeliefCovariances

    @property
    def mean(self) -> np.ndarray:
        """mu_1, ..., mu_T of equation 1."""
        path = np.empty_like(self.chosen_context)
        belief_means(self.beliefs.gain, self.start_mean, self.chosen_context, self.reward, path)
        return path

    def noise(self, rho: np.ndarray) -> np.ndarray:
        """The standard normal noise that gives `rho` under these beliefs."""
        return np.linalg.solve(self.beliefs.root, (rho - self.mean)[..., None])[..., 0]

    def sample(self, noise: np.ndarray) -> np.ndarray:
        """rho for this `noise` under these beliefs."""
        rho = np.empty_like(noise)
        add_correlated_noise(self.mean, self.beliefs.root, noise, rho)
        return rho


def belief_covariances(start_root: np.ndarray, chosen_context: np.ndarray, sigma: float) -> BeliefCovariances:
    """Covariances of all beliefs, from a root of the first covariance."""
    return covariance_path(start_root @ start_root.T, chosen_context, sigma)


class LearningReader:
    """Reads a `bayesian_learning` from the graph; covariances are recomputed only if their inputs have changed."""

    NAMES = ("start_mean", "start_root", "chosen_context", "reward", "sigma")

    def __init__(self, model: pm.Model, belief: TensorVariable) -> None:
        self._read = GraphReader(model, dict(zip(self.NAMES, belief.owner.inputs, strict=True)))
        self._key: tuple[bytes, float, bytes] | None = None
        self._beliefs: BeliefCovariances | None = None

    def __call__(self, point: Point) -> Learning:
        values = self._read(point)
        root, context, sigma = values["start_root"], values["chosen_context"], float(values["sigma"])
        key = (root.tobytes(), sigma, b"" if self._read.is_fixed("chosen_context") else context.tobytes())
        if self._beliefs is None or key != self._key:
            self._beliefs, self._key = belief_covariances(root, context, sigma), key
        return Learning(values["start_mean"], root, context, values["reward"], sigma, self._beliefs)

    def beliefs(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Means (time, feature) and roots (time, feature, feature) of the beliefs."""
        learning = self(point)
        return learning.mean, learning.beliefs.root


class DeclaredReader:
    """Means and roots of a `BeliefSample` as the graph declares them."""

    def __init__(self, model: pm.Model, mean: TensorVariable, root: TensorVariable) -> None:
        self._read = GraphReader(model, {"mean": mean, "root": root})

    def beliefs(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Means (time, feature), and one root or one for each time."""
        values = self._read(point)
        return values["mean"], values["root"]


def belief_reader(model: pm.Model, rho: TensorVariable) -> LearningReader | DeclaredReader:
    """A reader of the beliefs that `rho` is drawn from."""
    mean, root = parameters(rho)
    return LearningReader(model, mean) if is_learnt(mean, root) else DeclaredReader(model, mean, root)


def is_learnt(mean: TensorVariable, root: TensorVariable) -> bool:
    """Whether mean and root are the unmodified outputs of one `bayesian_learning`."""
    return has_op(mean, BayesianLearning) and mean.owner.outputs == [mean, root]


def find_learner_sample(model: pm.Model) -> TensorVariable | None:
    """The `BeliefSample` of `model` whose beliefs are a `bayesian_learning`, if there is exactly one."""
    learners = [rv for rv in model.basic_RVs if has_op(rv, BeliefSampleRV) and is_learnt(*parameters(rv))]
    return learners[0] if len(learners) == 1 else None
