"""Carry out runs from their descriptions; in any process, the same description gives the same result."""

import json
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any

import numpy as np
import xarray as xr

from icb_pymc import __version__
from icb_pymc.assess.convergence import rank_rhat
from icb_pymc.assess.metrics import action_divergence, belief_error, reward_error
from icb_pymc.catalogue.lookup import find
from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.declare.change_points import SegmentTable, score_segments
from icb_pymc.declare.spec import spec_of
from icb_pymc.errors import InputError
from icb_pymc.reproduce.log import Log, decisions_of_log
from icb_pymc.reproduce.unit import Unit
from icb_pymc.results.inference_data import InferenceData, from_groups, group, group_names
from icb_pymc.sample.fitting import fit
from icb_pymc.sample.in_worker import FitOutcome, outcome_of, quiet_fits

KNOWN_OF_AGENTS = ("alpha", "sigma", "start_mean", "rho_env_mean", "information")
KEPT_VARIABLES = ("belief", "rho_env", "rho_env_scale", "strength", "share_learnt", "final_belief")
KEPT_GROUPS = ("posterior", "observed_data", "constant_data", "em_path")


def group_into_tasks(units: Iterable[Unit]) -> list[tuple[Unit, ...]]:
    """Group units that should run one after the other in one process: those of CP-IRL share their segment scores."""
    tasks: dict[Any, list[Unit]] = {}
    for unit in units:
        key = (unit.log, unit.preset) if unit.algorithm.has_segments else unit
        tasks.setdefault(key, []).append(unit)
    return [tuple(task) for task in tasks.values()]


def run_task(task: tuple[Unit, ...]) -> list[FitOutcome]:
    """Run units one after the other."""
    return [outcome_of(partial(run, unit)) for unit in task]


def run(unit: Unit) -> InferenceData:
    """Fit, compute the errors from all draws, and keep some of the draws."""
    if unit.version != __version__:
        raise InputError(
            f"this worker has icb_pymc {__version__}, but the run needs {unit.version}: install that version."
        )
    expected = unit.algorithm.file_digest
    if expected is not None and digest_of(unit.algorithm.model) != expected:
        raise InputError(f"{unit.algorithm.model} changed while it was in use; start again.")
    decisions = decisions_of_log(unit.log)
    # Scores are of all draws in full; `_thin` then keeps some.
    sampling: dict[str, Any] = {"every": 1, "dtype": "float64"} | dict(unit.sampling)
    with quiet_fits() as cautions:
        trace = fit(
            unit.algorithm.model,
            decisions,
            preset=unit.algorithm.preset,
            seed=unit.seed,
            cores=1,
            log_likelihood=False,
            progressbar=False,
            hyperparameters=_prior_settings(unit, decisions) | dict(unit.algorithm.settings) | _shared_table(unit),
            **sampling,
        )
    if trace.attrs["interrupted"]:
        raise InputError("the run was interrupted.")
    kept = _thin(trace, unit)
    kept.attrs.update(
        {
            "unit": unit.description,
            "unit_digest": unit.digest,
            "scores": json.dumps(scores_of(trace)),
            "warnings": "\n".join(cautions),
        }
    )
    return kept


def scores_of(trace: InferenceData) -> dict[str, float]:
    """The errors that the tables show, where the truth is known, and the worst R-hat if there are several chains."""
    posterior, data = group(trace, "posterior"), group(trace, "constant_data")
    scores: dict[str, float] = {}
    if "belief" in posterior and "true_belief" in data:
        scores |= {"belief": belief_error(trace), "action": action_divergence(trace, scaled=True)}
        scores["action_unscaled"] = action_divergence(trace)
    if "rho_env" in posterior and "true_rho_env" in data:
        scores["reward"] = reward_error(trace)
        if "final_belief" in posterior:
            scores["final_belief"] = reward_error(trace, variable="final_belief")
    if posterior.sizes["chain"] > 1 and posterior.sizes["draw"] >= 4:
        scores["rhat"] = max(_worst_rhat(posterior[name]) for name in KEPT_VARIABLES if name in posterior)
    return scores


def _worst_rhat(draws: xr.DataArray) -> float:
    if "time" in draws.dims:
        draws = draws.isel(time=_evenly_spaced(draws.sizes["time"], 50))
    return float(rank_rhat(draws).max())


def _prior_settings(unit: Unit, decisions: xr.Dataset) -> dict[str, Any]:
    """What every algorithm is told about the agents of the published experiments, if the algorithm takes it."""
    if not unit.algorithm.paper_centre:
        return {}
    published = _paper_hyperparameters(unit.algorithm.model, decisions)
    return {name: published[name] for name in KNOWN_OF_AGENTS if name in published}


def _paper_hyperparameters(model: str, decisions: xr.Dataset) -> dict[str, Any]:
    paper = spec_of(find(model)).paper
    assert paper is not None
    return paper(decisions).hyperparameters


def _shared_table(unit: Unit) -> dict[str, Any]:
    if not unit.algorithm.has_segments:
        return {}
    # Scores do not depend on the number of segments.
    scored = tuple(setting for setting in unit.algorithm.settings if setting[0] != "segments")
    return {"table": _segment_table(unit.log, unit.algorithm.model, unit.algorithm.preset, scored)}


@lru_cache(maxsize=1)
def _segment_table(log: Log, model: str, preset: str | None, scored: tuple[tuple[str, Any], ...]) -> SegmentTable:
    decisions = decisions_of_log(log)
    settings: dict[str, Any] = {}
    if preset is not None:
        settings = _paper_hyperparameters(model, decisions)
    return score_segments(decisions, **(settings | dict(scored) | {"score_seed": log.seed}))


def _thin(trace: InferenceData, unit: Unit) -> InferenceData:
    """Keep the groups that are needed, in single precision, with fewer draws and times."""
    posterior = group(trace, "posterior")
    posterior = posterior[[name for name in KEPT_VARIABLES if name in posterior]]
    draws = _evenly_spaced(posterior.sizes["draw"], max(1, unit.kept[0] // posterior.sizes["chain"]))
    posterior = posterior.isel(draw=draws)
    if "time" in posterior.dims:
        posterior = posterior.isel(time=_evenly_spaced(posterior.sizes["time"], unit.kept[1]))
    groups = {name: group(trace, name) for name in KEPT_GROUPS if name in group_names(trace)}
    return from_groups(groups | {"posterior": posterior.astype("float32")}, trace.attrs)


def _evenly_spaced(size: int, wanted: int) -> np.ndarray:
    """Every n-th position, so that about `wanted` remain."""
    return np.arange(0, size, max(1, round(size / wanted)))
