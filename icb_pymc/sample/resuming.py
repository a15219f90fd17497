"""Sampling that a checkpoint keeps: what its draws depend on, the steps that go on, and the draws that are kept."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from secrets import randbits
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from pymc.sampling.mcmc import assign_step_methods, instantiate_steppers
from pymc.step_methods.arraystep import PopulationArrayStepShared
from pymc.step_methods.compound import flatten_steps
from pymc.util import get_random_generator

from icb_pymc import __version__
from icb_pymc.data.digests import digest_of_decisions
from icb_pymc.declare.graph import Point
from icb_pymc.errors import InputError
from icb_pymc.results.checkpoint import Checkpoint
from icb_pymc.sample.kept_draws import KeptDraws
from icb_pymc.steps.resumable import ResumableStep


def checkpoint_of(
    folder: str | Path,
    attrs: dict[str, Any],
    model: pm.Model,
    decisions: xr.Dataset,
    sampling: dict[str, Any],
    kept: KeptDraws,
    seed: int | None,
) -> Checkpoint:
    """The checkpoint of a fit: its description holds all that the draws depend on, and a seed if none was given.

    Raises
    ------
    InputError
        If the method or the kernel makes no chains that could be kept, or the folder holds something else.
    """
    if sampling["kernel"] == "nutpie":
        raise InputError("nutpie keeps no checkpoint: leave checkpoint out, or use another kernel.")
    described = attrs | {
        # Priors, own steps and constants of a model that is a function are found in its variables.
        "declaration": _hash(model.str_repr(formatting="plain", include_params=True)),
        "decisions": digest_of_decisions(decisions),
        "sampling": {name: sampling[name] for name in ("kernel", "draws", "tune", "chains", "sweeps")},
        "kept draws": {"times": _hash(kept.index.tolist()), "dtype": kept.dtype, "latents": kept.latents},
        "versions": {"icb_pymc": __version__, "pymc": pm.__version__, "numpy": np.__version__},
    }
    if seed is None:
        recorded = Checkpoint(folder, {}).recorded_seed()
        seed = randbits(32) if recorded is None else recorded
    return Checkpoint(folder, described | {"seed": seed})


def resumable_step(
    model: pm.Model,
    steps: list[Any],
    checkpoint: Checkpoint,
    record: Callable[[Point], dict[str, np.ndarray]],
    sampling: dict[str, Any],
    initial_values: list[Any],
) -> ResumableStep:
    """All steps of a fit, those that PyMC would choose included, as one that the checkpoint keeps."""
    provided, chosen = assign_step_methods(model, steps)
    starts = None
    if not provided and set(chosen) == {pm.NUTS}:
        starts, nuts = pm.init_nuts(
            chains=sampling["chains"],
            model=model,
            random_seed=_seeds_of_chains(checkpoint.description["seed"], sampling["chains"]),
            progressbar=False,
            tune=sampling["tune"],
            initvals=initial_values,
        )
        provided = [nuts]
    elif chosen:
        made = instantiate_steppers(model, steps=list(provided), selected_steps=chosen)
        provided = made if isinstance(made, list) else [made]
    if any(isinstance(part, PopulationArrayStepShared) for step in provided for part in flatten_steps(step)):
        raise InputError("steps that join the chains keep no checkpoint: leave checkpoint out, or use other steps.")
    return ResumableStep(
        provided,
        checkpoint,
        record,
        sampling["tune"],
        sampling["tune"] + sampling["draws"],
        starts,
    )


def with_kept_draws(posterior: xr.Dataset, checkpoint: Checkpoint, held: dict[int, int]) -> xr.Dataset:
    """The draws of a sampler that went through `held` draws of each chain without their values, with the values."""
    posterior = posterior.copy(deep=True)
    for position, chain in enumerate(posterior["chain"].values.tolist()):
        count = min(held[chain], posterior.sizes["draw"])
        for name, draws in checkpoint.draws(chain).items() if count else ():
            posterior[name].values[position, :count] = draws[:count]
    return posterior


def held_draws(checkpoint: Checkpoint, sampling: dict[str, Any]) -> dict[int, int]:
    """How many draws of each chain a checkpoint holds."""
    states = {chain: checkpoint.state(chain) for chain in range(sampling["chains"])}
    return {
        chain: 0 if state is None else max(0, state.iterations - sampling["tune"]) for chain, state in states.items()
    }


def _seeds_of_chains(seed: int, chains: int) -> list[int]:
    """As `pm.sample` makes them from its seed."""
    return [int(generator.integers(2**30)) for generator in get_random_generator(seed).spawn(chains)]


def _hash(value: Any) -> str:
    return sha256(repr(value).encode()).hexdigest()[:32]
