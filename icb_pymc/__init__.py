"""Inverse contextual bandits in PyMC: how a decision-maker's priorities evolved, read from a log of decisions."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Nothing heavy is imported until it is used: `import icb_pymc` and `icb --help` start at once.
_WHERE = {
    "Columns": "icb_pymc.tables",
    "InputError": "icb_pymc.errors",
    "InputWarning": "icb_pymc.errors",
    "check": "icb_pymc.calibration",
    "compare": "icb_pymc.comparison",
    "diagnose": "icb_pymc.diagnosis",
    "fit": "icb_pymc.fitting",
    "from_arrays": "icb_pymc.decisions",
    "from_table": "icb_pymc.tables",
    "in_user_units": "icb_pymc.standardisation",
    "map_features": "icb_pymc.decisions",
    "one_step_ahead": "icb_pymc.forecasts",
    "open_trace": "icb_pymc.registry",
    "register": "icb_pymc.catalogue",
    "read_decisions": "icb_pymc.decision_files",
    "read_trace": "icb_pymc.traces",
    "share": "icb_pymc.sharing",
    "simulate": "icb_pymc.simulation",
    "standardise": "icb_pymc.standardisation",
    "to_table": "icb_pymc.tables",
    "validate": "icb_pymc.decisions",
    "write_decisions": "icb_pymc.decision_files",
    "write_trace": "icb_pymc.traces",
}

__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> Any:
    if name in ("models", "plots"):
        return import_module(f"icb_pymc.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'icb_pymc' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "models", "plots"])
