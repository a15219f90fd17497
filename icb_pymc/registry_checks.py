"""The checks that a shared trace must pass, on the draws that are in the file."""

from typing import Any

import numpy as np

from icb_pymc.diagnosis import diagnose
from icb_pymc.inference_data import InferenceData, group

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
