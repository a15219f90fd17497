"""Dated events, the windows of decisions around them, and means over these windows."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from icb_pymc.data.times import format_time, time_shifted, time_within
from icb_pymc.errors import InputError


@dataclass(frozen=True)
class Event:
    """A dated event and the windows around it.

    Attributes
    ----------
    time : datetime64 or int
        First moment of the window after.
    label : str
    start, end : datetime64 or int
        Start of the window before, and end of the window after (not included).
    decisions : tuple of int
        How many decisions of the log lie in each window.
    """

    time: Any
    label: str
    start: Any
    end: Any
    decisions: tuple[int, int]

    @property
    def name(self) -> str:
        """The label, with the date."""
        return f"{self.label} ({format_time(self.time)})" if self.label else format_time(self.time)


def windows_around(time: np.ndarray, events: Any, before: Any, after: Any) -> tuple[Event, ...]:
    """The events in order of time, with their windows; arguments as in `impact`."""
    if isinstance(events, Mapping):
        labels = {time_within(time, moment): str(label) for moment, label in events.items()}
    else:
        given = events if isinstance(events, Sequence) and not isinstance(events, str) else [events]
        labels = {time_within(time, moment): "" for moment in given}
    if not labels:
        raise InputError("give at least one event.")
    moments = sorted(labels)
    windows = []
    for position, moment in enumerate(moments):
        previous = moments[position - 1] if position else None
        following = moments[position + 1] if position + 1 < len(moments) else None
        if before is not None:
            start = time_shifted(time, moment, before, -1, "before")
        else:
            start = time[0] if previous is None else previous
        inside = (time >= start) & (time < moment)
        if after is not None:
            end = time_shifted(time, moment, after, 1, "after")
        else:
            # The end of a window is not part of it, so the last window ends just after the last decision.
            end = (
                time[-1] + (np.timedelta64(1, "ns") if time.dtype.kind == "M" else 1)
                if following is None
                else following
            )
        later = (time >= moment) & (time < end)
        for which, chosen in (("before", inside), ("after", later)):
            if not chosen.any():
                raise InputError(
                    f"there is no decision in the window {which} {format_time(moment)}; make {which} longer."
                )
        windows.append(Event(moment, labels[moment], start, end, (int(inside.sum()), int(later.sum()))))
    return tuple(windows)


def window_means(values: xr.DataArray, windows: Sequence[Event], which: str) -> xr.DataArray:
    """Means over the kept times in a window of each event (chain, draw, event, feature)."""
    time = values["time"].values
    parts = []
    for event in windows:
        start, end = (event.start, event.time) if which == "before" else (event.time, event.end)
        inside = (time >= start) & (time < end)
        if not inside.any():
            raise InputError(f"the trace keeps no time in the window {which} {event.name}; make {which} longer.")
        parts.append(values.isel(time=np.flatnonzero(inside)).mean("time"))
    return xr.concat(parts, dim="event").transpose("chain", "draw", "event", "feature")


def known_features(available: Iterable[Any], features: Sequence[str] | None) -> list[str]:
    """The features asked about, which must be among those available; all by default."""
    known = [str(name) for name in available]
    for feature in features or ():
        if feature not in known:
            near = difflib.get_close_matches(str(feature).lower(), known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}."
            raise InputError(f"there is no feature '{feature}' in the log: {hint}")
    return list(features or known)
