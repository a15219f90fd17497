"""Laplace's method: the mode of the posterior and the Gaussian around it, in seconds for any length of log."""

from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import scipy.optimize
import xarray as xr
from pymc.pytensorf import compile as compile_graph
from pytensor.graph.traversal import ancestors
from rich.progress import track

from icb_pymc.declare.folds import declared_folds
from icb_pymc.declare.graph import GraphReader, Point
from icb_pymc.errors import InputError
from icb_pymc.io.machine import check_room
from icb_pymc.kernels.hamiltonian import draw_centred_noise, fresh_noise, make_reference
from icb_pymc.kernels.mode import Mode, find_mode
from icb_pymc.kernels.state_space import Noise
from icb_pymc.sample.kept_draws import KeptDraws
from icb_pymc.sample.learner_beliefs import learnt_beliefs
from icb_pymc.sample.outcome import Fitted
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, find_linear_gaussian

# On the unconstrained scale (log variances, say): far beyond what data can tell from zero or from infinity.
FARTHEST = 15.0
# How far below the initial values the searches for hyperparameters begin, on the same scale.
STARTS = (0.0, 3.0, 6.0)


class Laplace(NamedTuple):
    """The approximation.

    Attributes
    ----------
    draws : Dataset (chain, draw, ...)
        Independent draws of the Gaussian, for the variables that were asked for.
    log_evidence : float
        log p(choices | hyperparameters) by Laplace's method.
    """

    draws: xr.Dataset
    log_evidence: float


def by_laplace(
    model: pm.Model, sampling: dict[str, Any], recording: KeptDraws, seed: int | None, progressbar: bool
) -> Fitted:
    """Independent draws from the Gaussian around the mode."""
    check_room(recording.bytes_per_draw(model), sampling["draws"], 1)
    names = recording.declare(model)
    result = laplace_approximation(model, names, sampling["draws"], seed, recording.latents, progressbar)
    belief = learnt_beliefs(result.draws, model, recording.index, recording.dtype)
    words = "Laplace: independent draws from the Gaussian around the posterior mode"
    if find_linear_gaussian(model).hyperparameters:  # type: ignore[union-attr]
        words += ", hyperparameters at the maximum of prior times evidence"
    groups = {"posterior": recording.finish(result.draws, belief), "constant_data": declared_folds(model)}
    return Fitted(groups, words, False, result.log_evidence)


def laplace_approximation(
    model: pm.Model, names: list[str], draws: int, seed: int | None, with_rho: bool, progressbar: bool
) -> Laplace:
    """Approximate the posterior of a linear-Gaussian belief model.

    Hyperparameters with a prior are set to where the prior density times the evidence is greatest, and stay there.

    Parameters
    ----------
    names : list of str
        Variables to draw.
    """
    found = find_linear_gaussian(model)
    if found is None or set(model.free_RVs) != {*found.variables, *found.hyperparameters}:
        raise InputError(
            "Laplace's method is for beliefs that are linear and Gaussian, with utilities linear in rho; this model is "
            "not: use method 'mcmc'."
        )
    reader = LinearGaussianModel(model, found, with_rho)
    point = model.initial_point()
    if found.hyperparameters:
        point = most_probable_hyperparameters(model, reader, point, progressbar)
    values = reader.values(point)
    dynamics, space = reader.state_space(values)
    mode = find_mode(space)
    reference = make_reference(space, mode.data)

    rng = np.random.Generator(np.random.SFC64(seed))
    tell = GraphReader(model, {name: model[name] for name in names})
    kept: dict[str, np.ndarray] = {}
    for i in track(range(draws), "Laplace", disable=not progressbar, transient=True):
        around = draw_centred_noise(reference, fresh_noise(reference, rng))
        noise = Noise(*(part + mean for part, mean in zip(around, reference.noise, strict=True)))
        told = tell(point | reader.to_point(values, dynamics, space, noise, rng))
        if not kept:
            kept = {name: np.empty((1, draws, *value.shape), value.dtype) for name, value in told.items()}
        for name, value in told.items():
            kept[name][0, i] = value
    # Dimensions without a name are called as ArviZ calls them.
    dims = {
        name: model.named_vars_to_dims.get(name) or [f"{name}_dim_{i}" for i in range(path.ndim - 2)]
        for name, path in kept.items()
    }
    variables = {name: (("chain", "draw", *dims[name]), path) for name, path in kept.items()}
    coords = {dim: list(model.coords[dim]) for name in kept for dim in dims[name] if dim in model.coords}
    return Laplace(xr.Dataset(variables, {"chain": [0], "draw": np.arange(draws)} | coords), mode.log_evidence)


def most_probable_hyperparameters(
    model: pm.Model, reader: LinearGaussianModel, point: Point, progressbar: bool = False
) -> Point:
    """The point whose hyperparameters maximise prior density (on their own scale) times Laplace evidence."""
    found = find_linear_gaussian(model)
    assert found is not None
    graph = model.logp(vars=found.hyperparameters, jacobian=False)
    inside = set(ancestors([graph]))
    inputs = [value for value in model.value_vars if value in inside]
    log_prior = compile_graph(inputs, graph)
    names = [model.rvs_to_values[rv].name for rv in found.hyperparameters]
    sizes = [np.size(point[name]) for name in names]
    last: list[Mode] = []

    def at(vector: np.ndarray) -> Point:
        parts = np.split(vector, np.cumsum(sizes)[:-1])
        moved = {name: part.reshape(np.shape(point[name])) for name, part in zip(names, parts, strict=True)}
        return {**point, **moved}

    def loss(vector: np.ndarray) -> float:
        here = at(vector)
        with np.errstate(all="ignore"):
            prior = float(log_prior(*(here[value.name] for value in inputs)))
            if not np.isfinite(prior):
                return 1e12
            _, space = reader.state_space(reader.values(here))
            # Each search starts where the last one ended: hyperparameters move little from one to the next.
            mode = find_mode(space, last[0].multipliers if last else None)
        last[:] = [mode]
        return -prior - mode.log_evidence

    start = np.concatenate([np.ravel(point[name]) for name in names])
    bounds = [(value - FARTHEST, value + FARTHEST) for value in start]
    # The evidence may have several peaks, and a flat prior says nothing of where to begin.
    climbs = [
        scipy.optimize.minimize(loss, start - lower, method="L-BFGS-B", bounds=bounds, options={"eps": 1e-5})
        for lower in track(STARTS, "evidence", disable=not progressbar, transient=True)
    ]
    return at(min(climbs, key=lambda climb: climb.fun).x)
