"""Beliefs of a Bayesian learner from posterior draws: computed once after sampling, not by a scan at each draw."""

import numpy as np
import pymc as pm
import xarray as xr
from pymc.pytensorf import compile as compile_graph
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors

from icb_pymc.steps.graph import parameters
from icb_pymc.steps.learning import Learning, covariances_of, learner_behind


def learnt_beliefs(posterior: xr.Dataset, model: pm.Model, index: np.ndarray, dtype: str) -> np.ndarray | None:
    """The means of the agent's beliefs at the times of `index`: (chain, draw, time, feature), None without a learner.

    Parameters
    ----------
    posterior : Dataset
        Draws of the rewards and hyperparameters of `model`.
    model : pm.Model
        A model with a `bayesian_learning`, such as B-ICB.
    """
    learner = learner_behind(model)
    if learner is None:
        return None
    observed = {rv: model.rvs_to_values[rv] for rv in model.observed_RVs}
    graphs = graph_replace(parameters(learner)[0].owner.inputs, observed, strict=False)
    inside = set(ancestors(graphs))
    needed = [rv for rv in model.free_RVs if rv in inside]
    evaluate = compile_graph(needed, graphs, on_unused_input="ignore")
    draws = [posterior[rv.name].values for rv in needed]
    chains, length = posterior.sizes["chain"], posterior.sizes["draw"]
    belief: np.ndarray | None = None
    known: tuple[bytes, float, bytes] | None = None
    covariances = None
    for chain, draw in np.ndindex(chains, length):
        start_mean, root, context, reward, sigma = evaluate(*(values[chain, draw] for values in draws))
        key = (root.tobytes(), float(sigma), context.tobytes())
        if key != known:
            known, covariances = key, covariances_of(root, context, float(sigma))
        assert covariances is not None
        learning = Learning(start_mean, root, context, reward, float(sigma), covariances)
        if belief is None:
            belief = np.empty((chains, length, len(index), context.shape[1]), dtype)
        belief[chain, draw] = learning.mean[index]
    return belief
