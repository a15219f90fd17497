"""Drawings: simplified paths, ticks, escaping, and charts that describe themselves."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from markupsafe import escape

from icb_pymc.reports import charts
from icb_pymc.reports.svg import Drawing, nice_ticks, path_data, simplified, time_ticks

NAMESPACE = "{http://www.w3.org/2000/svg}"


def tree(drawing):
    # Not the method of Markup, which would escape what is put in.
    return ET.fromstring(str.replace(drawing.__html__(), "<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1))


def test_a_simplified_path_stays_within_the_tolerance():
    rng = np.random.default_rng(0)
    x, y = np.linspace(0, 700, 3000), 100 + np.cumsum(rng.normal(size=3000)) / 10
    kept = simplified(x, y, 0.5)
    assert len(kept) < 1500
    assert np.abs(np.interp(x, x[kept], y[kept]) - y).max() <= 0.5 * np.sqrt(2) + 1e-9


def test_a_straight_line_needs_two_points():
    assert path_data(np.arange(100.0), np.arange(100.0)).count("L") == 1


@pytest.mark.parametrize(("low", "high"), [(-3.2, 2.1), (0, 1e-3), (0, 5e4), (-0.05, 0.06), (-250, 1e5)])
def test_ticks_are_round_few_and_inside(low, high):
    ticks = nice_ticks(low, high)
    assert 2 <= len(ticks) <= 5
    assert ticks.min() >= low - 1e-9
    assert ticks.max() <= high + 1e-9


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("1995-01-01", "2020-12-31"),
        ("2001-01-01", "2001-12-01"),
        ("2001-01-01", "2001-01-20"),
        ("1500-01-01", "2020-01-01"),
    ],
)
def test_dates_have_few_labels_whatever_their_range(first, last):
    ticks, labels = time_ticks(np.array([first, last], "datetime64[s]"))
    assert 2 <= len(labels) <= 6
    assert len(ticks) == len(labels)


def test_one_moment_has_a_tick():
    assert len(time_ticks(np.array(["2001-05-05", "2001-05-05"], "datetime64[ns]"))[1]) == 1


def test_text_is_escaped_everywhere():
    name = "<script>&\"'"
    drawing = Drawing(10, 10, name, name, "key")
    drawing.text(0, 0, name, name)
    text = drawing.__html__()
    assert "<script>" not in text
    assert tree(drawing).find(f"{NAMESPACE}text").text == name


def made_paths(number, points=50):
    line = np.linspace(-1, 1, points)
    return [charts.Path(f"feature {i}", line - 0.2, line, line + 0.2, i % 7) for i in range(number)]


CHARTS = {
    "paths": lambda: charts.paths_chart(
        np.arange(50),
        made_paths(3),
        [charts.Mark(25, "event"), charts.Mark(26, "a long label of another event")],
        size=(336, 290),
        limits=(-1.3, 1.3),
        title="t",
        description="d",
        key="a",
        sessions=[10, 20],
    ),
    "shares": lambda: charts.shares_chart(
        np.arange(50),
        [("a", np.full(50, 0.3), 0), ("b", np.full(50, 0.7), 1)],
        [],
        size=(336, 250),
        title="t",
        description="d",
        key="b",
    ),
    "interval": lambda: charts.interval_bar(-1, 0, 1, (-2, 2), strong=True, title="t", key="c"),
    "chances": lambda: charts.chance_bars((0.5, 0.4, 0.6), (0.9, 0.8, 1.0), "t", "d"),
    "dates": lambda: charts.dates_chart(
        np.arange(50),
        np.full(60, 0.1),
        [(25, 20, 30)],
        [charts.Mark(25, "event")],
        size=(336, 190),
        title="t",
        description="d",
        key="e",
    ),
    "calibration": lambda: charts.calibration_chart(
        {
            name: np.array(values)
            for name, values in zip(
                ("predicted", "observed", "low", "high"), ([0.1, 0.9], [0.2, 0.8], [0.0, 0.7], [0.15, 1.0]), strict=True
            )
        },
        "t",
        "d",
        "f",
    ),
    "placebo": lambda: charts.placebo_chart(np.array([-2.0, 0.5]), 4.0, "t", "d", "g"),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_valid_has_a_title_and_stays_inside(name):
    drawing = CHARTS[name]()
    root = tree(drawing)
    assert root.get("role") == "img"
    ids = [part.get("id") for part in root.iter() if part.get("id")]
    assert root.get("aria-labelledby").split() == ids
    assert root[0].tag == f"{NAMESPACE}title"
    assert root[1].tag == f"{NAMESPACE}desc"
    for part in root.iter():
        for attribute, most in (("x", "width"), ("x1", "width"), ("x2", "width"), ("cx", "width"), ("y", "height")):
            if part.get(attribute) is not None and part is not root:
                assert -1 <= float(part.get(attribute)) <= getattr(drawing, most) + 1, (part.tag, part.attrib)
        width = charts.LETTER * len(part.text or "") if part.tag == f"{NAMESPACE}text" else 0
        start = (
            float(part.get("x", 0)) - {"start": 0, "middle": width / 2, "end": width}[part.get("text-anchor", "start")]
        )
        assert start >= -8
        assert start + width <= drawing.width + 8, part.text


def test_a_label_is_cut_to_its_room_and_not_drawn_outside():
    drawing = charts.paths_chart(
        np.arange(50),
        made_paths(1),
        [charts.Mark(48, "w" * 200)],
        size=(336, 290),
        limits=(-1, 1),
        title="t",
        description="d",
        key="a",
    )
    labels = [part.text for part in tree(drawing).iter() if part.get("class") == "mark-label"]
    assert len(labels[0]) < 50
    assert labels[0].endswith("…")


def test_names_at_the_right_end_do_not_overlap():
    placed = charts.spread_apart([50.0, 50.0, 51.0, 200.0, 0.0], 14, 0, 210)
    assert np.diff(sorted(placed)).min() >= 14 - 1e-9
    assert np.argsort(placed, kind="stable").tolist() == [4, 0, 1, 2, 3]


def test_markup_escapes_a_drawing_only_once():
    assert escape(CHARTS["interval"]()) == CHARTS["interval"]().__html__()
