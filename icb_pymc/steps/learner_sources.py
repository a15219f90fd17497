"""Beliefs of learners as linear-Gaussian state spaces: the state holds rewards that were not observed, and rho_env.

Observed rewards are constants of the state space. What they say about rho_env is put into its prior: the choices of a
learner depend on rho_env only through rewards that were not observed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.graph.basic import equal_computations
from pytensor.tensor.random.basic import MvNormalRV
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.beliefs import BayesianLearning, PredictionErrorLearning
from icb_pymc.declare.graph import bare, has_op, parameters
from icb_pymc.declare.rewards import CompletedRewards, LinearRewardRV
from icb_pymc.kernels.belief_spectrum import BeliefSpectrum, belief_spectrum, loading_of_rows, sampling_of_rows
from icb_pymc.kernels.joint_diagonalisation import covariance_root
from icb_pymc.kernels.learnt_beliefs import belief_of_rewards
from icb_pymc.kernels.reward_given_rho import covariance_path
from icb_pymc.kernels.state_space import Noise
from icb_pymc.steps.belief_sources import BeliefMap, Beliefs, Dynamics, GaussianSource, Values


class LearnerSource(GaussianSource):
    """Beliefs of a Bayesian learner: the state is (n_t, rho_env), the noise that of the rewards.

    With S_t = Sigma_t / sigma^2, G_t = sum x_s x_s' over the unobserved rewards before t, and c_t = sum x_s (r_s -
    <mu_1, x_s>) over the observed ones, equation 1 is mu_t = mu_1 + S_t (c_t + G_t (rho_env - mu_1) + n_t), where
    n_t = sigma sum x_s w_s over the unobserved rewards is a random walk. Its transition is the identity; that of mu_t
    is not.

    Parameters
    ----------
    belief : tensor (time, feature)
        A `bayesian_learning`.
    latent : LinearReward, optional
        The rewards that were not observed.
    known : tensor (time,), optional
        The rewards, NaN where they were not observed.
    likelihood : LinearReward, optional
        The observed rewards, as far as they have a distribution.
    rho_env : tensor (feature,), optional
        The reward parameter, if it is Gaussian.
    """

    needs_path = False
    second_input = "start_root"

    def __init__(
        self,
        belief: TensorVariable,
        latent: TensorVariable | None,
        known: TensorVariable | None,
        likelihood: TensorVariable | None,
        rho_env: TensorVariable | None,
    ) -> None:
        self._has_latent = self.moves_beliefs = latent is not None
        self._has_likelihood = likelihood is not None
        self._has_rho_env = rho_env is not None
        self.variables = [rv for rv in (latent, rho_env) if rv is not None]
        self.observed: Sequence[TensorVariable] = [] if likelihood is None else [likelihood]
        start_mean, second, context, _, *sigma = belief.owner.inputs
        self.graphs = {"start_mean": start_mean, self.second_input: second, "chosen_context": context}
        modelled = likelihood if latent is None else latent
        if modelled is not None:
            self.graphs["sigma"] = parameters(modelled)[2]
        elif sigma:
            self.graphs["sigma"] = sigma[0]
        if known is not None:
            self.graphs["known"] = known
        if rho_env is not None:
            self.graphs |= dict(zip(("rho_env_mean", "rho_env_covariance"), parameters(rho_env), strict=True))
        elif modelled is not None:
            self.graphs["rho_env"] = parameters(modelled)[0]
        self._start_covariance: np.ndarray | None = None
        self._last_record: _Record | None = None

    def prepare(self, somewhere: Callable[[], Values]) -> None:
        # The same point for all chains and processes: rounding in the spectrum depends on it, and draws on rounding.
        values = somewhere()
        root = values["start_root"]
        with np.errstate(all="ignore"):
            covariance = root @ root.T
        self._start_covariance = covariance if np.isfinite(covariance).all() and covariance.any() else None

    def _beliefs(self, values: Values, record: "_Record") -> BeliefMap:
        context, sigma = values["chosen_context"], float(values["sigma"])
        rewards = record.squares, self._learnt(values), values["start_mean"]
        covariance = values["start_root"] @ values["start_root"].T
        ratio = None if record.spectrum is None else record.spectrum.ratio(covariance, sigma)
        if record.spectrum is None or ratio is None:
            roots = covariance_path(covariance, context, sigma).root
            loading, offset = belief_of_rewards(roots, sigma, *rewards)
            return Beliefs(loading, offset, roots)
        return _SpectralBeliefs(record.spectrum, ratio, sigma, *rewards)

    def dynamics(self, values: Values) -> Dynamics:
        k, sigma = values["chosen_context"].shape[1], float(values["sigma"])
        rho_env_mean, rho_env_root = self._rho_env_given_rewards(values)
        record = self._record(values)
        rank_zero = np.zeros((1, 0, 2 * k))
        return Dynamics(
            np.concatenate([np.zeros(k), rho_env_mean]),
            np.concatenate([np.zeros_like(rho_env_root), rho_env_root]),
            np.empty((0, 2 * k)),
            rank_zero,
            rank_zero,
            np.zeros((1, 2 * k)),
            np.full(1, sigma),
            record.moves,
            self._beliefs(values, record),
        )

    def to_values(self, values: Values, states: np.ndarray, noise: Noise, rng: np.random.Generator) -> list[np.ndarray]:
        context, k = values["chosen_context"], values["chosen_context"].shape[1]
        rho_env = states[0, k:].copy()
        found = []
        if self._has_latent:
            # No belief in the log depends on the last reward: it is drawn from its prior.
            reward = context @ rho_env + float(values["sigma"]) * np.append(noise.move[:, 0], rng.standard_normal())
            found.append(reward[self._rewards(values)[0]])
        return [*found, rho_env] if self._has_rho_env else found

    def to_noise(
        self, values: Values, dynamics: Dynamics, variable_values: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        context, k = values["chosen_context"], values["chosen_context"].shape[1]
        rho_env = variable_values[-1] if self._has_rho_env else values.get("rho_env", np.zeros(k))
        move = np.zeros(len(context))
        if self._has_latent:
            hidden = self._rewards(values)[0]
            move[hidden] = (variable_values[0] - context[hidden] @ rho_env) / float(values["sigma"])
        return np.linalg.pinv(dynamics.start_root[k:]) @ (rho_env - dynamics.start_mean[k:]), move[:-1, None]

    def _record(self, values: Values) -> "_Record":
        """What follows from which rewards were received when: that of the last call, unless choices are drawn anew."""
        context, hidden = values["chosen_context"], self._rewards(values)[0]
        last = self._last_record
        if last is None or not (np.array_equal(last.context, context) and np.array_equal(last.hidden, hidden)):
            past = context[:-1]
            hidden_past = np.where(hidden[:-1, None], past, 0.0)
            squares = _sums_before(hidden_past[:, :, None] * hidden_past[:, None, :])
            moves = np.concatenate([hidden_past, np.zeros_like(past)], axis=1)[:, None, :]
            spectrum = None
            if self._start_covariance is not None:
                all_squares = squares if hidden.all() else _sums_before(past[:, :, None] * past[:, None, :])
                spectrum = belief_spectrum(self._start_covariance, all_squares)
            last = self._last_record = _Record(context.copy(), hidden, squares, moves, spectrum)
        return last

    def _learnt(self, values: Values) -> np.ndarray:
        """c_t (T, k)."""
        context, (hidden, known) = values["chosen_context"], self._rewards(values)
        if hidden.all():
            return np.zeros(context.shape)
        excess = np.where(hidden, 0.0, known - context @ values["start_mean"])
        return _sums_before(context[:-1] * excess[:-1, None])

    def log_evidence(self, values: Values) -> float:
        """log p(observed rewards | hyperparameters), rho_env integrated out."""
        if not self._has_likelihood:
            return 0.0
        contexts, residual, root, precision = self._regression(values)
        sigma = float(values["sigma"])
        projected = root.T @ contexts.T @ residual
        explained = projected @ np.linalg.solve(precision, projected) / sigma**2
        log_determinant = np.linalg.slogdet(precision)[1] + 2 * len(residual) * np.log(sigma)
        squares = (residual @ residual - explained) / sigma**2
        return float(-0.5 * (squares + log_determinant + len(residual) * np.log(2 * np.pi)))

    def _rewards(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """Which rewards are latent (T,), and the others (T,)."""
        if "known" not in values:
            times = len(values["chosen_context"])
            return np.ones(times, bool), np.zeros(times)
        hidden = np.isnan(values["known"])
        return hidden, np.where(hidden, 0.0, values["known"])

    def _rho_env_prior(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """Mean of rho_env and a root of its covariance, which has no columns if rho_env is not sampled."""
        if self._has_rho_env:
            return values["rho_env_mean"], covariance_root(values["rho_env_covariance"])
        k = values["chosen_context"].shape[1]
        return values.get("rho_env", np.zeros(k)), np.zeros((k, 0))

    def _regression(self, values: Values) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The regression of observed rewards on contexts.

        Returns contexts X, what the prior mean leaves of the rewards, the root L of the prior, and I + L'X'XL/sigma^2.
        """
        mean, root = self._rho_env_prior(values)
        hidden, known = self._rewards(values)
        contexts = values["chosen_context"][~hidden]
        loading = contexts @ root
        precision = np.eye(root.shape[1]) + loading.T @ loading / float(values["sigma"]) ** 2
        return contexts, known[~hidden] - contexts @ mean, root, precision

    def _rho_env_given_rewards(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """Mean of rho_env and a root of its covariance, given the observed rewards."""
        mean, root = self._rho_env_prior(values)
        if not self._has_likelihood or not self._has_rho_env:
            return mean, root
        contexts, residual, root, precision = self._regression(values)
        moved = root @ np.linalg.solve(precision, root.T @ contexts.T @ residual) / float(values["sigma"]) ** 2
        return mean + moved, np.linalg.solve(np.linalg.cholesky(precision), root.T).T


class PredictionErrorSource(LearnerSource):
    """Beliefs of a learner from prediction errors: the state is (mu_t, rho_env), the noise that of the rewards."""

    second_input = "gain"

    def prepare(self, somewhere: Callable[[], Values]) -> None:
        return

    def dynamics(self, values: Values) -> Dynamics:
        context, gain = values["chosen_context"][:-1], values["gain"]
        k = context.shape[1]
        rho_env_mean, rho_env_root = self._rho_env_given_rewards(values)
        hidden, known = (rewards[:-1, None] for rewards in self._rewards(values))
        # mu_{t+1} = mu_t + gain_t (r_t - <mu_t, x_t>), where r_t is <rho_env, x_t> + sigma w_t if it is latent.
        moves = np.concatenate([gain, np.zeros_like(gain)], axis=1)
        return Dynamics(
            np.concatenate([values["start_mean"], rho_env_mean]),
            np.concatenate([np.zeros_like(rho_env_root), rho_env_root]),
            np.empty((0, 2 * k)),
            moves[:, None, :],
            np.concatenate([-context, np.where(hidden, context, 0.0)], axis=1)[:, None, :],
            np.where(hidden, 0.0, known * moves) if not hidden.all() else np.zeros((1, 2 * k)),
            np.full(1, float(values.get("sigma", 1.0))),
            np.where(hidden, moves, 0.0)[:, None, :],
            Beliefs(np.eye(k, 2 * k), np.zeros(k)),
        )


class _Record(NamedTuple):
    """What contexts, and which rewards were observed, give at any hyperparameters.

    Attributes
    ----------
    context, hidden : (T, k), (T,)
        The contexts of the rewards, and which of them were not observed.
    squares : (T, k, k)
        G_t.
    moves : (T-1, 1, 2k)
        How the noise of each reward moves the state, relative to sigma.
    spectrum : BeliefSpectrum, optional
        For all multiples of the covariance of the first belief at one point.
    """

    context: np.ndarray
    hidden: np.ndarray
    squares: np.ndarray
    moves: np.ndarray
    spectrum: BeliefSpectrum | None


@dataclass(frozen=True)
class _SpectralBeliefs:
    """The `BeliefMap` of a Bayesian learner, at c and sigma; see `BeliefSpectrum` and `belief_of_rewards`."""

    spectrum: BeliefSpectrum
    ratio: float
    sigma: float
    squares: np.ndarray
    learnt: np.ndarray
    start_mean: np.ndarray

    def of_rows(
        self, rows: np.ndarray, first: np.ndarray, time: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Without the loadings of all features, which is faster where there are fewer rows than features."""
        count, k = rows.shape
        sampling, loading, offset = np.empty((count, k)), np.empty((count, 2 * k)), np.empty(count)
        at = (self.spectrum.axes, self.spectrum.information, self.ratio, self.sigma, first, rows)
        sampling_of_rows(*at, sampling)
        loading_of_rows(*at, sampling, self.squares, self.learnt, self.start_mean, loading, offset)
        return loading, offset, sampling

    @cached_property
    def root(self) -> np.ndarray:
        """Roots (T, k, k) of the covariances."""
        return self.spectrum.roots(self.ratio, self.sigma)

    @property
    def loading(self) -> np.ndarray:
        """(T, k, 2k)."""
        return self._of_rewards[0]

    @property
    def offset(self) -> np.ndarray:
        """(T, k)."""
        return self._of_rewards[1]

    @cached_property
    def _of_rewards(self) -> tuple[np.ndarray, np.ndarray]:
        return belief_of_rewards(self.root, self.sigma, self.squares, self.learnt, self.start_mean)


def find_learner(model: pm.Model, belief: TensorVariable) -> LearnerSource | None:
    """The learner whose beliefs (time, feature) these are, if they are linear in its rewards."""
    is_bayesian = has_op(belief, BayesianLearning)
    if not (is_bayesian or has_op(belief, PredictionErrorLearning)) or belief.owner.outputs[0] is not belief:
        return None
    _, _, context, given, *sigma = belief.owner.inputs
    reward = bare(given)
    latent, known, likelihood = None, None, None
    contexts = {}
    if has_op(reward, CompletedRewards):
        recorded, hidden, latent = reward.owner.inputs
        known = pt.set_subtensor(recorded[hidden], np.nan)
        others = [rv for rv in model.observed_RVs if has_op(rv, LinearRewardRV)]
        if not has_op(latent, LinearRewardRV) or len(others) != 1:
            return None
        likelihood = others[0]
        contexts = {latent: context[hidden], likelihood: None}
        if not equal_computations(parameters(latent)[::2], parameters(likelihood)[::2]):
            return None
    elif has_op(reward, LinearRewardRV) and reward in model.free_RVs:
        latent, contexts = reward, {reward: context}
    elif has_op(reward, LinearRewardRV) and reward in model.observed_RVs:
        known, likelihood, contexts = reward, reward, {reward: context}
    elif reward in model.basic_RVs:
        return None
    else:
        # Rewards that were set, such as by `pm.do`: they have no distribution.
        known = reward
    # It learns from these rewards only if it uses their contexts and, if it is Bayesian, their noise.
    for rv, own in contexts.items():
        if own is not None and not equal_computations([parameters(rv)[1]], [own]):
            return None
        if sigma and not equal_computations([parameters(rv)[2]], sigma):
            return None
    modelled = likelihood if latent is None else latent
    rho_env = None if modelled is None else parameters(modelled)[0]
    is_gaussian = rho_env in model.free_RVs and has_op(rho_env, MvNormalRV)
    source = LearnerSource if is_bayesian else PredictionErrorSource
    return source(belief, latent, known, likelihood, rho_env if is_gaussian else None)


def _sums_before(terms: np.ndarray) -> np.ndarray:
    """Sums over all times before each, (T, ...), of terms (T-1, ...)."""
    return np.concatenate([np.zeros((1, *terms.shape[1:])), np.cumsum(terms, axis=0)])
