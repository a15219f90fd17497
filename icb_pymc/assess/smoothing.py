"""How much a smooth prior spreads a sudden change in the picture of a trace."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from icb_pymc.assess.event_windows import Event
from icb_pymc.assess.weights import log_odds_weights
from icb_pymc.results.inference_data import InferenceData, group
from icb_pymc.results.posterior import central_band

# The parts of the way from the mean weight before to the one after between which the change is counted.
PARTS = (0.1, 0.9)


@dataclass(frozen=True)
class SpreadOfChange:
    """Over which stretch a trace spreads a change.

    Attributes
    ----------
    feature : str
    start, end : datetime64 or int
        Between these the median of the trace goes from a tenth to nine tenths of the way.
    decisions : int
        Decisions between them.
    """

    feature: str
    start: Any
    end: Any
    decisions: int


def spread_of_change(trace: InferenceData, event: Event, feature: str) -> SpreadOfChange | None:
    """Over which stretch of the log a trace spreads the change of a weight around an event.

    Parameters
    ----------
    trace : InferenceData
    event : Event
        With its windows.
    feature : str

    Returns
    -------
    SpreadOfChange or None
        None if the median of the trace does not go from one side to the other around the event.

    Examples
    --------
    >>> import icb_pymc
    >>> from icb_pymc.assess.smoothing import spread_of_change
    >>> trace = icb_pymc.open_trace("nb-icb-stepping")
    >>> event = icb_pymc.impact(trace, 250, features=["inr"]).events[0]
    >>> spread_of_change(trace, event, "inr").decisions > 20
    True
    """
    weights = log_odds_weights(trace).sel(feature=feature)
    path, time = central_band(weights, 0.9).isel(quantile=1).values, weights["time"].values
    inside = (time >= event.start) & (time < event.end)
    old, new = inside & (time < event.time), inside & (time >= event.time)
    if old.sum() < 2 or new.sum() < 2:
        return None
    # Far from the event: the halves of the windows on the outside, where they are long enough to have any.
    early, late = path[old][: max(old.sum() // 2, 1)].mean(), path[new][-max(new.sum() // 2, 1) :].mean()
    if early == late:
        return None
    way = (path[inside] - early) / (late - early)
    below = np.flatnonzero((way <= PARTS[0]) & (time[inside] < event.time))
    above = np.flatnonzero((way >= PARTS[1]) & (time[inside] >= event.time))
    if not len(below) or not len(above):
        return None
    start, end = time[inside][below[-1]], time[inside][above[0]]
    all_times = group(trace, "constant_data")["time"].values
    return SpreadOfChange(feature, start, end, int(((all_times >= start) & (all_times < end)).sum()))
