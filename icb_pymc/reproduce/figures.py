"""The figures of the paper: which ones there are, the run that each is drawn from, and how it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from icb_pymc import plots
from icb_pymc.environments.allocation_history import EVENTS
from icb_pymc.reproduce.log import Log, history_log
from icb_pymc.reproduce.scale import Scale
from icb_pymc.reproduce.unit import Unit, make_unit
from icb_pymc.results.inference_data import InferenceData, group

# The middle of each year that the paper shows.
RADAR_DATES = ("2000-07-01", "2010-07-01")


@dataclass(frozen=True)
class PaperFigure:
    """A figure of the paper: its name and title, and the function that draws it from a trace."""

    name: str
    title: str
    draw: Callable[[InferenceData], Figure]

    def unit(self, preset: str, scale: Scale, data: str | None = None) -> Unit:
        """Its run: NB-ICB on the first seed of the sudden changes, or on the history of allocation."""
        if self.name == "sudden-change":
            return make_unit("NB-ICB", Log("switching", scale.long_steps, 2, 0), preset, scale)
        return make_unit("NB-ICB", history_log(scale.long_steps, 3, 0, data), preset, scale)


def _radar(trace: InferenceData) -> Figure:
    return plots.radar(trace, at=RADAR_DATES)


def _over_time(trace: InferenceData) -> Figure:
    # One panel for each feature: in a single panel, as in the paper, the bands would hide each other.
    return plots.importance_over_time(trace, events=EVENTS)


def _sudden_change(trace: InferenceData) -> Figure:
    data: dict[str, Any] = group(trace, "constant_data").attrs
    events = {data["meld_first"]: "MELD introduced", data["meld_last"]: "MELD withdrawn"}
    return plots.importance_over_time(trace, events=events)


FIGURES = {
    figure.name: figure
    for figure in (
        PaperFigure("radar", "Relative importance of features in 2000 and 2010", _radar),
        PaperFigure("over-time", "Relative importance of features over time", _over_time),
        PaperFigure("sudden-change", "Relative importance of features around sudden changes", _sudden_change),
    )
}
