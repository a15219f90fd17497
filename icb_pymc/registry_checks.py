"""The checks that a shared trace must pass, on the draws that are in the file."""

from typing import Any

import numpy as np

from icb_pymc.convergence import bulk_ess, rank_rhat
from icb_pymc.inference_data import InferenceData, group

HIGHEST_RHAT, LOWEST_ESS = 1.01, 400


def check_draws(trace: InferenceData) -> dict[str, Any]:
    """Chains, draws per chain, the worst R-hat and effective sample size of all components, and whether all pass."""
    posterior = group(trace, "posterior")
    checks: dict[str, Any] = {"chains": posterior.sizes["chain"], "draws": posterior.sizes["draw"]}
    rhat, ess, finite = [np.nan], [np.nan], True
    if checks["chains"] > 1 and checks["draws"] >= 4:
        for draws in posterior.data_vars.values():
            # What never moves (a point estimate, an unused direction) has no R-hat.
            if draws.dtype.kind == "f" and draws.size:
                finite = finite and bool(np.isfinite(draws.values).all())
                rhat.append(_worst(rank_rhat(draws.astype(float)), np.fmax))
                ess.append(_worst(bulk_ess(draws.astype(float)), np.fmin))
    checks["worst_rhat"] = _plain(np.fmax.reduce(rhat), 4)
    checks["worst_bulk_ess"] = _plain(np.fmin.reduce(ess), 1)
    checks["passed"] = _passed(checks) and finite and not trace.attrs.get("interrupted")
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


def _passed(checks: dict[str, Any]) -> bool:
    rhat, ess = checks["worst_rhat"], checks["worst_bulk_ess"]
    return rhat is not None and ess is not None and rhat < HIGHEST_RHAT and ess > LOWEST_ESS


def _worst(values: Any, keep: np.ufunc) -> float:
    return float(keep.reduce(values.values, axis=None))


def _plain(value: float, digits: int) -> float | None:
    return round(float(value), digits) if np.isfinite(value) else None
