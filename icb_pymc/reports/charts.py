"""The charts of a report: numbers in, a drawing out; words beside the numbers come from the caller."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from icb_pymc.reports.svg import Drawing, Scale, as_numbers, nice_ticks, time_ticks

# Width of a bold letter at the size of labels in a wide font, in pixels: what room a word needs.
LETTER = 7.8


@dataclass(frozen=True)
class Path:
    """One line with its band; `colour` is the number of one of the page's colours."""

    name: str
    low: np.ndarray
    middle: np.ndarray
    high: np.ndarray
    colour: int


@dataclass(frozen=True)
class Mark:
    """A dated line with a label."""

    time: Any
    label: str


def paths_chart(
    time: np.ndarray,
    paths: Sequence[Path],
    marks: Sequence[Mark],
    *,
    size: tuple[float, float],
    limits: tuple[float, float],
    title: str,
    description: str,
    key: str,
    sessions: Sequence[Any] = (),
    labelled: bool = True,
    span: tuple[Any, Any] | None = None,
) -> Drawing:
    """Paths over time with bands, a line at zero, and marks; with several paths their names stand at the right end."""
    drawing = Drawing(*size, title, description, key)
    names = [path.name for path in paths] if labelled and len(paths) > 1 else []
    right = min(max((len(name) for name in names), default=0) * LETTER + 14, size[0] * 0.3) if names else 8
    top = 6 + 16 * len(marks) if labelled else 8
    y = Scale(*limits, size[1] - 24, top)
    first, last = span or (time[0], time[-1])
    x = _time_scale(np.array([first, last]), size[0] - right)
    _axes(drawing, x, y, np.array([first, last]), nice_ticks(*limits))
    for session in sessions:
        at = float(x(as_numbers(np.array([session])))[0])
        drawing.line(at, top, at, size[1] - 24, "session")
    at_time = x(as_numbers(time))
    for path in paths:
        drawing.band(at_time, y(path.low), y(path.high), f"band c{path.colour}")
    for path in paths:
        drawing.path(at_time, y(path.middle), f"path c{path.colour}")
    _marks(drawing, x, marks, top, size[1] - 24, labelled)
    if names:
        ends = spread_apart([float(y(path.middle[-1])) for path in paths], 14, top + 4, size[1] - 28)
        for path, at in zip(paths, ends, strict=True):
            text = _fitting(path.name, right - 10)
            drawing.text(x.end + 6, at + 4, text, f"name t{path.colour}")
    return drawing


def shares_chart(
    time: np.ndarray,
    shares: Sequence[tuple[str, np.ndarray, int]],
    marks: Sequence[Mark],
    *,
    size: tuple[float, float],
    title: str,
    description: str,
    key: str,
) -> Drawing:
    """Shares that add up to one, as areas on top of each other; (name, share, colour) from the top down."""
    drawing = Drawing(*size, title, description, key)
    right = min(max(len(name) for name, _, _ in shares) * LETTER + 14, size[0] * 0.3)
    top = 6 + 16 * len(marks)
    y = Scale(0, 1, size[1] - 24, top)
    x = _time_scale(time[[0, -1]], size[0] - right)
    at_time, above = x(as_numbers(time)), np.ones(len(time))
    middles = []
    for _, share, colour in shares:
        drawing.band(at_time, y(above - share), y(above), f"area c{colour}")
        middles.append(float(y(above[-1] - share[-1] / 2)))
        above = above - share
    _axes(drawing, x, y, time[[0, -1]], np.array([0, 0.25, 0.5, 0.75, 1.0]), percent=True, grid=False)
    _marks(drawing, x, marks, top, size[1] - 24, True)
    for (name, _, colour), at in zip(shares, spread_apart(middles, 14, top + 4, size[1] - 28), strict=True):
        drawing.text(x.end + 6, at + 4, _fitting(name, right - 10), f"name t{colour}")
    return drawing


def interval_bar(
    lower: float, middle: float, upper: float, limits: tuple[float, float], *, strong: bool, title: str, key: str
) -> Drawing:
    """An interval with its mean on a line, and a line at zero."""
    drawing = Drawing(250, 26, title, title, key)
    x = Scale(*limits, 8, 242)
    zero = float(x(0.0))
    drawing.line(zero, 2, zero, 24, "zero")
    style = "strong" if strong else "weak"
    drawing.line(float(x(lower)), 13, float(x(upper)), 13, f"interval {style}")
    for end in (lower, upper):
        drawing.line(float(x(end)), 8, float(x(end)), 18, f"interval-end {style}")
    drawing.add("circle", cx=f"{float(x(middle)):.1f}", cy=13, r=4.5, class_=f"dot {style}")
    return drawing


def chance_bars(before: tuple[float, float, float], after: tuple[float, float, float], title: str, key: str) -> Drawing:
    """Two bars from nought to one, before and after, each with its interval."""
    drawing = Drawing(220, 44, title, title, key)
    x = Scale(0, 1, 46, 214)
    for row, (words, (mean, lower, upper), style) in enumerate((("before", before, "old"), ("after", after, "new"))):
        top = 3 + 20 * row
        drawing.text(0, top + 12, words, "tick")
        drawing.add("rect", x=46, y=top, width=168, height=16, class_="bar-room")
        drawing.add("rect", x=46, y=top, width=f"{float(x(mean)) - 46:.1f}", height=16, class_=f"bar {style}")
        drawing.line(float(x(lower)), top + 8, float(x(upper)), top + 8, "bar-interval")
    return drawing


def dates_chart(
    time: np.ndarray,
    probability: np.ndarray,
    found: Sequence[tuple[Any, Any, Any]],
    marks: Sequence[Mark],
    *,
    size: tuple[float, float],
    title: str,
    description: str,
    key: str,
) -> Drawing:
    """When preferences changed: a bar for each interval of a date (date, low, high), above the known events.

    `probability` is that of a change within each of 60 equal stretches of the log around the time, as a step line.
    """
    drawing = Drawing(*size, title, description, key)
    top, bottom = 6 + 16 * len(marks), size[1] - 24
    x = _time_scale(time[[0, -1]], size[0] - 8)
    y = Scale(0, 1, bottom, top)
    _axes(drawing, x, y, time[[0, -1]], np.array([0, 0.5, 1.0]), percent=True)
    for _, low, high in found:
        left, right = x(as_numbers(np.array([low, high])))
        width = max(float(right - left), 3.0)
        drawing.add(
            "rect",
            x=f"{float(left + right) / 2 - width / 2:.1f}",
            y=f"{top:.1f}",
            width=f"{width:.1f}",
            height=f"{bottom - top:.1f}",
            class_="window",
        )
    edges = np.linspace(x.start, x.end, len(probability) + 1)
    for left, right, chance in zip(edges[:-1], edges[1:], probability, strict=True):
        if chance > 0.005:
            drawing.add(
                "rect",
                x=f"{left:.1f}",
                y=f"{float(y(chance)):.1f}",
                width=f"{right - left - 0.5:.1f}",
                height=f"{bottom - float(y(chance)):.1f}",
                class_="chance",
            )
    _marks(drawing, x, marks, top, bottom, True)
    return drawing


def calibration_chart(table: Mapping[str, np.ndarray], title: str, description: str, key: str) -> Drawing:
    """The columns `observed` over `predicted`, with the range expected if the model is right."""
    drawing = Drawing(320, 260, title, description, key)
    x, y = Scale(0, 1, 44, 298), Scale(0, 1, 224, 10)
    ticks = np.array([0, 0.25, 0.5, 0.75, 1.0])
    for tick in ticks:
        drawing.line(x.start, float(y(tick)), x.end, float(y(tick)), "grid")
        drawing.text(x.start - 6, float(y(tick)) + 4, f"{tick:.0%}", "tick", "end")
        drawing.text(float(x(tick)), 240, f"{tick:.0%}", "tick", "middle")
    drawing.text(float(x(0.5)), 256, "predicted", "tick", "middle")
    drawing.line(x.start, float(y(0)), x.end, float(y(1)), "zero")
    for at, share, least, most in zip(
        x(table["predicted"]), *(table[end] for end in ("observed", "low", "high")), strict=True
    ):
        drawing.line(float(at), float(y(least)), float(at), float(y(most)), "interval weak")
        inside = least <= share <= most
        drawing.add(
            "circle", cx=f"{at:.1f}", cy=f"{float(y(share)):.1f}", r=4, class_="dot strong" if inside else "dot out"
        )
    return drawing


def placebo_chart(placebo: np.ndarray, at_event: float, title: str, description: str, key: str) -> Drawing:
    """How well a step is supported at dates where nothing happened (dots) and at the event (diamond)."""
    drawing = Drawing(320, 64, title, description, key)
    values = np.append(placebo, at_event)
    margin = 0.06 * (values.max() - values.min() or 1.0)
    x = Scale(min(values.min(), 0) - margin, max(values.max(), 0) + margin, 10, 310)
    zero = float(x(0))
    drawing.line(zero, 8, zero, 40, "zero")
    for at in x(placebo):
        drawing.add("circle", cx=f"{at:.1f}", cy=24, r=4, class_="dot weak open")
    at = float(x(at_event))
    drawing.add("path", d=f"M{at:.1f} 15l8 9l-8 9l-8 -9Z", class_="dot strong")
    for tick in nice_ticks(x.low, x.high, 5):
        drawing.text(float(x(tick)), 58, f"{tick:g}".replace("-", "−"), "tick", "middle")
    return drawing


def spread_apart(positions: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Positions moved as little as needed so that neighbours are `least` apart, within limits.

    Examples
    --------
    >>> spread_apart([10.0, 11.0, 50.0], 10.0, 0.0, 100.0)
    [5.5, 15.5, 50.0]
    """
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    # Blocks that touch are merged and centred on their members, until none touch.
    blocks: list[tuple[float, list[int]]] = []
    for i in order:
        blocks.append((positions[i], [i]))
        while len(blocks) > 1:
            (above, upper), (below, lower) = blocks[-2], blocks[-1]
            if below - above >= least * (len(upper) + len(lower)) / 2:
                break
            members = upper + lower
            centre = float(
                np.mean([positions[j] - least * (k - (len(members) - 1) / 2) for k, j in enumerate(members)])
            )
            blocks[-2:] = [(centre, members)]
    placed = [0.0] * len(positions)
    for centre, members in blocks:
        half = least * (len(members) - 1) / 2
        centre = min(max(centre, low + half), max(high - half, low + half))
        for k, j in enumerate(members):
            placed[j] = centre + least * (k - (len(members) - 1) / 2)
    return placed


def limits_of(paths: Sequence[Path]) -> tuple[float, float]:
    """The range of all bands and zero, with a little room."""
    low = min([0.0, *(float(np.min(path.low)) for path in paths)])
    high = max([0.0, *(float(np.max(path.high)) for path in paths)])
    room = 0.04 * (high - low or 1.0)
    return low - room, high + room


def shares_by_stretch(probability: Mapping[str, Any] | Any, time: np.ndarray, stretches: int = 60) -> np.ndarray:
    """Probability of a change in each of so many equal stretches of a log's time, from that just before each decision.

    Examples
    --------
    >>> shares_by_stretch(np.array([0.0, 0.1, 0.2, 0.6]), np.array([1, 2, 3, 4]), 3).round(2).tolist()
    [0.0, 0.1, 0.8]
    """
    numbers = as_numbers(time)
    span = numbers[-1] - numbers[0] or 1.0
    cell = np.minimum(((numbers - numbers[0]) / span * stretches).astype(int), stretches - 1)
    # Changes at different decisions of a stretch exclude each other nearly always.
    return np.minimum(np.bincount(cell, np.asarray(probability, float), stretches), 1.0)


def _time_scale(span: np.ndarray, end: float) -> Scale:
    first, last = as_numbers(span)
    return Scale(float(first), float(last), 38, end)


def _axes(
    drawing: Drawing,
    x: Scale,
    y: Scale,
    span: np.ndarray,
    ticks: np.ndarray,
    percent: bool = False,
    grid: bool = True,
) -> None:
    for tick in ticks:
        at = float(y(tick))
        if grid:
            drawing.line(x.start, at, x.end, at, "zero" if tick == 0 and not percent else "grid")
        text = f"{tick:.0%}" if percent else f"{tick:g}".replace("-", "−")
        drawing.text(x.start - 6, at + 4, text, "tick", "end")
    drawing.line(x.start, y.start, x.end, y.start, "axis")
    values, labels = time_ticks(span, max(int((x.end - x.start) // 62), 2))
    for at, label in zip(x(as_numbers(values)), labels, strict=True):
        drawing.line(float(at), y.start, float(at), y.start + 4, "axis")
        # At the edge a centred label would be cut.
        anchor = "end" if at > drawing.width - len(label) * LETTER / 2 else "middle"
        drawing.text(float(at), y.start + 17, label, "tick", anchor)


def _marks(drawing: Drawing, x: Scale, marks: Sequence[Mark], top: float, bottom: float, labelled: bool) -> None:
    for row, mark in enumerate(marks):
        at = float(x(as_numbers(np.array([mark.time])))[0])
        # Each label has a line of its own above the chart, and the mark goes up to it.
        label_at = 13 + 16 * row
        drawing.line(at, label_at - 9 if labelled else top, at, bottom, "mark")
        if labelled:
            left = at < (x.start + x.end) / 2
            room = (drawing.width - at if left else at) - 8
            text = _fitting(mark.label, room)
            drawing.text(at + (5 if left else -5), label_at, text, "mark-label", "start" if left else "end")


def _fitting(text: str, room: float) -> str:
    """Text cut to the room that it has, in pixels."""
    most = max(int(room / LETTER), 3)
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
