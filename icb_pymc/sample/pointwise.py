"""The likelihood of each choice under each draw, so that models of the same decisions can be compared.

A choice is judged by p(a_t | beta_t), the belief as drawn and rho_t integrated out, in models with a rho_t and without:
under p(a_t | rho_t) a model would be rewarded for a rho_t that is informed by little else than that very choice.
"""

import warnings
from typing import NamedTuple

import numpy as np
import pymc as pm
import xarray as xr
from pytensor.graph.replace import graph_replace
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable
from scipy.special import logsumexp, ndtri

from icb_pymc.declare.beliefs import BayesianLearning, BeliefSampleRV, PredictionErrorLearning
from icb_pymc.declare.choice import LinearUtility, SoftmaxChoiceRV, without_lapses
from icb_pymc.declare.graph import bare, has_op, parameters
from icb_pymc.declare.numpy_functions import numpy_function
from icb_pymc.errors import InputWarning
from icb_pymc.kernels.belief_spectrum import BeliefSpectrum, sampling_of_rows, spectrum_of_contexts
from icb_pymc.kernels.choice_integral import integrate_choices
from icb_pymc.kernels.metropolis import Contrasts, choice_contrasts
from icb_pymc.kernels.reward_given_rho import covariance_path
from icb_pymc.steps.belief_readers import is_learnt
from icb_pymc.steps.belief_sources import multiply_rows
from icb_pymc.steps.linear_gaussian import compress_loadings

# Log-likelihoods larger than this are kept only on request.
MOST_BYTES = 200_000_000
# Quasi-random points of rho_t where a decision has several alternatives: errors of log p are then about 0.01.
RHO_POINTS = 64
# Draws at a time where the spread of rho_t differs between draws.
BATCH = 50


class Pointwise(NamedTuple):
    """How probable each choice is under the draws.

    Attributes
    ----------
    log_likelihood : (chain, draw, time)
        log p(a_t | beta_t).
    probability : (time, action), optional
        Of every candidate given all choices but that one, by importance sampling; zero in empty slots.
    """

    log_likelihood: np.ndarray
    probability: np.ndarray | None


def fits_in(draws: int, times: int) -> bool:
    """Whether the log-likelihoods of so many times are small enough to be kept by default."""
    return draws * times * 8 <= MOST_BYTES


def pointwise_groups(
    model: pm.Model, posterior: xr.Dataset, decisions: xr.Dataset, dtype: str = "float64"
) -> dict[str, xr.Dataset]:
    """Groups `log_likelihood` and `choice_probabilities` of a result; none where a choice has no such likelihood.

    Parameters
    ----------
    model : pm.Model
    posterior : Dataset
        Draws of everything that the choices depend on, at all times.
    decisions : Dataset
    dtype : {"float64", "float32"}
        Type of the log-likelihoods.
    """
    choices = pointwise(model, posterior)
    if choices is None:
        return {}
    labels = {"chain": posterior["chain"], "draw": posterior["draw"], "time": decisions["time"].values}
    values = choices.log_likelihood.astype(dtype, copy=False)
    log_likelihood = xr.Dataset({"chosen": (("chain", "draw", "time"), values)}, labels)
    groups = {"log_likelihood": log_likelihood.assign_attrs(of="p(chosen | belief), rho integrated out")}
    if choices.probability is not None:
        coords = {dim: decisions[dim].values for dim in ("time", "action")}
        of = {"of": "p(candidate | all choices but this one), rho integrated out"}
        groups["choice_probabilities"] = xr.Dataset(
            {"probability": (("time", "action"), choices.probability)}, coords, attrs=of
        )
    return groups


def pointwise(model: pm.Model, posterior: xr.Dataset) -> Pointwise | None:
    """The likelihood of each choice under each draw; None where rho cannot be integrated out, or nothing is chosen."""
    choices = [rv for rv in model.observed_RVs if has_op(rv, SoftmaxChoiceRV) and rv.name == "chosen"]
    if len(choices) != 1:
        return None
    (choice,) = choices
    utility, _ = without_lapses(choice)
    if has_op(utility, LinearUtility) and utility.owner.inputs[2].type.ndim == 0:
        return _integrated(model, choice, posterior)
    if any(has_op(rv, BeliefSampleRV) for rv in model.free_RVs):
        return None
    return _from_graph(model, choice, posterior)


def _from_graph(model: pm.Model, choice: TensorVariable, posterior: xr.Dataset) -> Pointwise | None:
    """Choices that depend on the drawn variables and nothing else."""
    if not {rv.name for rv in model.free_RVs} <= set(posterior.data_vars):
        return None
    utility, available = parameters(choice)
    graphs = {"available": available, "chosen": model.rvs_to_values[choice]}
    data = _Evaluated(model, posterior, graphs).at(0, 0)
    read = _Evaluated(model, posterior, {"utility": utility})
    chains, length, times = posterior.sizes["chain"], posterior.sizes["draw"], len(data["chosen"])
    log_likelihood, steps = np.empty((chains, length, times)), np.arange(times)
    alternatives = np.array(data["available"], dtype=bool)
    alternatives[steps, data["chosen"]] = False
    others = np.zeros(alternatives.sum())
    for chain, draw in np.ndindex(chains, length):
        value = read.at(chain, draw)["utility"]
        contrast = np.where(alternatives, value - value[steps, data["chosen"]][:, None], -np.inf)
        log_likelihood[chain, draw] = -np.logaddexp(0.0, logsumexp(contrast, axis=1))
        others += np.exp(contrast[alternatives])
    return Pointwise(log_likelihood, _probabilities(data, chains * length, others))


def _integrated(model: pm.Model, choice: TensorVariable, posterior: xr.Dataset) -> Pointwise | None:
    (utility, rate), available = without_lapses(choice), parameters(choice)[1]
    weights, context, alpha, *bonus = utility.owner.inputs
    weights = bare(weights)
    is_drawn = has_op(weights, BeliefSampleRV) and weights in model.free_RVs
    mean, root = (bare(parameters(weights)[0]), parameters(weights)[1]) if is_drawn else (weights, None)
    chosen = model.rvs_to_values[choice]
    fixed = _Evaluated(model, posterior, {"context": context, "available": available, "chosen": chosen})
    data = fixed.at(0, 0)
    contrasts = choice_contrasts(data["context"], data["available"], data["chosen"], 1.0)
    beliefs = _Beliefs(model, posterior, mean)
    # A bonus is the weight of an indicator of its candidate: indicators join the features.
    shown = data["context"]
    if bonus:
        slots = np.broadcast_to(np.eye(shown.shape[1]), (len(shown), shown.shape[1], shown.shape[1]))
        shown = np.concatenate([shown, slots], axis=2)
    seen = choice_contrasts(shown, data["available"], data["chosen"], 1.0).values
    bonuses = _Evaluated(model, posterior, {"bonus": bonus[0]} if bonus else {})
    lapses = _Evaluated(model, posterior, {} if rate is None else {"lapse": rate})
    spreads = _Spreads(model, posterior, parameters(weights) if is_drawn else None, alpha)

    chains, length, times = posterior.sizes["chain"], posterior.sizes["draw"], len(contrasts.first) - 1
    time = np.repeat(np.arange(times), np.diff(contrasts.first))
    log_likelihood, others = np.empty((chains, length, times)), np.zeros(len(time))
    # Where all draws share one covariance of rho_t, it is read once and many draws are taken at a time.
    batch = length if spreads.is_fixed else BATCH
    still: np.ndarray | None = None
    points = np.zeros((1, 0))
    for chain in range(chains):
        for begin in range(0, length, batch):
            draws = range(begin, min(begin + batch, length))
            scale = np.array([spreads.alpha(chain, draw) for draw in draws])
            if still is not None:
                sampling_loading = still
            elif root is None:
                sampling_loading = still = np.zeros((1, len(time), 0))
            else:
                read = [
                    factor * spreads.sampling_loading(chain, draw, contrasts)
                    for factor, draw in zip(scale, draws[:1] if spreads.is_fixed else draws, strict=False)
                ]
                sampling_loading = np.ascontiguousarray(read)
                still = sampling_loading if spreads.is_fixed else None
            if points.shape[1] != sampling_loading.shape[2]:
                # Decisions between two candidates need none.
                points = np.zeros((1, sampling_loading.shape[2]))
                if np.diff(contrasts.first).max(initial=0) > 1:
                    points = normal_points(RHO_POINTS, sampling_loading.shape[2])
            rows = log_likelihood[chain, draws.start : draws.stop]
            belief = beliefs.at(chain, draws)
            if bonus:
                added = [bonuses.at(chain, draw)["bonus"] / factor for draw, factor in zip(draws, scale, strict=True)]
                belief = np.concatenate([belief, added], axis=2)
            lapse = np.array([float(lapses.at(chain, draw).get("lapse", 0.0)) for draw in draws])
            try:
                integrate_choices(contrasts.first, seen, scale, lapse, belief, sampling_loading, points, rows, others)
            except ArithmeticError:
                rows[:] = np.nan
    # They are kept as float32; of NaN the comparison is false.
    if not (np.abs(log_likelihood) < np.finfo(np.float32).max).all():
        # The draws may have taken hours: they are kept.
        warnings.warn(
            "the log-likelihood of the choices is left out: under some draws a choice has no probability that can be "
            "computed, since covariances or features are too large or too small.",
            InputWarning,
            stacklevel=2,
        )
        return None
    probability = _probabilities(data, chains * length, others)
    return Pointwise(log_likelihood, probability)


def _probabilities(data: dict[str, np.ndarray], draws: int, odds: np.ndarray) -> np.ndarray:
    """Probabilities of all slots (time, action) with the choice left out, from odds added up over draws.

    Without the choice a draw counts as 1 / p(a_t | beta_t); then the probability of the chosen candidate counts 1.
    """
    chosen, steps = data["chosen"], np.arange(len(data["chosen"]))
    alternatives = np.array(data["available"], dtype=bool)
    alternatives[steps, chosen] = False
    probability = np.zeros(alternatives.shape)
    probability[alternatives] = odds
    probability[steps, chosen] = draws
    return probability / probability.sum(axis=1, keepdims=True)


def normal_points(number: int, dimensions: int, seed: int = 0) -> np.ndarray:
    """Quasi-random standard normal points (number, dimensions), always the same."""
    if dimensions == 0:
        return np.zeros((1, 0))
    # Imported here, because most models have no such points, and it takes a while.
    from scipy.stats import qmc

    return ndtri(qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed)).random(number))


class _Evaluated:
    """Graphs of a model evaluated at posterior draws of its free variables."""

    def __init__(self, model: pm.Model, posterior: xr.Dataset, graphs: dict[str, TensorVariable]) -> None:
        observed = {rv: model.rvs_to_values[rv] for rv in model.observed_RVs}
        replaced = graph_replace(list(graphs.values()), observed, strict=False)
        inside = set(ancestors(replaced))
        needed = [rv for rv in model.free_RVs if rv in inside]
        self.is_fixed = not needed
        self._names = list(graphs)
        self._function = numpy_function(needed, replaced)
        self._draws = [posterior[rv.name].transpose("chain", "draw", ...).values for rv in needed]
        self._once: dict[str, np.ndarray] | None = None
        self._last: tuple[tuple[int, int], dict[str, np.ndarray]] | None = None

    def at(self, chain: int, draw: int) -> dict[str, np.ndarray]:
        """Values of the graphs."""
        if self._once is not None:
            return self._once
        if self._last is not None and self._last[0] == (chain, draw):
            return self._last[1]
        values = dict(zip(self._names, self._function(*(path[chain, draw] for path in self._draws)), strict=True))
        if self.is_fixed:
            self._once = values
        self._last = (chain, draw), values
        return values


class _Beliefs:
    """Means of rho_t: as drawn where the posterior has them, else from the graph."""

    def __init__(self, model: pm.Model, posterior: xr.Dataset, mean: TensorVariable) -> None:
        named = mean.name if mean in model.free_RVs else None
        if has_op(mean, BayesianLearning) or has_op(mean, PredictionErrorLearning):
            named = "belief"
        self._path = posterior[named].transpose("chain", "draw", "time", ...).values if named in posterior else None
        self._read = None if self._path is not None else _Evaluated(model, posterior, {"mean": mean})

    def at(self, chain: int, draws: range) -> np.ndarray:
        """(draw, time, feature)."""
        if self._path is not None:
            return np.ascontiguousarray(self._path[chain, draws.start : draws.stop], dtype=np.float64)
        assert self._read is not None
        return np.ascontiguousarray([self._read.at(chain, draw)["mean"] for draw in draws], dtype=np.float64)


class _Spreads:
    """alpha, and roots of the covariance of rho_t."""

    def __init__(
        self,
        model: pm.Model,
        posterior: xr.Dataset,
        mean_and_root: list[TensorVariable] | None,
        alpha: TensorVariable,
    ) -> None:
        graphs = {"alpha": alpha}
        self._is_learner = mean_and_root is not None and is_learnt(*mean_and_root)
        if self._is_learner:
            assert mean_and_root is not None
            _, start_root, context, _, sigma = mean_and_root[0].owner.inputs
            graphs |= {"start_root": start_root, "chosen_context": context, "sigma": sigma}
        elif mean_and_root is not None:
            graphs["root"] = mean_and_root[1]
        self._read = _Evaluated(model, posterior, graphs)
        self.is_fixed = self._read.is_fixed
        self._last: tuple[list[np.ndarray], np.ndarray] | None = None
        self._context = np.empty((0, 0))
        self._spectrum: BeliefSpectrum | None = None

    def alpha(self, chain: int, draw: int) -> float:
        """Inverse temperature."""
        return float(self._read.at(chain, draw)["alpha"])

    def sampling_loading(self, chain: int, draw: int, contrasts: Contrasts) -> np.ndarray:
        """The contrasts (N, k) times a root of the covariance of rho_t, with no more columns than are needed."""
        values = self._read.at(chain, draw)
        if not self._is_learner:
            return compress_loadings(multiply_rows(contrasts.values, values["root"], contrasts.first), contrasts.first)
        # Many draws in a row have the same hyperparameters.
        names = ("start_root", "chosen_context", "sigma")
        key = [values[name] for name in names]
        if self._last is None or not all(map(np.array_equal, self._last[0], key)):
            rows = compress_loadings(self._rows_of_learner(values, contrasts), contrasts.first)
            self._last = key, rows
        return self._last[1]

    def _rows_of_learner(self, values: dict[str, np.ndarray], contrasts: Contrasts) -> np.ndarray:
        context, sigma = values["chosen_context"], float(values["sigma"])
        covariance = values["start_root"] @ values["start_root"].T
        if self._spectrum is None or not np.array_equal(self._context, context):
            self._context, self._spectrum = context, spectrum_of_contexts(covariance, context)
        ratio = self._spectrum.ratio(covariance, sigma)
        if ratio is None:
            root = covariance_path(covariance, context, sigma).root
            return multiply_rows(contrasts.values, root, contrasts.first)
        rows = np.empty_like(contrasts.values)
        spectrum = self._spectrum
        sampling_of_rows(spectrum.axes, spectrum.information, ratio, sigma, contrasts.first, contrasts.values, rows)
        return rows
