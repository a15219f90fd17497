"""Inverse contextual bandits in PyMC: how a decision-maker's priorities evolved, read from a log of decisions.

The way of the data is one line: a table or a simulation (`data`, `environments`) becomes decisions; a model
(`declare`, `models`, `catalogue`) explains them; it is fitted (`steps`, `kernels`, `sample`); the trace (`results`) is
assessed, shown and told (`assess`, `plots`, `reports`). `reproduce`, `bench` and `cli` are applications. A room imports
only rooms that come before it; see docs/architecture.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icb_pymc import models as models
    from icb_pymc import plots as plots
    from icb_pymc.assess import metrics as metrics
    from icb_pymc.assess.averaging import average as average
    from icb_pymc.assess.calibration import check as check
    from icb_pymc.assess.changes import changes as changes
    from icb_pymc.assess.comparison import compare as compare
    from icb_pymc.assess.comparison import compare_ahead as compare_ahead
    from icb_pymc.assess.diagnosis import diagnose as diagnose
    from icb_pymc.assess.forecasts import one_step_ahead as one_step_ahead
    from icb_pymc.assess.impact import impact as impact
    from icb_pymc.assess.k_fold import compare_folds as compare_folds
    from icb_pymc.assess.k_fold import k_fold as k_fold
    from icb_pymc.assess.population import population as population
    from icb_pymc.assess.power import power as power
    from icb_pymc.assess.weight_table import weight_table as weight_table
    from icb_pymc.assess.weights import log_odds_weights as log_odds_weights
    from icb_pymc.catalogue.lookup import register as register
    from icb_pymc.data.columns import Columns as Columns
    from icb_pymc.data.decision_files import read_decisions as read_decisions
    from icb_pymc.data.decision_files import write_decisions as write_decisions
    from icb_pymc.data.decisions import from_arrays as from_arrays
    from icb_pymc.data.decisions import map_features as map_features
    from icb_pymc.data.decisions import validate as validate
    from icb_pymc.data.standardisation import in_user_units as in_user_units
    from icb_pymc.data.standardisation import standardise as standardise
    from icb_pymc.data.tables import from_table as from_table
    from icb_pymc.data.tables import to_table as to_table
    from icb_pymc.declare.processes import mean_reverting as mean_reverting
    from icb_pymc.declare.processes import smooth_walk as smooth_walk
    from icb_pymc.errors import InputError as InputError
    from icb_pymc.errors import InputWarning as InputWarning
    from icb_pymc.reports.report import report as report
    from icb_pymc.results.fits import read_fits as read_fits
    from icb_pymc.results.registry import open_trace as open_trace
    from icb_pymc.results.sharing import share as share
    from icb_pymc.results.traces import read_trace as read_trace
    from icb_pymc.results.traces import write_trace as write_trace
    from icb_pymc.sample.each import fit_each as fit_each
    from icb_pymc.sample.fitting import fit as fit
    from icb_pymc.sample.simulation import simulate as simulate

__version__ = "0.1.0"

# Nothing heavy is imported until it is used: `import icb_pymc` and `icb --help` start at once. Type checkers and
# editors read the block above; a test holds the two together.
_MODULE_OF = {
    "Columns": "data.columns",
    "InputError": "errors",
    "InputWarning": "errors",
    "average": "assess.averaging",
    "changes": "assess.changes",
    "check": "assess.calibration",
    "compare": "assess.comparison",
    "compare_ahead": "assess.comparison",
    "compare_folds": "assess.k_fold",
    "diagnose": "assess.diagnosis",
    "fit": "sample.fitting",
    "fit_each": "sample.each",
    "from_arrays": "data.decisions",
    "from_table": "data.tables",
    "impact": "assess.impact",
    "in_user_units": "data.standardisation",
    "k_fold": "assess.k_fold",
    "log_odds_weights": "assess.weights",
    "map_features": "data.decisions",
    "mean_reverting": "declare.processes",
    "one_step_ahead": "assess.forecasts",
    "open_trace": "results.registry",
    "population": "assess.population",
    "power": "assess.power",
    "read_decisions": "data.decision_files",
    "read_fits": "results.fits",
    "read_trace": "results.traces",
    "register": "catalogue.lookup",
    "report": "reports.report",
    "share": "results.sharing",
    "simulate": "sample.simulation",
    "smooth_walk": "declare.processes",
    "standardise": "data.standardisation",
    "to_table": "data.tables",
    "validate": "data.decisions",
    "weight_table": "assess.weight_table",
    "write_decisions": "data.decision_files",
    "write_trace": "results.traces",
}
_MODULES = {"metrics": "assess.metrics", "models": "models", "plots": "plots"}

__all__ = ["__version__", *_MODULE_OF, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"icb_pymc.{_MODULES[name]}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'icb_pymc' has no attribute {name!r}")
    return getattr(import_module(f"icb_pymc.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
