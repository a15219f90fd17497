"""Laplace's method: the mode of the posterior and the Gaussian around it, in seconds for any length of log."""

from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import xarray as xr
from pytensor.graph.traversal import ancestors
from rich.progress import track

from icb_pymc.declare.folds import declared_folds
from icb_pymc.declare.graph import GraphReader, Point
from icb_pymc.declare.numpy_functions import numpy_function
from icb_pymc.errors import InputError
from icb_pymc.io.machine import check_memory
from icb_pymc.kernels.hamiltonian import draw_centred_noise, fresh_noise, make_reference
from icb_pymc.kernels.mode import Mode, find_mode
from icb_pymc.kernels.state_space import Noise
from icb_pymc.sample.kept_draws import KeptDraws
from icb_pymc.sample.learner_beliefs import learnt_beliefs
from icb_pymc.sample.outcome import Outcome
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

# The covariances of the states at all times are computed only if they have no more entries than this (160 MB).
MOST_COVARIANCES = 20_000_000
TOO_LARGE = (
    "the posterior under these covariances is too wide or too narrow for the computer's numbers: standardise the "
    "features, or give covariances and an alpha nearer to 1."
)
# Bounds of the search on the unconstrained scale, such as log variances, relative to the initial values: further down
# than up, since a weight that hardly moves in a very long log has an innovation variance of 1e-8 or less.
SEARCH_BELOW, SEARCH_ABOVE = 23.0, 15.0
# The search for hyperparameters begins where the evidence is greatest if all are this far from their initial values.
STARTS = np.arange(0.0, -SEARCH_BELOW, -1.5)
# The step of a difference quotient: evidence has rounding errors of about 1e-8.
DIFFERENCE = 1e-3
# Where the search ends, each hyperparameter is moved by these, since the evidence is flat where a scale is too small.
# If that is better by more than the gain, the search begins again, at most so many times.
MOVES, GAIN, ROUNDS = (-5.0, -2.0, 2.0, 5.0, 8.0), 1e-3, 6


class Laplace(NamedTuple):
    """The approximation.

    Attributes
    ----------
    draws : Dataset (chain, draw, ...)
        Independent draws of the Gaussian, for the variables that were asked for.
    log_evidence : float
        log p(choices, observed rewards | hyperparameters) by Laplace's method.
    belief_mode, belief_sd : (time, feature)
        Mean and standard deviation of the beliefs under the Gaussian; None where there are too many states.
    """

    draws: xr.Dataset
    log_evidence: float
    belief_mode: np.ndarray | None = None
    belief_sd: np.ndarray | None = None


def fit_by_laplace(
    model: pm.Model, sampling: dict[str, Any], kept: KeptDraws, seed: int | None, progressbar: bool
) -> Outcome:
    """Independent draws from the Gaussian around the mode."""
    check_memory(kept.bytes_per_draw(model), sampling["draws"], 1)
    names = kept.declare(model)
    result = laplace_approximation(model, names, sampling["draws"], seed, kept.latents, progressbar)
    learnt = learnt_beliefs(result.draws, model, kept.index, kept.dtype)
    words = "Laplace: independent draws from the Gaussian around the posterior mode"
    if find_linear_gaussian(model).hyperparameters:  # type: ignore[union-attr]
        words += ", hyperparameters at the maximum of prior times evidence"
    groups = {"posterior": kept.finish(result.draws, learnt), "constant_data": declared_folds(model)}
    if result.belief_mode is not None:
        beliefs = {"belief": result.belief_mode, "belief_sd": result.belief_sd}
        coords = {dim: list(model.coords[dim]) for dim in ("time", "feature")}
        gaussian = xr.Dataset({name: (("time", "feature"), values) for name, values in beliefs.items()}, coords)
        groups["gaussian"] = gaussian.isel(time=kept.final)
    return Outcome(groups, words, log_evidence=result.log_evidence)


def laplace_approximation(
    model: pm.Model, names: list[str], draws: int, seed: int | None, with_rho: bool, progressbar: bool
) -> Laplace:
    """Approximate the posterior of a linear-Gaussian belief model.

    Hyperparameters with a prior are fixed at the maximum of prior density times evidence.

    Parameters
    ----------
    names : list of str
        Variables to draw.
    """
    parts = find_linear_gaussian(model)
    if parts is None or set(model.free_RVs) != {*parts.variables, *parts.hyperparameters}:
        raise InputError(
            "Laplace's method is for beliefs that are linear and Gaussian, with utilities linear in rho; this model is "
            "not: use method 'mcmc'."
        )
    reader = LinearGaussianModel(model, parts, with_rho)
    point = model.initial_point()
    if parts.hyperparameters:
        point = most_probable_hyperparameters(model, reader, point, progressbar)
    values = reader.values(point)
    dynamics, space = reader.state_space(values)
    with np.errstate(all="ignore"):
        mode = find_mode(space)
        reference = make_reference(space, mode.data)
    log_evidence = mode.log_evidence + reader.log_evidence(values)
    if not np.isfinite([log_evidence, *mode.contrasts]).all():
        raise InputError(TOO_LARGE)

    rng = np.random.Generator(np.random.SFC64(seed))
    read = GraphReader(model, {name: model[name] for name in names})
    kept: dict[str, np.ndarray] = {}
    for i in track(range(draws), "Laplace", disable=not progressbar, transient=True):
        around = draw_centred_noise(reference, fresh_noise(reference, rng))
        noise = Noise(*(part + mean for part, mean in zip(around, reference.noise, strict=True)))
        drawn = read(point | reader.to_point(values, dynamics, space, noise, rng))
        if not kept:
            kept = {name: np.empty((1, draws, *value.shape), value.dtype) for name, value in drawn.items()}
        for name, value in drawn.items():
            kept[name][0, i] = value
    # Draws are kept as float32; of NaN the comparison is false.
    if not all((np.abs(path) < np.finfo(np.float32).max).all() for path in kept.values()):
        raise InputError(TOO_LARGE)
    # Unnamed dimensions are named as ArviZ names them.
    dims = {
        name: model.named_vars_to_dims.get(name) or [f"{name}_dim_{i}" for i in range(path.ndim - 2)]
        for name, path in kept.items()
    }
    variables = {name: (("chain", "draw", *dims[name]), path) for name, path in kept.items()}
    coords = {dim: list(model.coords[dim]) for name in kept for dim in dims[name] if dim in model.coords}
    states = len(space.start_mean)
    return Laplace(
        xr.Dataset(variables, {"chain": [0], "draw": np.arange(draws)} | coords),
        log_evidence,
        *(reader.belief_moments(dynamics, reference) if states**2 * len(space.first) <= MOST_COVARIANCES else ()),
    )


def most_probable_hyperparameters(
    model: pm.Model, reader: LinearGaussianModel, point: Point, progressbar: bool = False
) -> Point:
    """The point whose hyperparameters maximise prior density (on their own scale) times Laplace evidence."""
    parts = find_linear_gaussian(model)
    assert parts is not None
    graph = model.logp(vars=parts.hyperparameters, jacobian=False)
    inside = set(ancestors([graph]))
    inputs = [value for value in model.value_vars if value in inside]
    log_prior = numpy_function(inputs, [graph])
    names = [model.rvs_to_values[rv].name for rv in parts.hyperparameters]
    sizes = [np.size(point[name]) for name in names]
    last: list[Mode] = []

    def at(vector: np.ndarray) -> Point:
        pieces = np.split(vector, np.cumsum(sizes)[:-1])
        moved = {name: piece.reshape(np.shape(point[name])) for name, piece in zip(names, pieces, strict=True)}
        return {**point, **moved}

    def loss(vector: np.ndarray) -> float:
        here = at(vector)
        with np.errstate(all="ignore"):
            prior = float(log_prior(*(here[value.name] for value in inputs))[0])
            if not np.isfinite(prior):
                return 1e12
            values = reader.values(here)
            _, space = reader.state_space(values)
            # Each search starts where the last one ended: hyperparameters move little from one to the next.
            mode = find_mode(space, last[0].multipliers if last else None)
        last[:] = [mode]
        return -prior - mode.log_evidence - reader.log_evidence(values)

    start = np.concatenate([np.ravel(point[name]) for name in names])
    lowest, highest = start - SEARCH_BELOW, start + SEARCH_ABOVE
    # Imported here, because it takes a while, and chains do without.
    from scipy.optimize import Bounds, minimize

    bounds = Bounds(lowest, highest)
    best = min((start + shift for shift in STARTS), key=loss)
    for _ in track(range(ROUNDS), "evidence", disable=not progressbar, transient=True):
        found = minimize(loss, best, method="L-BFGS-B", bounds=bounds, options={"eps": DIFFERENCE})
        moved = [np.clip(found.x + move * unit, lowest, highest) for unit in np.eye(len(start)) for move in MOVES]
        best = min(moved, key=loss)
        if loss(best) > found.fun - GAIN:
            break
    return at(found.x)
