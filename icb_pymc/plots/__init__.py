"""Figures: each function takes a trace (or what was computed from one) and draws a new figure, or on the one given.

Only what is drawn is computed here: numbers come from `results` and `assess`.

- `weights`: signed weights over time; `importance`: relative importance over time; `radars`: at chosen times.
- `change_around_event`: weights before and after an event, and the change of each.
- `dates_of_change`: when preferences changed, and the weights between changes.
- `agents`: several decision-makers and the trend they share; `population`: the parameters in which they differ.
- `subjects`: many subjects that were fitted one by one, over time, and their changes around an event.
- `diagnosis`: convergence, and whether choices are as predicted; `calibration`: simulation-based calibration.
- `choice_shares`: performance and bias over time, and the psychometric curve, of choices between two alternatives.
- `paths`: lines and bands over time; `common`: panels, colours, events and labels that the figures share.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icb_pymc.plots.agents import importance_by_agent as importance_by_agent
    from icb_pymc.plots.agents import weights_by_agent as weights_by_agent
    from icb_pymc.plots.calibration import calibration_picture as calibration_picture
    from icb_pymc.plots.change_around_event import impact as impact
    from icb_pymc.plots.choice_shares import bias_over_time as bias_over_time
    from icb_pymc.plots.choice_shares import performance_over_time as performance_over_time
    from icb_pymc.plots.choice_shares import psychometric_curve as psychometric_curve
    from icb_pymc.plots.dates_of_change import changes as changes
    from icb_pymc.plots.diagnosis import choices_picture as choices_picture
    from icb_pymc.plots.diagnosis import diagnosis_picture as diagnosis_picture
    from icb_pymc.plots.importance import importance_over_time as importance_over_time
    from icb_pymc.plots.population import parameters_by_agent as parameters_by_agent
    from icb_pymc.plots.radars import radar as radar
    from icb_pymc.plots.subjects import changes_by_subject as changes_by_subject
    from icb_pymc.plots.subjects import subjects_over_time as subjects_over_time
    from icb_pymc.plots.weights import weights_over_time as weights_over_time

# Imported on first use: some figures are of results whose modules import PyMC, which takes longer than to draw.
_MODULE_OF = {
    "bias_over_time": "choice_shares",
    "calibration_picture": "calibration",
    "changes": "dates_of_change",
    "changes_by_subject": "subjects",
    "choices_picture": "diagnosis",
    "diagnosis_picture": "diagnosis",
    "impact": "change_around_event",
    "importance_by_agent": "agents",
    "importance_over_time": "importance",
    "parameters_by_agent": "population",
    "performance_over_time": "choice_shares",
    "psychometric_curve": "choice_shares",
    "radar": "radars",
    "subjects_over_time": "subjects",
    "weights_by_agent": "agents",
    "weights_over_time": "weights",
}

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'icb_pymc.plots' has no attribute {name!r}")
    return getattr(import_module(f"icb_pymc.plots.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
