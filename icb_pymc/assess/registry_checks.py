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

# Fields of the registry: the column of `Diagnosis.blocks`, how to find its worst value, and the digits to keep.
WORST_OF_BLOCKS = {
    "worst_rhat": ("R-hat", np.max, 4),
    "worst_bulk_ess": ("bulk ESS", np.min, 1),
    "worst_tail_ess": ("tail ESS", np.min, 1),
}


def check_draws(trace: InferenceData) -> dict[str, Any]:
    """Chains, draws per chain, the worst R-hat and effective sample sizes of all components, and whether all pass."""
    posterior, diagnosis = group(trace, "posterior"), diagnose(trace)
    checks: dict[str, Any] = {"chains": posterior.sizes["chain"], "draws": posterior.sizes["draw"]}
    for name, (column, worst, digits) in WORST_OF_BLOCKS.items():
        values = diagnosis.blocks[column].values if len(diagnosis.blocks) else np.array([])
        known = values[~np.isnan(values)]
        checks[name] = round(float(worst(known)), digits) if len(known) and np.isfinite(known).all() else None
    checks["passed"] = bool(diagnosis.converged and not trace.attrs.get("interrupted"))
    return checks


def differences(registered: dict[str, Any], computed: dict[str, Any]) -> list[str]:
    """Where registered checks differ from those computed, by more than another version of a library may change."""
    problems = []
    for name, value in computed.items():
        expected = registered.get(name)
        is_number = all(isinstance(number, float) for number in (expected, value))
        if not (expected == value or (is_number and abs(expected - value) <= 1e-3 * abs(value))):
            problems.append(f"the registry says {name} {expected}, the file {value}")
    return problems


def verify(entry: RegisteredTrace, folder: Path) -> list[str]:
    """What is wrong with a registered trace: its file, its contents, or its entry; empty if nothing is."""
    wrong = file_problem(entry, folder)
    if wrong:
        return [wrong]
    try:
        trace = read_trace(path_of(entry, folder))
    except InputError as error:
        return [str(error).rstrip(".")]
    description = describe(trace)
    problems = [
        f"the registry says {name} {getattr(entry, name)!r}, the file {value!r}"
        for name, value in description.items()
        if name != "checks" and getattr(entry, name) != value
    ]
    problems += differences(entry.checks, description["checks"])
    if not description["checks"]["passed"]:
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
        The commands that reproduce the trace, in order.
    folder : Path
    replace : bool
        Replace an entry that has this name.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"name '{name}': use lower-case letters, digits, dots and dashes, as in nb-icb-sampling.")
    if not made_by or not all(made_by):
        raise InputError("say how the trace can be reproduced: the commands, in order.")
    entries = read_registry(folder)
    if name in entries and not replace:
        raise InputError(f"{folder / REGISTRY} already has a '{name}'; use another name, or replace=True (--replace).")
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
    """The fields of a registry entry that are read from the trace itself."""
    attrs, data = trace.attrs, group(trace, "constant_data")
    versions = {"icb_pymc": str(attrs.get("icb_pymc", "unknown"))} | json.loads(attrs.get("versions", "{}"))
    return {
        "model": str(attrs.get("model", "unknown")),
        "data": _describe_data(data),
        "shared": str(attrs.get("shared", "all of it")),
        "versions": {str(name): str(version) for name, version in versions.items()},
        "checks": check_draws(trace),
    }


def _describe_data(data: Any) -> str:
    words = f"{data.sizes['time']} decisions among up to {data.sizes['action']} candidates with "
    words += f"{data.sizes['feature']} features"
    if "agent" in data.attrs:
        words += f", agent {data.attrs['agent']}, seed {data.attrs.get('seed', 'unknown')}"
    return words + (", synthetic patients" if data.attrs.get("synthetic") else "")
