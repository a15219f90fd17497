"""Figures: each function takes a trace (or what was computed from one) and draws a new figure, or on the one given.

Only what is drawn is computed here: numbers come from `results` and `assess`.

- `weights`: signed weights over time; `importance`: relative importance over time; `radars`: at chosen times.
- `change_around_event`: weights before and after an event, and the change of each.
- `dates_of_change`: when preferences changed, and the weights between changes.
- `agents`: several decision-makers and the trend they share; `population`: the parameters in which they differ.
- `diagnosis`: convergence, and whether choices are as predicted; `calibration`: simulation-based calibration.
- `paths`: lines and bands over time; `common`: panels, colours, events and labels that the figures share.
"""

from icb_pymc.plots.agents import importance_by_agent
from icb_pymc.plots.calibration import calibration_picture
from icb_pymc.plots.change_around_event import impact
from icb_pymc.plots.dates_of_change import changes
from icb_pymc.plots.diagnosis import choices_picture, diagnosis_picture
from icb_pymc.plots.importance import importance_over_time
from icb_pymc.plots.population import parameters_by_agent
from icb_pymc.plots.radars import radar
from icb_pymc.plots.weights import weights_over_time

__all__ = [
    "calibration_picture",
    "changes",
    "choices_picture",
    "diagnosis_picture",
    "impact",
    "importance_by_agent",
    "importance_over_time",
    "parameters_by_agent",
    "radar",
    "weights_over_time",
]
