"""Draws of hyperparameters to average over: from their prior, and from where the choices say that they are."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
from pymc.pytensorf import compile as compile_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable
from rich.progress import track
from scipy.special import logsumexp
from scipy.stats import multivariate_t

from icb_pymc.assess.model_requirements import unconstrained
from icb_pymc.declare.graph import Point

# Draws in each round, the most rounds after that of the prior, and the effective number of draws that is enough.
DRAWS, MOST_ROUNDS, ENOUGH = 192, 6, 100
# A proposal is Student's t with the moments of the weighted draws, this much wider, and with a part of the prior's
# covariance, so that its tails reach further than the posterior's.
DEGREES, WIDER, OF_PRIOR = 5, 1.2, 0.02
# Moments are taken of at least this effective number of draws, and of two for each dimension.
LEAST = 20


class WeightedDraws(NamedTuple):
    """Draws of hyperparameters, and what each is worth before any choice.

    Attributes
    ----------
    scores : array (draw, time)
        log p(a_t | a_1, ..., a_{t-1}, hyperparameters).
    log_weight : array (draw,)
        log of prior density / density of the proposals; the weights sum to one.
    effective : float
        Effective number of the draws after all choices.
    """

    scores: np.ndarray
    log_weight: np.ndarray
    effective: float


def draw_where_it_counts(
    model: pm.Model,
    hyperparameters: list[TensorVariable],
    scores_at: Callable[[Point], np.ndarray],
    seed: int,
    progressbar: bool = False,
) -> WeightedDraws:
    """Draw hyperparameters, weighted so that they stand for their prior, most of them where the choices are probable.

    It is adaptive multiple importance sampling (Cornuet et al., 2012): draws of the prior are followed by rounds from a
    Student distribution fitted to all draws so far, weighted by how probable they make the choices. Every draw is
    weighted by its prior density relative to the mixture of all proposals, of which the prior is one, so that no weight
    is large.

    Parameters
    ----------
    model : pm.Model
    hyperparameters : list of random variables
    scores_at : callable
        Log probabilities (time,) of the choices, given values of the hyperparameters on the unconstrained scale.
    seed : int
    progressbar : bool
        Show one for each round.

    Returns
    -------
    WeightedDraws
    """
    rng = np.random.default_rng(seed)
    values = [model.rvs_to_values[rv] for rv in hyperparameters]
    shapes = [np.shape(model.initial_point()[value.name]) for value in values]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    log_density = _log_prior(model, hyperparameters)

    def at(vector: np.ndarray) -> Point:
        parts = np.split(vector, ends[:-1])
        return {value.name: part.reshape(shape) for value, part, shape in zip(values, parts, shapes, strict=True)}

    def scores_of(vectors: np.ndarray) -> np.ndarray:
        shown = track(vectors, "forecasts", disable=not progressbar, transient=True)
        return np.array([scores_at(at(vector)) for vector in shown])

    drawn = pm.draw([unconstrained(model, rv) for rv in hyperparameters], DRAWS, random_seed=seed)
    draws = np.column_stack([np.reshape(each, (DRAWS, -1)) for each in drawn])
    prior_covariance = np.atleast_2d(np.cov(draws.T))
    scores = scores_of(draws)
    log_prior = np.array([log_density(at(vector)) for vector in draws])
    # Log-densities of all draws under each proposal, in rows.
    proposals: list[Any] = []
    densities = log_prior[None]
    for _ in range(MOST_ROUNDS + 1):
        log_weight = log_prior - logsumexp(densities, axis=0)
        log_weight -= logsumexp(log_weight)
        log_posterior = log_weight + scores.sum(axis=1)
        effective = _effective(log_posterior)
        if effective >= ENOUGH or len(proposals) == MOST_ROUNDS:
            break
        mean, covariance = _moments(draws, log_posterior, max(LEAST, 2 * ends[-1]))
        # Student's t has more than the variance of its shape matrix.
        shape = (WIDER * covariance + OF_PRIOR * prior_covariance) * (DEGREES - 2) / DEGREES
        proposals.append(multivariate_t(mean, shape, df=DEGREES, seed=rng))
        new = np.reshape(proposals[-1].rvs(DRAWS), (DRAWS, -1))
        draws = np.concatenate([draws, new])
        scores = np.concatenate([scores, scores_of(new)])
        log_prior = np.concatenate([log_prior, [log_density(at(vector)) for vector in new]])
        densities = np.array([log_prior, *(np.reshape(each.logpdf(draws), -1) for each in proposals)])
    return WeightedDraws(scores, log_weight, effective)


def _log_prior(model: pm.Model, hyperparameters: list[TensorVariable]) -> Callable[[Point], float]:
    """Log-density of the prior of hyperparameters on the unconstrained scale."""
    graph = model.logp(vars=hyperparameters)
    inside = set(ancestors([graph]))
    inputs = [value for value in model.value_vars if value in inside]
    evaluate = compile_graph(inputs, graph, mode="FAST_COMPILE")
    return lambda point: float(evaluate(*(point[value.name] for value in inputs)))


def _effective(log_weights: np.ndarray) -> float:
    return float(np.exp(2 * logsumexp(log_weights) - logsumexp(2 * log_weights)))


def _moments(draws: np.ndarray, log_weights: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of weighted draws; weights are flattened until enough draws count."""
    power = 1.0
    while _effective(power * log_weights) < min(least, len(draws) / 2):
        power *= 0.8
    weights = np.exp(power * log_weights - logsumexp(power * log_weights))
    mean = weights @ draws
    return mean, (draws - mean).T @ (weights[:, None] * (draws - mean))
