"""Registering a shared trace, and verifying that it is still what was registered: both diagnose its draws."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from icb_pymc.assess.diagnosis import diagnose
from icb_pymc.errors import InputError
from icb_pymc.io.files import replacing
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.registry import (
    NAME,
    REGISTRY,
    RegisteredTrace,
    file_problem,
    path_of,
    read_registry,
    write_registry,
)
from icb_pymc.results.traces import read_trace

# How the registry calls what `diagnose` tells of each variable, which end is the worst, and digits that matter.
WORST = {
    "worst_rhat": ("R-hat", np.max, 4),
    "worst_bulk_ess": ("bulk ESS", np.min, 1),
    "worst_tail_ess": ("tail ESS", np.min, 1),
}


def check_draws(trace: InferenceData) -> dict[str, Any]:
    """Chains, draws per chain, the worst R-hat and effective sample sizes of all components, and whether all pass."""
    posterior, found = group(trace, "posterior"), diagnose(trace)
    checks: dict[str, Any] = {"chains": posterior.sizes["chain"], "draws": posterior.sizes["draw"]}
    for name, (column, worst, digits) in WORST.items():
        values = found.blocks[column].values if len(found.blocks) else np.array([])
        told = values[~np.isnan(values)]
        checks[name] = round(float(worst(told)), digits) if len(told) and np.isfinite(told).all() else None
    checks["passed"] = bool(found.converged and not trace.attrs.get("interrupted"))
    return checks


def differences(told: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Where the checks that are told differ from those found, beyond what another version of a library may change."""
    problems = []
    for name, value in found.items():
        said = told.get(name)
        is_number = all(isinstance(number, float) for number in (said, value))
        if not (said == value or (is_number and abs(said - value) <= 1e-3 * abs(value))):
            problems.append(f"the registry says {name} {said}, the file {value}")
    return problems


def verify(entry: RegisteredTrace, folder: Path) -> list[str]:
    """What is wrong with a shared trace: its file, its contents, or what is said of it; nothing if all is well."""
    wrong = file_problem(entry, folder)
    if wrong:
        return [wrong]
    try:
        trace = read_trace(path_of(entry, folder))
    except InputError as error:
        return [str(error).rstrip(".")]
    found = describe(trace)
    problems = [
        f"the registry says {name} {getattr(entry, name)!r}, the file {value!r}"
        for name, value in found.items()
        if name != "checks" and getattr(entry, name) != value
    ]
    problems += differences(entry.checks, found["checks"])
    if not found["checks"]["passed"]:
        problems.append("its draws do not pass the checks")
    return problems


def add(path: str | Path, name: str, made_by: Sequence[str], folder: Path, *, replace: bool = False) -> RegisteredTrace:
    """Copy a trace into the folder of a registry and register it with the checks that it passes.

    Parameters
    ----------
    path : path
        A trace.
    name : str
        Lower-case letters, digits, dots, dashes.
    made_by : sequence of str
        The commands that make the trace again, in order.
    folder : Path
    replace : bool
        Put it in the place of one that has this name.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"name '{name}': use lower-case letters, digits, dots and dashes, as in nb-icb-sampling.")
    if not made_by or not all(made_by):
        raise InputError("say how the trace can be made again: the commands, in order.")
    entries = read_registry(folder)
    if name in entries and not replace:
        raise InputError(f"{folder / REGISTRY} has a '{name}' already; take another name, or ask to replace it.")
    trace = read_trace(path)
    content, file = Path(path).read_bytes(), f"{name}.nc"
    digest = hashlib.sha256(content).hexdigest()
    entry = RegisteredTrace(name, file, len(content), digest, made_by=list(made_by), **describe(trace))
    with replacing(folder / file) as temporary:
        temporary.write_bytes(content)
    entries[name] = entry
    write_registry(entries, folder)
    return entry


def describe(trace: InferenceData) -> dict[str, Any]:
    """What a registry says of a trace and the trace itself tells."""
    attrs, data = trace.attrs, group(trace, "constant_data")
    versions = {"icb_pymc": str(attrs.get("icb_pymc", "unknown"))} | json.loads(attrs.get("versions", "{}"))
    return {
        "model": str(attrs.get("model", "unknown")),
        "data": _data_in_words(data),
        "shared": str(attrs.get("shared", "all of it")),
        "versions": {str(name): str(version) for name, version in versions.items()},
        "checks": check_draws(trace),
    }


def _data_in_words(data: Any) -> str:
    words = f"{data.sizes['time']} decisions among up to {data.sizes['action']} candidates with "
    words += f"{data.sizes['feature']} features"
    if "agent" in data.attrs:
        words += f", agent {data.attrs['agent']}, seed {data.attrs.get('seed', 'unknown')}"
    return words + (", synthetic patients" if data.attrs.get("synthetic") else "")
