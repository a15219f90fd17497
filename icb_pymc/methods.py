"""Ways to fit without Markov chains: Laplace's method, Algorithm 1's EM, and point estimates."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from icb_pymc.belief_paths import learnt_beliefs
from icb_pymc.catalogue import companion, name_of
from icb_pymc.em import expectation_maximisation
from icb_pymc.errors import InputError
from icb_pymc.estimates import Estimate, as_posterior
from icb_pymc.fitted import Fitted
from icb_pymc.folds import declared_folds
from icb_pymc.laplace import laplace_approximation
from icb_pymc.memory import check_room
from icb_pymc.recording import Recording
from icb_pymc.steps.linear_gaussian import find_linear_gaussian

# Sweeps of an expectation step that are not kept.
EM_TUNE = 1000


def by_laplace(
    model: pm.Model, sampling: dict[str, Any], recording: Recording, seed: int | None, progressbar: bool
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


def by_estimate(declare: Callable[..., pm.Model], decisions: xr.Dataset, given: dict[str, Any]) -> Fitted:
    """The point estimate that the file of the model says how to make."""
    estimate = companion(declare, "estimate")
    if estimate is None:
        raise InputError(f"'{name_of(declare)}' has no point estimate; use method 'mcmc'.")
    return as_estimate(estimate(decisions, **given), decisions)


def as_estimate(estimate: Estimate, decisions: xr.Dataset) -> Fitted:
    """An estimate as the only draw."""
    return Fitted({"posterior": as_posterior(estimate, decisions)}, estimate.how, is_estimate=True)


def by_em(
    declare: Callable[..., pm.Model],
    decisions: xr.Dataset,
    given: dict[str, Any],
    sampling: dict[str, Any],
    seed: int | None,
    progressbar: bool,
) -> Fitted:
    """The estimates of EM's last iteration, the beliefs that it sampled, and the path of the estimates."""
    sampling = {"tune": EM_TUNE} | sampling
    settings_of_em = companion(declare, "em_settings")
    if settings_of_em is None:
        raise InputError(f"'{name_of(declare)}' cannot be fitted by EM; use method 'mcmc'.")
    result = expectation_maximisation(
        decisions,
        **settings_of_em(decisions, given, as_published=sampling["kernel"] == "paper"),
        iterations=sampling["iterations"],
        draws=sampling["draws"],
        tune=sampling["tune"],
        seed=seed,
        progressbar=progressbar,
    )
    coords = {"chain": [0], "draw": np.arange(sampling["draws"])}
    coords |= {dim: decisions[dim].values for dim in ("time", "feature")}
    estimates = {
        "rho_env": (("chain", "draw", "feature"), np.tile(result.rho_env[-1], (1, sampling["draws"], 1))),
        "strength": (("chain", "draw"), np.full((1, sampling["draws"]), result.strength[-1])),
        "belief": (("chain", "draw", "time", "feature"), result.belief[None]),
    }
    path = {
        "rho_env": (("iteration", "feature"), result.rho_env),
        "strength": ("iteration", result.strength),
        "rho_accept": ("iteration", result.accepted),
    }
    path_coords = {"iteration": np.arange(1, sampling["iterations"] + 1), "feature": coords["feature"]}
    groups = {"posterior": xr.Dataset(estimates, coords), "em_path": xr.Dataset(path, path_coords)}
    words = f"EM, {sampling['iterations']} iterations of {sampling['tune']} + {sampling['draws']} sweeps"
    kernel = "paper" if sampling["kernel"] == "paper" else "exact"
    return Fitted(groups, f"{words} (kernel {kernel}); rho_env and strength are point estimates")
