"""Laplace's method: the mode of the posterior and the Gaussian around it, in seconds for any length of log."""

from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import xarray as xr
from pytensor.graph.traversal import ancestors
from rich.progress import track

from icb_pymc.declare.folds import declared_folds
from icb_pymc.declare.graph import GraphReader, bare
from icb_pymc.errors import InputError
from icb_pymc.io.machine import check_memory, keep_freed_memory
from icb_pymc.kernels.chosen_times import chosen_states, draw_states
from icb_pymc.kernels.hamiltonian import draw_centred_noise, fresh_noise, make_reference, path_of
from icb_pymc.kernels.mode import find_mode
from icb_pymc.kernels.state_space import Noise
from icb_pymc.sample.kept_draws import KEPT, KeptDraws
from icb_pymc.sample.learner_beliefs import learnt_beliefs
from icb_pymc.sample.most_probable import most_probable_hyperparameters
from icb_pymc.sample.outcome import Outcome
from icb_pymc.steps.linear_gaussian import LinearGaussianModel, LinearGaussianParts, find_linear_gaussian

# The covariances of the states at all times are computed only if they have no more entries than this (160 MB).
MOST_COVARIANCES = 20_000_000
TOO_LARGE = (
    "the posterior under these covariances is too wide or too narrow for the computer's numbers: standardise the "
    "features, or give covariances and an alpha nearer to 1."
)


class Laplace(NamedTuple):
    """The approximation.

    Attributes
    ----------
    draws : Dataset (chain, draw, ...)
        Independent draws of the Gaussian, for the variables that were asked for.
    log_evidence : float
        log p(choices, observed rewards | hyperparameters) by Laplace's method.
    belief_mode, belief_sd : (time, feature)
        Mean and standard deviation of the beliefs at these times under the Gaussian; None where there are too many
        states.
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
    result = laplace_approximation(model, names, sampling["draws"], seed, kept, progressbar)
    learnt = learnt_beliefs(result.draws, model, kept.index, kept.dtype)
    words = "Laplace: independent draws from the Gaussian around the posterior mode"
    if find_linear_gaussian(model).hyperparameters:  # type: ignore[union-attr]
        words += ", hyperparameters at the maximum of prior times evidence"
    groups = {"posterior": kept.finish(result.draws, learnt), "constant_data": declared_folds(model)}
    if result.belief_mode is not None:
        beliefs = {"belief": result.belief_mode, "belief_sd": result.belief_sd}
        coords = {"time": kept.times, "feature": list(model.coords["feature"])}
        gaussian = xr.Dataset({name: (("time", "feature"), values) for name, values in beliefs.items()}, coords)
        groups["gaussian"] = gaussian.isel(time=np.searchsorted(kept.index, kept.final))
    return Outcome(groups, words, log_evidence=result.log_evidence)


def laplace_approximation(
    model: pm.Model, names: list[str], draws: int, seed: int | None, kept: KeptDraws, progressbar: bool
) -> Laplace:
    """Approximate the posterior of a linear-Gaussian belief model.

    Hyperparameters with a prior are fixed at the maximum of prior density times evidence.

    Parameters
    ----------
    names : list of str
        Variables to draw, at the times of `kept`.
    """
    parts = find_linear_gaussian(model)
    if parts is None or set(model.free_RVs) != {*parts.variables, *parts.hyperparameters}:
        raise InputError(
            "Laplace's method is for beliefs that are linear and Gaussian, with utilities linear in rho; this model is "
            "not: use method 'mcmc'."
        )
    keep_freed_memory()
    reader = LinearGaussianModel(model, parts, kept.latents)
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
    paths = _names_of_path(model, parts, names)
    moments: tuple[np.ndarray, np.ndarray] | tuple[()] = ()
    if paths:
        rest = GraphReader(model, {name: model[name] for name in names if name not in paths})(point)
        drawn = {name: np.broadcast_to(value, (1, draws, *np.shape(value))) for name, value in rest.items()}
        states, mean = chosen_states(space, reference.gains, kept.index), path_of(reference)[kept.index]
        with np.errstate(over="ignore"):
            path = draw_states(states, mean, draws, model[paths[0]].dtype, rng)
        drawn |= dict.fromkeys(paths, path[None])
        moments = mean, np.sqrt(np.einsum("tii->ti", states.covariance))
    else:
        read = GraphReader(model, {name: model[name] for name in names})
        drawn = {}
        for i in track(range(draws), "Laplace", disable=not progressbar, transient=True):
            around = draw_centred_noise(reference, fresh_noise(reference, rng))
            noise = Noise(*(part + mean for part, mean in zip(around, reference.noise, strict=True)))
            one = read(point | reader.to_point(values, dynamics, space, noise, rng))
            if not drawn:
                drawn = {name: np.empty((1, draws, *value.shape), value.dtype) for name, value in one.items()}
            for name, value in one.items():
                drawn[name][0, i] = value
        if len(space.start_mean) ** 2 * len(space.first) <= MOST_COVARIANCES:
            mean, sd = reader.belief_moments(dynamics, reference)
            moments = mean[kept.index], sd[kept.index]
    # Draws are kept as float32; of NaN the comparison is false.
    if not all((np.abs(path) < np.finfo(np.float32).max).all() for path in drawn.values()):
        raise InputError(TOO_LARGE)
    # Unnamed dimensions are named as ArviZ names them.
    dims = {
        name: model.named_vars_to_dims.get(name) or [f"{name}_dim_{i}" for i in range(path.ndim - 2)]
        for name, path in drawn.items()
    }
    variables = {name: (("chain", "draw", *dims[name]), path) for name, path in drawn.items()}
    coords = {dim: list(model.coords[dim]) for name in drawn for dim in dims[name] if dim in model.coords}
    posterior = xr.Dataset(variables, {"chain": [0], "draw": np.arange(draws)} | coords)
    return Laplace(posterior, log_evidence, *moments)


def _names_of_path(model: pm.Model, parts: LinearGaussianParts, names: list[str]) -> list[str]:
    """Those names that are the path of the states itself; none if others depend on it."""
    if not parts.source.is_path:
        return []
    (process,) = parts.source.variables
    paths = [name for name in names if bare(model[name.removeprefix(KEPT)]) is process]
    others = set(ancestors([model[name] for name in names if name not in paths]))
    return [] if others & set(parts.variables) else paths
