"""Beliefs of a learner from posterior draws: computed once after sampling, not by a scan at each draw."""

from typing import NamedTuple

import numpy as np
import pymc as pm
import xarray as xr
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.beliefs import BayesianLearning, PredictionErrorLearning
from icb_pymc.declare.graph import bare, has_op, parameters
from icb_pymc.declare.numpy_functions import numpy_function
from icb_pymc.kernels.belief_spectrum import BeliefSpectrum, spectrum_of_contexts
from icb_pymc.kernels.reward_given_rho import belief_means, covariance_path
from icb_pymc.steps.belief_readers import find_learner_sample


class LearntBeliefs(NamedTuple):
    """The beliefs of an agent in each posterior draw.

    Attributes
    ----------
    belief : array (chain, draw, time, feature)
        Means mu_t at the times that are kept.
    final_belief : array (chain, draw, feature), optional
        Mean mu_{T+1} after the reward of the last decision; for an agent that learns by equation 1.
    share_learnt : array (chain, draw), optional
        Share of the way from mu_1 to rho_env that the agent has come by then, averaged over directions:
        tr(I - Sigma_{T+1} Sigma_1^-1) / k, since E[mu_{T+1}] = mu_1 + (I - Sigma_{T+1} Sigma_1^-1) (rho_env - mu_1).
    """

    belief: np.ndarray
    final_belief: np.ndarray | None = None
    share_learnt: np.ndarray | None = None


def learnt_belief(model: pm.Model) -> TensorVariable | None:
    """The beliefs of `model`, if it has an agent that learns by prediction errors."""
    if "belief" in model.named_vars:
        belief = bare(model["belief"])
        is_learnt = has_op(belief, BayesianLearning) or has_op(belief, PredictionErrorLearning)
        return belief if is_learnt else None
    learner = find_learner_sample(model)
    return None if learner is None else parameters(learner)[0]


def learnt_beliefs(posterior: xr.Dataset, model: pm.Model, index: np.ndarray, dtype: str) -> LearntBeliefs | None:
    """The beliefs of the agent at the positions `index` and after the last decision, or None if it does not learn.

    Parameters
    ----------
    posterior : Dataset
        Draws of the rewards and hyperparameters of `model`.
    model : pm.Model
        A model with a learner, such as B-ICB.
    """
    belief = learnt_belief(model)
    if belief is None:
        return None
    is_bayesian = has_op(belief, BayesianLearning)
    graphs, before = belief.owner.inputs, set(ancestors(belief.owner.inputs))
    # Only what occurs: a replacement may rebuild variables that depend on nothing observed, whose draws would be lost.
    observed = {rv: model.rvs_to_values[rv] for rv in model.observed_RVs if rv in before}
    if observed:
        graphs = graph_replace(graphs, observed)
    free = set(model.free_RVs)
    varies = [bool(free & set(ancestors([graph]))) for graph in graphs]
    # What does not depend on the draws, such as known gains, is evaluated once.
    constants = iter(numpy_function([], [graph for graph, moves in zip(graphs, varies, strict=True) if not moves])())
    fixed = [None if moves else next(constants) for moves in varies]
    varying = [graph for graph, moves in zip(graphs, varies, strict=True) if moves]
    inside = set(ancestors(varying))
    needed = [rv for rv in model.free_RVs if rv in inside]
    evaluate = numpy_function(needed, varying)
    draws = [posterior[rv.name].values for rv in needed]
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    beliefs: LearntBeliefs | None = None
    known: tuple[bytes, ...] | None = None
    gain, share, learning = np.empty(0), np.nan, _Learning()
    for at in np.ndindex(shape):
        computed = iter(evaluate(*(values[at] for values in draws)))
        start_mean, gain_or_root, context, reward, *sigma = (
            next(computed) if value is None else value for value in fixed
        )
        key = tuple(np.asarray(value).tobytes() for value in (gain_or_root, context, *sigma))
        if key != known:
            known = key
            if is_bayesian:
                gain, share = learning.gains_and_share(gain_or_root, context, float(sigma[0]))
            else:
                gain = gain_or_root
        path = np.empty((len(gain) + 1, context.shape[1]))
        belief_means(gain, start_mean, context, reward, path)
        if beliefs is None:
            beliefs = LearntBeliefs(np.empty((*shape, len(index), path.shape[1]), dtype))
            if is_bayesian:
                beliefs = beliefs._replace(final_belief=np.empty((*shape, path.shape[1])), share_learnt=np.empty(shape))
        beliefs.belief[at] = path[index]
        if beliefs.final_belief is not None and beliefs.share_learnt is not None:
            beliefs.final_belief[at], beliefs.share_learnt[at] = path[-1], share
    return beliefs


class _Learning:
    """Gains of all updates by equation 1, and how much is learnt by the end; fast for one agent at many strengths."""

    def __init__(self) -> None:
        self._context = np.empty((0, 0))
        self._spectrum: BeliefSpectrum | None = None

    def gains_and_share(self, start_root: np.ndarray, context: np.ndarray, sigma: float) -> tuple[np.ndarray, float]:
        """Gains of all updates, also of the last (time, feature), and the share that is learnt by then."""
        covariance = start_root @ start_root.T
        # Covariances go up to the last decision given; a decision more gives the one after it.
        longer = np.concatenate([context, context[-1:]])
        if self._spectrum is None or not np.array_equal(self._context, context):
            self._context = context
            self._spectrum = spectrum_of_contexts(covariance, longer)
        ratio = self._spectrum.ratio(covariance, sigma)
        if ratio is None:
            beliefs = covariance_path(covariance, longer, sigma)
            gains, last = beliefs.gain, beliefs.root[-1]
        else:
            gains, last = self._spectrum.gains(ratio, longer)[:-1], self._spectrum.last_root(ratio, sigma)
        remaining = np.linalg.pinv(start_root) @ last
        return gains, 1.0 - float((remaining**2).sum()) / len(start_root)
