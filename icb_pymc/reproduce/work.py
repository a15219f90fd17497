"""Carrying described runs out: in whichever process, the same description gives the same file."""

import json
import tempfile
import traceback
import warnings
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from icb_pymc import __version__
from icb_pymc.assess.convergence import rank_rhat
from icb_pymc.assess.metrics import action_divergence, belief_error, reward_error
from icb_pymc.catalogue.lookup import find
from icb_pymc.catalogue.model_files import digest_of
from icb_pymc.declare.change_points import SegmentTable, score_segments
from icb_pymc.declare.spec import spec_of
from icb_pymc.errors import InputError, InputWarning
from icb_pymc.reproduce.log import Log, decisions_of
from icb_pymc.reproduce.unit import Unit
from icb_pymc.results.inference_data import InferenceData, from_groups, group, group_names
from icb_pymc.results.traces import write_trace
from icb_pymc.sample.fitting import fit
from icb_pymc.sample.quiet import quiet_pymc

KEPT_VARIABLES = ("belief", "rho_env", "strength")
KEPT_GROUPS = ("posterior", "observed_data", "constant_data", "em_path")
# A worker of a cluster may have several threads; compiling a model is for one at a time.
_one_at_a_time = Lock()


class Outcome(NamedTuple):
    """What became of a unit: the contents of its file, or what went wrong."""

    content: bytes | None
    error: str | None = None


def tasks_of(units: Iterable[Unit]) -> list[tuple[Unit, ...]]:
    """Units that are worth doing one after the other in one process: those of CP-IRL share their segments' scores."""
    tasks: dict[Any, list[Unit]] = {}
    for unit in units:
        key = (unit.log, unit.preset) if unit.algorithm.has_segments else unit
        tasks.setdefault(key, []).append(unit)
    return [tuple(task) for task in tasks.values()]


def carry_out(task: tuple[Unit, ...]) -> list[Outcome]:
    """Run units; what goes wrong with one is told in words, which cross any boundary between processes."""
    with _one_at_a_time:
        return [_outcome(unit) for unit in task]


def _outcome(unit: Unit) -> Outcome:
    try:
        return Outcome(_as_bytes(run(unit)))
    except InputError as error:
        return Outcome(None, str(error))
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(None, f"{type(error).__name__}: {error} ({Path(at.filename).name}, line {at.lineno})")


def run(unit: Unit) -> InferenceData:
    """Fit, take the errors from all draws, and keep a part of them."""
    if unit.version != __version__:
        raise InputError(f"this worker has icb_pymc {__version__}, but {unit.version} is asked for: install that.")
    expected = unit.algorithm.file_digest
    if expected is not None and digest_of(unit.algorithm.model) != expected:
        raise InputError(f"{unit.algorithm.model} changed while it was in use; start again.")
    decisions = decisions_of(unit.log)
    with quiet_pymc(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", InputWarning)
        trace = fit(
            unit.algorithm.model,
            decisions,
            preset=unit.algorithm.preset,
            seed=unit.seed,
            cores=1,
            log_likelihood=False,
            progressbar=False,
            hyperparameters=_priors(unit, decisions) | dict(unit.algorithm.settings) | _shared(unit),
            **dict(unit.sampling),
        )
    if trace.attrs["interrupted"]:
        raise InputError("it was interrupted.")
    kept = _thinned(trace, unit)
    kept.attrs.update(
        {
            "unit": unit.description,
            "unit_digest": unit.digest,
            "scores": json.dumps(scores_of(trace)),
            "warnings": "\n".join(str(warning.message) for warning in caught),
        }
    )
    return kept


def scores_of(trace: InferenceData) -> dict[str, float]:
    """The errors that the tables show, where the truth is known, and the worst R-hat of several chains."""
    posterior, data = group(trace, "posterior"), group(trace, "constant_data")
    scores: dict[str, float] = {}
    if "belief" in posterior and "true_belief" in data:
        scores |= {"belief": belief_error(trace), "action": action_divergence(trace, scaled=True)}
        scores["action_unscaled"] = action_divergence(trace)
    if "rho_env" in posterior and "true_rho_env" in data:
        scores["reward"] = reward_error(trace)
    if posterior.sizes["chain"] > 1 and posterior.sizes["draw"] >= 4:
        scores["rhat"] = max(_worst_rhat(posterior[name]) for name in KEPT_VARIABLES if name in posterior)
    return scores


def _worst_rhat(draws: xr.DataArray) -> float:
    if "time" in draws.dims:
        draws = draws.isel(time=_spread(draws.sizes["time"], 50))
    return float(rank_rhat(draws).max())


def _priors(unit: Unit, decisions: xr.Dataset) -> dict[str, Any]:
    """The hyperparameters of the preset `paper` of a model, without its sampler."""
    if not unit.algorithm.paper_priors:
        return {}
    return _paper_hyperparameters(unit.algorithm.model, decisions)


def _paper_hyperparameters(model: str, decisions: xr.Dataset) -> dict[str, Any]:
    paper = spec_of(find(model)).paper
    assert paper is not None
    return paper(decisions).hyperparameters


def _shared(unit: Unit) -> dict[str, Any]:
    if not unit.algorithm.has_segments:
        return {}
    # All but how many segments there are.
    scored = tuple(setting for setting in unit.algorithm.settings if setting[0] != "segments")
    return {"table": _segment_table(unit.log, unit.algorithm.model, unit.algorithm.preset, scored)}


@lru_cache(maxsize=1)
def _segment_table(log: Log, model: str, preset: str | None, scored: tuple[tuple[str, Any], ...]) -> SegmentTable:
    decisions = decisions_of(log)
    settings: dict[str, Any] = {}
    if preset is not None:
        settings = _paper_hyperparameters(model, decisions)
    return score_segments(decisions, **(settings | dict(scored) | {"score_seed": log.seed}))


def _thinned(trace: InferenceData, unit: Unit) -> InferenceData:
    """The groups that matter, in single precision, with fewer draws and times."""
    posterior = group(trace, "posterior")
    posterior = posterior[[name for name in KEPT_VARIABLES if name in posterior]]
    draws = _spread(posterior.sizes["draw"], max(1, unit.kept[0] // posterior.sizes["chain"]))
    posterior = posterior.isel(draw=draws)
    if "time" in posterior.dims:
        posterior = posterior.isel(time=_spread(posterior.sizes["time"], unit.kept[1]))
    groups = {name: group(trace, name) for name in KEPT_GROUPS if name in group_names(trace)}
    return from_groups(groups | {"posterior": posterior.astype("float32")}, trace.attrs)


def _spread(size: int, wanted: int) -> np.ndarray:
    """Every n-th position, so that about as many as wanted are left."""
    return np.arange(0, size, max(1, round(size / wanted)))


def _as_bytes(trace: InferenceData) -> bytes:
    """A trace as the contents of its file, to be sent to whoever keeps the files."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unit.nc"
        write_trace(trace, path)
        return path.read_bytes()
