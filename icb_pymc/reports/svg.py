"""Scalable vector graphics as text: shapes with classes that the page's style colours, simplified paths, scales."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup, escape

# Deviations of less than this, in pixels, cannot be seen.
TOLERANCE = 0.3


@dataclass
class Drawing:
    """A picture of one size, with a title and a description for those who do not see it.

    Attributes
    ----------
    width, height : float
        In pixels of the page.
    title, description : str
    key : str
        Part of the identifiers, different for every picture of a page.
    """

    width: float
    height: float
    title: str
    description: str
    key: str
    parts: list[Markup] = field(default_factory=list)

    def add(self, tag: str, text: object = None, **attributes: object) -> None:
        """Append an element; ``class_`` is its class, and underscores become hyphens."""
        self.parts.append(element(tag, text, **attributes))

    def line(self, x1: float, y1: float, x2: float, y2: float, class_: str) -> None:
        """A straight line."""
        self.add("line", x1=number(x1), y1=number(y1), x2=number(x2), y2=number(y2), class_=class_)

    def text(self, x: float, y: float, words: object, class_: str = "", anchor: str = "start") -> None:
        """Words, with their anchor at start, middle or end."""
        self.add("text", words, x=number(x), y=number(y), class_=class_, text_anchor=anchor)

    def path(self, x: np.ndarray, y: np.ndarray, class_: str) -> None:
        """A line through these points, simplified."""
        if len(x):
            self.add("path", d=path_data(x, y), class_=class_)

    def band(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, class_: str) -> None:
        """The area between two lines."""
        if len(x):
            there, back = path_data(x, high), path_data(x[::-1], low[::-1])
            self.add("path", d=f"{there}L{back[1:]}Z", class_=class_)

    def __html__(self) -> str:
        title, description = f"{self.key}-t", f"{self.key}-d"
        head = element("title", self.title, id=title) + element("desc", self.description, id=description)
        size = {"viewBox": f"0 0 {number(self.width)} {number(self.height)}", "width": number(self.width)}
        return element(
            "svg",
            head + Markup("").join(self.parts),
            role="img",
            aria_labelledby=f"{title} {description}",
            height=number(self.height),
            **size,
        )


def element(tag: str, text: object = None, **attributes: object) -> Markup:
    """An element; text and values are escaped."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"' for name, value in attributes.items() if value != ""
    )
    return Markup(f"<{tag}{given}/>") if text is None else Markup(f"<{tag}{given}>{escape(text)}</{tag}>")


def number(value: float) -> str:
    """A coordinate with a tenth of a pixel."""
    text = f"{float(value):.1f}"
    return text[:-2] if text.endswith(".0") else text


def path_data(x: np.ndarray, y: np.ndarray) -> str:
    """The `d` of a path through these points, without those that cannot be seen."""
    kept = simplified(np.asarray(x, float), np.asarray(y, float))
    return "M" + "L".join(f"{number(x[i])} {number(y[i])}" for i in kept)


def simplified(x: np.ndarray, y: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
    """Positions of the points that a line needs to stay within this distance of all (Ramer, Douglas and Peucker).

    Examples
    --------
    >>> simplified(np.arange(5.0), np.array([0.0, 0.0, 0.0, 5.0, 10.0]))
    array([0, 2, 4])
    """
    keep = np.zeros(len(x), bool)
    keep[[0, -1]] = True
    spans = [(0, len(x) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        dx, dy = x[last] - x[first], y[last] - y[first]
        inner = slice(first + 1, last)
        length = np.hypot(dx, dy)
        if length > 0:
            distance = np.abs(dx * (y[inner] - y[first]) - dy * (x[inner] - x[first])) / length
        else:
            distance = np.hypot(x[inner] - x[first], y[inner] - y[first])
        furthest = int(np.argmax(distance))
        if distance[furthest] > tolerance:
            middle = first + 1 + furthest
            keep[middle] = True
            spans += [(first, middle), (middle, last)]
    return np.flatnonzero(keep)


def nice_ticks(low: float, high: float, most: int = 5) -> np.ndarray:
    """Round numbers between two values, `most` of them at most.

    Examples
    --------
    >>> nice_ticks(-0.7, 2.3)
    array([0., 1., 2.])
    >>> nice_ticks(0.0, 0.3).round(2)
    array([0. , 0.1, 0.2, 0.3])
    """
    if not high > low:
        return np.array([low])
    power = 10 ** np.floor(np.log10((high - low) / most))
    for step in (1, 2, 5, 10, 20, 50):
        ticks = (
            np.arange(np.ceil(low / (step * power) - 1e-9), np.floor(high / (step * power) + 1e-9) + 1) * step * power
        )
        if len(ticks) <= most:
            break
    # Without the minus sign of a zero.
    return ticks + 0.0


def time_ticks(time: np.ndarray, most: int = 6) -> tuple[np.ndarray, list[str]]:
    """Values of a time axis and their labels: years, months or days of dates, or round numbers.

    Examples
    --------
    >>> time_ticks(np.array(["2001-03-01", "2006-02-01"], "datetime64[D]"), 3)[1]
    ['2002', '2004', '2006']
    """
    if time.dtype.kind != "M":
        low, high = float(time[0]), float(time[-1])
        ticks = nice_ticks(low, high, most)
        return ticks, [f"{tick:g}" for tick in ticks]
    for unit, steps in (("Y", (1, 2, 5, 10, 20, 50, 100)), ("M", (1, 2, 3, 6)), ("D", (1, 2, 5, 10, 20, 50))):
        first, last = time[0].astype(f"datetime64[{unit}]"), time[-1].astype(f"datetime64[{unit}]")
        every = np.arange(first, last + 1)
        every = every[(every.astype(time.dtype) >= time[0]) & (every.astype(time.dtype) <= time[-1])]
        if len(every) < 2 and unit != "D":
            continue
        for step in steps:
            # Multiples of the step: 2000, 2005, 2010.
            origin = 1970 if unit == "Y" else 0
            ticks = every[(every.astype(int) + origin) % step == 0]
            if len(ticks) <= most:
                break
        if len(ticks) > 1 or unit == "D":
            return ticks.astype(time.dtype), [str(tick) for tick in ticks]
    raise AssertionError("days always give ticks")


@dataclass(frozen=True)
class Scale:
    """A linear scale from values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, values: object) -> np.ndarray:
        share = (np.asarray(values, float) - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)


def as_numbers(time: np.ndarray | Sequence[object]) -> np.ndarray:
    """Times as numbers, dates in seconds."""
    values = np.asarray(time)
    return values.astype("datetime64[s]").astype(float) if values.dtype.kind == "M" else values.astype(float)
