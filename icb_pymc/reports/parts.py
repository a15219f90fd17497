"""What the parts of a page are made of: names that are safe to show, tables and figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import xarray as xr

from icb_pymc.reports import wording as say
from icb_pymc.reports.charts import Mark
from icb_pymc.reports.findings import EventFinding, Findings
from icb_pymc.reports.names import display_names, safe_text


@dataclass(frozen=True)
class Names:
    """Features, agents and labels as one form of the report shows them.

    Attributes
    ----------
    features : dict
        Display names.
    mark : callable
        What the form needs beyond safe text; identity for HTML, whose templates escape.
    """

    features: Mapping[str, str]
    mark: Callable[[str], str]

    @classmethod
    def of(cls, decisions: xr.Dataset, mark: Callable[[str], str]) -> "Names":
        """Of the features of a log."""
        shown = display_names(decisions["feature"].values)
        return cls({name: mark(text) for name, text in shown.items()}, mark)

    def feature(self, name: object) -> str:
        """A feature."""
        return self.features[str(name)]

    def text(self, text: object, longest: int = 60) -> str:
        """Any other text from a file."""
        return self.mark(safe_text(text, longest))

    def event(self, found: EventFinding) -> str:
        """An event with its date."""
        return say.say_event(self.text(found.event.label), found.event.time)


@dataclass(frozen=True)
class Table:
    """A table of text; the first column names the rows."""

    caption: str
    head: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Figure:
    """A chart, wide and for a narrow page, its caption and its numbers."""

    wide: Any
    narrow: Any
    caption: str
    table: Table | None = None


def marks_of(findings: Findings, names: Names) -> list[Mark]:
    """The events as marks of a chart."""
    return [
        Mark(each.event.time, names.text(each.event.label) or say.say_moment(each.event.time))
        for each in findings.events
    ]
