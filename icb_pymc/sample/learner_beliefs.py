"""Beliefs of a learner from posterior draws: computed once after sampling, not by a scan at each draw."""

import numpy as np
import pymc as pm
import xarray as xr
from pymc.pytensorf import compile as compile_graph
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from icb_pymc.declare.beliefs import BayesianLearning, PredictionErrorLearning
from icb_pymc.declare.graph import bare, has_op, parameters
from icb_pymc.kernels.reward_given_rho import belief_means
from icb_pymc.steps.belief_readers import belief_covariances, find_learner_sample


def learnt_belief(model: pm.Model) -> TensorVariable | None:
    """The beliefs of `model`, if it has an agent that learns by prediction errors."""
    if "belief" in model.named_vars:
        belief = bare(model["belief"])
        is_learnt = has_op(belief, BayesianLearning) or has_op(belief, PredictionErrorLearning)
        return belief if is_learnt else None
    learner = find_learner_sample(model)
    return None if learner is None else parameters(learner)[0]


def learnt_beliefs(posterior: xr.Dataset, model: pm.Model, index: np.ndarray, dtype: str) -> np.ndarray | None:
    """The means of the agent's beliefs at the positions `index`: (chain, draw, time, feature), or None.

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
    observed = {rv: model.rvs_to_values[rv] for rv in model.observed_RVs}
    graphs = graph_replace(belief.owner.inputs, observed, strict=False)
    free = set(model.free_RVs)
    varies = [bool(free & set(ancestors([graph]))) for graph in graphs]
    # What does not depend on the draws, such as known gains, is evaluated once.
    constants = iter(compile_graph([], [graph for graph, moves in zip(graphs, varies, strict=True) if not moves])())
    fixed = [None if moves else next(constants) for moves in varies]
    varying = [graph for graph, moves in zip(graphs, varies, strict=True) if moves]
    inside = set(ancestors(varying))
    needed = [rv for rv in model.free_RVs if rv in inside]
    evaluate = compile_graph(needed, varying, on_unused_input="ignore")
    draws = [posterior[rv.name].values for rv in needed]
    chains, length = posterior.sizes["chain"], posterior.sizes["draw"]
    beliefs: np.ndarray | None = None
    known: tuple[bytes, ...] | None = None
    gain = np.empty(0)
    for chain, draw in np.ndindex(chains, length):
        computed = iter(evaluate(*(values[chain, draw] for values in draws)))
        start_mean, gain_or_root, context, reward, *sigma = (
            next(computed) if value is None else value for value in fixed
        )
        key = tuple(np.asarray(value).tobytes() for value in (gain_or_root, context, *sigma))
        if key != known:
            known = key
            gain = belief_covariances(gain_or_root, context, float(sigma[0])).gain if is_bayesian else gain_or_root
        path = np.empty_like(context)
        belief_means(gain, start_mean, context, reward, path)
        if beliefs is None:
            beliefs = np.empty((chains, length, len(index), context.shape[1]), dtype)
        beliefs[chain, draw] = path[index]
    return beliefs
