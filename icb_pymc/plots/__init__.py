"""Figures: each function takes a trace (or what was computed from one) and returns a matplotlib figure.

Nothing is computed here that is not drawn: numbers come from `results` and `assess`.

- `importance`: relative importance of the features over time; `radars`: at chosen times.
- `change_around_event`: a feature before and after an event, and the posterior of its change.
- `dates_of_change`: when preferences changed, and the weights between changes.
- `agents`: several decision-makers and the trend they share.
- `diagnosis`: convergence, and whether the choices are as predicted; `calibration`: simulation-based calibration.
- `common`: colours, events and labels that the figures share.
"""

from icb_pymc.plots.agents import importance_by_agent
from icb_pymc.plots.calibration import calibration_picture
from icb_pymc.plots.change_around_event import impact
from icb_pymc.plots.dates_of_change import changes
from icb_pymc.plots.diagnosis import choices_picture, diagnosis_picture
from icb_pymc.plots.importance import importance_over_time
from icb_pymc.plots.radars import radar

__all__ = [
    "calibration_picture",
    "changes",
    "choices_picture",
    "diagnosis_picture",
    "impact",
    "importance_by_agent",
    "importance_over_time",
    "radar",
]
